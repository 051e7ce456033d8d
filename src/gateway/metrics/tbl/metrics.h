/* clang-format off */ /* one row a line */
/*
 * All metrics.  What /metrics shows, docs/metrics.md and the places where counts are kept are made from these rows.  Source: metrics.md
 * (the names that begin with litellm_), beyond.md 7.
 *
 * SET(SET, labels)                     metrics that have the same labels, each as L(label), in that order; its rows follow it
 * COUNTER(SET, id, name, UNIT, prose)  what is counted as it happens
 * HISTOGRAM(SET, id, name, prose)      durations, in the buckets of tbl/buckets.h
 *
 * READING(OF, TYPE, id, name, UNIT, prose, labels)  what is looked up when /metrics is asked for; OF: PROCESS, or DEPLOYMENT (each one of
 *                                      the configuration that holds); TYPE: COUNTER or GAUGE; without labels the last argument is empty.
 *
 * UNIT     how a value that is kept as a whole number is written: NUMBER; SECONDS (of nanoseconds); DOLLARS (of picodollars)
 */
#ifndef SET
#define SET(set, labels)
#endif
#ifndef COUNTER
#define COUNTER(set, id, name, unit, prose)
#endif
#ifndef HISTOGRAM
#define HISTOGRAM(set, id, name, prose)
#endif
#ifndef READING
#define READING(of, type, id, name, unit, prose, labels)
#endif

#define OF_KEY L(hashed_api_key) L(api_key_alias) L(team) L(team_alias)
#define OF_ORGANIZATION L(org_id) L(org_alias)
#define OF_PLACE L(litellm_model_name) L(model_id) L(api_base) L(api_provider)

SET(CALLS, L(requested_model) L(group) L(route) L(state) L(status) L(kind))
COUNTER(CALLS, requests, "weir_requests_total", NUMBER, "Requests that are over: calls, and whatever was refused with a status from 400 on. Each is in exactly one state.")

SET(TIMES, L(group) L(route) L(stream))
HISTOGRAM(TIMES, request_time, "weir_request_duration_seconds", "From a call's head until its answer was sent, or its client gone.")
HISTOGRAM(TIMES, first_content_time, "weir_first_content_seconds", "From a call's head to the first content of its stream.")
HISTOGRAM(TIMES, queue_time, "weir_queue_seconds", "How long a call waited for its turn (max_in_flight_requests_per_worker).")
HISTOGRAM(TIMES, overhead_time, "weir_overhead_seconds", "Of the calls that succeeded, what was not spent with the deployment that answered: weir's own time, failed attempts, waits.")

SET(USAGE, L(requested_model) L(group) L(deployment))
COUNTER(USAGE, prompt_tokens, "weir_prompt_tokens_total", NUMBER, "Tokens of prompts, as the providers counted them.")
COUNTER(USAGE, completion_tokens, "weir_completion_tokens_total", NUMBER, "Tokens of answers, likewise; pieces of content where they were not told.")
COUNTER(USAGE, cost, "weir_cost_dollars_total", DOLLARS, "What answers cost, where the prices of their models are known.")

SET(ATTEMPTS, L(group) L(deployment))
COUNTER(ATTEMPTS, attempts, "weir_attempts_total", NUMBER, "Provider calls begun.")
COUNTER(ATTEMPTS, successes, "weir_attempt_successes_total", NUMBER, "Provider calls whose answer was, or completed, a call's answer.")
COUNTER(ATTEMPTS, hedges, "weir_hedges_total", NUMBER, "Provider calls that had given nothing for too long, so that another one was begun beside them.")
COUNTER(ATTEMPTS, hedges_lost, "weir_hedges_lost_total", NUMBER, "Provider calls that were stopped because another one beside them had answered.")
COUNTER(ATTEMPTS, bad_chunks, "weir_stream_bad_chunks_total", NUMBER, "Streams that were broken off at a chunk that is no JSON.")
HISTOGRAM(ATTEMPTS, success_time, "weir_attempt_duration_seconds", "Of provider calls that succeeded.")
HISTOGRAM(ATTEMPTS, attempt_first_content_time, "weir_attempt_first_content_seconds", "From the beginning of a provider call that succeeded to the first content of its stream.")

SET(FAILURES, L(group) L(deployment) L(kind) L(status))
COUNTER(FAILURES, failures, "weir_attempt_failures_total", NUMBER, "Provider calls that failed.")
COUNTER(FAILURES, failure_time, "weir_attempt_failure_seconds_total", SECONDS, "Time that provider calls took until they failed.")

SET(REFUSALS, L(group) L(deployment) L(kind))
COUNTER(REFUSALS, attempts_refused, "weir_attempts_refused_total", NUMBER, "Deployments that were not asked because a limit of theirs was used up.")

SET(LOOPS, L(group))
COUNTER(LOOPS, retries, "weir_retries_total", NUMBER, "Retries.")
COUNTER(LOOPS, retry_waits, "weir_retry_wait_seconds_total", SECONDS, "Time that calls waited before retries.")
COUNTER(LOOPS, cooling_waits, "weir_cooling_waits_total", NUMBER, "Calls that began to wait for the first cooldown of a group to end.")
COUNTER(LOOPS, recovered, "weir_streams_recovered_total", NUMBER, "Streams that broke before content and were served after all.")
COUNTER(LOOPS, continued, "weir_streams_continued_total", NUMBER, "Streams that broke after content and went on with another attempt's text.")

SET(BUDGETS, L(group) L(what))
COUNTER(BUDGETS, budget_refusals, "weir_retry_budget_refusals_total", NUMBER, "Retries and hedges that the group's retry budget did not pay for.")

SET(HOPS, L(source) L(target) L(hop))
COUNTER(HOPS, fallbacks, "weir_fallbacks_total", NUMBER, "Moves to another group, to the next order, or to a sibling.")

SET(BREAKS, L(group) L(deployment) L(committed))
COUNTER(BREAKS, broken, "weir_streams_broken_total", NUMBER, "Streams that ended without being complete.")

SET(COOLDOWNS, L(group) L(deployment) L(rule) L(kind))
COUNTER(COOLDOWNS, cooldowns, "weir_cooldowns_total", NUMBER, "Cooldowns set by this process.")
COUNTER(COOLDOWNS, cooldown_time, "weir_cooldown_seconds_total", SECONDS, "How long they were set for.")

SET(EVENTS, L(event))
COUNTER(EVENTS, events, "weir_events_total", NUMBER, "Routing events, those outside calls too.")

SET(PROXY, L(end_user) OF_KEY L(requested_model) L(user) L(status_code) L(user_email) L(route) L(client_ip) L(user_agent) L(model_id) L(api_provider) OF_ORGANIZATION)
COUNTER(PROXY, proxy_requests, "litellm_proxy_total_requests_metric_total", NUMBER, "Requests that the gateway answered.")

SET(PROXY_FAILED, L(end_user) OF_KEY L(requested_model) L(user) L(exception_status) L(exception_class) L(user_email) L(route) L(client_ip) L(user_agent) L(model_id) L(api_provider) OF_ORGANIZATION)
COUNTER(PROXY_FAILED, proxy_failures, "litellm_proxy_failed_requests_metric_total", NUMBER, "Requests that the gateway answered with a failure.")

SET(LATENCY, L(model_group) L(end_user) OF_KEY L(requested_model) L(user) L(model) L(model_id) L(api_provider) L(service_tier) OF_ORGANIZATION)
HISTOGRAM(LATENCY, total_latency, "litellm_request_total_latency_metric", "Whole calls that succeeded.")
HISTOGRAM(LATENCY, api_latency, "litellm_llm_api_latency_metric", "Of these, the time at the provider that answered.")
HISTOGRAM(LATENCY, api_first_token, "litellm_llm_api_time_to_first_token_metric", "At the provider, to the first content of a stream.")
HISTOGRAM(LATENCY, request_queue, "litellm_request_queue_time_seconds", "Waiting for admission.")

SET(OVERHEAD, L(model_group) OF_PLACE L(hashed_api_key) L(api_key_alias))
HISTOGRAM(OVERHEAD, overhead_latency, "litellm_overhead_latency_metric", "Whole calls that succeeded, without the time at the provider that answered.")

SET(TOKENS, L(end_user) OF_KEY L(model) L(user) L(user_email) L(requested_model) L(model_id) L(api_provider) OF_ORGANIZATION)
COUNTER(TOKENS, input_tokens, "litellm_input_tokens_metric_total", NUMBER, "Tokens of prompts.")
COUNTER(TOKENS, output_tokens, "litellm_output_tokens_metric_total", NUMBER, "Tokens of answers.")
COUNTER(TOKENS, total_tokens, "litellm_total_tokens_metric_total", NUMBER, "Both together.")
COUNTER(TOKENS, spend, "litellm_spend_metric_total", DOLLARS, "What answers cost, in dollars.")

SET(SERVED, L(model_group) L(requested_model) OF_PLACE OF_KEY L(client_ip) L(user_agent))
COUNTER(SERVED, deployment_successes, "litellm_deployment_success_responses_total", NUMBER, "Attempts that succeeded.")
COUNTER(SERVED, deployment_requests, "litellm_deployment_total_requests_total", NUMBER, "Attempts.")

SET(UNSERVED, L(model_group) L(requested_model) OF_PLACE OF_KEY L(client_ip) L(user_agent) L(exception_status) L(exception_class))
COUNTER(UNSERVED, deployment_failures, "litellm_deployment_failure_responses_total", NUMBER, "Attempts that failed.")

SET(COOLED, OF_PLACE L(exception_status))
COUNTER(COOLED, cooled_down, "litellm_deployment_cooled_down_total", NUMBER, "Cooldowns set.")

SET(PER_TOKEN, L(model_group) OF_PLACE OF_KEY OF_ORGANIZATION)
HISTOGRAM(PER_TOKEN, per_output_token, "litellm_deployment_latency_per_output_token", "Time at the provider for each token of its answer.")

SET(FELL_BACK, L(requested_model) L(fallback_model) OF_KEY L(exception_status) L(exception_class) L(model_id))
COUNTER(FELL_BACK, fallbacks_succeeded, "litellm_deployment_successful_fallbacks_total", NUMBER, "Hops to another group that brought the answer, with the failure that caused them.")
COUNTER(FELL_BACK, fallbacks_failed, "litellm_deployment_failed_fallbacks_total", NUMBER, "Hops to another group that brought none.")

SET(SELF, )
HISTOGRAM(SELF, self_latency, "litellm_self_latency", "Whole calls that succeeded, all in one.")

SET(REDIS, )
HISTOGRAM(REDIS, redis_latency, "litellm_redis_latency", "Until Redis answered a command.")
COUNTER(REDIS, redis_fails, "litellm_redis_fails_total", NUMBER, "Commands that were not sent since Redis was away, and connections to it that were lost or not had.")

READING(DEPLOYMENT, GAUGE, deployment_state, "litellm_deployment_state", NUMBER, "0: healthy; 1: its last attempt has failed; 2: it cools down.", OF_PLACE)
READING(DEPLOYMENT, GAUGE, tpm_limit, "litellm_deployment_tpm_limit", NUMBER, "Tokens a minute, as configured.", L(model_group) OF_PLACE)
READING(DEPLOYMENT, GAUGE, rpm_limit, "litellm_deployment_rpm_limit", NUMBER, "Requests a minute, as configured.", L(model_group) OF_PLACE)
READING(DEPLOYMENT, GAUGE, remaining_requests, "litellm_remaining_requests_metric", NUMBER, "What x-ratelimit-remaining-requests of the newest answer said.", L(model_group) OF_PLACE L(hashed_api_key) L(api_key_alias))
READING(DEPLOYMENT, GAUGE, remaining_tokens, "litellm_remaining_tokens_metric", NUMBER, "What x-ratelimit-remaining-tokens of the newest answer said.", L(model_group) OF_PLACE L(hashed_api_key) L(api_key_alias))
READING(DEPLOYMENT, GAUGE, eligible, "weir_deployment_eligible", NUMBER, "1: it may be picked when its order is tried; 0: it is paused, or picks pass it over because it cools down or was found unhealthy.", L(group) L(deployment))
READING(DEPLOYMENT, GAUGE, cooldown_left, "weir_deployment_cooldown_seconds", SECONDS, "What is left of its cooldown; 0: it does not cool down.", L(group) L(deployment))
READING(DEPLOYMENT, GAUGE, running, "weir_deployment_in_flight", NUMBER, "Attempts of this process that run.", L(group) L(deployment))
READING(DEPLOYMENT, GAUGE, minute_requests, "weir_deployment_minute_requests", NUMBER, "Requests of this minute, of all processes.", L(group) L(deployment))
READING(DEPLOYMENT, GAUGE, minute_tokens, "weir_deployment_minute_tokens", NUMBER, "Tokens of this minute, of all processes.", L(group) L(deployment))
READING(DEPLOYMENT, GAUGE, window_successes, "weir_deployment_window_successes", NUMBER, "Successes of the last 60 seconds, as the rules of cooldowns count them.", L(group) L(deployment))
READING(DEPLOYMENT, GAUGE, window_failures, "weir_deployment_window_failures", NUMBER, "Failures of the last 60 seconds, likewise.", L(group) L(deployment))
READING(PROCESS, GAUGE, build_info, "weir_build_info", NUMBER, "1.", L(version))
READING(PROCESS, GAUGE, start_time, "process_start_time_seconds", SECONDS, "When the process began to count, since 1970.", )
READING(PROCESS, COUNTER, cpu_time, "process_cpu_seconds_total", SECONDS, "Processor time that the process has used.", )
READING(PROCESS, GAUGE, resident_memory, "process_resident_memory_bytes", NUMBER, "Memory that the process has from the system.", )
READING(PROCESS, GAUGE, connections, "weir_client_connections", NUMBER, "Open connections of clients.", )
READING(PROCESS, GAUGE, calls_in_hand, "weir_calls_in_hand", NUMBER, "Calls that have their turn, where their number is limited.", )
READING(PROCESS, GAUGE, calls_waiting, "weir_calls_waiting", NUMBER, "Calls that wait for their turn.", )
READING(PROCESS, GAUGE, budget_used, "weir_memory_budget_used_bytes", NUMBER, "Of memory_budget_bytes, what requests hold.", )
READING(PROCESS, GAUGE, budget_limit, "weir_memory_budget_limit_bytes", NUMBER, "memory_budget_bytes.", )
READING(PROCESS, GAUGE, redis_up, "weir_redis_up", NUMBER, "1: Redis is connected; absent where it is not configured.", )
READING(PROCESS, COUNTER, reloads, "weir_reloads_total", NUMBER, "Configurations that were taken up.", )
READING(PROCESS, COUNTER, reloads_refused, "weir_reloads_refused_total", NUMBER, "Configurations that were refused.", )
READING(PROCESS, COUNTER, log_dropped, "weir_log_dropped_lines_total", NUMBER, "Lines of the access log that found no room, or that its file refused.", )
READING(PROCESS, COUNTER, event_log_dropped, "weir_event_log_dropped_lines_total", NUMBER, "Lines of the event log that found no room, or that its file refused.", )
READING(PROCESS, COUNTER, alerts_sent, "weir_alerts_sent_total", NUMBER, "Messages of alerts that a webhook has taken.", )
READING(PROCESS, COUNTER, alerts_failed, "weir_alerts_failed_total", NUMBER, "Messages of alerts that no webhook took, after the last try.", )
READING(PROCESS, COUNTER, alerts_repeated, "weir_alerts_repeated_total", NUMBER, "Alerts that were only counted, within alert_window after one like them.", )
READING(PROCESS, COUNTER, alerts_held_back, "weir_alerts_held_back_total", NUMBER, "Alerts that were only counted, beyond alert_max_per_minute.", )
READING(PROCESS, COUNTER, alerts_dropped, "weir_alerts_dropped_total", NUMBER, "Alerts and their messages for which there was no room, or no webhook any more.", )
READING(PROCESS, COUNTER, spans_sent, "weir_spans_sent_total", NUMBER, "Spans that a collector of traces has taken.", )
READING(PROCESS, COUNTER, spans_rejected, "weir_spans_rejected_total", NUMBER, "Spans that it did not take, of posts that it took.", )
READING(PROCESS, COUNTER, spans_refused, "weir_spans_refused_total", NUMBER, "Spans of posts that it refused, or did not answer, until they were given up.", )
READING(PROCESS, COUNTER, spans_dropped, "weir_spans_dropped_total", NUMBER, "Spans that found no room while it was too slow.", )
READING(PROCESS, GAUGE, series, "weir_metrics_series", NUMBER, "Combinations of labels that are kept, of metrics_max_series.", )
READING(PROCESS, COUNTER, dropped_series, "weir_metrics_dropped_series_total", NUMBER, "Observations that went uncounted because their combination of labels found no room under metrics_max_series.", )

#undef OF_KEY
#undef OF_ORGANIZATION
#undef OF_PLACE
#undef SET
#undef COUNTER
#undef HISTOGRAM
#undef READING
