/*
 * A slot holds a few series whose keys have the same hash; the hash looks at the ends of names only, since
 * what it spares costs every call and what it mixes up costs a comparison.  Invariants: the cells of every
 * set that a key names can be written, be it that nobody reads them; and no series of a setup that is gone is
 * met, since all are forgotten when another one holds, and those that late calls of the old one make go on
 * being told apart by it as long as it lives.
 */
#include "gateway/metrics/series.h"

#include <string.h>

#include <weir/snapshot.h>

#include "base/slice.h"
#include "base/text.h"
#include "base/word.h"
#include "config/config.h"
#include "gateway/attempt/upstream.h"
#include "gateway/setup.h"
#include "gateway/story/state.h"
#include "provider/endpoint.h"
#include "provider/provider.h"

/* ---- labels ---- */

/* A name as a label: what a caller makes up must not become one. */
static struct weir_slice known_name(const weir_snapshot *snapshot, struct weir_slice name,
                                    struct weir_slice pattern)
{
    struct weir_slice group;

    if (name.len == 0 || weir_snapshot_has_group(snapshot, name))
        return name;
    group = weir_snapshot_group_of(snapshot, name, WEIR_SLICE_EMPTY);
    if (group.len == 0 && !weir_snapshot_knows(snapshot, name))
        return pattern.len > 0 ? pattern : WEIR_SLICE("unknown");
    return weir_slice_find_char(group, '*') != WEIR_SLICE_NONE ? group : name;
}

static struct weir_slice path_of(struct weir_slice route)
{
    if (weir_slice_eq(route, WEIR_SLICE("chat")))
        return WEIR_SLICE("/v1/chat/completions");
    if (weir_slice_eq(route, WEIR_SLICE("completions")))
        return WEIR_SLICE("/v1/completions");
    if (weir_slice_eq(route, WEIR_SLICE("embeddings")))
        return WEIR_SLICE("/v1/embeddings");
    return WEIR_SLICE_EMPTY;
}

static struct weir_slice class_of(struct weir_slice kind)
{
    for (unsigned i = 0; i < WEIR_KIND_COUNT; i++)
        if (weir_slice_eq(weir_kind_row((weir_kind)i)->name, kind))
            return weir_kind_row((weir_kind)i)->class_name;
    return WEIR_SLICE("ProxyException");
}

/* "Openai.RateLimitError"; what does not fit is left out. */
static struct weir_slice exception_class(struct weir_slice provider, struct weir_slice kind, char *room,
                                         size_t size)
{
    struct weir_slice name = class_of(kind);

    if (provider.len == 0 || provider.len + 1 + name.len > size)
        return name;
    memcpy(room, provider.ptr, provider.len);
    if (room[0] >= 'a' && room[0] <= 'z')
        room[0] = (char)(room[0] - 'a' + 'A');
    room[provider.len] = '.';
    memcpy(room + provider.len + 1, name.ptr, name.len);
    return (struct weir_slice){room, provider.len + 1 + name.len};
}

static const weir_deployment *deployment_of(const struct weir_series_key *key)
{
    return key->deployment.len == 0 ? NULL
                                    : weir_snapshot_find_deployment(key->setup->snapshot, key->deployment);
}

void weir_place_labels(const weir_deployment *deployment, struct weir_label_values *values)
{
    const struct weir_config_deployment *config = weir_deployment_user(deployment);
    const struct weir_endpoint *endpoint = config->endpoint;

    values->of[WEIR_LABEL_deployment] = weir_deployment_id(deployment);
    values->of[WEIR_LABEL_model_id] = weir_deployment_id(deployment);
    values->of[WEIR_LABEL_group] = weir_deployment_group(deployment);
    values->of[WEIR_LABEL_model_group] = weir_deployment_group(deployment);
    values->of[WEIR_LABEL_litellm_model_name] = endpoint->name;
    values->of[WEIR_LABEL_model] = endpoint->name;
    values->of[WEIR_LABEL_api_base] = endpoint->base;
    values->of[WEIR_LABEL_api_provider] = endpoint->provider->name;
}

static void put_names(const struct weir_series_key *key, struct weir_label_values *values)
{
    const weir_snapshot *snapshot = key->setup->snapshot;
    const weir_deployment *deployment = deployment_of(key);
    struct weir_slice own = WEIR_SLICE_EMPTY, pattern = WEIR_SLICE_EMPTY;

    if (deployment != NULL) {
        weir_place_labels(deployment, values);
        own = weir_deployment_group(deployment);
        pattern = weir_slice_find_char(own, '*') == WEIR_SLICE_NONE ? WEIR_SLICE_EMPTY : own;
    }
    values->of[WEIR_LABEL_requested_model] = known_name(snapshot, key->requested, pattern);
    if (key->group.len > 0)
        own = known_name(snapshot, key->group, pattern);
    values->of[WEIR_LABEL_group] = own;
    values->of[WEIR_LABEL_model_group] = own;
    values->of[WEIR_LABEL_source] = own;
    values->of[WEIR_LABEL_rule] = key->other;
    if ((key->sets & (WEIR_SET_BIT(HOPS) | WEIR_SET_BIT(FELL_BACK))) != 0)
        values->of[WEIR_LABEL_target] = known_name(snapshot, key->other, WEIR_SLICE_EMPTY);
    values->of[WEIR_LABEL_fallback_model] = values->of[WEIR_LABEL_target];
}

void weir_series_labels(const struct weir_series_key *key, char room[WEIR_SERIES_ROOM],
                        struct weir_label_values *ret_values)
{
    struct weir_label_values *values = ret_values;
    struct weir_slice flag = key->flag ? WEIR_SLICE("true") : WEIR_SLICE("false");
    bool is_litellm = (key->sets & (WEIR_SET_BIT(PROXY) | WEIR_SET_BIT(PROXY_FAILED))) != 0;
    struct weir_slice status;

    *values = (struct weir_label_values){0};
    put_names(key, values);
    status = weir_text_u64(key->status, room);
    values->of[WEIR_LABEL_status] = status;
    values->of[WEIR_LABEL_status_code] = status;
    values->of[WEIR_LABEL_exception_status] = status;
    values->of[WEIR_LABEL_exception_class] =
        exception_class(values->of[WEIR_LABEL_api_provider], key->kind, room + WEIR_TEXT_U64_MAX,
                        WEIR_SERIES_ROOM - WEIR_TEXT_U64_MAX);
    values->of[WEIR_LABEL_route] = is_litellm ? path_of(key->route) : key->route;
    values->of[WEIR_LABEL_kind] = key->kind;
    values->of[WEIR_LABEL_state] = weir_call_state_name((weir_call_state)key->state);
    values->of[WEIR_LABEL_stream] = flag;
    values->of[WEIR_LABEL_committed] = flag;
    values->of[WEIR_LABEL_what] = key->what;
    values->of[WEIR_LABEL_hop] = key->what;
}

/* ---- the cache ---- */

void weir_series_init(struct weir_series_cache *ret_cache, struct weir_metrics *metrics, size_t seat)
{
    *ret_cache = (struct weir_series_cache){.metrics = metrics, .seat = seat};
    for (size_t i = 0; i < WEIR_SETS; i++)
        ret_cache->none.cells[i] = ret_cache->spill;
}

static const struct weir_mem *mem_of(const struct weir_series_cache *cache)
{
    return cache->metrics->mem;
}

static void free_series(const struct weir_series_cache *cache, struct weir_series *series)
{
    if (series != NULL)
        mem_of(cache)->free(mem_of(cache)->user, series, series->bytes);
}

void weir_series_forget(struct weir_series_cache *cache)
{
    for (size_t slot = 0; cache->slots != NULL && slot < WEIR_SERIES_SLOTS; slot++)
        for (size_t way = 0; way < WEIR_SERIES_WAYS; way++) {
            free_series(cache, cache->slots[slot][way]);
            cache->slots[slot][way] = NULL;
        }
}

void weir_series_deinit(struct weir_series_cache *cache)
{
    if (cache->slots == NULL)
        return;
    weir_series_forget(cache);
    mem_of(cache)->free(mem_of(cache)->user, cache->slots, WEIR_SERIES_SLOTS * sizeof(*cache->slots));
    cache->slots = NULL;
}

static uint64_t mix_in(uint64_t hash, struct weir_slice text)
{
    uint64_t word =
        text.len < 8 ? weir_word_load_short(text.ptr, text.len) : weir_word_load(text.ptr + text.len - 8);

    return (hash ^ word ^ text.len) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t hash_of(const struct weir_series_key *key)
{
    uint64_t hash = (uint64_t)key->sets << 32 | (uint64_t)key->status << 16 | (uint64_t)key->state << 8 |
                    (uint64_t)key->flag;

    hash = mix_in(hash ^ (uintptr_t)key->deployment.ptr, key->requested);
    hash = mix_in(hash ^ hash >> 32, key->group);
    return hash ^ hash >> 32;
}

static inline bool same_place(struct weir_slice a, struct weir_slice b)
{
    return a.ptr == b.ptr && a.len == b.len;
}

/* Names are short: a call of the C library would cost more than the words. */
static inline __attribute__((always_inline)) bool same_text(struct weir_slice a, struct weir_slice b)
{
    if (a.len != b.len || a.len == 0)
        return a.len == b.len;
    if (a.len < 8)
        return weir_word_load_short(a.ptr, a.len) == weir_word_load_short(b.ptr, b.len);
    for (size_t i = 0; i < a.len - 8; i += 8)
        if (weir_word_load(a.ptr + i) != weir_word_load(b.ptr + i))
            return false;
    return weir_word_load(a.ptr + a.len - 8) == weir_word_load(b.ptr + b.len - 8);
}

static inline bool same_key(const struct weir_series_key *a, const struct weir_series_key *b)
{
    return a->sets == b->sets && a->setup == b->setup && same_place(a->deployment, b->deployment) &&
           a->status == b->status && a->state == b->state && a->flag == b->flag &&
           a->kind.ptr == b->kind.ptr && a->route.ptr == b->route.ptr && a->what.ptr == b->what.ptr &&
           same_text(a->requested, b->requested) && same_text(a->group, b->group) &&
           same_text(a->other, b->other);
}

static struct weir_slice keep(char **at, struct weir_slice text)
{
    struct weir_slice kept = {*at, text.len};

    if (text.len > 0)
        memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return kept;
}

/* With texts of its own where they do not last, and no cells yet. */
static struct weir_series *copy_key(const struct weir_series_cache *cache, const struct weir_series_key *key)
{
    size_t bytes = sizeof(struct weir_series) + key->requested.len + key->group.len + key->other.len;
    struct weir_series *series = mem_of(cache)->alloc(mem_of(cache)->user, bytes);
    char *at;

    if (series == NULL)
        return NULL;
    *series = (struct weir_series){.key = *key, .bytes = bytes};
    at = (char *)(series + 1);
    series->key.requested = keep(&at, key->requested);
    series->key.group = keep(&at, key->group);
    series->key.other = keep(&at, key->other);
    return series;
}

static struct weir_upstream *upstream_of(const struct weir_series_key *key)
{
    const weir_deployment *deployment = deployment_of(key);
    const struct weir_config_deployment *config =
        deployment == NULL ? NULL : weir_deployment_user(deployment);

    return config == NULL ? NULL : weir_upstream_of(config->endpoint);
}

static struct weir_series *make(struct weir_series_cache *cache, const struct weir_series_key *key)
{
    struct weir_series *series = copy_key(cache, key);
    struct weir_label_values values;
    char room[WEIR_SERIES_ROOM];

    if (series == NULL)
        return NULL;
    series->upstream = upstream_of(key);
    for (size_t set = 0; set < WEIR_SETS; set++) {
        struct weir_series_key of_set = *key;

        of_set.sets = key->sets & UINT32_C(1) << set;
        if (of_set.sets == 0)
            continue;
        weir_series_labels(&of_set, room, &values); /* the same label may mean another thing elsewhere */
        if (weir_metrics_cells(cache->metrics, (weir_label_set)set, &values, cache->seat,
                               &series->cells[set]) != 0) {
            series->cells[set] = cache->spill;
            series->missing++;
        }
    }
    return series;
}

static bool has_slots(struct weir_series_cache *cache)
{
    size_t bytes = WEIR_SERIES_SLOTS * sizeof(*cache->slots);

    if (cache->slots == NULL) {
        cache->slots = mem_of(cache)->alloc(mem_of(cache)->user, bytes);
        if (cache->slots != NULL)
            memset(cache->slots, 0, bytes);
    }
    return cache->slots != NULL;
}

/* A new one in the place of another; NULL: there is no memory. */
static const struct weir_series *put_new(struct weir_series_cache *cache, const struct weir_series_key *key,
                                         uint64_t hash)
{
    struct weir_series *series = has_slots(cache) ? make(cache, key) : NULL;
    struct weir_series **way;

    if (series == NULL)
        return NULL;
    series->hash = hash;
    way = &cache->slots[hash % WEIR_SERIES_SLOTS][cache->turn++ % WEIR_SERIES_WAYS];
    free_series(cache, *way);
    *way = series;
    return series;
}

static const struct weir_series *find_old(struct weir_series_cache *cache, const struct weir_series_key *key,
                                          uint64_t hash)
{
    struct weir_series **way, **end;

    if (cache->slots == NULL)
        return NULL;
    way = cache->slots[hash % WEIR_SERIES_SLOTS];
    end = way + WEIR_SERIES_WAYS;
    while (way < end && (*way == NULL || (*way)->hash != hash || !same_key(&(*way)->key, key)))
        way++;
    return way < end ? *way : NULL;
}

const struct weir_series *weir_series_find(struct weir_series_cache *cache, const struct weir_series_key *key)
{
    uint64_t hash = hash_of(key);
    const struct weir_series *series = find_old(cache, key, hash);

    if (series == NULL)
        series = put_new(cache, key, hash);
    if (series == NULL) {
        weir_metrics_drop(cache->metrics, (uint64_t)__builtin_popcount(key->sets));
        return &cache->none;
    }
    if (series->missing > 0)
        weir_metrics_drop(cache->metrics, series->missing);
    return series;
}

static weir_cell *meet_event(struct weir_series_cache *cache, weir_event_kind kind)
{
    struct weir_label_values values = {0};

    values.of[WEIR_LABEL_event] = weir_event_name(kind);
    if (weir_metrics_cells(cache->metrics, WEIR_SET_EVENTS, &values, cache->seat, &cache->events[kind]) == 0)
        return cache->events[kind];
    cache->events[kind] = NULL;
    weir_metrics_drop(cache->metrics, 1);
    return cache->spill;
}

weir_cell *weir_series_event(struct weir_series_cache *cache, weir_event_kind kind)
{
    weir_cell *cell = cache->events[kind];

    return cell != NULL ? cell : meet_event(cache, kind);
}
