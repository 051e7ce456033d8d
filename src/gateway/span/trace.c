/*
 * Ids of attempts are made of the call's span and the attempt's number, so that whoever writes the spans
 * later comes to the same ones and nothing has to be kept.
 */
#include "gateway/span/trace.h"

#include <weir/error.h>

#include "base/rand.h"
#include "base/slice.h"
#include "config/config.h"
#include "gateway/job.h"
#include "gateway/setup.h"
#include "gateway/worker.h"
#include "wire/http1_read.h"

static bool is_named(const struct weir_http1_field *field, struct weir_slice name)
{
    return field->name.len == name.len && weir_slice_eq_ci(field->name, name);
}

/* The fields of a list are one, in their order (RFC 9110 5.3). */
static struct weir_slice append(struct weir_slice list, struct weir_slice value, struct weir_arena *arena)
{
    const struct weir_slice parts[] = {list, WEIR_SLICE(","), value};

    return list.len == 0 ? value : weir_arena_join(arena, parts, 3);
}

/* What the caller says; false when it says nothing that counts.  Of several traceparents none does. */
static bool read_caller(struct weir_job *job, const struct weir_http1_head *head)
{
    struct weir_trace *trace = &job->trace;
    struct weir_slice state = WEIR_SLICE_EMPTY;
    const struct weir_http1_field *parent = NULL;

    for (size_t i = 0; i < head->field_count; i++) {
        const struct weir_http1_field *field = &head->fields[i];

        if (is_named(field, WEIR_SLICE("tracestate"))) {
            state = append(state, field->value, &job->arena);
        } else if (is_named(field, WEIR_SLICE("traceparent"))) {
            if (parent != NULL)
                return false;
            parent = field;
        }
    }
    if (parent == NULL || weir_traceparent_parse(parent->value, &trace->context) != 0)
        return false;
    if (weir_tracestate_ok(state))
        trace->state = weir_arena_copy(&job->arena, state);
    return true;
}

/* 0 is none. */
static uint64_t id_of(uint64_t number)
{
    return number == 0 ? 1 : number;
}

static uint64_t make_id(struct weir_rand *rand)
{
    return id_of(weir_rand_u64(rand));
}

/* By the trace's id, so that all who go by it decide alike. */
static bool is_sampled(const struct weir_config_otlp *otlp, const struct weir_trace *trace)
{
    if (trace->parent != 0 && otlp->by_caller)
        return (trace->context.flags & WEIR_TRACE_SAMPLED) != 0;
    return (double)(trace->context.trace_low >> 11) * 0x1p-53 < otlp->sample;
}

/* The call becomes a span of the trace. */
static void join(struct weir_trace *trace, bool is_caller, const struct weir_config_otlp *otlp,
                 struct weir_rand *rand)
{
    if (is_caller)
        trace->parent = trace->context.span;
    else
        trace->context = (struct weir_trace_context){.trace_high = make_id(rand), .trace_low = make_id(rand)};
    trace->context.span = make_id(rand);
    trace->recorded = is_sampled(otlp, trace);
    trace->context.flags &= (uint8_t)~WEIR_TRACE_SAMPLED;
    if (trace->recorded)
        trace->context.flags |= WEIR_TRACE_SAMPLED;
}

void weir_trace_begin(struct weir_job *job, const struct weir_http1_head *head)
{
    const struct weir_config *config = job->setup->config;
    struct weir_trace *trace = &job->trace;
    bool is_caller = read_caller(job, head);

    if (!is_caller && !config->otlp.on)
        return;
    trace->known = true;
    trace->forwards = config->settings.forward_traceparent;
    if (config->otlp.on)
        join(trace, is_caller, &config->otlp, &job->worker->rand);
    job->access.trace_id = weir_trace_id_write(&trace->context, trace->id_room);
}

uint64_t weir_trace_attempt_span(const struct weir_trace_context *context, uint32_t attempt)
{
    return id_of(weir_rand_mix(context->span + attempt));
}

/* Which span the provider is told as its parent. */
static struct weir_trace_context context_of(const struct weir_job *job, uint32_t attempt)
{
    struct weir_trace_context context = job->trace.context;

    if (job->setup->config->otlp.on)
        context.span = weir_trace_attempt_span(&context, attempt);
    return context;
}

int weir_trace_lines(struct weir_job *job, uint32_t attempt, struct weir_slice *lines)
{
    const struct weir_trace_context context = context_of(job, attempt);
    struct weir_slice state = job->trace.state;
    char room[WEIR_TRACEPARENT_LEN];
    const struct weir_slice parts[] = {*lines,
                                       WEIR_SLICE("traceparent: "),
                                       weir_traceparent_write(&context, room),
                                       state.len > 0 ? WEIR_SLICE("\r\ntracestate: ") : WEIR_SLICE_EMPTY,
                                       state,
                                       WEIR_SLICE("\r\n")};

    *lines = weir_arena_join(&job->arena, parts, sizeof(parts) / sizeof(parts[0]));
    return weir_arena_failed(&job->arena) ? WEIR_ERR_NOMEM : 0;
}
