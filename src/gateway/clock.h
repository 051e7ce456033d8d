/*
 * The wall clock's minutes, by which limits go: the router has no clock of its own.
 */
#ifndef WEIR_GATEWAY_CLOCK_H
#define WEIR_GATEWAY_CLOCK_H

#include <stdint.h>

struct weir_worker;

/* Tells the router what time it is at now_ns, unless this worker has lately.  Before the first call of a
 * worker begins, so that its limits are those of the right minute. */
void weir_clock_tell(struct weir_worker *worker, uint64_t now_ns);

#endif
