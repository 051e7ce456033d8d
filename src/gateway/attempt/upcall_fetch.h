/*
 * A provider over the network as the source of an attempt's answer.
 */
#ifndef WEIR_GATEWAY_UPCALL_FETCH_H
#define WEIR_GATEWAY_UPCALL_FETCH_H

#include <weir/attr.h>

struct weir_upcall;

/* Sends the request that was built for the attempt; what comes of it is fed to the attempt from the loop. 0
 * or negative. */
WEIR_MUST_USE int weir_upcall_fetch(struct weir_upcall *upcall);

#endif
