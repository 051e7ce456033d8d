/*
 * Which alerts there are: a pure machine that is given signals and times, and says what is to be told.
 *
 *   - Alerts of one kind about the same are told once in a window; those in between are counted, and the next
 *     one that is told says how many there were.
 *   - All alerts together are no more than so many a minute.  A fifth of that is kept for outages.
 *   - An outage begins when every deployment of a group cools down.  It is over when one of them is back that
 *     has answered since or was cooled by hand alone, or has been back for a minute, which is told if the
 *     outage was.  Whether it serves is not known then.
 *   - A storm is that many fallbacks of a group to others within a window.
 *
 * Everything has a place in tables of fixed size; the oldest one gives way.  For one thread.
 */
#ifndef WEIR_GATEWAY_ALERT_BOOK_H
#define WEIR_GATEWAY_ALERT_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>

#include "gateway/alert/signal.h"

enum {
    WEIR_ALERT_SUBJECTS_MAX = 512,
    WEIR_ALERT_STORMS_MAX = 128,
    WEIR_ALERT_OUTAGES_MAX = 64,
    WEIR_ALERT_STORM_PARTS = 20 /* of the window in which fallbacks are counted */
};

struct weir_alert_rules {
    uint32_t types; /* that anybody wants to know of: WEIR_ALERT_BIT of each */
    uint64_t window_ns;
    uint32_t max_per_minute;
    uint32_t storm_fallbacks; /* 0: never */
    uint64_t storm_window_ns;
};

/* What is to be told. */
struct weir_alert {
    weir_alert_kind kind;
    struct weir_alert_signal about; /* of OUTAGE and RECOVERED: the group, the time, and how long it took */
    uint32_t members;               /* of OUTAGE: deployments of the group */
    uint64_t back_ns;               /* of OUTAGE: until the first of them is back */
    uint64_t fallbacks;             /* of STORM, within ... */
    uint64_t window_ns;             /* ... so long */
    uint64_t repeated;              /* alerts of this kind about the same that were not told before, since: */
    uint64_t repeated_since_ns;
    uint64_t held_back; /* alerts of all kinds that were not told for there were too many */
};

/* How the deployments of a group are, those that are paused left out. */
struct weir_alert_group {
    uint32_t members;
    uint32_t cooling;
    bool sound;        /* one that does not cool down has no failure's cooldown since its last success */
    uint64_t first_ns; /* the soonest end of a cooldown, where all are cooling */
};

struct weir_alert_subject {
    uint64_t key; /* 0: the place is free */
    uint64_t quiet_until_ns;
    uint64_t last_ns;
    uint64_t repeated;
    uint64_t repeated_since_ns;
};

struct weir_alert_storm {
    uint64_t key;  /* 0: the place is free */
    uint64_t part; /* number of the newest part */
    uint32_t counts[WEIR_ALERT_STORM_PARTS];
};

struct weir_alert_outage {
    struct weir_alert_name group; /* empty: the place is free */
    uint64_t began_ns;
    uint64_t back_ns; /* since when not all are cooling; 0: they are */
    bool told;
    bool counted; /* among those that were not told */
};

struct weir_alert_book {
    struct weir_alert_rules rules;
    uint64_t credit_ns; /* of the rate: an alert costs its part of a minute */
    uint64_t credit_at_ns;
    uint64_t held_back; /* since one was told last */
    struct weir_alert_subject subjects[WEIR_ALERT_SUBJECTS_MAX];
    struct weir_alert_storm storms[WEIR_ALERT_STORMS_MAX];
    struct weir_alert_outage outages[WEIR_ALERT_OUTAGES_MAX];
};

void weir_alert_book_init(struct weir_alert_book *ret_book, uint64_t now_ns);

/* Other rules from now on; what is remembered stays. */
void weir_alert_book_follow(struct weir_alert_book *book, const struct weir_alert_rules *rules);

/* Results of the next two: 0 with an alert; */
#define WEIR_ALERT_NOTHING   1 /* nobody is to be told of anything */
#define WEIR_ALERT_REPEATED  2 /* it was told lately */
#define WEIR_ALERT_HELD_BACK 3 /* too many were */

WEIR_MUST_USE int weir_alert_book_signal(struct weir_alert_book *book, const struct weir_alert_signal *signal,
                                         uint64_t now_ns, struct weir_alert *ret_alert);

/* How a group is: to be said when one of its deployments has begun to cool down, and again and again as long
 * as it is among weir_alert_book_outage. */
WEIR_MUST_USE int weir_alert_book_group(struct weir_alert_book *book, const struct weir_alert_name *name,
                                        const struct weir_alert_group *group, uint64_t now_ns,
                                        struct weir_alert *ret_alert);

/* The groups with an outage: NULL where there is none at that index, up to WEIR_ALERT_OUTAGES_MAX. */
const struct weir_alert_name *weir_alert_book_outage(const struct weir_alert_book *book, size_t index);

#endif
