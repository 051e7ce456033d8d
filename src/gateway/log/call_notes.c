/*
 * Of a stream counts what its client was given: attempts that broke before their content went out leave no
 * trace here, those that a continued stream is made of are taken together.
 */
#include "gateway/log/call_notes.h"

#include "base/slice.h"
#include "gateway/attempt/upcall.h"
#include "gateway/job.h"

static void note_stream(struct weir_job *job, uint32_t attempt, const struct weir_stream_facts *facts)
{
    const struct weir_upcall *upcall = weir_upcall_find(job, attempt);
    struct weir_access *access = &job->access;

    access->chunks += facts->chunks;
    job->deltas += facts->deltas;
    if (facts->longest_silence_ns > access->silence_ns)
        access->silence_ns = facts->longest_silence_ns;
    if (access->first_ns == 0 && facts->first_content_ns > 0 && upcall != NULL)
        access->first_ns = upcall->started_ns - job->begun_ns + facts->first_content_ns;
}

static struct weir_slice way_of(weir_hop_kind kind)
{
    switch (kind) {
    case WEIR_HOP_GROUP:
        return WEIR_SLICE("fallback");
    case WEIR_HOP_ORDER:
        return WEIR_SLICE("order");
    case WEIR_HOP_SIBLING:
        return WEIR_SLICE("failover");
    case WEIR_HOP_KINDS:
        break;
    }
    return WEIR_SLICE_EMPTY;
}

void weir_call_notes_event(struct weir_job *job, const struct weir_event *event)
{
    if (event->kind == WEIR_EVENT_RETRY)
        job->access.recovery = WEIR_SLICE("retry");
    else if (event->kind == WEIR_EVENT_FALLBACK)
        job->access.recovery = way_of(event->u.fallback.kind);
    else if (event->kind == WEIR_EVENT_HEDGE_LOST && event->u.hedge_lost.winner > event->attempt)
        job->access.recovery = WEIR_SLICE("hedge");
    else if (event->kind == WEIR_EVENT_STREAM_CONTINUED)
        job->access.recovery = WEIR_SLICE("continuation");
    else if (event->kind == WEIR_EVENT_STREAM_BROKEN && event->u.stream_broken.committed)
        note_stream(job, event->attempt, &event->u.stream_broken.stream);
    else if (event->kind == WEIR_EVENT_SUCCEEDED)
        note_stream(job, event->attempt, &event->u.succeeded.stream);
}

void weir_call_notes_end(struct weir_job *job)
{
    struct weir_access *access = &job->access;

    if (access->completion_tokens > 0 || job->deltas == 0)
        return;
    access->completion_tokens = job->deltas;
    access->tokens_counted = true;
}
