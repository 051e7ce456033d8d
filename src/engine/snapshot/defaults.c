/* What a configuration means where it says nothing (router-semantics 2). */
#include <weir/snapshot.h>

#include "base/time.h"

void weir_deployment_spec_init(struct weir_deployment_spec *spec)
{
    *spec =
        (struct weir_deployment_spec){.order = WEIR_UNSET_ORDER,
                                      .num_retries = WEIR_UNSET,
                                      .limits = WEIR_LIMITS_NONE,
                                      .cooldown_ns = WEIR_UNSET_NS,
                                      .allowed_fails = WEIR_UNSET,
                                      .minute = {WEIR_UNSET_NS, WEIR_UNSET_NS, WEIR_UNSET_NS, WEIR_UNSET_NS},
                                      .max_parallel = WEIR_UNSET,
                                      .max_input_tokens = WEIR_UNSET_NS,
                                      .parameters = UINT64_MAX,
                                      .routes = UINT64_MAX};
    weir_policy_init(&spec->allowed_fails_policy);
}

void weir_group_spec_init(struct weir_group_spec *spec)
{
    *spec = (struct weir_group_spec){.limits = WEIR_LIMITS_NONE, .resilience = WEIR_RESILIENCE_NONE};
}

void weir_strategy_spec_init(struct weir_strategy_spec *spec, weir_strategy strategy)
{
    *spec = (struct weir_strategy_spec){.strategy = strategy,
                                        .ttl_ns = 3600 * WEIR_NS_PER_S,
                                        .max_latency_samples = 10,
                                        .confidence_low = 0.3,
                                        .confidence_medium = 0.5,
                                        .confidence_high = 0.7,
                                        .decay_ns = 10 * WEIR_NS_PER_S};
}

void weir_router_spec_init(struct weir_router_spec *spec)
{
    *spec = (struct weir_router_spec){.token_margin = 0.25,
                                      .num_retries = 2,
                                      .initial_retry_delay_ns = 500 * WEIR_NS_PER_MS,
                                      .max_retry_delay_ns = 8 * WEIR_NS_PER_S,
                                      .jitter_ns = 750 * WEIR_NS_PER_MS,
                                      .max_fallbacks = 5,
                                      .limits = WEIR_LIMITS_NONE,
                                      .resilience = WEIR_RESILIENCE_NONE,
                                      .continue_to = {WEIR_CONTINUE_FALLBACK},
                                      .cooldown_ns = 5 * WEIR_NS_PER_S,
                                      .cooldown_cap_ns = 3600 * WEIR_NS_PER_S,
                                      .allowed_fails = WEIR_UNSET,
                                      .failure_threshold = 0.5,
                                      .failure_min_requests = 5,
                                      .single_failure_minimum = 1000,
                                      .health_staleness_ns = 600 * WEIR_NS_PER_S};
    weir_strategy_spec_init(&spec->strategy, WEIR_STRATEGY_SIMPLE_SHUFFLE);
    spec->limits.timeout_ns = 6000 * WEIR_NS_PER_S;
    weir_policy_init(&spec->retry_policy);
    weir_policy_init(&spec->allowed_fails_policy);
}
