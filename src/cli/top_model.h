/*
 * What `weir top` shows: the answers of GET /weir/state and GET /weir/calls as rows.  Pure.
 *
 * A model owns the documents that its slices point into, and is never changed once made.
 */
#ifndef WEIR_CLI_TOP_MODEL_H
#define WEIR_CLI_TOP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include <yyjson.h>

/* Negative numbers are unknown ones. */
struct weir_top_deployment {
    struct weir_slice group;
    struct weir_slice id;
    struct weir_slice model;
    struct weir_slice provider;
    struct weir_slice api_base;
    double order;
    bool eligible;
    double odds;           /* that the next pick of the group takes it, from 0 to 1 */
    struct weir_slice why; /* it is not eligible: a fate (include/weir/tbl/fates.h) */
    bool cooling;
    double cooldown_left_s;
    double cooldown_length_s;
    struct weir_slice cooldown_kind; /* empty: set by hand, or learned from elsewhere */
    struct weir_slice cooldown_rule;
    struct weir_slice cooldown_by;
    uint64_t in_flight; /* elsewhere too */
    uint64_t requests;  /* of the minute */
    uint64_t tokens;
    uint64_t rpm; /* 0: no limit */
    uint64_t tpm;
    double latency_s;
    double ttft_s;
    uint64_t successes; /* of the window */
    uint64_t failures;
    double failure_share;
    struct weir_slice last_kind; /* empty: it has not failed */
    uint64_t last_status;
    double last_ago_s;
};

struct weir_top_group {
    struct weir_slice name;
    struct weir_slice strategy;
    size_t first; /* of the deployments, which stand together */
    size_t count;
    size_t eligible;
    size_t cooling;
    double back_in_s; /* the soonest end of its cooldowns */
    uint64_t in_flight;
    uint64_t requests;
    uint64_t tokens;
    uint64_t successes;
    uint64_t failures;
    double failure_share;
};

/* A call that was retried, fell back, was hedged or continued. */
struct weir_top_failover {
    struct weir_slice time;
    struct weir_slice call_id;
    struct weir_slice model;
    struct weir_slice deployment;
    struct weir_slice recovery;
    struct weir_slice state;
    struct weir_slice kind;
    uint64_t status;
    uint64_t attempts;
    uint64_t retries;
    uint64_t fallbacks;
    double duration_ms;
};

struct weir_top_model {
    yyjson_doc *state;
    yyjson_doc *calls; /* NULL: weir remembers none */
    struct weir_slice now;
    struct weir_slice since;
    struct weir_slice version;
    double uptime_s;
    uint64_t in_flight;
    size_t group_count;
    size_t deployment_count;
    size_t failover_count;
    size_t eligible;
    size_t cooling;
    struct weir_top_group *groups;
    struct weir_top_deployment *deployments;
    struct weir_top_failover *failovers;
    uint32_t *order; /* room for the numbers of the rows that are shown: as many as there are of any kind */
};

/* Takes both documents over, whatever it returns.  calls may be NULL.  0 or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_top_model_new(yyjson_doc *state, yyjson_doc *calls, struct weir_top_model **ret_model);

void weir_top_model_free(struct weir_top_model *model); /* accepts NULL */

#endif
