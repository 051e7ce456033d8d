/*
 * Cooldowns (RS 15.1, 22; decisions 7, 34; beyond.md 5).
 *
 * The key's value is written as Python writes a dict, and says what LiteLLM's does.  It lives for whole
 * seconds, as LiteLLM's does; what ends within a second is only published.  While the key exists the cooldown
 * is in force, and its time to live says for how long: clocks differ, so the value's own time decides nothing
 * but where a key has no end.
 *
 * What was seen of a key is remembered.  So each value is read once; and one that goes before its end was
 * taken back by somebody, which ends the cooldown here too.
 */
#include <weir/error.h>

#include "base/slice.h"
#include "base/text.h"
#include "base/time.h"
#include "state/python_text.h"
#include "state/python_write.h"
#include "state/sync/parts.h"

#define LIFT_MARGIN_NS (50 * WEIR_NS_PER_MS)
/* A key lives for whole seconds, so the cooldown that it was written for may last that much longer. */
#define CUT_OFF_NS (1100 * WEIR_NS_PER_MS)

enum { RECEIVED_MAX = 50 };

static const struct weir_slice class_prefix = WEIR_SLICE_INIT("litellm.");
static const struct weir_slice lifted_key = WEIR_SLICE_INIT("lifted");
static const struct weir_slice process_mark = WEIR_SLICE_INIT(": weir ");

/* ---- what a value says ---- */

static struct weir_literal text_item(const char *key, struct weir_slice text, const struct weir_literal *next)
{
    return (struct weir_literal){
        .kind = WEIR_LITERAL_TEXT, .text = text, .key = weir_slice_str(key), .next = next};
}

static struct weir_literal number_item(const char *key, double number, const struct weir_literal *next)
{
    return (struct weir_literal){
        .kind = WEIR_LITERAL_NUMBER, .number = number, .key = weir_slice_str(key), .next = next};
}

/* "litellm.RateLimitError: weir host:42": the exception's text is the caller's affair and not told. */
static struct weir_slice received_text(const weir_sync *sync, weir_kind kind, char text[RECEIVED_MAX])
{
    const struct weir_slice parts[] = {class_prefix, weir_kind_row(kind)->class_name, process_mark,
                                       sync->process};
    size_t len = 0;

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        struct weir_slice part = weir_slice_sub(parts[i], 0, RECEIVED_MAX - len);

        if (part.len > 0)
            memcpy(text + len, part.ptr, part.len);
        len += part.len;
    }
    return (struct weir_slice){text, len};
}

/* Into the room for texts. */
static int write_value(weir_sync *sync, const struct weir_change *change)
{
    uint64_t length_ns = change->u.cooldown.length_ns, remaining_ns = change->u.cooldown.remaining_ns;
    uint64_t past_ns = length_ns > remaining_ns ? length_ns - remaining_ns : 0;
    double set = weir_time_to_s((weir_sync_wall(sync) - past_ns) / WEIR_NS_PER_US * WEIR_NS_PER_US);
    char received[RECEIVED_MAX], digits[WEIR_TEXT_U64_MAX];
    struct weir_literal length = number_item("cooldown_time", weir_time_to_s(length_ns), NULL);
    struct weir_literal timestamp = number_item("timestamp", set, &length);
    struct weir_literal status =
        text_item("status_code", weir_text_u64((uint64_t)change->u.cooldown.status, digits), &timestamp);
    struct weir_literal exception =
        text_item("exception_received", received_text(sync, change->u.cooldown.kind, received), &status);
    const struct weir_literal map = {.kind = WEIR_LITERAL_MAP, .first = &exception, .count = 4};

    weir_buf_clear(&sync->text);
    return weir_literal_write(&sync->text, WEIR_LITERAL_AS_PYTHON, &map);
}

static double number_of(const struct weir_literal *map, const char *key)
{
    const struct weir_literal *item = weir_literal_get(map, weir_slice_str(key));
    double number;

    if (item != NULL && item->kind == WEIR_LITERAL_NUMBER)
        return item->number;
    if (item != NULL && item->kind == WEIR_LITERAL_TEXT && weir_slice_number(item->text, &number) == 0)
        return number;
    return 0;
}

static struct weir_slice text_of(const struct weir_literal *map, const char *key)
{
    const struct weir_literal *item = weir_literal_get(map, weir_slice_str(key));

    return item != NULL && item->kind == WEIR_LITERAL_TEXT ? item->text : WEIR_SLICE_EMPTY;
}

static int status_of(double number)
{
    return number >= 100 && number <= 999 ? (int)number : 0;
}

/* The first kind whose class the text names; else the first with that status; else internal. */
static weir_kind kind_of(struct weir_slice text, int status)
{
    if (weir_slice_starts(text, class_prefix))
        text = weir_slice_sub(text, class_prefix.len, text.len);
    text = weir_slice_sub(text, 0, weir_slice_find_char(text, ':'));
    for (int kind = 0; kind < WEIR_KIND_COUNT; kind++)
        if (weir_slice_eq(weir_kind_row((weir_kind)kind)->class_name, text))
            return (weir_kind)kind;
    for (int kind = 0; kind < WEIR_KIND_COUNT; kind++)
        if (weir_kind_row((weir_kind)kind)->status == status)
            return (weir_kind)kind;
    return WEIR_KIND_INTERNAL;
}

weir_kind weir_sync_kind_named(struct weir_slice name, int status)
{
    for (int kind = 0; kind < WEIR_KIND_COUNT; kind++)
        if (weir_slice_eq(weir_kind_row((weir_kind)kind)->name, name))
            return (weir_kind)kind;
    return kind_of(name, status);
}

static struct weir_slice process_of(struct weir_slice received)
{
    size_t at = weir_slice_find(received, process_mark);

    return at == WEIR_SLICE_NONE ? WEIR_SLICE_EMPTY
                                 : weir_slice_sub(received, at + process_mark.len, received.len);
}

/* ---- telling ---- */

static void on_written(void *user, uint64_t tag, const struct weir_reply *reply)
{
    struct weir_sync_told *told = user;

    (void)tag;
    if (weir_sync_judge(told, reply) != 0)
        return;
    weir_router_change_done(told->sync->router, told->sync->snapshot, &told->change, 0,
                            weir_sync_now(told->sync));
    weir_sync_drop(told);
}

/* The message, as JSON, into the room for texts. */
static int write_message(weir_sync *sync, const struct weir_change *change)
{
    char instance[WEIR_TEXT_HEX64_MAX];
    struct weir_literal from = text_item("instance", weir_text_hex64(sync->instance, instance), NULL);
    struct weir_literal process = text_item("process", sync->process, &from);
    struct weir_literal kind = text_item("kind", weir_kind_row(change->u.cooldown.kind)->name, &process);
    struct weir_literal status = number_item("status", change->u.cooldown.status, &kind);
    struct weir_literal remaining =
        number_item("remaining_ms", (double)(change->u.cooldown.remaining_ns / WEIR_NS_PER_MS), &status);
    struct weir_literal id = text_item("id", change->id, &remaining);
    const struct weir_literal map = {.kind = WEIR_LITERAL_MAP, .first = &id, .count = 6};

    weir_buf_clear(&sync->text);
    return weir_literal_write(&sync->text, WEIR_LITERAL_AS_JSON, &map);
}

static int publish(weir_sync *sync, const struct weir_change *change, struct weir_redis_sink sink)
{
    const struct weir_key_parts none = {.id = WEIR_SLICE_EMPTY};

    if (write_message(sync, change) < 0)
        return WEIR_ERR_NOMEM;
    return WEIR_SYNC_SEND(sync, sink, WEIR_SLICE("PUBLISH"), weir_sync_key(sync, WEIR_KEY_CHANNEL, &none),
                          weir_buf_slice(&sync->text));
}

static int set(weir_sync *sync, const struct weir_change *change, struct weir_redis_sink sink)
{
    const struct weir_key_parts parts = {.id = change->id};
    char life[WEIR_TEXT_U64_MAX];

    if (write_value(sync, change) < 0)
        return WEIR_ERR_NOMEM;
    return WEIR_SYNC_SEND(sync, sink, WEIR_SLICE("SET"), weir_sync_key(sync, WEIR_KEY_COOLDOWN, &parts),
                          weir_buf_slice(&sync->text), WEIR_SLICE("EX"),
                          weir_text_u64(change->u.cooldown.remaining_ns / WEIR_NS_PER_S, life));
}

void weir_sync_tell_cooldown(weir_sync *sync, const struct weir_change *change)
{
    struct weir_sync_told *told = weir_sync_keep(sync, change);
    const struct weir_redis_sink sink = {.done = on_written, .user = told};
    bool lasts = change->u.cooldown.remaining_ns >= WEIR_NS_PER_S;

    if (told == NULL) {
        weir_router_change_undone(sync->router, change);
        return;
    }
    if ((lasts ? set(sync, change, sink) : publish(sync, change, sink)) != 0) {
        weir_sync_undo(told);
        return;
    }
    if (lasts)
        (void)!publish(sync, change, WEIR_SYNC_NOBODY); /* the key is read within a second anyway */
}

/* What a hand has lifted: no process is to wait for the key to be missed. */
static int publish_lift(weir_sync *sync, const struct weir_change *change)
{
    const struct weir_key_parts none = {.id = WEIR_SLICE_EMPTY};
    char instance[WEIR_TEXT_HEX64_MAX];
    struct weir_literal from = text_item("instance", weir_text_hex64(sync->instance, instance), NULL);
    struct weir_literal process = text_item("process", sync->process, &from);
    struct weir_literal lifted = {.kind = WEIR_LITERAL_BOOL, .truth = true, .next = &process};
    struct weir_literal id = text_item("id", change->id, &lifted);
    const struct weir_literal map = {.kind = WEIR_LITERAL_MAP, .first = &id, .count = 4};

    lifted.key = lifted_key;
    weir_buf_clear(&sync->text);
    if (weir_literal_write(&sync->text, WEIR_LITERAL_AS_JSON, &map) < 0)
        return WEIR_ERR_NOMEM;
    return WEIR_SYNC_SEND(sync, WEIR_SYNC_NOBODY, WEIR_SLICE("PUBLISH"),
                          weir_sync_key(sync, WEIR_KEY_CHANNEL, &none), weir_buf_slice(&sync->text));
}

void weir_sync_tell_lift(weir_sync *sync, const struct weir_change *change)
{
    const struct weir_key_parts parts = {.id = change->id};
    struct weir_sync_told *told = weir_sync_keep(sync, change);
    const struct weir_redis_sink sink = {.done = on_written, .user = told};

    if (told == NULL) {
        weir_router_change_undone(sync->router, change);
        return;
    }
    if (WEIR_SYNC_SEND(sync, sink, WEIR_SLICE("DEL"), weir_sync_key(sync, WEIR_KEY_COOLDOWN, &parts)) != 0) {
        weir_sync_undo(told);
        return;
    }
    (void)!publish_lift(sync, change); /* the key is missed within a second anyway */
}

/* ---- hearing ---- */

static void hear_lift(weir_sync *sync, const weir_deployment *deployment)
{
    uint64_t now = weir_sync_now(sync);
    struct weir_live_view view;

    weir_router_view(sync->router, deployment, now, &view);
    (void)weir_router_lift_cooldown(sync->router, deployment, view.cooldown_until_ns, now);
}

void weir_sync_hear(weir_sync *sync, struct weir_slice payload)
{
    char instance[WEIR_TEXT_HEX64_MAX];
    struct weir_learned_cooldown learned;
    const weir_deployment *deployment;
    const struct weir_literal *map, *lifted;
    double remaining_ms;

    weir_arena_reset(&sync->arena);
    if (weir_literal_read(&sync->arena, payload, &map, NULL) != 0 ||
        weir_slice_eq(text_of(map, "instance"), weir_text_hex64(sync->instance, instance)))
        return;
    deployment = weir_snapshot_find_deployment(sync->snapshot, text_of(map, "id"));
    if (deployment == NULL || !weir_sync_shares(sync, deployment, WEIR_SHARED_COOLDOWN))
        return;
    lifted = weir_literal_get(map, lifted_key);
    if (lifted != NULL && lifted->kind == WEIR_LITERAL_BOOL && lifted->truth)
        hear_lift(sync, deployment);
    remaining_ms = number_of(map, "remaining_ms");
    if (!(remaining_ms > 0))
        return;
    learned = (struct weir_learned_cooldown){.remaining_ns = weir_time_from_s(remaining_ms / 1000),
                                             .status = status_of(number_of(map, "status")),
                                             .by = text_of(map, "process")};
    learned.kind = weir_sync_kind_named(text_of(map, "kind"), learned.status);
    (void)weir_router_learn_cooldown(sync->router, deployment, &learned, weir_sync_now(sync));
}

/* ---- seeing ---- */

/* A value that was read, whose key is asked how long it lives. */
struct asked {
    weir_sync *sync;
    uint64_t generation;
    uint32_t index;
    uint64_t hash;
    double ends_s; /* by the value's own time */
    weir_kind kind;
    int status;
    struct weir_process_name by;
};

/* How long a cooldown lasts by the life of its key; 0: it is over. */
static uint64_t remaining_of(const struct asked *asked, int64_t life_ms)
{
    double left_s;

    if (life_ms >= 0)
        return (uint64_t)life_ms * WEIR_NS_PER_MS;
    if (life_ms != -1) /* the key has gone */
        return 0;
    left_s = asked->ends_s - weir_time_to_s(weir_sync_wall(asked->sync));
    return left_s > 0 ? weir_time_from_s(left_s) : 0;
}

static void learn(const struct asked *asked, int64_t life_ms)
{
    weir_sync *sync = asked->sync;
    const weir_deployment *deployment = weir_snapshot_deployment(sync->snapshot, asked->index);
    struct weir_sync_seen *seen = &sync->seen[asked->index];
    uint64_t now = weir_sync_now(sync), expiry;
    const struct weir_learned_cooldown learned = {.remaining_ns = remaining_of(asked, life_ms),
                                                  .kind = asked->kind,
                                                  .status = asked->status,
                                                  .by = {asked->by.text, asked->by.len}};

    /* Of one that stays though its time is over, nothing is asked again. */
    *seen = (struct weir_sync_seen){.hash = life_ms == -1 ? asked->hash : 0, .expiry_ns = WEIR_TIME_NEVER};
    if (learned.remaining_ns == 0)
        return;
    expiry = weir_time_add(now, learned.remaining_ns);
    *seen = (struct weir_sync_seen){.hash = asked->hash,
                                    .expiry_ns = life_ms < 0 ? WEIR_TIME_NEVER : expiry,
                                    .until_ns =
                                        weir_router_learn_cooldown(sync->router, deployment, &learned, now)};
    if (seen->until_ns > weir_time_add(expiry, CUT_OFF_NS))
        seen->until_ns = 0;
}

static void on_life(void *user, uint64_t tag, const struct weir_reply *reply)
{
    struct asked *asked = user;
    weir_sync *sync = asked->sync;

    (void)tag;
    if (reply != NULL && reply->kind == WEIR_REPLY_INTEGER && asked->generation == sync->generation &&
        asked->index < sync->count)
        learn(asked, reply->number);
    sync->mem->free(sync->mem->user, asked, sizeof(*asked));
    sync->lives--;
    weir_sync_go_on(sync);
}

/* What the value says, into *asked; 1: it cannot be read, and counts as none. */
static int read_value(weir_sync *sync, struct weir_slice text, struct asked *asked)
{
    const struct weir_literal *map;
    struct weir_slice received, by;

    weir_arena_reset(&sync->arena);
    if (weir_literal_read(&sync->arena, text, &map, NULL) != 0 || map->kind != WEIR_LITERAL_MAP)
        return 1;
    received = text_of(map, "exception_received");
    asked->status = status_of(number_of(map, "status_code"));
    asked->kind = kind_of(received, asked->status);
    asked->ends_s = number_of(map, "timestamp") + number_of(map, "cooldown_time");
    by = weir_slice_sub(process_of(received), 0, WEIR_PROCESS_NAME_BYTES);
    asked->by.len = (uint8_t)by.len;
    if (by.len > 0)
        memcpy(asked->by.text, by.ptr, by.len);
    return 0;
}

static void ask_life(weir_sync *sync, uint32_t index, uint64_t hash, struct weir_slice text)
{
    const struct weir_key_parts parts = {
        .id = weir_deployment_id(weir_snapshot_deployment(sync->snapshot, index))};
    struct asked *asked = sync->mem->alloc(sync->mem->user, sizeof(*asked));

    if (asked == NULL)
        return;
    *asked = (struct asked){.sync = sync, .generation = sync->generation, .index = index, .hash = hash};
    if (read_value(sync, text, asked) != 0) {
        if (!weir_arena_failed(&sync->arena))
            sync->seen[index] = (struct weir_sync_seen){.hash = hash, .expiry_ns = WEIR_TIME_NEVER};
    } else if (WEIR_SYNC_SEND(sync, ((struct weir_redis_sink){.done = on_life, .user = asked}),
                              WEIR_SLICE("PTTL"), weir_sync_key(sync, WEIR_KEY_COOLDOWN, &parts)) == 0) {
        sync->lives++;
        return;
    }
    sync->mem->free(sync->mem->user, asked, sizeof(*asked));
}

/* The key has gone: by its own end, or before it. */
static void miss(weir_sync *sync, uint32_t index)
{
    struct weir_sync_seen *seen = &sync->seen[index];
    uint64_t now = weir_sync_now(sync);

    if (seen->until_ns != 0 && weir_time_add(now, LIFT_MARGIN_NS) < seen->expiry_ns)
        (void)weir_router_lift_cooldown(sync->router, weir_snapshot_deployment(sync->snapshot, index),
                                        seen->until_ns, now);
    *seen = (struct weir_sync_seen){.hash = 0};
}

void weir_sync_see_cooldown(weir_sync *sync, uint32_t index, const struct weir_reply *value)
{
    struct weir_sync_seen *seen = &sync->seen[index];
    uint64_t hash;

    if (value->kind != WEIR_REPLY_BYTES) {
        if (seen->hash != 0)
            miss(sync, index);
        return;
    }
    hash = weir_slice_hash(value->text, 0) | 1;
    if (seen->hash != hash || weir_sync_now(sync) >= seen->expiry_ns)
        ask_life(sync, index, hash, value->text);
}
