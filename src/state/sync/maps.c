/*
 * Maps: of each group whose strategy looks at latency, and of the results of probes (RS 6.5, 17, 22).
 *
 * A map is one value for many deployments.  It is read as a whole, what was learned goes to the router, and
 * where something is to be told the map is written back with that in it; all else in it, entries of ids that
 * nobody here knows among it, stays as it was, in the form that it was in.  Two that write at once may lose
 * an entry of one of them, as with LiteLLM's: samples, which the next ones replace, and a probe that comes
 * again.
 *
 * A map that is too large is left alone.
 */
#include <weir/error.h>

#include "base/slice.h"
#include "base/text.h"
#include "base/time.h"
#include "state/python_text.h"
#include "state/python_write.h"
#include "state/sync/parts.h"

#include <math.h>

#define DEFAULT_LIFE_NS (3600 * WEIR_NS_PER_S)
/* Two that are no further apart are the same probe: wall clocks are read twice between them. */
#define SAME_PROBE_NS (100 * WEIR_NS_PER_MS)

enum { REASON_MAX = 64 };

/* ---- which maps there are ---- */

static int add_map(weir_sync *sync, enum weir_key key, struct weir_slice group)
{
    if (sync->map_count == sync->map_cap)
        return WEIR_ERR_INTERNAL; /* room was made for all groups and one more */
    sync->maps[sync->map_count] = (struct weir_sync_map){.key = key, .group = group};
    sync->map_count++;
    return 0;
}

static int make_room(weir_sync *sync)
{
    size_t cap = weir_snapshot_group_count(sync->snapshot) + 1;

    weir_map_deinit(&sync->maps_by_group);
    weir_map_init(&sync->maps_by_group, sync->mem, cap);
    if (sync->maps != NULL)
        sync->mem->free(sync->mem->user, sync->maps, sync->map_cap * sizeof(*sync->maps));
    sync->map_count = 0;
    sync->map_cap = 0;
    sync->maps = sync->mem->alloc(sync->mem->user, cap * sizeof(*sync->maps));
    if (sync->maps == NULL)
        return WEIR_ERR_NOMEM;
    sync->map_cap = cap;
    return add_map(sync, WEIR_KEY_HEALTH, WEIR_SLICE_EMPTY);
}

int weir_sync_list_maps(weir_sync *sync)
{
    int r = make_room(sync);

    sync->shares_health = false;
    for (size_t i = 0; r == 0 && i < sync->count; i++) {
        const weir_deployment *deployment = weir_snapshot_deployment(sync->snapshot, i);
        struct weir_slice group = weir_deployment_group(deployment);

        sync->shares_health = sync->shares_health || weir_sync_shares(sync, deployment, WEIR_SHARED_HEALTH);
        if (!weir_sync_shares(sync, deployment, WEIR_SHARED_LATENCY) ||
            weir_map_get(&sync->maps_by_group, group) != NULL)
            continue;
        r = add_map(sync, WEIR_KEY_GROUP_MAP, group);
        if (r == 0)
            r = weir_map_add(&sync->maps_by_group, group, &sync->maps[sync->map_count - 1]);
    }
    return r;
}

/* Whether there is a map for such changes of the deployment, though memory may have been short for it. */
static bool has_map(const weir_sync *sync, const weir_deployment *deployment,
                    const struct weir_change *change)
{
    return deployment != NULL && weir_sync_shares(sync, deployment, change->kind);
}

void weir_sync_tell_map(weir_sync *sync, const struct weir_change *change)
{
    const weir_deployment *deployment = weir_snapshot_find_deployment(sync->snapshot, change->id);
    struct weir_sync_map *map = sync->maps; /* that of health is the first */
    struct weir_sync_told *told = NULL;

    if (!has_map(sync, deployment, change)) {
        weir_router_change_unknown(sync->router, change);
        return;
    }
    if (change->kind == WEIR_SHARED_LATENCY)
        map = weir_map_get(&sync->maps_by_group, weir_deployment_group(deployment));
    if (map != NULL && sync->maps_wait)
        told = weir_sync_keep(sync, change);
    if (told == NULL) {
        weir_router_change_undone(sync->router, change);
        return;
    }
    told->next = map->told;
    map->told = told;
}

static void undo_list(struct weir_sync_told *list)
{
    while (list != NULL) {
        struct weir_sync_told *told = list;

        list = told->next;
        weir_router_change_undone(told->sync->router, &told->change);
        weir_sync_drop(told);
    }
}

void weir_sync_give_back(weir_sync *sync)
{
    for (size_t i = 0; i < sync->map_count; i++) {
        undo_list(sync->maps[i].told);
        sync->maps[i].told = NULL;
    }
}

/* ---- learning ---- */

static void learn_samples(weir_sync *sync, const weir_deployment *deployment, weir_pace pace,
                          const struct weir_literal *list)
{
    float samples[WEIR_LATENCY_SAMPLES_MAX];
    const struct weir_literal *item = list == NULL || list->kind != WEIR_LITERAL_LIST ? NULL : list->first;
    size_t count = 0;

    for (; item != NULL; item = item->next) {
        if (item->kind != WEIR_LITERAL_NUMBER || !(item->number >= 0))
            continue;
        if (count == WEIR_LATENCY_SAMPLES_MAX) {
            memmove(samples, samples + 1, (count - 1) * sizeof(*samples));
            count--;
        }
        samples[count++] = (float)item->number;
    }
    if (count > 0)
        weir_router_learn_latency(sync->router, deployment, pace, samples, count, weir_sync_now(sync));
}

static const struct weir_slice paces[WEIR_PACES] = {[WEIR_PACE_WHOLE] = WEIR_SLICE_INIT("latency"),
                                                    [WEIR_PACE_FIRST] =
                                                        WEIR_SLICE_INIT("time_to_first_token")};

static void learn_latency(weir_sync *sync, const weir_deployment *deployment,
                          const struct weir_literal *entry)
{
    for (int pace = 0; pace < WEIR_PACES; pace++)
        learn_samples(sync, deployment, (weir_pace)pace, weir_literal_get(entry, paces[pace]));
}

static void learn_health(weir_sync *sync, const weir_deployment *deployment, const struct weir_literal *entry)
{
    const struct weir_literal *healthy = weir_literal_get(entry, WEIR_SLICE("is_healthy"));
    const struct weir_literal *when = weir_literal_get(entry, WEIR_SLICE("timestamp"));
    const struct weir_literal *reason = weir_literal_get(entry, WEIR_SLICE("reason"));
    uint64_t now = weir_sync_now(sync), age;
    struct weir_health health = {.known = true};
    struct weir_live_view view;
    double age_s;

    if (healthy == NULL || healthy->kind != WEIR_LITERAL_BOOL || when == NULL ||
        when->kind != WEIR_LITERAL_NUMBER)
        return;
    age_s = weir_time_to_s(weir_sync_wall(sync)) - when->number;
    age = age_s > 0 ? weir_time_from_s(age_s) : 0;
    health.probed_ns = age < now ? now - age : 0;
    health.healthy = healthy->truth;
    if (!health.healthy)
        health.kind = weir_sync_kind_named(
            reason != NULL && reason->kind == WEIR_LITERAL_TEXT ? reason->text : WEIR_SLICE_EMPTY, 0);
    weir_router_view(sync->router, deployment, now, &view);
    if (!view.health.known || health.probed_ns > weir_time_add(view.health.probed_ns, SAME_PROBE_NS))
        weir_router_learn_health(sync->router, deployment, &health, now);
}

static void learn(weir_sync *sync, const struct weir_sync_map *map, const struct weir_literal *value)
{
    bool health = map->key == WEIR_KEY_HEALTH;
    weir_shared_kind kind = health ? WEIR_SHARED_HEALTH : WEIR_SHARED_LATENCY;

    for (const struct weir_literal *entry = value->first; entry != NULL; entry = entry->next) {
        const weir_deployment *deployment = weir_snapshot_find_deployment(sync->snapshot, entry->key);

        if (deployment == NULL || entry->kind != WEIR_LITERAL_MAP ||
            !weir_sync_shares(sync, deployment, kind))
            continue;
        if (health)
            learn_health(sync, deployment, entry);
        else if (weir_slice_eq(weir_deployment_group(deployment), map->group))
            learn_latency(sync, deployment, entry);
    }
}

/* ---- a map with something new in it ---- */

static struct weir_literal *new_value(weir_sync *sync, enum weir_literal_kind kind, struct weir_slice key)
{
    struct weir_literal *value = weir_arena_zalloc(&sync->arena, 1, sizeof(*value));

    if (value == NULL)
        return NULL;
    value->kind = kind;
    value->key = key;
    return value;
}

static void append(struct weir_literal *parent, struct weir_literal **last, struct weir_literal *item)
{
    if (*last == NULL)
        parent->first = item;
    else
        (*last)->next = item;
    *last = item;
    parent->count++;
}

/* A copy of a list or map without the items of that key; *ret_last is its last item. */
static struct weir_literal *copy_without(weir_sync *sync, const struct weir_literal *from,
                                         struct weir_slice key, struct weir_literal **ret_last)
{
    struct weir_literal *copy = new_value(sync, from->kind, from->key);

    *ret_last = NULL;
    for (const struct weir_literal *item = from->first; copy != NULL && item != NULL; item = item->next) {
        struct weir_literal *kept;

        if (key.len > 0 && weir_slice_eq(item->key, key))
            continue;
        kept = new_value(sync, item->kind, item->key);
        if (kept == NULL)
            return NULL;
        *kept = *item;
        kept->next = NULL;
        append(copy, ret_last, kept);
    }
    return copy;
}

/* The list with the samples behind its own, the newest max of both. */
static struct weir_literal *add_samples(weir_sync *sync, const struct weir_literal *old,
                                        const struct weir_change *change, size_t max)
{
    const struct weir_literal none = {.kind = WEIR_LITERAL_LIST};
    struct weir_literal *last, *list;

    list = copy_without(sync, old != NULL && old->kind == WEIR_LITERAL_LIST ? old : &none, WEIR_SLICE_EMPTY,
                        &last);
    for (uint32_t i = 0; list != NULL && i < change->u.latency.count; i++) {
        struct weir_literal *sample = new_value(sync, WEIR_LITERAL_NUMBER, WEIR_SLICE_EMPTY);

        if (sample == NULL)
            return NULL;
        sample->number = round((double)change->u.latency.samples[i] * 1e6) / 1e6;
        append(list, &last, sample);
    }
    for (; list != NULL && list->count > max; list->count--)
        list->first = list->first->next;
    if (list != NULL)
        list->key = paces[change->u.latency.pace];
    return list;
}

/* The entry of the change's deployment with the change in it. */
static struct weir_literal *latency_entry(weir_sync *sync, const struct weir_literal *old,
                                          const struct weir_change *change)
{
    const struct weir_literal none = {.kind = WEIR_LITERAL_MAP};
    size_t max = weir_snapshot_router(sync->snapshot)->strategy.max_latency_samples;
    struct weir_slice pace = paces[change->u.latency.pace];
    struct weir_literal *last, *entry, *list;

    if (old == NULL || old->kind != WEIR_LITERAL_MAP)
        old = &none;
    entry = copy_without(sync, old, pace, &last);
    list = add_samples(sync, weir_literal_get(old, pace), change, max > 0 ? max : 1);
    if (entry == NULL || list == NULL)
        return NULL;
    append(entry, &last, list);
    return entry;
}

static struct weir_literal *health_entry(weir_sync *sync, const struct weir_change *change)
{
    uint64_t now = weir_sync_now(sync);
    uint64_t age = now > change->u.health.probed_ns ? now - change->u.health.probed_ns : 0;
    struct weir_literal *entry = new_value(sync, WEIR_LITERAL_MAP, WEIR_SLICE_EMPTY), *last = NULL;
    struct weir_literal *healthy = new_value(sync, WEIR_LITERAL_BOOL, WEIR_SLICE("is_healthy"));
    struct weir_literal *when = new_value(sync, WEIR_LITERAL_NUMBER, WEIR_SLICE("timestamp"));
    struct weir_literal *reason = new_value(sync, WEIR_LITERAL_TEXT, WEIR_SLICE("reason"));

    if (entry == NULL || healthy == NULL || when == NULL || reason == NULL)
        return NULL;
    healthy->truth = change->u.health.healthy;
    when->number = weir_time_to_s((weir_sync_wall(sync) - age) / WEIR_NS_PER_US * WEIR_NS_PER_US);
    if (!healthy->truth)
        reason->text = weir_kind_row(change->u.health.kind)->class_name;
    append(entry, &last, healthy);
    append(entry, &last, when);
    append(entry, &last, reason);
    return entry;
}

/* Puts a change into the copy of the map, whose entries are found by id. */
static int put_change(weir_sync *sync, struct weir_literal *copy, struct weir_literal **last,
                      struct weir_map *entries, const struct weir_change *change)
{
    struct weir_literal *entry = weir_map_get(entries, change->id);
    const struct weir_literal *next =
        change->kind == WEIR_SHARED_HEALTH ? health_entry(sync, change) : latency_entry(sync, entry, change);

    if (next == NULL)
        return WEIR_ERR_NOMEM;
    if (entry == NULL) {
        entry = new_value(sync, WEIR_LITERAL_MAP, change->id);
        if (entry == NULL)
            return WEIR_ERR_NOMEM;
        append(copy, last, entry);
        if (weir_map_add(entries, change->id, entry) < 0)
            return WEIR_ERR_NOMEM;
    }
    entry->kind = next->kind;
    entry->first = next->first;
    entry->count = next->count;
    return 0;
}

/* The text of the map with the changes in it, into the room for texts. */
static int compose(weir_sync *sync, const struct weir_literal *old, enum weir_literal_form form,
                   const struct weir_sync_told *list)
{
    struct weir_literal *last, *copy = copy_without(sync, old, WEIR_SLICE_EMPTY, &last);
    struct weir_map entries;
    int r = copy == NULL ? WEIR_ERR_NOMEM : 0;

    weir_map_init(&entries, weir_arena_mem(&sync->arena), old->count + WEIR_SYNC_TOLD_MAX);
    /* The items were made by copy_without, and may be written to. */
    for (const struct weir_literal *item = r == 0 ? copy->first : NULL; r >= 0 && item != NULL;
         item = item->next)
        r = weir_map_add(&entries, item->key, (void *)(uintptr_t)item);
    for (; r >= 0 && list != NULL; list = list->next)
        r = put_change(sync, copy, &last, &entries, &list->change);
    if (r < 0)
        return r;
    weir_buf_clear(&sync->text);
    return weir_literal_write(&sync->text, form, copy);
}

/* ---- the commands ---- */

/* Changes that are written by one command; they follow one another by next. */
static void on_written(void *user, uint64_t tag, const struct weir_reply *reply)
{
    struct weir_sync_told *list = user;

    (void)tag;
    while (list != NULL) {
        struct weir_sync_told *told = list;
        weir_sync *sync = told->sync;

        list = told->next;
        if (weir_sync_judge(told, reply) != 0)
            continue;
        weir_router_change_done(sync->router, sync->snapshot, &told->change, 0, weir_sync_now(sync));
        weir_sync_drop(told);
    }
}

static uint64_t life_of(const weir_sync *sync, enum weir_key key)
{
    const struct weir_router_spec *spec = weir_snapshot_router(sync->snapshot);

    if (key == WEIR_KEY_HEALTH)
        return spec->health_staleness_ns + spec->health_staleness_ns / 2;
    return spec->strategy.strategy == WEIR_STRATEGY_LATENCY ? spec->strategy.ttl_ns : DEFAULT_LIFE_NS;
}

static struct weir_slice key_of(weir_sync *sync, const struct weir_sync_map *map)
{
    const struct weir_key_parts parts = {.group = map->group};

    return weir_sync_key(sync, map->key, &parts);
}

static void write_map(weir_sync *sync, struct weir_sync_map *map, const struct weir_literal *old,
                      enum weir_literal_form form)
{
    struct weir_sync_told *list = map->told;
    uint64_t life_s = life_of(sync, map->key) / WEIR_NS_PER_S;
    char life[WEIR_TEXT_U64_MAX];
    int r;

    map->told = NULL;
    r = compose(sync, old, form, list);
    if (r == 0)
        r = WEIR_SYNC_SEND(sync, ((struct weir_redis_sink){.done = on_written, .user = list}),
                           WEIR_SLICE("SET"), key_of(sync, map), weir_buf_slice(&sync->text),
                           WEIR_SLICE("EX"), weir_text_u64(life_s > 0 ? life_s : 1, life));
    if (r != 0)
        undo_list(list);
}

/* A map's text came, or nothing. */
static void take_text(weir_sync *sync, struct weir_sync_map *map, struct weir_slice text)
{
    static const struct weir_literal none = {.kind = WEIR_LITERAL_MAP};
    enum weir_literal_form form = WEIR_LITERAL_AS_JSON;
    const struct weir_literal *value = &none;

    if (text.len >= WEIR_SYNC_MAP_BYTES / 2)
        return; /* too large; perhaps only a part of it is here */
    weir_arena_reset(&sync->arena);
    if (text.len > 0 &&
        (weir_literal_read(&sync->arena, text, &value, &form) != 0 || value->kind != WEIR_LITERAL_MAP))
        value = &none; /* nobody can read it: it is written anew */
    if (weir_arena_failed(&sync->arena))
        return;
    learn(sync, map, value);
    if (map->told != NULL)
        write_map(sync, map, value, form);
}

static void on_map(void *user, uint64_t tag, const struct weir_reply *reply)
{
    weir_sync *sync = user;

    sync->map_busy = false;
    if (reply != NULL && reply->kind == WEIR_REPLY_ERROR)
        weir_sync_complain(sync, reply);
    else if (reply != NULL && reply->kind == WEIR_REPLY_BYTES && tag == sync->generation)
        take_text(sync, &sync->maps[sync->map_at], reply->text);
    sync->map_at++;
    weir_sync_go_on(sync);
}

/* Whether any deployment may be in the map. */
static bool is_used(const weir_sync *sync, const struct weir_sync_map *map)
{
    return map->key != WEIR_KEY_HEALTH || map->told != NULL || sync->shares_health;
}

bool weir_sync_read_map(weir_sync *sync)
{
    char last[WEIR_TEXT_U64_MAX];

    while (sync->map_at < sync->map_count && !is_used(sync, &sync->maps[sync->map_at]))
        sync->map_at++;
    if (sync->map_at >= sync->map_count)
        return false;
    /* A part of it: what is too large is not even asked for. */
    sync->map_busy =
        WEIR_SYNC_SEND(sync,
                       ((struct weir_redis_sink){.done = on_map, .user = sync, .tag = sync->generation}),
                       WEIR_SLICE("GETRANGE"), key_of(sync, &sync->maps[sync->map_at]), WEIR_SLICE("0"),
                       weir_text_u64(WEIR_SYNC_MAP_BYTES / 2 - 1, last)) == 0;
    return sync->map_busy;
}
