/*
 * What the specification says a router remembers and decides, written down a second time, plainly and without
 * care for speed, so that the engine can be compared with it.
 *
 * The model sees what a host sees: the events of calls, in the order of time.
 */
#ifndef TEST_SIM_MODEL_H
#define TEST_SIM_MODEL_H

#include "engine_kit.h"

#define MODEL_ENTRIES_MAX 512

/* One attempt that was counted. */
struct model_entry {
    uint64_t time_ns;
    bool success;
};

struct model_counter {
    uint64_t end_ns;
    uint32_t count;
};

struct model_deployment {
    struct model_entry entries[MODEL_ENTRIES_MAX];
    size_t entry_count;
    struct model_counter router;
    struct model_counter own;
    struct model_counter classes[WEIR_KIND_COUNT]; /* by the first kind of the class */
    uint64_t until_ns;
    uint32_t cooldowns; /* in a row */
};

struct model {
    struct model_deployment deployments[KIT_DEPLOYMENTS_MAX]; /* by their place in the configuration */
};

/* Of a deployment at a time. */
void model_window(const struct model_deployment *deployment, uint64_t now_ns, size_t *ret_successes,
                  size_t *ret_failures);

void model_success(struct model *model, const struct kit_call *call, const struct kit_deployment *deployment,
                   uint64_t now_ns);

/* Whether the failure sets a cooldown (router-semantics 15, 16), and by which rule and until when. */
bool model_failure(struct model *model, const struct kit_call *call, const struct kit_deployment *deployment,
                   const struct weir_failure *failure, uint64_t now_ns, weir_cooldown_rule *ret_rule,
                   uint64_t *ret_until_ns);

/* The field of a policy that speaks for a failure; WEIR_POLICY_NONE: none does. */
weir_policy_field model_field(const struct weir_policy *policy, const struct weir_failure *failure,
                              bool retries);

/* The deployments that a name stands for, by their places as bits: a group's, else an id's, else those of the
 * longest pattern that covers it (router-semantics 3; aliases are the caller's business). */
uint64_t model_resolve(const struct kit_config *config, struct weir_slice name);
bool model_is_id(const struct kit_config *config, struct weir_slice name);

/* How often, and whether at all, a failure in that group is retried (router-semantics 8, 10). */
uint32_t model_retries(const struct kit_call *call, struct weir_slice group,
                       const struct kit_deployment *deployment, const struct weir_failure *failure);
bool model_is_worth(const struct kit_call *call, struct weir_slice group, const struct weir_failure *failure);

#endif
