/*
 * Model: what belongs together is packed in one word of 64 bits and changed by compare-and-swap, so every
 * reader sees a whole value and nobody waits.  A bucket holds the number of its ten seconds beside its two
 * counts: whoever comes first in a new ten seconds finds the old number and starts the bucket over.  A
 * counter holds the end of its life beside its count in the same way.  Counts stop at their maximum.
 *
 * Relaxed order suffices: a word says all there is to say, and threads that share nothing else need no order
 * between words.  The cause of a cooldown is written after the deadline and may lag behind it for a reader.
 */
#include "engine/live/live.h"

#include <assert.h>
#include <string.h>

#include <weir/error.h>

#include "base/time.h"
#include "engine/live/shared.h"
#include "engine/live/usage.h"

enum { RUNS_PER_BLOCK = WEIR_LIVE_BLOCK_SLOTS / WEIR_LIVE_RUN_SLOTS };
enum { EPOCH_BITS = 24, COUNT_BITS = 20 };

#define EPOCH_MASK ((UINT64_C(1) << EPOCH_BITS) - 1)
#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)
#define CALLS_MASK ((UINT64_C(1) << WEIR_LIVE_COUNT_BITS) - 1)
#define LIFTS_MASK UINT64_C(0x3ff) /* of the bound of a run: a microsecond */

#define BUCKET_NS (10 * WEIR_NS_PER_S)

void weir_live_init(struct weir_live *live, const struct weir_mem *mem)
{
    *live = (struct weir_live){.mem = mem};
}

void weir_live_deinit(struct weir_live *live)
{
    for (uint32_t slot = 0; slot < live->slots; slot++)
        assert(weir_usage_running(live, slot) == 0);
    weir_shared_end(live);
    for (size_t i = 0; i < WEIR_LIVE_BLOCKS && live->blocks[i] != NULL; i++)
        live->mem->free(live->mem->user, live->blocks[i], sizeof(*live->blocks[i]));
    live->slots = 0;
}

static int add_block(struct weir_live *live, size_t at)
{
    struct weir_live_block *block = live->mem->alloc(live->mem->user, sizeof(*block));

    if (block == NULL)
        return WEIR_ERR_NOMEM;
    memset((void *)block, 0, sizeof(*block));
    live->blocks[at] = block;
    return 0;
}

int weir_live_add(struct weir_live *live, uint32_t *ret_slot)
{
    size_t at = live->slots / WEIR_LIVE_BLOCK_SLOTS;
    int r;

    if (at >= WEIR_LIVE_BLOCKS)
        return WEIR_ERR_LIMIT;
    if (live->blocks[at] == NULL) {
        r = add_block(live, at);
        if (r < 0)
            return r;
    }
    *ret_slot = live->slots++;
    return 0;
}

static struct weir_live_record *record_of(const struct weir_live *live, uint32_t slot)
{
    return &live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS]->records[slot % WEIR_LIVE_BLOCK_SLOTS];
}

/* A bound that was found while a cooldown of the run was lifted is not written: its last bits tell. */
bool weir_live_run_is_cooling(const struct weir_live *live, uint32_t slot, uint64_t now_ns)
{
    struct weir_live_block *block = live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS];
    uint32_t first = slot % WEIR_LIVE_BLOCK_SLOTS;
    _Atomic uint64_t *bound = &block->run_until_ns[first / WEIR_LIVE_RUN_SLOTS];
    uint64_t old = atomic_load_explicit(bound, memory_order_acquire), least = UINT64_MAX, until;

    if (old > (now_ns | LIFTS_MASK))
        return true;
    for (uint32_t i = first; i < first + WEIR_LIVE_RUN_SLOTS; i++) {
        until = atomic_load_explicit(&block->until_ns[i], memory_order_relaxed);
        if (until <= now_ns)
            return false;
        least = until < least ? until : least;
    }
    (void)atomic_compare_exchange_strong_explicit(bound, &old, (least & ~LIFTS_MASK) | (old & LIFTS_MASK),
                                                  memory_order_acq_rel, memory_order_relaxed);
    return true;
}

/* A deadline of the slot's run has fallen: what was found of it as a bound does not hold any more. */
static void forget_bound(struct weir_live *live, uint32_t slot)
{
    struct weir_live_block *block = live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS];
    _Atomic uint64_t *bound = &block->run_until_ns[slot % WEIR_LIVE_BLOCK_SLOTS / WEIR_LIVE_RUN_SLOTS];
    uint64_t old = atomic_load_explicit(bound, memory_order_relaxed);

    while (!atomic_compare_exchange_weak_explicit(bound, &old, (old + 1) & LIFTS_MASK, memory_order_acq_rel,
                                                  memory_order_relaxed))
        ;
}

static _Atomic uint64_t *deadline_of(const struct weir_live *live, uint32_t slot)
{
    return &live->blocks[slot / WEIR_LIVE_BLOCK_SLOTS]->until_ns[slot % WEIR_LIVE_BLOCK_SLOTS];
}

bool weir_live_lift(struct weir_live *live, uint32_t slot, uint64_t until_ns, uint64_t now_ns)
{
    if (until_ns <= now_ns ||
        !atomic_compare_exchange_strong_explicit(deadline_of(live, slot), &until_ns, now_ns,
                                                 memory_order_relaxed, memory_order_relaxed))
        return false;
    forget_bound(live, slot);
    return true;
}

struct weir_failure weir_live_cause(const struct weir_live *live, uint32_t slot)
{
    uint64_t cause = atomic_load_explicit(&record_of(live, slot)->cause, memory_order_relaxed);

    return (struct weir_failure){.kind = (weir_kind)(cause >> 16 & UINT16_MAX),
                                 .status = (int)(cause & UINT16_MAX),
                                 .origin = WEIR_ORIGIN_PROVIDER};
}

weir_cooldown_rule weir_live_rule(const struct weir_live *live, uint32_t slot)
{
    return (weir_cooldown_rule)(atomic_load_explicit(&record_of(live, slot)->cause, memory_order_relaxed) >>
                                32);
}

uint64_t weir_live_length(const struct weir_live *live, uint32_t slot)
{
    return atomic_load_explicit(&record_of(live, slot)->length, memory_order_relaxed);
}

struct weir_live_name *weir_live_by_hand(const struct weir_live *live, uint32_t slot)
{
    return &record_of(live, slot)->by_hand;
}

static void note_cause(struct weir_live *live, uint32_t slot, const struct weir_failure *cause,
                       weir_cooldown_rule rule, uint64_t length_ns)
{
    struct weir_live_record *record = record_of(live, slot);

    atomic_store_explicit(&record->cause,
                          (uint64_t)rule << 32 | (uint64_t)cause->kind << 16 | (uint16_t)cause->status,
                          memory_order_relaxed);
    atomic_store_explicit(&record->length, length_ns, memory_order_relaxed);
}

/* The bits of a failure's word, from the highest: there was one, its kind, its status, when it was. */
enum { STATUS_BITS = 10, AT_BITS = 46, KIND_SHIFT = STATUS_BITS + AT_BITS };

#define KNOWN_FAILURE (UINT64_C(1) << 63)

_Static_assert(WEIR_KIND_COUNT <= 1 << (63 - KIND_SHIFT), "a kind of failure fits in its bits");

void weir_live_note_failure(struct weir_live *live, uint32_t slot, const struct weir_failure *failure,
                            uint64_t now_ns)
{
    uint64_t at = now_ns / WEIR_NS_PER_MS & ((UINT64_C(1) << AT_BITS) - 1);

    atomic_store_explicit(&record_of(live, slot)->last_failure,
                          KNOWN_FAILURE | (uint64_t)failure->kind << KIND_SHIFT |
                              (uint64_t)failure->status << AT_BITS | at,
                          memory_order_relaxed);
}

struct weir_last_failure weir_live_last_failure(const struct weir_live *live, uint32_t slot)
{
    uint64_t word = atomic_load_explicit(&record_of(live, slot)->last_failure, memory_order_relaxed);

    return (struct weir_last_failure){.known = (word & KNOWN_FAILURE) != 0,
                                      .kind = (weir_kind)((word & ~KNOWN_FAILURE) >> KIND_SHIFT),
                                      .status = (int)(word >> AT_BITS & ((UINT64_C(1) << STATUS_BITS) - 1)),
                                      .at_ns = (word & ((UINT64_C(1) << AT_BITS) - 1)) * WEIR_NS_PER_MS};
}

/* What prolongs a cooldown is a part of it, unless a success has ended the row meanwhile. */
static void note_cooldown(_Atomic uint32_t *cooldowns, bool prolongs)
{
    uint32_t none = 0;

    if (prolongs)
        (void)atomic_compare_exchange_strong_explicit(cooldowns, &none, 1, memory_order_relaxed,
                                                      memory_order_relaxed);
    else
        atomic_fetch_add_explicit(cooldowns, 1, memory_order_relaxed);
}

bool weir_live_cool(struct weir_live *live, uint32_t slot, uint64_t until_ns,
                    const struct weir_failure *cause, weir_cooldown_rule rule, uint64_t now_ns)
{
    _Atomic uint64_t *until = deadline_of(live, slot);
    uint64_t old = atomic_load_explicit(until, memory_order_relaxed);

    do {
        if (old >= until_ns)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(until, &old, until_ns, memory_order_relaxed,
                                                    memory_order_relaxed));
    note_cause(live, slot, cause, rule, until_ns - now_ns);
    note_cooldown(&record_of(live, slot)->cooldowns, old > now_ns);
    return true;
}

void weir_live_cool_by_hand(struct weir_live *live, uint32_t slot, uint64_t until_ns, uint64_t now_ns)
{
    const struct weir_failure cause = {.kind = WEIR_KIND_SERVICE_UNAVAILABLE,
                                       .status = weir_kind_row(WEIR_KIND_SERVICE_UNAVAILABLE)->status};
    uint64_t old = atomic_exchange_explicit(deadline_of(live, slot), until_ns, memory_order_relaxed);

    if (old > until_ns)
        forget_bound(live, slot);
    note_cause(live, slot, &cause, WEIR_COOLDOWN_BY_HAND, until_ns - now_ns);
}

uint32_t weir_live_cooldowns(const struct weir_live *live, uint32_t slot)
{
    return atomic_load_explicit(&record_of(live, slot)->cooldowns, memory_order_relaxed);
}

static uint64_t epoch_of(uint64_t now_ns)
{
    return now_ns / BUCKET_NS & EPOCH_MASK;
}

static uint64_t pack_bucket(uint64_t epoch, uint64_t successes, uint64_t failures)
{
    return epoch << (2 * COUNT_BITS) | successes << COUNT_BITS | failures;
}

static uint64_t bucket_epoch(uint64_t bucket)
{
    return bucket >> (2 * COUNT_BITS);
}

static uint64_t bucket_plus(uint64_t bucket, uint64_t epoch, bool success)
{
    uint64_t successes = bucket >> COUNT_BITS & COUNT_MASK, failures = bucket & COUNT_MASK;

    if (bucket_epoch(bucket) != epoch)
        return pack_bucket(epoch, success, !success);
    if (success)
        return pack_bucket(epoch, successes + (successes < COUNT_MASK), failures);
    return pack_bucket(epoch, successes, failures + (failures < COUNT_MASK));
}

void weir_live_enter(struct weir_live *live, uint32_t slot, bool success, uint64_t now_ns)
{
    _Atomic uint64_t *bucket = &record_of(live, slot)->buckets[now_ns / BUCKET_NS % WEIR_LIVE_BUCKETS];
    uint64_t old = atomic_load_explicit(bucket, memory_order_relaxed);

    if (success && weir_live_cooldowns(live, slot) > 0)
        atomic_store_explicit(&record_of(live, slot)->cooldowns, 0, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(bucket, &old, bucket_plus(old, epoch_of(now_ns), success),
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

struct weir_live_window weir_live_window(const struct weir_live *live, uint32_t slot, uint64_t now_ns)
{
    struct weir_live_window sum = {0, 0};
    uint64_t bucket, age;

    for (size_t i = 0; i < WEIR_LIVE_BUCKETS; i++) {
        bucket = atomic_load_explicit(&record_of(live, slot)->buckets[i], memory_order_relaxed);
        age = (epoch_of(now_ns) - bucket_epoch(bucket)) & EPOCH_MASK;
        if (age >= WEIR_LIVE_BUCKETS)
            continue;
        sum.successes += (uint32_t)(bucket >> COUNT_BITS & COUNT_MASK);
        sum.failures += (uint32_t)(bucket & COUNT_MASK);
    }
    return sum;
}

static uint64_t ms_rounded_up(uint64_t ns)
{
    return ns / WEIR_NS_PER_MS + (ns % WEIR_NS_PER_MS != 0);
}

uint32_t weir_live_count(struct weir_live *live, uint32_t slot, unsigned counter, uint64_t life_ns,
                         uint64_t now_ns)
{
    _Atomic uint64_t *at = &record_of(live, slot)->counters[counter];
    uint64_t old = atomic_load_explicit(at, memory_order_relaxed), next, end_ms;

    do {
        end_ms = old >> WEIR_LIVE_COUNT_BITS;
        if (end_ms > now_ns / WEIR_NS_PER_MS)
            next = (old & CALLS_MASK) == CALLS_MASK ? old : old + 1;
        else
            next = ms_rounded_up(weir_time_add(now_ns, life_ns)) << WEIR_LIVE_COUNT_BITS | 1;
    } while (
        !atomic_compare_exchange_weak_explicit(at, &old, next, memory_order_release, memory_order_relaxed));
    return weir_live_counter_count(next);
}

uint64_t weir_live_counter(const struct weir_live *live, uint32_t slot, unsigned counter)
{
    return atomic_load_explicit(&record_of(live, slot)->counters[counter], memory_order_acquire);
}

void weir_live_view(const struct weir_live *live, uint32_t slot, uint64_t now_ns,
                    struct weir_live_view *ret_view)
{
    struct weir_failure cause = weir_live_cause(live, slot);
    struct weir_live_window window = weir_live_window(live, slot, now_ns);
    uint64_t until_ns = weir_live_until(live, slot), length_ns = weir_live_length(live, slot);

    *ret_view = (struct weir_live_view){.cooldown_until_ns = until_ns,
                                        .cooldown_set_ns = until_ns > length_ns ? until_ns - length_ns : 0,
                                        .cooldown_length_ns = length_ns,
                                        .cooldown_rule = weir_live_rule(live, slot),
                                        .last_failure = weir_live_last_failure(live, slot),
                                        .cooldown_kind = cause.kind,
                                        .cooldown_status = cause.status,
                                        .cooldowns = weir_live_cooldowns(live, slot),
                                        .successes = window.successes,
                                        .failures = window.failures};
}

static bool run_validate(const struct weir_live_block *block, size_t run)
{
    uint64_t bound = atomic_load_explicit(&block->run_until_ns[run], memory_order_relaxed) & ~LIFTS_MASK;

    for (size_t i = run * WEIR_LIVE_RUN_SLOTS; i < (run + 1) * WEIR_LIVE_RUN_SLOTS; i++)
        if (atomic_load_explicit(&block->until_ns[i], memory_order_relaxed) < bound)
            return false;
    return true;
}

static bool record_validate(const struct weir_live_record *record, uint64_t now_ns)
{
    uint64_t bucket;

    for (size_t i = 0; i < WEIR_LIVE_BUCKETS; i++) {
        bucket = atomic_load_explicit(&record->buckets[i], memory_order_relaxed);
        if ((bucket & (pack_bucket(0, COUNT_MASK, COUNT_MASK))) != 0 &&
            bucket_epoch(bucket) > epoch_of(now_ns))
            return false;
    }
    return true;
}

bool weir_live_validate(const struct weir_live *live, uint64_t now_ns)
{
    size_t used = (live->slots + WEIR_LIVE_BLOCK_SLOTS - 1) / WEIR_LIVE_BLOCK_SLOTS;

    for (size_t i = 0; i < WEIR_LIVE_BLOCKS; i++)
        if ((live->blocks[i] != NULL) != (i < used))
            return false;
    for (size_t i = 0; i < used * RUNS_PER_BLOCK; i++)
        if (!run_validate(live->blocks[i / RUNS_PER_BLOCK], i % RUNS_PER_BLOCK))
            return false;
    for (uint32_t slot = 0; slot < live->slots; slot++)
        if (!record_validate(record_of(live, slot), now_ns))
            return false;
    return true;
}
