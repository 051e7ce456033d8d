/*
 * A hashed hierarchical wheel: level 0 has a slot for each of the next 64 ticks, level 1 one for each of the
 * next 64 blocks of 64 ticks, and so on.  A timer stands on the lowest level that reaches its tick.  When the
 * wheel enters a block, the block's slot is emptied onto the levels below it.
 *
 * Invariants (weir_timer_wheel_validate): all timers of level 0 are due within 64 ticks of wheel->tick, and
 * bit i of full[l] is set exactly when slots[l][i] has timers.  Slots are circular lists whose head is the
 * slot, so that a timer can be taken out without knowing where it stands.
 */
#include "net/timer.h"

#include "base/time.h"

enum { SLOT_MASK = WEIR_TIMER_SLOTS - 1 };

#define REACH_TICKS (UINT64_C(1) << (WEIR_TIMER_LEVELS * WEIR_TIMER_SLOT_BITS))

static unsigned shift_of(unsigned level)
{
    return level * WEIR_TIMER_SLOT_BITS;
}

static void list_init(struct weir_timer *head)
{
    head->next = head;
    head->prev = head;
}

static bool list_empty(const struct weir_timer *head)
{
    return head->next == head;
}

static void list_append(struct weir_timer *head, struct weir_timer *timer)
{
    timer->next = head;
    timer->prev = head->prev;
    head->prev->next = timer;
    head->prev = timer;
}

static void list_unlink(struct weir_timer *timer)
{
    timer->prev->next = timer->next;
    timer->next->prev = timer->prev;
    timer->next = NULL;
    timer->prev = NULL;
}

void weir_timer_wheel_init(struct weir_timer_wheel *wheel, uint64_t now_ns)
{
    wheel->tick = now_ns / WEIR_TIMER_TICK_NS;
    for (unsigned level = 0; level < WEIR_TIMER_LEVELS; level++) {
        wheel->full[level] = 0;
        for (unsigned i = 0; i < WEIR_TIMER_SLOTS; i++)
            list_init(&wheel->slots[level][i]);
    }
}

/* The tick at which a time has certainly come. */
static uint64_t tick_of(uint64_t at_ns)
{
    return at_ns / WEIR_TIMER_TICK_NS + (at_ns % WEIR_TIMER_TICK_NS != 0);
}

static unsigned level_of(uint64_t delta)
{
    unsigned level = 0;

    while (delta >> shift_of(level + 1) != 0)
        level++;
    return level;
}

static void place(struct weir_timer_wheel *wheel, struct weir_timer *timer)
{
    uint64_t tick = tick_of(timer->at_ns);
    unsigned level;
    unsigned slot;

    if (tick < wheel->tick)
        tick = wheel->tick;
    if (tick - wheel->tick >= REACH_TICKS)
        tick = wheel->tick + REACH_TICKS - 1;
    level = level_of(tick - wheel->tick);
    slot = (unsigned)(tick >> shift_of(level)) & SLOT_MASK;
    list_append(&wheel->slots[level][slot], timer);
    wheel->full[level] |= UINT64_C(1) << slot;
}

void weir_timer_wheel_add(struct weir_timer_wheel *wheel, struct weir_timer *timer, uint64_t at_ns)
{
    timer->at_ns = at_ns;
    place(wheel, timer);
}

void weir_timer_wheel_remove(struct weir_timer_wheel *wheel, struct weir_timer *timer)
{
    const struct weir_timer *first = &wheel->slots[0][0];
    const struct weir_timer *head = timer->next;
    bool last;

    if (head == NULL)
        return;
    last = timer->prev == head;
    list_unlink(timer);
    if (last && head >= first && head < first + WEIR_TIMER_LEVELS * WEIR_TIMER_SLOTS) {
        size_t i = (size_t)(head - first);

        wheel->full[i / WEIR_TIMER_SLOTS] &= ~(UINT64_C(1) << (i % WEIR_TIMER_SLOTS));
    }
}

/* The first tick of the first block of the level that has timers; the level is not empty. */
static uint64_t first_tick(const struct weir_timer_wheel *wheel, unsigned level)
{
    uint64_t block_ticks = UINT64_C(1) << shift_of(level);
    uint64_t block = (wheel->tick + block_ticks - 1) >> shift_of(level);
    unsigned turn = (unsigned)block & SLOT_MASK;
    uint64_t bits = wheel->full[level];

    if (turn != 0)
        bits = bits >> turn | bits << (WEIR_TIMER_SLOTS - turn);
    return (block + (uint64_t)__builtin_ctzll(bits)) << shift_of(level);
}

static uint64_t next_tick(const struct weir_timer_wheel *wheel)
{
    uint64_t next = UINT64_MAX;

    for (unsigned level = 0; level < WEIR_TIMER_LEVELS; level++) {
        uint64_t first = wheel->full[level] == 0 ? UINT64_MAX : first_tick(wheel, level);

        if (first < next)
            next = first;
    }
    return next;
}

uint64_t weir_timer_wheel_next(const struct weir_timer_wheel *wheel)
{
    uint64_t tick = next_tick(wheel);

    return tick == UINT64_MAX ? WEIR_TIME_NEVER : tick * WEIR_TIMER_TICK_NS;
}

/* Moves a slot's timers to a list of its own. */
static void empty_slot(struct weir_timer_wheel *wheel, unsigned level, unsigned slot, struct weir_timer *list)
{
    struct weir_timer *head = &wheel->slots[level][slot];

    list_init(list);
    if (list_empty(head))
        return;
    *list = *head;
    list->next->prev = list;
    list->prev->next = list;
    list_init(head);
    wheel->full[level] &= ~(UINT64_C(1) << slot);
}

/* The wheel enters wheel->tick: the blocks that begin there come down, the highest first. */
static void cascade(struct weir_timer_wheel *wheel)
{
    for (unsigned level = WEIR_TIMER_LEVELS - 1; level > 0; level--) {
        struct weir_timer list;

        if ((wheel->tick & ((UINT64_C(1) << shift_of(level)) - 1)) != 0)
            continue;
        empty_slot(wheel, level, (unsigned)(wheel->tick >> shift_of(level)) & SLOT_MASK, &list);
        while (!list_empty(&list)) {
            struct weir_timer *timer = list.next;

            list_unlink(timer);
            place(wheel, timer);
        }
    }
}

static void fire_slot(struct weir_timer_wheel *wheel)
{
    struct weir_timer list;

    empty_slot(wheel, 0, (unsigned)wheel->tick & SLOT_MASK, &list);
    wheel->tick++;
    while (!list_empty(&list)) {
        struct weir_timer *timer = list.next;

        list_unlink(timer);
        timer->fire(timer);
    }
}

void weir_timer_wheel_run(struct weir_timer_wheel *wheel, uint64_t now_ns)
{
    uint64_t now = now_ns / WEIR_TIMER_TICK_NS;

    while (wheel->tick <= now) {
        uint64_t next = next_tick(wheel);

        if (next > now) {
            wheel->tick = now + 1;
            return;
        }
        wheel->tick = next;
        cascade(wheel);
        fire_slot(wheel);
    }
}

static bool slot_is_valid(const struct weir_timer_wheel *wheel, unsigned level, unsigned slot)
{
    const struct weir_timer *head = &wheel->slots[level][slot];
    bool bit = (wheel->full[level] >> slot & 1) != 0;

    for (const struct weir_timer *t = head->next; t != head; t = t->next) {
        uint64_t tick = tick_of(t->at_ns);

        if (t->next->prev != t)
            return false;
        if (level == 0 && tick >= wheel->tick && tick - wheel->tick >= WEIR_TIMER_SLOTS)
            return false;
    }
    return bit == !list_empty(head);
}

bool weir_timer_wheel_validate(const struct weir_timer_wheel *wheel)
{
    for (unsigned level = 0; level < WEIR_TIMER_LEVELS; level++) {
        for (unsigned slot = 0; slot < WEIR_TIMER_SLOTS; slot++) {
            if (!slot_is_valid(wheel, level, slot))
                return false;
        }
    }
    return true;
}
