/*
 * Which paths there are: one row of tbl/paths.h each, with the methods it takes and who serves it.
 */
#ifndef WEIR_GATEWAY_PATHS_H
#define WEIR_GATEWAY_PATHS_H

#include <stdbool.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "provider/route.h"

/* Who serves a path. */
typedef enum weir_service {
    WEIR_SERVICE_CALL,       /* a call to a model; the row names its route */
    WEIR_SERVICE_MODELS,     /* the list */
    WEIR_SERVICE_MODEL,      /* one of it; the path names it */
    WEIR_SERVICE_MODEL_INFO, /* the deployments, without secrets */
    WEIR_SERVICE_HEALTH,
    WEIR_SERVICE_SHARED, /* who makes the health checks of several processes */
    WEIR_SERVICE_LIVE,
    WEIR_SERVICE_READY,
    WEIR_SERVICE_CALLS,   /* the newest that are over */
    WEIR_SERVICE_STORY,   /* of one of them; the path names it */
    WEIR_SERVICE_STATE,   /* of all groups and deployments */
    WEIR_SERVICE_EXPLAIN, /* what a request for a model would do */
    WEIR_SERVICE_COOL,    /* a deployment, by hand; the path names it */
    WEIR_SERVICE_LIFT,    /* its cooldown */
    WEIR_SERVICE_METRICS,
    WEIR_SERVICE_RELOAD, /* of the configuration */
    WEIR_SERVICE_EVENTS  /* routing events as they come */
} weir_service;

/* What a row takes, as a set: a path may stand in several rows. */
typedef enum weir_method { WEIR_METHOD_GET = 1, WEIR_METHOD_POST = 2, WEIR_METHOD_DELETE = 4 } weir_method;

/* Who may. */
typedef enum weir_access_rule {
    WEIR_ACCESS_KEY,    /* who has the key */
    WEIR_ACCESS_OPEN,   /* anybody */
    WEIR_ACCESS_METRICS /* as the settings say (decisions 23) */
} weir_access_rule;

struct weir_path_row {
    weir_method method; /* GET: HEAD too */
    weir_access_rule access;
    struct weir_slice prefix;
    struct weir_slice suffix;
    bool named; /* a name, perhaps with slashes in it, stands between prefix and suffix */
    weir_service service;
    weir_route route; /* of WEIR_SERVICE_CALL */
};

struct weir_path {
    const struct weir_path_row *row;
    unsigned methods; /* that the path takes: WEIR_METHOD_* */
    struct weir_slice
        name; /* of a model, a deployment, as it stands in the path, still encoded; empty: none */
};

/* Conditions of weir_path_find. */
#define WEIR_PATH_UNKNOWN 1
#define WEIR_PATH_METHOD  2 /* the path does not take the method; ret_path->methods are those that it does */

/* Finds who serves the path.  ret_path->name is a part of path. */
WEIR_MUST_USE int weir_path_find(struct weir_slice method, struct weir_slice path,
                                 struct weir_path *ret_path);

/* The value of an Allow field for a set of methods; lives for ever. */
struct weir_slice weir_path_allow(unsigned methods);

#endif
