/*
 * Subjects are known by a hash of 64 bits of what the alert is about.  The rate is an account that a minute
 * fills: each alert takes its part of it, and what is no outage leaves a fifth.
 */
#include "gateway/alert/book.h"

#include <string.h>

#include "base/slice.h"
#include "base/time.h"

#define MINUTE_NS (60 * WEIR_NS_PER_S)

/* How long a deployment must be back, where nothing asks it, until the outage counts as over. */
#define CALM_NS MINUTE_NS

enum { RESERVE = 5 };

void weir_alert_book_init(struct weir_alert_book *ret_book, uint64_t now_ns)
{
    memset(ret_book, 0, sizeof(*ret_book));
    ret_book->credit_ns = MINUTE_NS;
    ret_book->credit_at_ns = now_ns;
}

void weir_alert_book_follow(struct weir_alert_book *book, const struct weir_alert_rules *rules)
{
    book->rules = *rules;
}

static bool is_wanted(const struct weir_alert_book *book, weir_alert_kind kind)
{
    return (book->rules.types & WEIR_ALERT_BIT(weir_alert_kind_row(kind)->type)) != 0;
}

/* ---- the rate ---- */

static bool pay(struct weir_alert_book *book, weir_alert_kind kind, uint64_t now_ns)
{
    uint64_t cost = MINUTE_NS / book->rules.max_per_minute;
    bool first_class = weir_alert_kind_row(kind)->type == WEIR_ALERT_TYPE_OUTAGE;
    uint64_t left = first_class ? 0 : cost * (book->rules.max_per_minute / RESERVE);

    book->credit_ns = weir_time_add(book->credit_ns, now_ns - book->credit_at_ns);
    book->credit_at_ns = now_ns;
    if (book->credit_ns > MINUTE_NS)
        book->credit_ns = MINUTE_NS;
    if (book->credit_ns < cost + left)
        return false;
    book->credit_ns -= cost;
    return true;
}

/* ---- the same again ---- */

static uint64_t key_of(weir_alert_kind kind, const struct weir_alert_signal *signal)
{
    uint64_t key = weir_slice_hash(weir_alert_name_slice(&signal->group), (uint64_t)kind + 1);

    if (kind == WEIR_ALERT_COOLDOWN || kind == WEIR_ALERT_SLOW)
        key = weir_slice_hash(weir_alert_name_slice(&signal->other), key);
    if (kind == WEIR_ALERT_FAILED)
        key += (uint64_t)signal->failure + 1;
    return key == 0 ? 1 : key;
}

/* The place of the key; of a new one a free place, or that of whom nothing was heard for the longest time. */
static struct weir_alert_subject *subject_of(struct weir_alert_book *book, uint64_t key)
{
    struct weir_alert_subject *oldest = &book->subjects[0];

    for (size_t i = 0; i < WEIR_ALERT_SUBJECTS_MAX; i++) {
        struct weir_alert_subject *subject = &book->subjects[i];

        if (subject->key == key)
            return subject;
        if (subject->last_ns < oldest->last_ns)
            oldest = subject;
    }
    *oldest = (struct weir_alert_subject){.key = key};
    return oldest;
}

static int note_untold(struct weir_alert_subject *subject, bool counts, uint64_t now_ns, int why)
{
    if (!counts)
        return WEIR_ALERT_NOTHING;
    if (subject->repeated++ == 0)
        subject->repeated_since_ns = now_ns;
    return why;
}

/* Fills in what was not told before.  counts: if this is not told either, the next one says so. */
static int tell(struct weir_alert_book *book, struct weir_alert *alert, bool counts, uint64_t now_ns)
{
    struct weir_alert_subject *subject = subject_of(book, key_of(alert->kind, &alert->about));

    subject->last_ns = now_ns;
    if (alert->kind != WEIR_ALERT_RECOVERED && now_ns < subject->quiet_until_ns)
        return note_untold(subject, counts, now_ns, WEIR_ALERT_REPEATED);
    if (!pay(book, alert->kind, now_ns)) {
        book->held_back += counts ? 1 : 0;
        return note_untold(subject, counts, now_ns, WEIR_ALERT_HELD_BACK);
    }
    alert->repeated = subject->repeated;
    alert->repeated_since_ns = subject->repeated_since_ns;
    alert->held_back = book->held_back;
    book->held_back = 0;
    subject->repeated = 0;
    subject->quiet_until_ns = weir_time_add(now_ns, book->rules.window_ns);
    return 0;
}

/* ---- storms ---- */

static struct weir_alert_storm *storm_of(struct weir_alert_book *book, uint64_t key)
{
    struct weir_alert_storm *oldest = &book->storms[0];

    for (size_t i = 0; i < WEIR_ALERT_STORMS_MAX; i++) {
        if (book->storms[i].key == key)
            return &book->storms[i];
        if (book->storms[i].part < oldest->part)
            oldest = &book->storms[i];
    }
    *oldest = (struct weir_alert_storm){.key = key};
    return oldest;
}

/* Counts one more, and returns how many there were within the window. */
static uint64_t count_fallback(struct weir_alert_storm *storm, uint64_t part)
{
    uint64_t gone = part - storm->part;
    uint64_t sum = 0;

    for (uint64_t i = 1; i <= gone && i <= WEIR_ALERT_STORM_PARTS; i++)
        storm->counts[(storm->part + i) % WEIR_ALERT_STORM_PARTS] = 0;
    storm->part = part;
    storm->counts[part % WEIR_ALERT_STORM_PARTS]++;
    for (size_t i = 0; i < WEIR_ALERT_STORM_PARTS; i++)
        sum += storm->counts[i];
    return sum;
}

static int take_fallback(struct weir_alert_book *book, struct weir_alert *alert, uint64_t now_ns)
{
    uint64_t part_ns = book->rules.storm_window_ns / WEIR_ALERT_STORM_PARTS;
    struct weir_alert_storm *storm = storm_of(book, key_of(WEIR_ALERT_STORM, &alert->about));

    alert->fallbacks = count_fallback(storm, now_ns / part_ns);
    alert->window_ns = book->rules.storm_window_ns;
    if (book->rules.storm_fallbacks == 0 || alert->fallbacks < book->rules.storm_fallbacks)
        return WEIR_ALERT_NOTHING;
    return tell(book, alert, false, now_ns); /* it goes on: there is nothing to count */
}

int weir_alert_book_signal(struct weir_alert_book *book, const struct weir_alert_signal *signal,
                           uint64_t now_ns, struct weir_alert *ret_alert)
{
    struct weir_alert alert = {.kind = signal->kind, .about = *signal};
    int r;

    if (!is_wanted(book, signal->kind))
        return WEIR_ALERT_NOTHING;
    r = signal->kind == WEIR_ALERT_STORM ? take_fallback(book, &alert, now_ns)
                                         : tell(book, &alert, true, now_ns);
    if (r == 0)
        *ret_alert = alert;
    return r;
}

/* ---- outages ---- */

static struct weir_alert_outage *find_outage(struct weir_alert_book *book, struct weir_slice group)
{
    for (size_t i = 0; i < WEIR_ALERT_OUTAGES_MAX; i++)
        if (weir_slice_eq(weir_alert_name_slice(&book->outages[i].group), group))
            return &book->outages[i];
    return NULL;
}

static int begin_outage(struct weir_alert_book *book, const struct weir_alert_name *name, uint64_t now_ns,
                        struct weir_alert_outage **ret_outage)
{
    struct weir_alert_outage *outage = find_outage(book, WEIR_SLICE_EMPTY);

    if (outage == NULL)
        return WEIR_ALERT_HELD_BACK;
    *outage = (struct weir_alert_outage){.group = *name, .began_ns = now_ns};
    *ret_outage = outage;
    return 0;
}

static struct weir_alert about_group(weir_alert_kind kind, const struct weir_alert_outage *outage,
                                     uint64_t now_ns)
{
    return (struct weir_alert){
        .kind = kind,
        .about = {
            .kind = kind, .time_ns = now_ns, .length_ns = now_ns - outage->began_ns, .group = outage->group}};
}

/* All are cooling.  An outage that is not told at once counts once, and is told later if it lasts. */
static int take_out(struct weir_alert_book *book, struct weir_alert_outage *outage,
                    const struct weir_alert_group *group, uint64_t now_ns, struct weir_alert *ret_alert)
{
    struct weir_alert alert = about_group(WEIR_ALERT_OUTAGE, outage, now_ns);
    int r;

    outage->back_ns = 0;
    if (outage->told)
        return WEIR_ALERT_NOTHING;
    alert.members = group->members;
    alert.back_ns = group->first_ns > now_ns ? group->first_ns - now_ns : 0;
    r = tell(book, &alert, !outage->counted, now_ns);
    alert.repeated -= alert.repeated > 0 && outage->counted ? 1 : 0;
    outage->told = r == 0;
    outage->counted = r != 0;
    if (r == 0)
        *ret_alert = alert;
    return r;
}

/* Some are back.  What is held back is told later. */
static int take_back(struct weir_alert_book *book, struct weir_alert_outage *outage,
                     const struct weir_alert_group *group, uint64_t now_ns, struct weir_alert *ret_alert)
{
    struct weir_alert alert = about_group(WEIR_ALERT_RECOVERED, outage, now_ns);
    bool told = outage->told;

    if (outage->back_ns == 0)
        outage->back_ns = now_ns;
    if (!group->sound && now_ns - outage->back_ns < CALM_NS)
        return WEIR_ALERT_NOTHING;
    if (told && tell(book, &alert, false, now_ns) != 0)
        return WEIR_ALERT_NOTHING;
    *outage = (struct weir_alert_outage){0};
    if (!told)
        return WEIR_ALERT_NOTHING;
    *ret_alert = alert;
    return 0;
}

int weir_alert_book_group(struct weir_alert_book *book, const struct weir_alert_name *name,
                          const struct weir_alert_group *group, uint64_t now_ns, struct weir_alert *ret_alert)
{
    struct weir_alert_outage *outage = find_outage(book, weir_alert_name_slice(name));
    bool out = group->members > 0 && group->cooling == group->members;
    int r;

    if (name->len == 0 || (outage == NULL && (!out || !is_wanted(book, WEIR_ALERT_OUTAGE))))
        return WEIR_ALERT_NOTHING;
    if (outage != NULL && (group->members == 0 || !is_wanted(book, WEIR_ALERT_OUTAGE))) {
        *outage = (struct weir_alert_outage){0}; /* it is no group any more, or nobody asks */
        return WEIR_ALERT_NOTHING;
    }
    if (outage == NULL) {
        r = begin_outage(book, name, now_ns, &outage);
        if (r != 0)
            return r;
    }
    return out ? take_out(book, outage, group, now_ns, ret_alert)
               : take_back(book, outage, group, now_ns, ret_alert);
}

const struct weir_alert_name *weir_alert_book_outage(const struct weir_alert_book *book, size_t index)
{
    const struct weir_alert_name *name = &book->outages[index].group;

    return name->len == 0 ? NULL : name;
}
