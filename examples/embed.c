/*
 * The engine of weir in a program of one's own: calls that fail, are tried again, and end at another group.
 *
 * The engine decides and does nothing else.  It is told what happened and when, and answers with what to do
 * next; whoever drives it, the host, makes the calls.  This host has no network: its providers are the
 * function ask_provider, and its clock is a number that it moves on by itself.  So every run prints the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <weir/mem_libc.h>
#include <weir/weir.h>

#define MS UINT64_C(1000000)

/* For printf's "%.*s". */
#define TEXT(slice) (int)(slice).len, (slice).ptr

struct host {
    weir_router *router;
    weir_snapshot *snapshot;
    uint64_t now_ns;
};

static void must(int result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "%s: %d\n", what, result);
        exit(1);
    }
}

/* Two groups of one deployment each; `chat` falls back to `spare`. */
static weir_snapshot *configure(void)
{
    struct weir_target spare = {.model = WEIR_SLICE("spare"), .controls = WEIR_CONTROLS_NONE};
    struct weir_chain chain = {.group = WEIR_SLICE("chat"), .targets = &spare, .count = 1};
    struct weir_deployment_spec deployment;
    struct weir_router_spec settings;
    weir_snapshot_builder *builder;
    weir_snapshot *snapshot;

    must(weir_snapshot_builder_new(weir_mem_libc(), &builder), "new builder");

    weir_deployment_spec_init(&deployment);
    deployment.id = WEIR_SLICE("primary");
    deployment.group = WEIR_SLICE("chat");
    deployment.model = WEIR_SLICE("openai/large");
    must(weir_snapshot_add_deployment(builder, &deployment), "add primary");
    deployment.id = WEIR_SLICE("backup");
    deployment.group = WEIR_SLICE("spare");
    deployment.model = WEIR_SLICE("openai/small");
    must(weir_snapshot_add_deployment(builder, &deployment), "add backup");

    must(weir_snapshot_add_chain(builder, WEIR_LIST_GENERIC, WEIR_SOURCE_ROUTER, &chain), "add chain");

    weir_router_spec_init(&settings);
    settings.num_retries = 1;
    settings.allowed_fails = 2; /* the third failure cools a deployment down */
    settings.cooldown_ns = 30000 * MS;
    settings.jitter_ns = 0; /* so that the waits below are round */
    weir_snapshot_set_router(builder, &settings);

    must(weir_snapshot_build(builder, &snapshot), "build");
    weir_snapshot_builder_free(builder);
    return snapshot;
}

/* Here a real host sends a request.  This provider of `primary` is down. */
static int ask_provider(struct weir_slice id, uint64_t *now_ns)
{
    *now_ns += 20 * MS;
    return id.ptr[0] == 'p' ? 503 : 200;
}

static void perform_start(struct host *host, weir_call *call, const struct weir_step *step)
{
    struct weir_slice id = weir_deployment_id(step->u.start.deployment);
    int status = ask_provider(id, &host->now_ns);

    printf("  %5" PRIu64 " ms  attempt %u on %.*s: %d\n", host->now_ns / MS, step->attempt, TEXT(id), status);
    if (status == 200) {
        struct weir_outcome outcome = {.completion_tokens = 12};

        weir_call_on_finished(call, step->attempt, &outcome, host->now_ns);
    } else {
        struct weir_failure failure = {
            .kind = WEIR_KIND_SERVICE_UNAVAILABLE, .status = status, .origin = WEIR_ORIGIN_PROVIDER};

        weir_call_on_failed(call, step->attempt, &failure, host->now_ns);
    }
}

static void print_events(const struct host *host, weir_call *call)
{
    struct weir_event event;

    while (weir_call_event(call, &event)) {
        struct weir_slice name = weir_event_name(event.kind);

        if (event.kind == WEIR_EVENT_COOLDOWN_SET)
            printf("  %5" PRIu64 " ms  %.*s: %.*s for %" PRIu64 " ms\n", host->now_ns / MS, TEXT(name),
                   TEXT(event.deployment), event.u.cooldown_set.length_ns / MS);
        if (event.kind == WEIR_EVENT_FALLBACK)
            printf("  %5" PRIu64 " ms  %.*s: %.*s to %.*s\n", host->now_ns / MS, TEXT(name),
                   TEXT(event.u.fallback.source), TEXT(event.u.fallback.target));
    }
}

/* Asks for steps until the call is over. */
static void drive(struct host *host, weir_call *call)
{
    struct weir_step step;

    for (;;) {
        must(weir_call_next(call, host->now_ns, &step), "next step");
        print_events(host, call);
        switch (step.kind) {
        case WEIR_STEP_START:
            perform_start(host, call, &step);
            break;
        case WEIR_STEP_ASK:
            weir_call_on_answer(call, step.u.ask.id, WEIR_ANSWER_YES, host->now_ns);
            break;
        case WEIR_STEP_NONE: /* nothing to do yet; a real host lets its event loop wait */
            host->now_ns = weir_call_expiry(call);
            break;
        case WEIR_STEP_CONTINUE: /* no call of this host is a stream, and no attempt outlives perform_start */
        case WEIR_STEP_CANCEL:
        case WEIR_STEP_COMMIT:
            break;
        case WEIR_STEP_DELIVER:
            printf("  %5" PRIu64 " ms  answered by attempt %u\n", host->now_ns / MS, step.attempt);
            return;
        case WEIR_STEP_FAIL:
            printf("  %5" PRIu64 " ms  failed with status %d\n", host->now_ns / MS,
                   step.u.fail.failure.status);
            return;
        }
    }
}

static void serve(struct host *host, int number)
{
    struct weir_request request;
    weir_call *call;

    weir_request_init(&request);
    request.model = WEIR_SLICE("chat");
    must(weir_call_begin(host->router, host->snapshot, &request, weir_mem_libc(), host->now_ns, &call),
         "begin");
    printf("call %d\n", number);
    drive(host, call);
    weir_call_free(call);
}

int main(void)
{
    struct host host = {.snapshot = configure()};

    must(weir_router_new(weir_mem_libc(), 42, &host.router), "new router");
    must(weir_router_adopt(host.router, host.snapshot), "adopt");
    for (int number = 1; number <= 3; number++)
        serve(&host, number);
    weir_snapshot_unref(host.snapshot);
    weir_router_free(host.router);
    return 0;
}
