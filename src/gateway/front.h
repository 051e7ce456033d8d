/*
 * What stands between the HTTP server and the services: finds who serves a path, refuses what may not in
 * (404, 405, 401, 415) before its body is read, and ends jobs as their exchanges end.
 */
#ifndef WEIR_GATEWAY_FRONT_H
#define WEIR_GATEWAY_FRONT_H

#include "net/server.h"

struct weir_worker;

/* The handler for the worker's server. */
struct weir_server_handler weir_front_handler(struct weir_worker *worker);

#endif
