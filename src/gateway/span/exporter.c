/*
 * A look every tenth of a second at what has come and at what is due.  While nothing is under way, and only
 * then, settings are taken up: a post keeps the place that it was started with.
 */
#include "gateway/span/exporter.h"

#include <stdio.h>
#include <sys/random.h>

#include <weir/error.h>

#include "base/container.h"
#include "base/slice.h"
#include "base/time.h"
#include "config/config.h"
#include "gateway/background/background.h"
#include "gateway/gateway.h"
#include "gateway/setup.h"
#include "gateway/span/calls.h"
#include "gateway/span/encode.h"

#define LOOK_EVERY_NS (100 * WEIR_NS_PER_MS)
#define END_LOOK_NS   (5 * WEIR_NS_PER_MS)
#define END_MAX_NS    (2 * WEIR_NS_PER_S)

enum { RESOURCE_BYTES_MAX = 256 * 1024 };

static struct weir_gateway *gateway_of(const struct weir_exporter *exporter)
{
    return exporter->background->gateway;
}

static const struct weir_config_otlp *otlp_of(const struct weir_exporter *exporter)
{
    return &exporter->setup->config->otlp;
}

/* ---- what has come ---- */

static void encode(struct weir_exporter *exporter, const struct weir_span_call *call)
{
    struct weir_span_counts *counts = &gateway_of(exporter)->span_calls.counts;
    uint32_t spans = 0;

    weir_buf_clear(&exporter->scratch);
    if (weir_span_encode(call, &exporter->scratch, &spans) == 0)
        weir_span_batches_add(&exporter->batches, weir_buf_slice(&exporter->scratch), spans,
                              weir_loop_now(exporter->loop));
    else
        atomic_fetch_add_explicit(&counts->dropped, call->spans, memory_order_relaxed);
}

static void gather(struct weir_exporter *exporter)
{
    struct weir_span_calls *calls = &gateway_of(exporter)->span_calls;
    struct weir_span_call *call = weir_span_calls_take(calls);

    while (call != NULL) {
        struct weir_span_call *next = call->next;

        encode(exporter, call);
        weir_span_call_free(calls, call);
        call = next;
    }
}

/* ---- where it goes ---- */

static void make_place(struct weir_exporter *exporter)
{
    const struct weir_gateway *gateway = gateway_of(exporter);
    char text[WEIR_POST_TEXT_MAX];
    int r;

    weir_post_place_deinit(&exporter->place);
    r = weir_post_place_init(&exporter->place, otlp_of(exporter)->url, &exporter->setup->config->settings,
                             &exporter->background->gateway->trust, gateway->mem, text);
    exporter->has_place = r == 0;
    if (r > 0)
        (void)fprintf(stderr, "weir: no traces are sent: %s\n", text);
}

/* The newest setup that wants traces. */
static void take_up(struct weir_exporter *exporter)
{
    struct weir_setup *newest = exporter->background->seat.setup;

    exporter->is_stale = false;
    if (!newest->config->otlp.on)
        return;
    if (newest != exporter->setup) {
        weir_setup_unref(exporter->setup);
        exporter->setup = weir_setup_ref(newest);
    }
    weir_span_batches_configure(&exporter->batches, otlp_of(exporter)->interval_ns,
                                otlp_of(exporter)->queue_bytes);
    make_place(exporter);
}

/* ---- sending ---- */

static void tell(struct weir_exporter *exporter, const struct weir_post_outcome *outcome)
{
    bool is_away = outcome->status < 200 || outcome->status >= 300;
    struct weir_slice host = exporter->place.host;

    if (is_away == exporter->is_away)
        return;
    exporter->is_away = is_away;
    if (!is_away)
        (void)fprintf(stderr, "weir: the collector of traces at %.*s takes them again\n", (int)host.len,
                      host.ptr);
    else if (outcome->status > 0)
        (void)fprintf(stderr, "weir: the collector of traces at %.*s does not take them: it answers %u\n",
                      (int)host.len, host.ptr, outcome->status);
    else
        (void)fprintf(stderr, "weir: the collector of traces at %.*s does not take them: %.*s\n",
                      (int)host.len, host.ptr, (int)outcome->reason.len, outcome->reason.ptr);
}

static void look(struct weir_exporter *exporter);

static void on_done(struct weir_post *post, const struct weir_post_outcome *outcome)
{
    struct weir_exporter *exporter = WEIR_CONTAINER(post, struct weir_exporter, post);
    const struct weir_batch_outcome result = {.status = outcome->status,
                                              .retry_after_ns = outcome->retry_after_ns,
                                              .rejected = weir_span_rejected(outcome->body)};

    tell(exporter, outcome);
    weir_span_batches_done(&exporter->batches, &result, weir_loop_now(exporter->loop));
    look(exporter);
}

static uint64_t limit_of(const struct weir_exporter *exporter)
{
    uint64_t limit_ns = otlp_of(exporter)->timeout_ns, now_ns = weir_loop_now(exporter->loop);

    if (exporter->end_ns == 0 || weir_time_add(now_ns, limit_ns) < exporter->end_ns)
        return limit_ns;
    return exporter->end_ns > now_ns ? exporter->end_ns - now_ns : 1;
}

static void send_batch(struct weir_exporter *exporter)
{
    const struct weir_span_batch *batch = weir_span_batches_take(&exporter->batches);
    const struct weir_batch_outcome failed = {.status = 0};
    struct weir_post_spec spec = {.loop = exporter->loop,
                                  .client = exporter->client,
                                  .mem = gateway_of(exporter)->mem,
                                  .place = &exporter->place,
                                  .fields = otlp_of(exporter)->lines,
                                  .limit_ns = limit_of(exporter),
                                  .done = on_done};

    weir_buf_clear(&exporter->lead);
    if (!exporter->has_place ||
        weir_span_request(otlp_of(exporter), weir_buf_len(&batch->bytes), &exporter->lead) < 0) {
        weir_span_batches_done(&exporter->batches, &failed, weir_loop_now(exporter->loop));
        return;
    }
    spec.lead = weir_buf_slice(&exporter->lead);
    spec.body = weir_buf_slice(&batch->bytes);
    weir_post_start(&exporter->post, &spec);
}

/* Everything was sent, or it is time to stop. */
static bool is_over(const struct weir_exporter *exporter)
{
    return exporter->end_ns != 0 &&
           (weir_span_batches_empty(&exporter->batches) || weir_loop_now(exporter->loop) >= exporter->end_ns);
}

static void look(struct weir_exporter *exporter)
{
    uint64_t now_ns = weir_loop_now(exporter->loop);
    uint64_t pause_ns = exporter->end_ns == 0 ? LOOK_EVERY_NS : END_LOOK_NS;

    if (exporter->is_stale && !weir_post_active(&exporter->post))
        take_up(exporter);
    if (exporter->setup == NULL)
        return;
    gather(exporter);
    if (weir_span_batches_due(&exporter->batches) <= now_ns)
        send_batch(exporter);
    weir_loop_arm(exporter->loop, &exporter->timer, weir_time_add(now_ns, pause_ns));
}

static void on_timer(struct weir_timer *timer)
{
    struct weir_exporter *exporter = WEIR_CONTAINER(timer, struct weir_exporter, timer);

    look(exporter);
    if (is_over(exporter))
        weir_exporter_deinit(exporter);
}

/* ---- the life of it ---- */

int weir_exporter_init(struct weir_exporter *ret_exporter, struct weir_background *background)
{
    const struct weir_settings *settings = &background->seat.setup->config->settings;
    struct weir_gateway *gateway = background->gateway;
    uint64_t seed;

    if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
        return WEIR_ERR_IO;
    *ret_exporter = (struct weir_exporter){.background = background, .loop = background->loop};
    weir_span_batches_init(&ret_exporter->batches, &gateway->span_calls.counts, seed, gateway->mem);
    weir_buf_init(&ret_exporter->scratch, gateway->mem, WEIR_SPAN_CALL_BYTES_MAX);
    weir_buf_init(&ret_exporter->lead, gateway->mem, RESOURCE_BYTES_MAX);
    weir_timer_init(&ret_exporter->timer, on_timer);
    return weir_post_client(gateway, settings, background->loop, &ret_exporter->client);
}

void weir_exporter_deinit(struct weir_exporter *exporter)
{
    struct weir_background *background = exporter->background;
    bool was_ending = exporter->end_ns != 0;

    if (background == NULL)
        return;
    weir_loop_cancel(exporter->loop, &exporter->timer);
    weir_post_cancel(&exporter->post);
    weir_post_place_deinit(&exporter->place);
    weir_span_batches_deinit(&exporter->batches);
    weir_buf_deinit(&exporter->scratch);
    weir_buf_deinit(&exporter->lead);
    weir_client_close(exporter->client);
    weir_setup_unref(exporter->setup);
    *exporter = (struct weir_exporter){0};
    if (was_ending)
        weir_background_ended(background);
}

void weir_exporter_follow(struct weir_exporter *exporter)
{
    exporter->is_stale = true;
    look(exporter);
}

void weir_exporter_end(struct weir_exporter *exporter)
{
    weir_span_batches_end(&exporter->batches);
    exporter->end_ns = weir_time_add(weir_loop_now(exporter->loop), END_MAX_NS);
    weir_loop_arm(exporter->loop, &exporter->timer, weir_loop_now(exporter->loop));
}
