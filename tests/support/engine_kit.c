/*
 * Kits and calls from texts, what tests expect of them, and how they look at them.
 */
#include "engine_kit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "base/time.h"
#include "engine/snapshot/snapshot.h"

#include "engine_host.h"

#define TRACE_SHOWN 6000 /* bytes of the trace's end that a failed test prints */

__attribute__((format(printf, 4, 0))) static void append(char *text, size_t max, size_t *len,
                                                         const char *format, va_list args)
{
    int written = vsnprintf(text + *len, max - *len, format, args);

    if (written > 0)
        *len += (size_t)written < max - *len ? (size_t)written : max - *len - 1;
}

void kit_note(struct kit *kit, const char *format, ...)
{
    va_list args;
    double at = weir_time_to_s(kit->now_ns - KIT_EPOCH_NS);
    int written = snprintf(kit->trace + kit->trace_len, sizeof(kit->trace) - kit->trace_len, "%10.6f #%zu ",
                           at, kit->speaking);

    if (written > 0 && (size_t)written < sizeof(kit->trace) - kit->trace_len)
        kit->trace_len += (size_t)written;
    va_start(args, format);
    append(kit->trace, sizeof(kit->trace), &kit->trace_len, format, args);
    va_end(args);
}

void kit_note_more(struct kit *kit, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    append(kit->trace, sizeof(kit->trace), &kit->trace_len, format, args);
    va_end(args);
}

void kit_tell(struct kit_call *call, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    append(call->story, sizeof(call->story), &call->story_len, format, args);
    va_end(args);
}

void kit_tell_of(struct kit_call *call, uint32_t attempt, const char *format, ...)
{
    va_list args;

    if (attempt != call->told_of)
        kit_tell(call, " %.*s", S(call->attempts[attempt].deployment->spec.id));
    call->told_of = attempt;
    va_start(args, format);
    append(call->story, sizeof(call->story), &call->story_len, format, args);
    va_end(args);
}

void kit_die(const struct kit *kit, const char *format, ...)
{
    va_list args;
    const char *tail = kit->trace_len > TRACE_SHOWN ? kit->trace + kit->trace_len - TRACE_SHOWN : kit->trace;

    fprintf(stderr, "\nseed %" PRIu64 "\ntrace:\n%s\n", kit->seed, tail);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    fail();
    abort();
}

static const char *hop_kind_name(weir_hop_kind kind)
{
    static const char *const names[] = {"group", "order", "sibling"};

    return names[kind];
}

static void picked_text(const struct weir_event *event, char *text, size_t max)
{
    struct weir_slice purpose = weir_pick_purpose_name(event->u.picked.purpose), fate;
    size_t len = 0;

    len = (size_t)snprintf(text, max, " for %.*s", S(purpose));
    for (uint32_t i = 0; i < event->u.picked.count && len < max; i++) {
        fate = weir_fate_name(event->u.picked.candidates[i].fate);
        len += (size_t)snprintf(text + len, max - len, " %.*s=%.*s",
                                S(event->u.picked.candidates[i].deployment), S(fate));
    }
    if (event->u.picked.omitted > 0 && len < max)
        snprintf(text + len, max - len, " and %" PRIu32, event->u.picked.omitted);
}

void kit_event_text(const struct weir_event *event, char *text, size_t max)
{
    struct weir_slice name = weir_event_name(event->kind);
    int at = snprintf(text, max, "%.*s", S(name));
    char *rest = text + at;
    size_t room = max - (size_t)at;

    switch (event->kind) {
    case WEIR_EVENT_PICKED:
        picked_text(event, rest, room);
        break;
    case WEIR_EVENT_ATTEMPT_STARTED:
        snprintf(rest, room, " %.*s", S(event->deployment));
        break;
    case WEIR_EVENT_ATTEMPT_FAILED:
    case WEIR_EVENT_ATTEMPT_REFUSED:
        snprintf(rest, room, " %.*s %d %s", S(event->deployment), event->u.attempt_failed.failure.status,
                 event->u.attempt_failed.will_retry ? "retry" : "leave");
        break;
    case WEIR_EVENT_RETRY:
        snprintf(rest, room, " %" PRIu32 "/%" PRIu32, event->u.retry.number, event->u.retry.max);
        break;
    case WEIR_EVENT_FALLBACK:
        at = snprintf(rest, room, " %s %.*s>%.*s", hop_kind_name(event->u.fallback.kind),
                      S(event->u.fallback.source), S(event->u.fallback.target));
        if (event->u.fallback.order != WEIR_UNSET_ORDER)
            at += snprintf(rest + at, room - (size_t)at, " order=%" PRId32, event->u.fallback.order);
        snprintf(rest + at, room - (size_t)at, " depth=%" PRIu32 " level=%" PRIu32, event->u.fallback.depth,
                 event->u.fallback.level);
        break;
    case WEIR_EVENT_RETRY_REFUSED:
        snprintf(rest, room, " %.*s %s %" PRIu64 "/%" PRIu64, S(event->deployment),
                 event->u.retry_refused.what == WEIR_REFUSED_RETRY ? "retry" : "hedge",
                 event->u.retry_refused.spent, event->u.retry_refused.requests);
        break;
    case WEIR_EVENT_HEDGED:
        snprintf(rest, room, " %.*s %g", S(event->deployment), weir_time_to_s(event->u.hedged.waited_ns));
        break;
    case WEIR_EVENT_HEDGE_LOST:
        snprintf(rest, room, " %.*s to %" PRIu32, S(event->deployment), event->u.hedge_lost.winner);
        break;
    case WEIR_EVENT_COOLING_WAIT:
        snprintf(rest, room, " %g", weir_time_to_s(event->u.cooling_wait.wait_ns));
        break;
    case WEIR_EVENT_COOLDOWN_SET:
        name = weir_cooldown_rule_name(event->u.cooldown_set.rule);
        snprintf(rest, room, " %.*s %d %.*s %g%s", S(event->deployment), event->u.cooldown_set.failure.status,
                 S(name), weir_time_to_s(event->u.cooldown_set.length_ns),
                 event->u.cooldown_set.capped ? " capped" : "");
        break;
    case WEIR_EVENT_FAILED:
        snprintf(rest, room, " %d", event->u.failed.failure.status);
        break;
    case WEIR_EVENT_STREAM_BROKEN:
        snprintf(rest, room, " %.*s %d%s", S(event->deployment), event->u.stream_broken.failure.status,
                 event->u.stream_broken.committed ? " committed" : "");
        break;
    case WEIR_EVENT_STREAM_CONTINUED:
        snprintf(rest, room, " %.*s of %" PRIu32 " after %" PRIu64, S(event->deployment),
                 event->u.stream_continued.broken, event->u.stream_continued.text_bytes);
        break;
    case WEIR_EVENT_STREAM_RECOVERED:
    case WEIR_EVENT_SUCCEEDED:
    case WEIR_EVENT_KINDS:
    default:
        break;
    }
}

static int build_parts(const struct kit_config *config, weir_snapshot_builder *builder)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < config->deployment_count; i++) {
        struct weir_deployment_spec spec = config->deployments[i].spec;

        spec.user = (void *)(uintptr_t)(i + 1);
        rc = weir_snapshot_add_deployment(builder, &spec);
    }
    for (size_t i = 0; rc == 0 && i < config->alias_count; i++)
        rc = weir_snapshot_add_alias(builder, config->aliases[i].name, config->aliases[i].target,
                                     config->aliases[i].hidden);
    for (size_t i = 0; rc == 0 && i < config->chain_count; i++)
        rc = weir_snapshot_add_chain(builder, config->chains[i].list, config->chains[i].source,
                                     &config->chains[i].chain);
    for (size_t i = 0; rc == 0 && i < WEIR_LIST_SOURCES; i++) {
        if (config->default_counts[i] > 0)
            rc = weir_snapshot_set_default_fallbacks(builder, (weir_list_source)i, config->defaults[i],
                                                     config->default_counts[i]);
    }
    for (size_t i = 0; rc == 0 && i < config->group_count; i++)
        rc = weir_snapshot_add_group(builder, config->groups[i].name, &config->groups[i].spec);
    for (size_t i = 0; rc == 0 && i < config->routing_count; i++)
        rc = weir_snapshot_add_routing_group(builder, &config->routings[i].group);
    for (size_t i = 0; rc == 0 && i < config->policy_count; i++)
        rc = weir_snapshot_add_retry_policy(builder, config->policies[i].group, &config->policies[i].policy);
    weir_snapshot_set_router(builder, &config->router);
    return rc;
}

int kit_build(const struct kit_config *config, const struct weir_mem *mem, weir_snapshot **ret_snapshot)
{
    weir_snapshot_builder *builder = NULL;
    int rc = weir_snapshot_builder_new(mem, &builder);

    if (rc == 0)
        rc = build_parts(config, builder);
    if (rc == 0)
        rc = weir_snapshot_build(builder, ret_snapshot);
    weir_snapshot_builder_free(builder);
    return rc;
}

static void note_change(void *user)
{
    struct kit *kit = user;

    kit->notified++;
}

static struct kit_config *load(struct kit *kit, const char *text)
{
    struct kit_config *config = malloc(sizeof(*config));
    int rc;

    if (config == NULL)
        abort();
    kit_parse_config(config, text);
    if (config->shares && kit->config == NULL && weir_router_share(kit->router, note_change, kit) != 0)
        kit_die(kit, "a router that cannot share");
    rc = kit_build(config, &kit->mem.mem, &kit->snapshot);
    if (rc == 0)
        rc = weir_router_adopt(kit->router, kit->snapshot);
    if (rc != 0)
        kit_die(kit, "no snapshot: %d\n%s", rc, text);
    if (!weir_snapshot_validate(kit->snapshot))
        kit_die(kit, "the snapshot breaks its invariant\n%s", text);
    config->older = kit->config;
    return config;
}

struct kit *kit_new(uint64_t seed, const char *config)
{
    struct kit *kit = calloc(1, sizeof(*kit));

    if (kit == NULL)
        abort();
    kit->seed = seed;
    kit->now_ns = KIT_EPOCH_NS;
    test_mem_init(&kit->mem, 0);
    if (weir_router_new(&kit->mem.mem, seed, &kit->router) != 0)
        kit_die(kit, "no router");
    kit->config = load(kit, config);
    return kit;
}

void kit_reload(struct kit *kit, const char *config)
{
    weir_snapshot *old = kit->snapshot;

    kit->config = load(kit, config);
    weir_snapshot_unref(old);
}

/* Whatever an attempt takes of a deployment it gives back. */
static void check_idle(const struct kit *kit)
{
    for (size_t i = 0; i < weir_snapshot_deployment_count(kit->snapshot); i++) {
        const weir_deployment *deployment = weir_snapshot_deployment(kit->snapshot, i);
        struct weir_live_view view;

        weir_router_view(kit->router, deployment, kit->now_ns, &view);
        if (view.running != 0)
            kit_die(kit, "%" PRIu32 " attempts run on %.*s for ever", view.running,
                    S(weir_deployment_id(deployment)));
    }
}

void kit_forget(struct kit *kit)
{
    while (kit->calls != NULL) {
        struct kit_call *call = kit->calls;

        kit->calls = call->next;
        if (call->end == KIT_RUNNING)
            kit->running--;
        weir_call_free(call->call);
        if (call->mem.live_blocks != 0)
            kit_die(kit, "a call lost %zu blocks", call->mem.live_blocks);
        kit_request_deinit(&call->request);
        free(call);
    }
    check_idle(kit);
}

void kit_close(struct kit **kit_place)
{
    struct kit *kit = *kit_place;

    if (kit == NULL)
        return;
    kit_forget(kit);
    weir_snapshot_unref(kit->snapshot);
    weir_router_free(kit->router);
    if (kit->mem.live_blocks != 0)
        kit_die(kit, "router and snapshots lost %zu blocks", kit->mem.live_blocks);
    while (kit->config != NULL) {
        struct kit_config *config = kit->config;

        kit->config = config->older;
        kit_config_deinit(config);
        free(config);
    }
    free(kit);
    *kit_place = NULL;
}

void kit_advance(struct kit *kit, double seconds)
{
    kit->now_ns += weir_time_from_s(seconds);
    kit->speaking = 0;
    kit_note(kit, "later\n");
}

struct kit_call *kit_begin(struct kit *kit, const char *request)
{
    struct kit_call *call = malloc(sizeof(*call));
    int rc;

    if (call == NULL)
        abort();
    /* the large arrays at its end are written before they are read */
    memset(call, 0, offsetof(struct kit_call, story) + 1);
    call->noted_count = 0;
    call->kit = kit;
    call->number = ++kit->begun;
    kit->speaking = call->number;
    kit_note(kit, "call %s\n", request);
    call->config = kit->config;
    kit_parse_request(&call->request, request);
    test_mem_init(&call->mem, kit->calls_fail_from);
    call->begun_ns = kit->now_ns;
    call->gone_ns = weir_time_add(kit->now_ns, call->request.gone_after_ns);
    call->next = kit->calls;
    rc = weir_call_begin(kit->router, kit->snapshot, &call->request.request, &call->mem.mem, kit->now_ns,
                         &call->call);
    if (rc == WEIR_ERR_NOMEM && call->mem.failed) {
        test_mem_assert_empty(&call->mem);
        kit_request_deinit(&call->request);
        free(call);
        return NULL;
    }
    if (rc != 0)
        kit_die(kit, "weir_call_begin: %d", rc);
    kit->calls = call;
    kit->running++;
    kit_pump(call);
    return call;
}

struct kit_call *kit_call(struct kit *kit, const char *request)
{
    struct kit_call *call = kit_begin(kit, request);

    if (call != NULL)
        kit_run(call);
    return call;
}

static bool story_fits(const char *story, const char *pattern)
{
    size_t len = strlen(pattern);

    if (len > 1 && pattern[len - 1] == '*' && pattern[len - 2] == ' ')
        return strncmp(story, pattern, len - 1) == 0;
    return strcmp(story, pattern) == 0;
}

struct kit_call *kit_expect(struct kit *kit, const char *request, const char *story, const char *file,
                            int line)
{
    struct kit_call *call = kit_call(kit, request);

    if (!story_fits(call->story, story))
        kit_die(kit, "%s:%d: call '%s'\n  is:       %s\n  expected: %s", file, line, request, call->story,
                story);
    return call;
}

void kit_expect_each(struct kit *kit, size_t times, const char *request, const char *story, const char *file,
                     int line)
{
    for (size_t i = 0; i < times; i++)
        (void)kit_expect(kit, request, story, file, line);
}

void kit_expect_waits(const struct kit_call *call, size_t count, double least, double most, const char *file,
                      int line)
{
    if (call->wait_count != count)
        kit_die(call->kit, "%s:%d: %zu waits, expected %zu", file, line, call->wait_count, count);
    for (size_t i = 0; i < count; i++) {
        if (call->waits[i] < weir_time_from_s(least) || call->waits[i] > weir_time_from_s(most))
            kit_die(call->kit, "%s:%d: wait %zu of %.6f s", file, line, i, weir_time_to_s(call->waits[i]));
    }
}

static bool is_wanted(const char *kinds, struct weir_slice name)
{
    struct weir_slice rest = weir_slice_str(kinds);
    struct weir_slice field;
    bool done = false;

    while (weir_slice_cut(&rest, ',', &done, &field)) {
        if (weir_slice_eq(field, name))
            return true;
    }
    return false;
}

void kit_expect_events(const struct kit_call *call, const char *kinds, const char *text, const char *file,
                       int line)
{
    char all[8192] = "";
    size_t len = 0;

    for (size_t i = 0; i < call->event_count; i++) {
        char one[512];

        if (!is_wanted(kinds, weir_event_name(call->events[i].kind)))
            continue;
        kit_event_text(&call->events[i], one, sizeof(one));
        len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", len == 0 ? "" : ", ", one);
    }
    if (strcmp(all, text) != 0)
        kit_die(call->kit, "%s:%d: events\n  are:      %s\n  expected: %s", file, line, all, text);
}

const struct weir_event *kit_event(const struct kit_call *call, weir_event_kind kind, size_t n)
{
    for (size_t i = 0; i < call->event_count; i++) {
        if (call->events[i].kind == kind && n-- == 0)
            return &call->events[i];
    }
    return NULL;
}

size_t kit_event_count(const struct kit_call *call, weir_event_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < call->event_count; i++)
        count += call->events[i].kind == kind;
    return count;
}

struct kit_deployment *kit_deployment(const struct kit *kit, const char *id)
{
    for (size_t i = 0; i < kit->config->deployment_count; i++) {
        if (weir_slice_eq(kit->config->deployments[i].spec.id, weir_slice_str(id)))
            return &kit->config->deployments[i];
    }
    kit_die(kit, "no deployment %s", id);
}

const weir_deployment *kit_find(const struct kit *kit, const char *id)
{
    const weir_deployment *deployment = weir_snapshot_find_deployment(kit->snapshot, weir_slice_str(id));

    if (deployment == NULL)
        kit_die(kit, "no deployment %s", id);
    return deployment;
}

struct weir_live_view kit_view(const struct kit *kit, const char *id)
{
    struct weir_live_view view;

    weir_router_view(kit->router, kit_find(kit, id), kit->now_ns, &view);
    return view;
}

double kit_cooling(const struct kit *kit, const char *id)
{
    struct weir_live_view view = kit_view(kit, id);

    return view.cooldown_until_ns <= kit->now_ns ? 0 : weir_time_to_s(view.cooldown_until_ns - kit->now_ns);
}

void kit_cool(struct kit *kit, const char *id, double seconds, const char *by)
{
    assert_int_equal(weir_router_cool(kit->router, kit_find(kit, id), weir_time_from_s(seconds),
                                      weir_slice_str(by), kit->now_ns),
                     0);
}

bool kit_lift(struct kit *kit, const char *id, const char *by)
{
    return weir_router_lift(kit->router, kit_find(kit, id), weir_slice_str(by), kit->now_ns);
}

struct weir_summary kit_summary(const struct kit_call *call)
{
    struct weir_summary summary;

    weir_call_summary(call->call, &summary);
    return summary;
}

void kit_probe(struct kit *kit, const char *id, const char *result)
{
    struct kit_deployment *said = calloc(1, sizeof(*said));
    char *copy = strdup(result);
    const struct kit_piece *piece;

    if (said == NULL || copy == NULL)
        abort();
    kit_parse_answers(said, copy);
    piece = &said->answers[0].pieces[0];
    weir_router_probe(kit->router, kit->snapshot, kit_find(kit, id),
                      piece->kind == KIT_FAILURE ? &piece->u.failure : NULL, kit->now_ns);
    free(copy);
    free(said);
}

void kit_script(struct kit *kit, const char *id, const char *answers)
{
    struct kit_deployment *deployment = kit_deployment(kit, id);
    char *copy = strdup(answers);

    if (copy == NULL)
        abort();
    kit_parse_answers(deployment, copy); /* answers keep no text */
    deployment->calls = 0;
    free(copy);
}
