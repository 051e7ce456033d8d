/*
 * Sends alerts: takes the workers' signals, decides by the book (book.h), and posts what is to be told to the
 * webhooks of the setup, each message a few times at most (outbox.h).
 *
 * A service of the background thread: all for its loop's thread, but where it says otherwise.  Another setup
 * changes rules and webhooks; a message for a webhook that is gone is dropped.
 */
#ifndef WEIR_GATEWAY_ALERTER_H
#define WEIR_GATEWAY_ALERTER_H

#include <stdbool.h>

#include <weir/attr.h>

#include "gateway/seat.h"

struct weir_config;
struct weir_gateway;

typedef struct weir_alerter weir_alerter;

/* Whether the configuration needs one. */
bool weir_alerter_is_wanted(const struct weir_config *config);

/* On the main thread, before the loop runs: on the seat's loop, whose setup it works by; both outlive it.  0
 * or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_alerter_new(struct weir_gateway *gateway, struct weir_seat *seat,
                                   weir_alerter **ret_alerter);

/* The loop has begun, or the seat has another setup, and the one before lives until the call returns. */
void weir_alerter_follow(weir_alerter *alerter);

/* The process ends: what waits is sent once more, for two seconds at most, then done is called, from inside
 * at the earliest. */
void weir_alerter_end(weir_alerter *alerter, void (*done)(void *user), void *user);

/* Accepts NULL. */
void weir_alerter_free(weir_alerter *alerter);

#endif
