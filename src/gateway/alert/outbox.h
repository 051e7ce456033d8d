/*
 * Messages that wait to be sent: a bounded number, tried a few times each.  A pure machine; whoever owns it
 * sends.
 *
 * Of each hook one message is on its way at a time, the oldest first; the others wait behind it.  One that
 * was not taken is tried again after a while, up to WEIR_ALERT_TRIES times in all.  For one thread.
 */
#ifndef WEIR_GATEWAY_ALERT_OUTBOX_H
#define WEIR_GATEWAY_ALERT_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "gateway/alert/signal.h"

enum { WEIR_ALERT_MESSAGES_MAX = 128, WEIR_ALERT_TRIES = 3 };

struct weir_alert_letter {
    uint64_t hook; /* which one, by a number of the owner's; 0: the place is free */
    uint64_t number;
    uint64_t due_ns;
    unsigned tries;
    bool sending;
    weir_alert_kind kind;
    char *body;
    size_t body_len;
};

struct weir_alert_outbox {
    const struct weir_mem *mem;
    uint64_t next_number;
    size_t count;
    struct weir_alert_letter letters[WEIR_ALERT_MESSAGES_MAX];
};

void weir_alert_outbox_init(struct weir_alert_outbox *ret_outbox, const struct weir_mem *mem);

/* Accepts a zeroed one. */
void weir_alert_outbox_deinit(struct weir_alert_outbox *outbox);

/* There is no room, or no memory. */
#define WEIR_ALERT_OUTBOX_FULL 1

/* Puts a message in; the body is copied.  0 or WEIR_ALERT_OUTBOX_FULL. */
WEIR_MUST_USE int weir_alert_outbox_put(struct weir_alert_outbox *outbox, uint64_t hook, weir_alert_kind kind,
                                        struct weir_slice body, uint64_t now_ns);

/* The message to be sent to the hook now, which is on its way from then on; NULL: none.  It stays where it is
 * until it is done. */
struct weir_alert_letter *weir_alert_outbox_next(struct weir_alert_outbox *outbox, uint64_t hook,
                                                 uint64_t now_ns);

/* It was taken, or is given up. */
void weir_alert_outbox_done(struct weir_alert_outbox *outbox, struct weir_alert_letter *letter);

/* It was not taken.  False: that was the last try, it is done.  wait_ns: what the hook asks for; 0: nothing.
 */
bool weir_alert_outbox_again(struct weir_alert_outbox *outbox, struct weir_alert_letter *letter,
                             uint64_t wait_ns, uint64_t now_ns);

/* It was cut off, and this was no try. */
void weir_alert_outbox_back(struct weir_alert_letter *letter);

/* When the next message to any hook is due that has none on its way; WEIR_TIME_NEVER: there is none. */
uint64_t weir_alert_outbox_due(const struct weir_alert_outbox *outbox);

/* One that is for none of these hooks, and is not on its way; NULL: there is none. */
struct weir_alert_letter *weir_alert_outbox_stray(struct weir_alert_outbox *outbox, const uint64_t *hooks,
                                                  size_t count);

#endif
