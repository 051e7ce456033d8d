/* See engine_shared.h. */
#include "engine_shared.h"

#include "base/time.h"

struct weir_change kit_changes[KIT_CHANGES_MAX];

size_t kit_take_all(struct kit *kit)
{
    return weir_router_take_changes(kit->router, kit->now_ns, kit_changes, KIT_CHANGES_MAX);
}

/* The place of the first one of the kind; the count: there is none. */
static size_t find(size_t count, weir_shared_kind kind)
{
    size_t at = 0;

    while (at < count && kit_changes[at].kind != kind)
        at++;
    return at;
}

bool kit_takes_none(struct kit *kit, weir_shared_kind kind)
{
    size_t count = kit_take_all(kit);

    return find(count, kind) == count;
}

struct weir_change kit_take(struct kit *kit, weir_shared_kind kind)
{
    size_t count = kit_take_all(kit), at = find(count, kind);

    if (at == count)
        kit_die(kit, "no change of the kind %d", (int)kind);
    return kit_changes[at];
}

static int64_t amount_of(const struct weir_change *change, weir_usage_kind usage)
{
    if (change->kind == WEIR_SHARED_FAILS)
        return change->u.fails.amount;
    if (change->kind == WEIR_SHARED_RUNNING)
        return change->u.running.amount;
    return change->u.usage.usage == usage ? change->u.usage.amount : 0;
}

int64_t kit_take_amount(struct kit *kit, weir_shared_kind kind, weir_usage_kind usage)
{
    size_t count = kit_take_all(kit);
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += kit_changes[i].kind == kind ? amount_of(&kit_changes[i], usage) : 0;
    return sum;
}

void kit_done(struct kit *kit, const struct weir_change *change, uint64_t count)
{
    weir_router_change_done(kit->router, kit->snapshot, change, count, kit->now_ns);
}

uint64_t kit_learn(struct kit *kit, const char *id, double remaining_s, const char *by)
{
    const struct weir_learned_cooldown cooldown = {.remaining_ns = weir_time_from_s(remaining_s),
                                                   .kind = WEIR_KIND_RATE_LIMIT,
                                                   .status = 429,
                                                   .by = weir_slice_str(by)};

    return weir_router_learn_cooldown(kit->router, kit_find(kit, id), &cooldown, kit->now_ns);
}

weir_router_event_kind kit_next_event(struct kit *kit)
{
    struct weir_router_event event;

    return weir_router_event(kit->router, &event) ? event.kind : WEIR_ROUTER_EVENT_KINDS;
}

uint64_t kit_minute(const struct kit *kit)
{
    return kit->now_ns / (60 * WEIR_NS_PER_S);
}
