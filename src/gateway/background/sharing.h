/*
 * What this process shares with others by Redis: the connection, and the times at which state/sync tells and
 * reads (RS 22, decisions 33 to 35).
 *
 * Changes are told at once, or two milliseconds after the last ones (twenty at most, after many); all keys in
 * use are read once a second, and soon after the first changes behind a silence.
 * No request waits for any of it.  For the background thread, but where it says otherwise.
 */
#ifndef WEIR_GATEWAY_SHARING_H
#define WEIR_GATEWAY_SHARING_H

#include <stdbool.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "state/redis.h"

struct weir_background;
struct weir_sharing;

enum { WEIR_SHARING_TEXT_MAX = 256 };

/* It cannot be done: text says why, for a person. */
#define WEIR_SHARING_REFUSED 1

/* On the main thread, before the background thread runs: 0, WEIR_SHARING_REFUSED with a text, or negative. */
WEIR_MUST_USE int weir_sharing_new(struct weir_background *background, char text[WEIR_SHARING_TEXT_MAX],
                                   struct weir_sharing **ret_sharing);

/* Accepts NULL. */
void weir_sharing_free(struct weir_sharing *sharing);

/* From any thread: something has changed (as weir_router_share asks for). */
void weir_sharing_notify(struct weir_sharing *sharing);

/* Another command of this process, as weir_redis_send. */
WEIR_MUST_USE int weir_sharing_send(struct weir_sharing *sharing, const struct weir_slice *args, size_t count,
                                    struct weir_redis_sink sink);

/* What tells this process from others, for people: "host:42".  From any thread. */
enum { WEIR_SHARING_NAME_MAX = 64 };
struct weir_slice weir_sharing_name(char name[WEIR_SHARING_NAME_MAX]);

/* The seat has another setup. */
void weir_sharing_follow(struct weir_sharing *sharing);

/* Tells what is left, then says that it has ended (weir_background_ended): as soon as Redis has answered, and
 * within a moment. */
void weir_sharing_end(struct weir_sharing *sharing);

/*
 * On the main thread, while the background thread runs: waits until what is in Redis was read, or until Redis
 * turns out to be away.  That takes three times the limit of one answer at most.
 */
void weir_sharing_wait(struct weir_sharing *sharing);

#endif
