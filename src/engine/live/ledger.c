/*
 * Taking the changes: the slots whose marks stand in the words of their blocks, one after the other.  For
 * each kind that is marked the present state is compared with what was told, and the difference is a change.
 */
#include "engine/live/ledger.h"

#include <string.h>

#include "base/time.h"
#include "engine/live/health.h"
#include "engine/live/latency.h"
#include "engine/live/shared.h"
#include "engine/live/usage.h"

/* Deployments learn of one cooldown on several ways, which differ by what these took. */
static const uint64_t same_ns = 100 * WEIR_NS_PER_MS;

/* Where changes are written. */
struct basket {
    struct weir_live *live;
    uint64_t now_ns;
    uint32_t slot;
    struct weir_change *changes;
    size_t count;
};

static struct weir_change *add(struct basket *b, weir_shared_kind kind)
{
    struct weir_change *change = &b->changes[b->count++];

    *change =
        (struct weir_change){.kind = kind, .slot = b->slot, .id = weir_shared_slot_of(b->live, b->slot)->id};
    return change;
}

/* Whether the slot's cooldown is the one that was learned last. */
static bool is_learned(const struct weir_live *live, uint32_t slot)
{
    uint64_t learned_ns =
        atomic_load_explicit(&weir_shared_slot_of(live, slot)->learned_ns, memory_order_acquire);

    return learned_ns > 0 && learned_ns == weir_live_until(live, slot);
}

/* Told whether or not it cools down again: the store may have the one that was lifted. */
static void take_lift(struct basket *b)
{
    (void)add(b, WEIR_SHARED_LIFT);
}

static void take_cooldown(struct basket *b)
{
    uint64_t until_ns = weir_live_until(b->live, b->slot);
    struct weir_failure cause = weir_live_cause(b->live, b->slot);
    struct weir_change *change;

    if (until_ns <= b->now_ns || is_learned(b->live, b->slot))
        return;
    change = add(b, WEIR_SHARED_COOLDOWN);
    change->u.cooldown.kind = cause.kind;
    change->u.cooldown.status = cause.status;
    change->u.cooldown.length_ns = weir_live_length(b->live, b->slot);
    change->u.cooldown.remaining_ns = until_ns - b->now_ns;
}

/* The part of the key that tells counters of a deployment apart (router-semantics 16.1). */
static struct weir_slice suffix_of(unsigned counter)
{
    if (counter == WEIR_LIVE_COUNTER_ROUTER)
        return WEIR_SLICE_EMPTY;
    if (counter == WEIR_LIVE_COUNTER_DEPLOYMENT)
        return WEIR_SLICE("generic");
    return weir_kind_row((weir_kind)(counter - WEIR_LIVE_COUNTER_CLASS))->class_name;
}

static void take_counter(struct basket *b, unsigned counter)
{
    struct weir_shared_slot *shared = weir_shared_slot_of(b->live, b->slot);
    struct weir_shared_fails *told = &shared->fails[counter];
    uint64_t word = weir_live_counter(b->live, b->slot, counter), strictest;
    uint32_t amount = weir_live_counter_count(word);
    struct weir_change *change;

    if (weir_live_counter_end_ms(word) <= b->now_ns / WEIR_NS_PER_MS)
        return;
    if (weir_live_counter_end_ms(told->counter) == weir_live_counter_end_ms(word))
        amount -= weir_live_counter_count(told->counter);
    if (amount == 0)
        return;
    told->counter = word;
    /* None: it was noted for this failure, but taken with the one before it. */
    strictest = atomic_exchange_explicit(&shared->strictest[counter], 0, memory_order_relaxed);
    told->strictest = strictest != 0 ? strictest : told->strictest;
    change = add(b, WEIR_SHARED_FAILS);
    change->u.fails.suffix = suffix_of(counter);
    change->u.fails.amount = amount;
    change->u.fails.life_ns = atomic_load_explicit(&shared->fails_life_ns, memory_order_relaxed);
    weir_shared_unpack_limit(told->strictest, &change->u.fails.failure, &change->u.fails.limit);
    change->u.fails.counter = counter;
    change->u.fails.end_ms = weir_live_counter_end_ms(word);
}

static void take_fails(struct basket *b)
{
    for (unsigned counter = 0; counter < WEIR_LIVE_COUNTERS; counter++)
        take_counter(b, counter);
}

/* The account of a minute; a new one where the place was another's. */
static struct weir_account *account_of(struct weir_live *live, uint32_t slot, weir_usage_kind usage,
                                       uint64_t minute)
{
    struct weir_shared_usage *place = &weir_shared_slot_of(live, slot)->usage[usage][minute % 2];

    if (place->minute != minute)
        *place = (struct weir_shared_usage){.minute = minute};
    return &place->account;
}

static void take_usage(struct basket *b)
{
    bool wanted = weir_shared_wants(b->live, b->slot, WEIR_SHARED_USAGE);
    uint64_t present = weir_usage_minute(b->live, b->now_ns), minute, count;
    struct weir_account *account;
    struct weir_change *change;
    int64_t amount;

    for (unsigned i = 0; wanted && i < 2 * WEIR_USAGES; i++) {
        weir_usage_kind usage = (weir_usage_kind)(i / 2);

        if (!weir_usage_word(b->live, b->slot, usage, i % 2, present, &minute, &count))
            continue;
        account = account_of(b->live, b->slot, usage, minute);
        amount = weir_account_take(account, (int64_t)count - account->elsewhere);
        if (amount == 0)
            continue;
        change = add(b, WEIR_SHARED_USAGE);
        change->u.usage.usage = usage;
        change->u.usage.minute = minute;
        change->u.usage.amount = amount;
    }
}

/* What is no longer shared is taken back, and counts of elsewhere are forgotten. */
static void take_running(struct basket *b)
{
    struct weir_account *account = &weir_shared_slot_of(b->live, b->slot)->running;
    bool wanted = weir_shared_wants(b->live, b->slot, WEIR_SHARED_RUNNING);
    int64_t amount = weir_account_take(account, wanted ? (int64_t)weir_usage_running(b->live, b->slot) : 0);

    if (!wanted)
        weir_usage_set_elsewhere(b->live, b->slot, 0);
    if (amount != 0)
        add(b, WEIR_SHARED_RUNNING)->u.running.amount = amount;
}

static void take_latency(struct basket *b)
{
    struct weir_change *change;

    for (unsigned pace = 0; pace < WEIR_PACES; pace++) {
        uint32_t *sampled = &weir_shared_slot_of(b->live, b->slot)->sampled[pace];

        change = add(b, WEIR_SHARED_LATENCY);
        change->u.latency.pace = (weir_pace)pace;
        change->u.latency.before = *sampled;
        change->u.latency.count =
            weir_latency_read(b->live, b->slot, (weir_pace)pace, sampled, change->u.latency.samples);
        if (change->u.latency.count == 0)
            b->count--;
    }
}

static void take_health(struct basket *b)
{
    struct weir_health health = weir_health_of(b->live, b->slot);

    if (health.known && !health.elsewhere)
        add(b, WEIR_SHARED_HEALTH)->u.health = health;
}

typedef void take_function(struct basket *b);

static take_function *const takes[WEIR_SHARED_KINDS] = {
    [WEIR_SHARED_LIFT] = take_lift,       [WEIR_SHARED_COOLDOWN] = take_cooldown,
    [WEIR_SHARED_FAILS] = take_fails,     [WEIR_SHARED_USAGE] = take_usage,
    [WEIR_SHARED_RUNNING] = take_running, [WEIR_SHARED_LATENCY] = take_latency,
    [WEIR_SHARED_HEALTH] = take_health,
};

_Static_assert(WEIR_CHANGES_MAX >= 2 + WEIR_LIVE_COUNTERS + 2 * WEIR_USAGES + 1 + WEIR_PACES + 1,
               "a slot's changes fit");

static void take_slot(struct basket *b)
{
    struct weir_shared_block *block = weir_shared_block_of(b->live, b->slot);
    unsigned marks =
        atomic_exchange_explicit(&block->marks[b->slot % WEIR_LIVE_BLOCK_SLOTS], 0, memory_order_acq_rel);

    /* What the store had goes with the lift, so a cooldown that was set since then is told after it. */
    if ((marks & WEIR_SHARED_BIT(LIFT)) != 0)
        marks |= WEIR_SHARED_BIT(COOLDOWN);
    for (unsigned kind = 0; kind < WEIR_SHARED_KINDS; kind++)
        if ((marks >> kind & 1) != 0)
            takes[kind](b);
}

/* Takes the first marked slot of those from the basket's on, of one word; false: there is none. */
static bool take_in_word(struct basket *b)
{
    struct weir_shared_block *block = weir_shared_block_of(b->live, b->slot);
    _Atomic uint64_t *dirty = &block->dirty[b->slot % WEIR_LIVE_BLOCK_SLOTS / 64];
    uint64_t marked = atomic_load_explicit(dirty, memory_order_relaxed) & UINT64_MAX << b->slot % 64;

    if (marked == 0)
        return false;
    b->slot = b->slot / 64 * 64 + (uint32_t)__builtin_ctzll(marked);
    atomic_fetch_and_explicit(dirty, ~(UINT64_C(1) << b->slot % 64), memory_order_acq_rel);
    take_slot(b);
    return true;
}

size_t weir_ledger_take(struct weir_live *live, uint64_t now_ns, struct weir_change *changes, size_t max)
{
    struct weir_shared *shared = live->shared;
    struct basket b = {.live = live, .now_ns = now_ns, .changes = changes};
    uint32_t count;

    if (shared == NULL)
        return 0;
    b.slot = shared->cursor;
    if (b.slot == 0)
        (void)atomic_exchange_explicit(&shared->pending, false, memory_order_acq_rel);
    count = atomic_load_explicit(&shared->count, memory_order_acquire);
    while (b.slot < count && max - b.count >= WEIR_CHANGES_MAX)
        b.slot = take_in_word(&b) ? b.slot + 1 : b.slot / 64 * 64 + 64;
    shared->cursor = b.slot < count ? b.slot : 0;
    return b.count;
}

static void read_usage(struct weir_live *live, uint32_t slot, weir_usage_kind usage, uint64_t minute,
                       uint64_t count)
{
    struct weir_account *account;
    int64_t before;

    if (!weir_usage_keeps(live, slot, usage, minute))
        return;
    account = account_of(live, slot, usage, minute);
    before = account->elsewhere;
    if (count > WEIR_USAGE_COUNT_MAX)
        count = WEIR_USAGE_COUNT_MAX;
    if (weir_account_read(account, (int64_t)count) > 0)
        weir_shared_tell_wanted(live, slot, WEIR_SHARED_BIT(USAGE));
    if (account->elsewhere != before)
        (void)weir_usage_shift(live, slot, usage, minute, account->elsewhere - before);
}

static void read_running(struct weir_live *live, uint32_t slot, uint64_t count)
{
    struct weir_account *account = &weir_shared_slot_of(live, slot)->running;
    uint64_t most = INT32_MAX;

    if (weir_account_read(account, (int64_t)(count < most ? count : most)) > 0)
        weir_shared_tell_wanted(live, slot, WEIR_SHARED_BIT(RUNNING));
    if (weir_shared_wants(live, slot, WEIR_SHARED_RUNNING))
        weir_usage_set_elsewhere(live, slot, (uint32_t)account->elsewhere);
}

/* Whether the minute of the change is still on the books. */
static bool is_kept(const struct weir_live *live, const struct weir_change *change)
{
    uint64_t minute = change->u.usage.minute;

    return weir_shared_slot_of(live, change->slot)->usage[change->u.usage.usage][minute % 2].minute == minute;
}

static struct weir_account *account_for(struct weir_live *live, const struct weir_change *change)
{
    if (change->kind == WEIR_SHARED_RUNNING)
        return &weir_shared_slot_of(live, change->slot)->running;
    return account_of(live, change->slot, change->u.usage.usage, change->u.usage.minute);
}

static int64_t amount_of(const struct weir_change *change)
{
    return change->kind == WEIR_SHARED_RUNNING ? change->u.running.amount : change->u.usage.amount;
}

static bool has_account(const struct weir_live *live, const struct weir_change *change)
{
    return change->kind == WEIR_SHARED_RUNNING ||
           (change->kind == WEIR_SHARED_USAGE && is_kept(live, change));
}

/* From now on what the store has is news again. */
static void end_lift(struct weir_live *live, const struct weir_change *change)
{
    atomic_store_explicit(&weir_shared_slot_of(live, change->slot)->lifting, false, memory_order_release);
}

void weir_ledger_done(struct weir_live *live, const struct weir_change *change, uint64_t count)
{
    if (change->kind == WEIR_SHARED_LIFT)
        end_lift(live, change);
    if (!has_account(live, change))
        return;
    weir_account_confirm(account_for(live, change), amount_of(change));
    if (change->kind == WEIR_SHARED_RUNNING)
        read_running(live, change->slot, count);
    else
        read_usage(live, change->slot, change->u.usage.usage, change->u.usage.minute, count);
}

/* A failure is told again as long as the counter lives that it was counted in. */
static void undo_fails(struct weir_live *live, const struct weir_change *change)
{
    struct weir_shared_slot *shared = weir_shared_slot_of(live, change->slot);
    struct weir_shared_fails *told = &shared->fails[change->u.fails.counter];

    if (weir_live_counter_end_ms(told->counter) != change->u.fails.end_ms)
        return;
    told->counter -= change->u.fails.amount;
    weir_shared_lower(&shared->strictest[change->u.fails.counter],
                      weir_shared_pack_limit(&change->u.fails.failure, change->u.fails.limit));
}

static void undo_latency(struct weir_live *live, const struct weir_change *change)
{
    uint32_t *sampled = &weir_shared_slot_of(live, change->slot)->sampled[change->u.latency.pace];

    if ((int32_t)(*sampled - change->u.latency.before) > 0)
        *sampled = change->u.latency.before;
}

void weir_ledger_undone(struct weir_live *live, const struct weir_change *change)
{
    if (has_account(live, change))
        weir_account_undo(account_for(live, change), amount_of(change));
    else if (change->kind == WEIR_SHARED_FAILS)
        undo_fails(live, change);
    else if (change->kind == WEIR_SHARED_LATENCY)
        undo_latency(live, change);
    weir_shared_leave(live, change->slot, 1U << change->kind);
}

void weir_ledger_unknown(struct weir_live *live, const struct weir_change *change)
{
    if (has_account(live, change))
        weir_account_confirm(account_for(live, change), amount_of(change));
    else if (change->kind == WEIR_SHARED_LIFT || change->kind == WEIR_SHARED_COOLDOWN ||
             change->kind == WEIR_SHARED_HEALTH)
        weir_shared_leave(live, change->slot, 1U << change->kind);
}

void weir_ledger_again(struct weir_live *live)
{
    uint32_t count = atomic_load_explicit(&live->shared->count, memory_order_acquire);

    for (uint32_t slot = 0; slot < count; slot++) {
        unsigned kinds = weir_live_until(live, slot) > 0 ? WEIR_SHARED_BIT(COOLDOWN) : 0;

        if (weir_health_of(live, slot).known) /* here or elsewhere: that is seen when it is taken */
            kinds |= WEIR_SHARED_BIT(HEALTH);
        if (kinds != 0)
            weir_shared_leave(live, slot, kinds);
    }
}

void weir_ledger_learn_usage(struct weir_live *live, uint32_t slot, weir_usage_kind usage, uint64_t minute,
                             uint64_t count)
{
    read_usage(live, slot, usage, minute, count);
}

void weir_ledger_learn_running(struct weir_live *live, uint32_t slot, uint64_t count)
{
    read_running(live, slot, count);
}

void weir_ledger_learn_latency(struct weir_live *live, uint32_t slot, weir_pace pace,
                               const struct weir_latency_lesson *lesson, uint64_t now_ns)
{
    weir_latency_learn(live, slot, pace, lesson, weir_shared_slot_of(live, slot)->sampled[pace], now_ns);
}

bool weir_ledger_cools_already(const struct weir_live *live, uint32_t slot, uint64_t until_ns,
                               uint64_t now_ns)
{
    uint64_t present_ns = weir_live_until(live, slot);

    return present_ns > now_ns && until_ns <= weir_time_add(present_ns, same_ns);
}

bool weir_ledger_learn_cooldown(struct weir_live *live, uint32_t slot,
                                const struct weir_ledger_cooldown *cooldown, uint64_t now_ns)
{
    struct weir_shared_slot *shared = weir_shared_slot_of(live, slot);
    struct weir_process_name by;

    /* What the store has is what was lifted by hand, and goes. */
    if (atomic_load_explicit(&shared->lifting, memory_order_acquire))
        return false;
    if (cooldown->until_ns <= now_ns || weir_ledger_cools_already(live, slot, cooldown->until_ns, now_ns) ||
        !weir_live_cool(live, slot, cooldown->until_ns, &cooldown->cause, WEIR_COOLDOWN_RULES, now_ns))
        return false;
    by = weir_process_name_of(cooldown->by);
    weir_live_name_write(&shared->by, &by);
    atomic_store_explicit(&shared->learned_ns, cooldown->until_ns, memory_order_release);
    return true;
}

bool weir_ledger_whose(const struct weir_live *live, uint32_t slot, struct weir_process_name *ret_by)
{
    if (!is_learned(live, slot))
        return false;
    *ret_by = weir_live_name_read(&weir_shared_slot_of(live, slot)->by);
    return true;
}
