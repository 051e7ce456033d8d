/*
 * libweir: the routing engine of weir for programs that embed it.
 *
 * Retries, fallbacks and cooldowns as a state machine without I/O: start with call.h.
 */
#ifndef WEIR_WEIR_H
#define WEIR_WEIR_H

#include <weir/call.h>
#include <weir/candidate.h>
#include <weir/error.h>
#include <weir/event.h>
#include <weir/explain.h>
#include <weir/failure.h>
#include <weir/mem.h>
#include <weir/router.h>
#include <weir/shared.h>
#include <weir/slice.h>
#include <weir/snapshot.h>

#endif
