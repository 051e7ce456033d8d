/* clang-format off */ /* one row a line */
/*
 * Every setting of the process that weir reads, one row each.  Loader, `weir check`, the dump of defaults and
 * docs/configuration.md are made from these rows; the keys of a deployment are in deployment.h, the keys that
 * are known and not read in known.h, limits that other levels have too in limits.h.  Source: router-semantics.md 2.4 to 2.6, 9, 15.5; decisions 7, 22, 24.
 *
 * SETTING(SECTION, key, member, TYPE, unit, min, max, default, what it does)
 * SETTING_AT_START(the same)                 holds until a restart; the others are taken up by a reload
 * PART(SECTION, key, shape, what it does)    read by code of its own; no member
 *
 * SECTION  TOP (the top level), ROUTER, LITELLM, CACHE (litellm_settings.cache_params), GENERAL, WEIR, or VARIABLE:
 *          an environment variable
 * member   of struct weir_settings; durations are nanoseconds there, whatever the file says
 * TYPE     BOOL bool; U32 uint32_t; BYTES uint64_t (a number, or text with KiB, MiB, GiB); NUMBER double;
 *          SECONDS uint64_t, nanoseconds; TEXT and SECRET struct weir_slice; RETRIES and FAILS struct
 *          weir_policy; STRATEGY weir_strategy; LOG_FORMAT enum weir_log_format; OBJECT struct weir_slice,
 *          JSON of a map; KEEPALIVE as SECONDS, 0 or brought between min and max; SOURCES struct
 *          weir_continue_list; EMPTY enum weir_empty_answer; OVERRIDES uint32_t, a bit for each
 *          weir_limit_id; NAMES struct weir_names; RATE and HOLD as in limits.h; BUDGET, HEDGE and GROWTH as in resilience.h; CHECKS
 *          uint32_t, a bit for each weir_check_id
 * min, max of the number as it is written (seconds, bytes, ...); 0, 0: none
 * default  as one would write it; "" is not set: WEIR_UNSET, WEIR_UNSET_NS, the empty slice
 */
#ifndef SETTING
#define SETTING(section, key, member, type, unit, min, max, dflt, prose)
#endif
#ifndef SETTING_AT_START
#define SETTING_AT_START(...) SETTING(__VA_ARGS__)
#endif
#ifndef PART
#define PART(section, key, shape, prose)
#endif

PART(TOP, model_list, "list of deployments", "The deployments; those of one model_name are a group.")
PART(TOP, router_settings, "map", "Strategies, retries, fallbacks, cooldowns.")
PART(TOP, litellm_settings, "map", "Defaults of the same, for the whole process.")
PART(TOP, general_settings, "map", "Who may call, and what requests may ask for.")
PART(TOP, weir_settings, "map", "Limits and logs of weir; LiteLLM ignores this section.")
PART(TOP, environment_variables, "map of names to text", "Variables that are set before all others are read.")
PART(TOP, credential_list, "list of maps with credential_name and credential_values", "Named sets of api_key, api_base and the like for litellm_credential_name.")
PART(TOP, include, "list of paths", "Other files, relative to this one: their lists are appended, their other keys replace.")

SETTING(ROUTER, routing_strategy, strategy, STRATEGY, "", 0, 0, "simple-shuffle", "How one of a group's deployments is chosen.")
PART(ROUTER, routing_strategy_args, "map", "Arguments of routing_strategy.")
PART(ROUTER, routing_groups, "list of maps with group_name, models and routing_strategy", "Groups that have a strategy of their own.")
SETTING(ROUTER, optional_pre_call_checks, optional_checks, CHECKS, "", 0, 0, "", "enforce_model_rate_limits: hold deployments to their rpm, tpm, itpm and otpm.")
SETTING(ROUTER, enable_pre_call_checks, pre_call_checks, BOOL, "", 0, 0, "false", "Pick no deployment whose context is too short for the prompt, whose rpm is used up, that is in the wrong region, or that does not take a parameter of the request.")
SETTING(ROUTER, default_max_parallel_requests, default_max_parallel, U32, "", 0, 1000000, "", "Calls at once of a deployment that says neither max_parallel_requests nor rpm nor tpm.")
SETTING(ROUTER, enable_tag_filtering, tag_filtering, BOOL, "", 0, 0, "false", "Requests choose deployments by their tags.")
SETTING(ROUTER, tag_filtering_match_any, tag_match_any, BOOL, "", 0, 0, "true", "One tag of the request is enough; false: a deployment must have all.")
SETTING(ROUTER, tag_routing_prefix, tag_prefix, TEXT, "", 0, 0, "", "What is taken off the front of a request's tags that have it.")
SETTING(ROUTER, num_retries, router_num_retries, U32, "", 0, 1000000, "", "Retries in one group after the first attempt; not set: that of litellm_settings, else 2.")
SETTING(ROUTER, retry_after, retry_after_ns, SECONDS, "s", 0, 3600, "0", "Least wait before a retry to which the provider gave no Retry-After.")
SETTING(ROUTER, retry_policy, retry_policy, RETRIES, "", 0, 0, "", "Number of retries by the kind of the failure; beats num_retries for the kinds that it names.")
PART(ROUTER, model_group_retry_policy, "map of groups to retry policies", "A retry policy for each group; replaces retry_policy there.")
PART(ROUTER, fallbacks, "list of maps from one group to a list of groups", "Where a request goes when a group has failed.")
PART(ROUTER, context_window_fallbacks, "list of maps from one group to a list of groups", "The same for prompts that are too long.")
PART(ROUTER, content_policy_fallbacks, "list of maps from one group to a list of groups", "The same for refusals by a content policy.")
PART(ROUTER, default_fallbacks, "list of groups", "The chain of every group that has no entry in fallbacks.")
PART(ROUTER, model_group_alias, "map of names to groups, or to {model, hidden}", "Other names of groups; hidden ones are not listed.")
SETTING(ROUTER, max_fallbacks, router_max_fallbacks, U32, "", 0, 1000000, "", "Hops to other groups in one call; not set: that of litellm_settings, else 5.")
SETTING(ROUTER, enable_weighted_failover, weighted_failover, BOOL, "", 0, 0, "false", "With simple-shuffle, and with no other strategy: after a failure try each sibling once, by weight, before any fallback.")
SETTING(ROUTER, allowed_fails, router_allowed_fails, U32, "", 0, 1000000, "", "Failures that a deployment may have before it cools down; not set: the rules of the error rate decide.")
SETTING(ROUTER, allowed_fails_policy, allowed_fails_policy, FAILS, "", 0, 0, "", "Allowed failures by their kind.")
SETTING(ROUTER, cooldown_time, router_cooldown_ns, SECONDS, "s", 0, 2592000, "", "How long a deployment cools down when neither it nor the provider says; not set or 0: that of litellm_settings, else 5.")
SETTING(ROUTER, disable_cooldowns, disable_cooldowns, BOOL, "", 0, 0, "false", "Never take a deployment out of the pick.")
SETTING(ROUTER, keepalive_seconds, router_keepalive_ns, KEEPALIVE, "s", 1, 300, "", "Send a comment to the client of a stream that was silent for so long; 0: never; not set: litellm_settings.sse_keepalive_ping_interval_seconds.")
SETTING(ROUTER, enable_mid_stream_fallback_continuation, continuation, BOOL, "", 0, 0, "false", "Let another deployment go on with a chat stream that broke after plain text.")
PART(ROUTER, default_litellm_params, "map", "Parameters of every call; they beat a deployment's own, and a request's beat them.")
SETTING(ROUTER, enable_health_check_routing, router_health_check_routing, BOOL, "", 0, 0, "false", "Pick no deployment whose last health check failed; with allowed_fails_policy count the failed checks instead, and when all deployments of a group cool down try one all the same.")
SETTING(ROUTER, health_check_staleness_threshold, router_health_staleness_ns, SECONDS, "s", 0, 2592000, "", "A health check that is older says nothing; not set: that of general_settings.")
SETTING(ROUTER, health_check_ignore_transient_errors, router_health_ignore_transient, BOOL, "", 0, 0, "false", "Health checks that fail with 429 or 408 change nothing.")
SETTING(ROUTER, background_health_check_model_groups, router_health_groups, NAMES, "", 0, 0, "", "The groups that are checked, and whose failed checks take deployments out whatever allowed_fails_policy says; not set: all, by the rule above.")
SETTING(ROUTER, ignore_invalid_deployments, ignore_invalid, BOOL, "", 0, 0, "true", "Leave a wrong entry of model_list out and start; false: refuse to start.")
SETTING_AT_START(ROUTER, redis_url, router_redis_url, SECRET, "", 0, 0, "", "The Redis by which several processes act as one router: redis://[user:password@]host[:port][/database], or rediss:// for TLS.")
SETTING_AT_START(ROUTER, redis_host, router_redis_host, TEXT, "", 0, 0, "", "The same in parts: its name or address. Neither this nor redis_url: the Redis of litellm_settings.cache_params.")
SETTING_AT_START(ROUTER, redis_port, router_redis_port, U32, "", 1, 65535, "", "Its port; not set: the variable REDIS_PORT, else 6379.")
SETTING_AT_START(ROUTER, redis_username, router_redis_username, TEXT, "", 0, 0, "", "User of its access lists; not set: the variable REDIS_USERNAME.")
SETTING_AT_START(ROUTER, redis_password, router_redis_password, SECRET, "", 0, 0, "", "Its password; not set: the variable REDIS_PASSWORD.")
SETTING_AT_START(ROUTER, redis_db, router_redis_db, U32, "", 0, 1000000, "", "Number of its database; not set: 0.")
SETTING_AT_START(ROUTER, redis_ssl, router_redis_ssl, YES_NO, "", 0, 0, "", "Speak TLS with it; not set: the variable REDIS_SSL.")

#define LIMIT(key, member, type, unit, min, max, prose, router) SETTING(ROUTER, key, router_##member, type, unit, min, max, "", prose router)
#define WEIR_LIMIT(key, member, type, unit, min, max, prose, router) SETTING(WEIR, key, router_##member, type, unit, min, max, "", prose router)
#include "config/tbl/limits.h"

SETTING(LITELLM, num_retries, litellm_num_retries, U32, "", 0, 1000000, "", "Default of router_settings.num_retries.")
SETTING(LITELLM, request_timeout, request_timeout_ns, SECONDS, "s", 0.001, 2592000, "", "Default of router_settings.timeout; not set: the variable REQUEST_TIMEOUT, else 6000.")
PART(LITELLM, fallbacks, "list of maps from one group to a list of groups", "Used when router_settings has none.")
PART(LITELLM, context_window_fallbacks, "list of maps from one group to a list of groups", "Used when router_settings has none.")
PART(LITELLM, content_policy_fallbacks, "list of maps from one group to a list of groups", "Used when router_settings has none.")
PART(LITELLM, default_fallbacks, "list of groups", "Used when router_settings has none.")
SETTING(LITELLM, max_fallbacks, litellm_max_fallbacks, U32, "", 0, 1000000, "", "Default of router_settings.max_fallbacks.")
SETTING(LITELLM, cooldown_time, litellm_cooldown_ns, SECONDS, "s", 0, 2592000, "", "Default of router_settings.cooldown_time.")
SETTING(LITELLM, drop_params, drop_params, BOOL, "", 0, 0, "false", "Leave parameters out of requests that the model is known not to take, instead of passing them on; a deployment's own beats it.")
SETTING(LITELLM, ssl_verify, litellm_ssl_verify, VERIFY, "", 0, 0, "", "Default of weir_settings.ssl_verify, or of its ca_file when it is a path.")
SETTING(LITELLM, expose_router_debug_in_errors, expose_router_debug, BOOL, "", 0, 0, "true", "Add to the text of an error what the router tried.")
SETTING(LITELLM, sse_keepalive_ping_interval_seconds, sse_ping_ns, SECONDS, "s", 0, 86400, "", "As keepalive_seconds, and from the start: a stream that nobody has answered for so long is told 200 and gets comments; not set or 0: never.")
SETTING_AT_START(LITELLM, cache, cache, BOOL, "", 0, 0, "false", "Use the Redis of cache_params for what processes share, when router_settings names none. Answers are not cached.")
PART(LITELLM, cache_params, "map", "Where that Redis is; see below.")
PART(LITELLM, model_alias_map, "map of model names to the names to report", "Names that answers report in `model` instead of the asked one.")

SETTING_AT_START(CACHE, type, cache_type, TEXT, "", 0, 0, "redis", "Of the kinds of caches only redis is any use here.")
SETTING_AT_START(CACHE, url, cache_url, SECRET, "", 0, 0, "", "As router_settings.redis_url; not set, and no host: the variable REDIS_URL.")
SETTING_AT_START(CACHE, redis_url, cache_redis_url, SECRET, "", 0, 0, "", "Another name of url.")
SETTING_AT_START(CACHE, host, cache_host, TEXT, "", 0, 0, "", "The same in parts: its name or address; not set, and no url: the variable REDIS_HOST.")
SETTING_AT_START(CACHE, port, cache_port, U32, "", 1, 65535, "", "Its port; not set: the variable REDIS_PORT, else 6379.")
SETTING_AT_START(CACHE, username, cache_username, TEXT, "", 0, 0, "", "User of its access lists; not set: the variable REDIS_USERNAME.")
SETTING_AT_START(CACHE, password, cache_password, SECRET, "", 0, 0, "", "Its password; not set: the variable REDIS_PASSWORD.")
SETTING_AT_START(CACHE, db, cache_db, U32, "", 0, 1000000, "", "Number of its database; not set: 0.")
SETTING_AT_START(CACHE, ssl, cache_ssl, YES_NO, "", 0, 0, "", "Speak TLS with it; not set: the variable REDIS_SSL.")
SETTING_AT_START(CACHE, ssl_cert_reqs, cache_cert_reqs, TEXT, "", 0, 0, "required", "none: take any certificate of it.")
SETTING_AT_START(CACHE, ssl_ca_certs, cache_ca_file, TEXT, "", 0, 0, "", "File of certificates to trust for it; not set: weir_settings.ca_file.")
SETTING_AT_START(CACHE, namespace, cache_namespace, TEXT, "", 0, 0, "", "Put in front of every key, with a colon.")
SETTING_AT_START(CACHE, socket_timeout, cache_timeout_ns, SECONDS, "s", 0.001, 60, "", "How long an answer of it may take; not set: the variable REDIS_SOCKET_TIMEOUT.")
SETTING_AT_START(CACHE, service_name, cache_service, TEXT, "", 0, 0, "", "The master's name, by which its Sentinels know it.")
SETTING_AT_START(CACHE, sentinel_password, cache_sentinel_password, SECRET, "", 0, 0, "", "Password of the Sentinels.")
PART(CACHE, sentinel_nodes, "list of [host, port]", "Sentinels that tell which server is the master.")
PART(CACHE, redis_startup_nodes, "list", "Redis Cluster, which is not supported: refuses the start.")

SETTING(GENERAL, master_key, master_key, SECRET, "", 0, 0, "", "The key that callers must present; not set: the variable LITELLM_MASTER_KEY, else no key, and only loopback is served.")
SETTING(GENERAL, dangerously_permit_weak_or_unset_master_key, permit_no_master_key, BOOL, "", 0, 0, "false", "Serve other addresses than loopback though there is no master key.")
SETTING(GENERAL, enforce_fallback_model_access, ask_access, BOOL, "", 0, 0, "false", "Before a hop to another group ask whether the caller may use it.")
SETTING(GENERAL, expose_fallback_errors_to_caller, expose_fallback_errors, BOOL, "", 0, 0, "false", "Allow include_fallback_errors in requests.")
SETTING(GENERAL, dangerously_allow_mock_testing_request_params, allow_mock_params, BOOL, "", 0, 0, "false", "Allow mock_testing_fallbacks and its kin in requests.")
SETTING(GENERAL, cancel_on_disconnect, cancel_on_disconnect, BOOL, "", 0, 0, "false", "When the caller of a plain request leaves, end its upstream call too.")
SETTING(GENERAL, include_call_id_in_error_body, call_id_in_errors, BOOL, "", 0, 0, "false", "Add litellm_call_id to JSON errors.")
SETTING(GENERAL, allow_client_side_credentials, allow_client_credentials, BOOL, "", 0, 0, "false", "Let requests bring api_key, api_base and the like of their own.")
SETTING(GENERAL, always_include_stream_usage, always_stream_usage, BOOL, "", 0, 0, "false", "Ask for usage in every stream (stream_options.include_usage).")
SETTING(GENERAL, background_health_checks, health_checks, BOOL, "", 0, 0, "false", "Ask each deployment again and again whether it answers.")
SETTING(GENERAL, health_check_interval, health_interval_ns, SECONDS, "s", 0.1, 2592000, "300", "How often each of them is asked.")
SETTING(GENERAL, health_check_concurrency, health_concurrency, U32, "", 1, 10000, "64", "Health checks at once.")
SETTING(GENERAL, use_shared_health_check, health_shared, BOOL, "", 0, 0, "false", "With Redis: one process asks, and the others take its results.")
SETTING(GENERAL, health_check_details, health_details, BOOL, "", 0, 0, "true", "Tell the address and the failure of each deployment in /health.")
SETTING(GENERAL, health_check_skip_disabled_background_models, health_skip_unchecked, BOOL, "", 0, 0, "false", "Leave deployments with disable_background_health_check out of /health too.")
SETTING(GENERAL, enable_health_check_routing, general_health_check_routing, BOOL, "", 0, 0, "false", "As in router_settings.")
SETTING(GENERAL, health_check_staleness_threshold, general_health_staleness_ns, SECONDS, "s", 0, 2592000, "600", "Default of router_settings.health_check_staleness_threshold.")
SETTING(GENERAL, health_check_ignore_transient_errors, general_health_ignore_transient, BOOL, "", 0, 0, "false", "As in router_settings.")
SETTING(GENERAL, background_health_check_model_groups, general_health_groups, NAMES, "", 0, 0, "", "Used when router_settings has none.")
SETTING_AT_START(GENERAL, max_in_flight_requests_per_worker, max_in_flight, U32, "", 0, 1000000, "0", "Calls that weir has in hand at once, all workers together; 0: any number.")
SETTING_AT_START(GENERAL, max_queued_requests_per_worker, max_queued, U32, "", 0, 1000000, "0", "Calls beyond it that wait for a turn, all workers together, first in, first out; what comes then gets 503 at once.")
SETTING_AT_START(GENERAL, admission_queue_timeout_seconds, admission_wait_ns, SECONDS, "s", 0, 3600, "1", "Longest wait for a turn; then 503.")
SETTING(GENERAL, completion_model, completion_model, TEXT, "", 0, 0, "", "The model of every chat or text completion, whatever the request names.")
SETTING(GENERAL, embedding_model, embedding_model, TEXT, "", 0, 0, "", "The model of every embedding, whatever the request names.")

SETTING_AT_START(WEIR, workers, workers, U32, "", 0, 256, "0", "Worker threads; 0: one for each core.")
SETTING(WEIR, reload_on_change, reload_on_change, BOOL, "", 0, 0, "false", "Read the configuration again when one of its files changes.")
SETTING(WEIR, max_connections, max_connections, U32, "", 1, 1000000, "16384", "Client connections at once, for each worker; counted over all of them.")
SETTING(WEIR, max_head_bytes, max_head_bytes, BYTES, "bytes", 1024, 1048576, "64KiB", "Largest head of a request or an answer.")
SETTING(WEIR, max_header_count, max_header_count, U32, "", 8, 1000, "128", "Most header fields of a request or an answer.")
SETTING(WEIR, max_body_bytes, max_body_bytes, BYTES, "bytes", 1024, 4294967296.0, "64MiB", "Largest body of a request.")
SETTING(WEIR, max_json_depth, max_json_depth, U32, "", 8, 1024, "200", "Deepest nesting of a request's JSON.")
SETTING(WEIR, max_response_bytes, max_response_bytes, BYTES, "bytes", 1024, 4294967296.0, "64MiB", "Largest plain answer that is held to be judged; what is beyond is passed on as it comes.")
SETTING(WEIR, max_event_bytes, max_event_bytes, BYTES, "bytes", 1024, 1073741824.0, "16MiB", "Largest single event of a stream.")
SETTING(WEIR, stream_buffer_bytes, stream_buffer_bytes, BYTES, "bytes", 4096, 1073741824.0, "256KiB", "Bytes of a stream that wait for a slow client before the upstream is paused.")
SETTING(WEIR, stream_hold_max_bytes, stream_hold_max_bytes, BYTES, "bytes", 1, 1073741824.0, "1MiB", "Bytes of a stream that are held back until its first content.")
SETTING(WEIR, memory_budget_bytes, memory_budget_bytes, BYTES, "bytes", 1048576, 1099511627776.0, "1GiB", "Bodies and held streams of the whole process together; beyond it new requests get 503.")
SETTING(WEIR, header_timeout, header_timeout_ns, SECONDS, "s", 0.1, 86400, "30", "Until a client's request head is complete.")
SETTING(WEIR, body_timeout, body_timeout_ns, SECONDS, "s", 0.1, 86400, "60", "Longest silence of a client while it sends a body.")
SETTING(WEIR, idle_timeout, idle_timeout_ns, SECONDS, "s", 0.1, 86400, "120", "How long a client's connection may wait for its next request.")
SETTING(WEIR, client_write_timeout, client_write_timeout_ns, SECONDS, "s", 0.1, 86400, "60", "How long a client may take nothing of its answer.")
SETTING(WEIR, drain_timeout, drain_timeout_ns, SECONDS, "s", 0, 86400, "30", "How long calls may go on after SIGTERM, or when another process has taken over.")
SETTING(WEIR, upgrade_timeout, upgrade_timeout_ns, SECONDS, "s", 0.1, 86400, "60", "How long the process that SIGUSR2 starts may take until it serves.")
SETTING(WEIR, connect_timeout, connect_timeout_ns, SECONDS, "s", 0.01, 3600, "10", "Until a connection to an upstream is ready: name, TCP, proxy and TLS together.")
SETTING(WEIR, upstream_idle_timeout, upstream_idle_timeout_ns, SECONDS, "s", 0, 86400, "60", "How long an unused connection to an upstream is kept.")
SETTING(WEIR, max_upstream_connections, max_upstream_connections, U32, "", 1, 1000000, "16384", "Connections to upstreams at once, of each worker by itself.")
SETTING(WEIR, max_idle_per_upstream, max_idle_per_upstream, U32, "", 0, 100000, "256", "Unused connections that are kept for one upstream, by each worker for itself.")
SETTING(WEIR, dns_ttl, dns_ttl_ns, SECONDS, "s", 0, 86400, "30", "How long a name's addresses are used before they are asked for again.")
SETTING(WEIR, cooldown_cap, cooldown_cap_ns, SECONDS, "s", 1, 2592000, "3600", "Most that a provider's Retry-After may cool a deployment.")
SETTING(WEIR, ssl_verify, ssl_verify, BOOL, "", 0, 0, "true", "Verify the certificates of upstreams; a deployment's own ssl_verify beats it.")
SETTING(WEIR, ca_file, ca_file, TEXT, "", 0, 0, "", "File of certificates to trust instead of the system's; not set: the variable SSL_CERT_FILE.")
SETTING_AT_START(WEIR, access_log, access_log, TEXT, "", 0, 0, "stdout", "Where a line for each call goes: stdout, stderr, off, or the path of a file.")
SETTING_AT_START(WEIR, access_log_format, access_log_format, LOG_FORMAT, "", 0, 0, "json", "Form of these lines: json or logfmt.")
PART(WEIR, groups, "map of groups to maps of settings", "Limits and more for the deployments of one group; what a deployment says of its own beats them, and they beat the router's.")
SETTING(WEIR, model_map, model_map, TEXT, "", 0, 0, "", "File with what is known of models, in the form of LiteLLM's model_prices_and_context_window.json; a relative path is beside this file. Not set: a small built-in table.")
SETTING(WEIR, continuation_targets, continue_to, SOURCES, "", 0, 0, "", "Where a broken stream is continued, in that order: fallback, the group's chain; group, its other deployments and at last the same one again. Not set: [fallback].")
SETTING(WEIR, empty_answer, empty_answer, EMPTY, "", 0, 0, "pass", "fail: an answer without any content and tokens counts as an internal failure; pass: it is an answer.")
#define SHARE(key, member, type, unit, min, max, prose) SETTING(WEIR, key, router_##member, type, unit, min, max, "", prose)
#include "config/tbl/resilience.h"
SETTING(WEIR, prompt_token_margin, prompt_token_margin, NUMBER, "", 0, 1, "0.25", "How far the estimate of a prompt's tokens may be off, as a part of it: no deployment is dropped, and no limit spent, for what may be this error.")
SETTING(WEIR, allow_request_overrides, request_overrides, OVERRIDES, "", 0, 0, "", "What a request may set for itself in its field weir: limits, hedge, all_cooling_wait.")

SETTING(VARIABLE, INITIAL_RETRY_DELAY, initial_retry_delay_ns, SECONDS, "s", 0, 3600, "0.5", "First wait before a retry; doubled each time.")
SETTING(VARIABLE, MAX_RETRY_DELAY, max_retry_delay_ns, SECONDS, "s", 0, 3600, "8", "Longest such wait.")
SETTING(VARIABLE, JITTER, jitter_ns, SECONDS, "s", 0, 3600, "0.75", "Waits grow by a random part of this.")
SETTING(VARIABLE, DEFAULT_COOLDOWN_TIME_SECONDS, default_cooldown_ns, SECONDS, "s", 0.001, 2592000, "5", "Cooldown where nobody says another.")
SETTING(VARIABLE, DEFAULT_FAILURE_THRESHOLD_PERCENT, failure_threshold, NUMBER, "", 0, 1, "0.5", "Share of failures above which a deployment with siblings cools down.")
SETTING(VARIABLE, DEFAULT_FAILURE_THRESHOLD_MINIMUM_REQUESTS, failure_min_requests, U32, "", 1, 1000000, "5", "Attempts in a minute before that share counts.")
SETTING(VARIABLE, SINGLE_DEPLOYMENT_TRAFFIC_FAILURE_THRESHOLD, single_failure_minimum, U32, "", 1, 1000000000, "1000", "Failures in a minute without one success that cool a lone deployment too.")
SETTING(VARIABLE, ROUTER_MAX_FALLBACKS, default_max_fallbacks, U32, "", 0, 1000000, "5", "Hops to other groups where no setting says.")
SETTING(VARIABLE, REQUEST_TIMEOUT, default_timeout_ns, SECONDS, "s", 0.001, 2592000, "6000", "Limit of one attempt where no setting says.")
SETTING(VARIABLE, HEALTH_CHECK_TIMEOUT_SECONDS, health_timeout_ns, SECONDS, "s", 0.001, 86400, "60", "Longest wait for the answer to a health check, where the deployment says none.")
SETTING(VARIABLE, DEFAULT_HEALTH_CHECK_PROMPT, health_prompt, TEXT, "", 0, 0, "test from litellm", "What health checks say.")
SETTING(VARIABLE, SSL_VERIFY, variable_ssl_verify, VERIFY, "", 0, 0, "", "Default of litellm_settings.ssl_verify.")
SETTING(VARIABLE, SSL_CERT_FILE, variable_ca_file, TEXT, "", 0, 0, "", "File of certificates to trust where no setting names one.")
SETTING(VARIABLE, LITELLM_MASTER_KEY, variable_master_key, SECRET, "", 0, 0, "", "The master key where general_settings has none.")
SETTING(VARIABLE, LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY, variable_permit_no_master_key, BOOL, "", 0, 0, "false", "As general_settings.dangerously_permit_weak_or_unset_master_key.")
SETTING_AT_START(VARIABLE, REDIS_URL, variable_redis_url, SECRET, "", 0, 0, "", "Redis, where one is wanted and nobody says which.")
SETTING_AT_START(VARIABLE, REDIS_HOST, variable_redis_host, TEXT, "", 0, 0, "", "Likewise, in parts.")
SETTING_AT_START(VARIABLE, REDIS_PORT, variable_redis_port, TEXT, "", 0, 0, "", "Its port where no setting says.")
SETTING_AT_START(VARIABLE, REDIS_USERNAME, variable_redis_username, TEXT, "", 0, 0, "", "Its user where no setting says.")
SETTING_AT_START(VARIABLE, REDIS_PASSWORD, variable_redis_password, SECRET, "", 0, 0, "", "Its password where no setting says.")
SETTING_AT_START(VARIABLE, REDIS_SSL, variable_redis_ssl, YES_NO, "", 0, 0, "", "Speak TLS with it where no setting says.")
SETTING_AT_START(VARIABLE, REDIS_SOCKET_TIMEOUT, redis_timeout_ns, SECONDS, "s", 0.001, 60, "0.1", "How long an answer of Redis may take before it is given up.")
SETTING_AT_START(VARIABLE, REDIS_CIRCUIT_BREAKER_FAILURE_THRESHOLD, redis_breaker_failures, U32, "", 1, 1000000, "5", "After so many failures in a row Redis is left alone for a while.")
SETTING_AT_START(VARIABLE, REDIS_CIRCUIT_BREAKER_RECOVERY_TIMEOUT, redis_breaker_recovery_ns, SECONDS, "s", 0.1, 86400, "60", "How long.")

#undef SETTING
#undef SETTING_AT_START
#undef PART
