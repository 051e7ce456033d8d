/*
 * All workers of a process and the sockets that they share: made, started and ended together.
 *
 * For the main thread alone; what reaches the workers is posted to their loops.
 */
#ifndef WEIR_GATEWAY_CREW_H
#define WEIR_GATEWAY_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "net/inherited.h"
#include "net/listener.h"

struct weir_gateway;
struct weir_worker;

struct weir_crew {
    struct weir_gateway *gateway;
    weir_listener *listener;
    struct weir_worker *workers;
    size_t count; /* of those that were made */
};

enum { WEIR_CREW_TEXT_MAX = WEIR_LISTENER_TEXT_MAX };

/* The address cannot be listened on: text says why, for a person. */
#define WEIR_CREW_REFUSED 1

/* Every address that would be listened on is this machine's own loopback: of the host name or address, or of
 * the sockets where some were inherited. */
bool weir_crew_loopback(const char *host, const struct weir_inherited *inherited);

/*
 * Makes the gateway's workers, listening on the inherited sockets, or if there are none on host and port (0:
 * the system chooses), and starts their threads.  0, WEIR_CREW_REFUSED with a NUL-terminated text, or
 * negative; weir_crew_deinit is due in every case.
 */
WEIR_MUST_USE int weir_crew_start(struct weir_crew *ret_crew, struct weir_gateway *gateway, const char *host,
                                  uint16_t port, const struct weir_inherited *inherited,
                                  char text[WEIR_CREW_TEXT_MAX]);

/* "127.0.0.1:4000"; the first of them. */
struct weir_slice weir_crew_address(const struct weir_crew *crew);

/* Stops accepting; each worker ends with its last call, or at the drain limit. */
void weir_crew_drain(struct weir_crew *crew);

/* The same where another process accepts on the same sockets, and readiness stays as it is.  A drain may
 * follow. */
void weir_crew_hand_over(struct weir_crew *crew);

/* Each worker's loop has turned since this was asked last, or has ended. */
bool weir_crew_beat(struct weir_crew *crew);

/* Every worker ends at once. */
void weir_crew_stop(struct weir_crew *crew);

/* Every worker has ended. */
bool weir_crew_ended(const struct weir_crew *crew);

/* Stops and waits for all threads, and gives everything back; before the gateway.  Accepts a zeroed one. */
void weir_crew_deinit(struct weir_crew *crew);

#endif
