/* clang-format off */ /* one row a line */
/*
 * Every key of an entry of model_list that weir reads.  Source: router-semantics.md 2.1 to 2.3.
 *
 * FIELD(SECTION, key, member, TYPE, unit, min, max, default, what it does)
 * FIELD_PART(SECTION, key, shape, what it does)     read by code of its own; no member
 *
 * SECTION  ENTRY, PARAMS (litellm_params) or INFO (model_info)
 * member   of struct weir_deployment_settings; TYPE, unit, min, max, default as in settings.h, and
 *          WHOLE uint64_t, not set: WEIR_UNSET_NS; I32 int32_t, not set: WEIR_UNSET_ORDER; NAME: text that is
 *          written as text; VERIFY struct weir_tls_verify, a boolean or a path; ANY: JSON of whatever it is;
 *          YES_NO enum weir_yes_no; PRICE double, negative: not set; NAMES struct weir_names
 */
#ifndef FIELD
#define FIELD(section, key, member, type, unit, min, max, dflt, prose)
#endif
#ifndef FIELD_PART
#define FIELD_PART(section, key, shape, prose)
#endif

FIELD(ENTRY, model_name, model_name, NAME, "", 0, 0, "", "The group that callers name; may hold *.")
FIELD_PART(ENTRY, litellm_params, "map", "How the deployment is called; keys that are not below are provider arguments and go into each request.")
FIELD_PART(ENTRY, model_info, "map", "What is known of the deployment; keys that are not below are shown in /v1/model/info.")
FIELD(ENTRY, rpm, entry_rpm, WHOLE, "per minute", 0, 1e15, "", "As in litellm_params, and before it.")
FIELD(ENTRY, tpm, entry_tpm, WHOLE, "per minute", 0, 1e15, "", "As in litellm_params, and before it.")

FIELD(PARAMS, model, model, TEXT, "", 0, 0, "", "The provider and its model, provider/name; * stands for what the group's * matched.")
FIELD(PARAMS, custom_llm_provider, custom_llm_provider, TEXT, "", 0, 0, "", "The provider, where model does not name it.")
FIELD(PARAMS, api_base, api_base, TEXT, "", 0, 0, "", "Base URL of the provider's API; not set: the provider's variable, then its own address.")
FIELD(PARAMS, base_url, base_url, TEXT, "", 0, 0, "", "Another name of api_base.")
FIELD(PARAMS, api_key, api_key, SECRET, "", 0, 0, "", "The provider's key; not set: the provider's variable.")
FIELD(PARAMS, api_version, api_version, TEXT, "", 0, 0, "", "The api-version of Azure OpenAI.")
FIELD(PARAMS, azure_ad_token, azure_ad_token, SECRET, "", 0, 0, "", "A token of Azure AD instead of a key.")
FIELD(PARAMS, organization, organization, TEXT, "", 0, 0, "", "The OpenAI organization.")
FIELD(PARAMS, litellm_credential_name, credential_name, TEXT, "", 0, 0, "", "An entry of credential_list whose values fill in what is not written here.")
FIELD(PARAMS, weight, weight, NUMBER, "", 0, 1e12, "", "Share of the picks of simple-shuffle.")
FIELD(PARAMS, rpm, rpm, WHOLE, "per minute", 0, 1e15, "", "Requests a minute; weighs the picks where no weight is given.")
FIELD(PARAMS, tpm, tpm, WHOLE, "per minute", 0, 1e15, "", "Tokens a minute; weighs the picks where neither weight nor rpm is given.")
FIELD(PARAMS, itpm, itpm, WHOLE, "per minute", 0, 1e15, "", "Tokens of prompts a minute; held to with enforce_model_rate_limits.")
FIELD(PARAMS, otpm, otpm, WHOLE, "per minute", 0, 1e15, "", "Tokens of answers a minute; likewise.")
FIELD(PARAMS, max_parallel_requests, max_parallel, U32, "", 0, 1000000, "", "Calls at once; not set: rpm, else six for each 1000 of tpm and at least one, else router_settings.default_max_parallel_requests.")
FIELD(PARAMS, order, order, I32, "", -1000000, 1000000, "", "Priority within the group: the lowest is used first.")
FIELD(PARAMS, num_retries, num_retries, U32, "", 0, 1000000, "", "Retries after a failure of this deployment; beats the router's.")
#define LIMIT(key, member, type, unit, min, max, prose, router) FIELD(PARAMS, key, member, type, unit, min, max, "", prose)
#include "config/tbl/limits.h"
FIELD(PARAMS, keepalive_seconds, keepalive_ns, KEEPALIVE, "s", 1, 300, "", "Send a comment to the client of a stream that was silent for so long; beats the router's; 0: never, whatever the client asks.")
FIELD(PARAMS, allow_client_keepalive_override, client_keepalive, BOOL, "", 0, 0, "false", "Let requests set keepalive_seconds for themselves.")
FIELD(PARAMS, cooldown_time, cooldown_ns, SECONDS, "s", 0, 2592000, "", "How long this deployment cools down; 0: never.")
FIELD_PART(PARAMS, extra_headers, "map of header names to text", "Headers of each request.")
FIELD_PART(PARAMS, headers, "map of header names to text", "Another name of extra_headers.")
FIELD(PARAMS, tags, tags, NAMES, "", 0, 0, "", "Tags by which requests choose this deployment; default: for requests that choose none.")
FIELD(PARAMS, tag_regex, tag_regex, NAMES, "", 0, 0, "", "Regular expressions (PCRE2) that choose it for requests whose `User-Agent: VALUE` holds a match.")
FIELD(PARAMS, region_name, region_name, TEXT, "", 0, 0, "", "Where it is; with enable_pre_call_checks a request may ask for a region.")
FIELD(PARAMS, base_model, base_model, TEXT, "", 0, 0, "", "The model that prices and lengths are looked up by, where model is a name of one's own (Azure).")
FIELD(PARAMS, drop_params, drop_params, YES_NO, "", 0, 0, "", "Leave parameters out that the model is known not to take; not set: that of litellm_settings.")
FIELD(PARAMS, allowed_openai_params, allowed_openai_params, NAMES, "", 0, 0, "", "Parameters that the model takes, whatever is known of it.")
FIELD(PARAMS, additional_drop_params, additional_drop_params, NAMES, "", 0, 0, "", "Parameters that are always left out; parts too: `tools[*].strict`.")
#define PRICE(key, member, prose) FIELD(PARAMS, key, member, PRICE, "", 0, 1000000, "", prose)
#include "config/tbl/prices.h"
FIELD(PARAMS, extra_body, extra_body, OBJECT, "", 0, 0, "", "Members that are laid over the body of each request.")
FIELD(PARAMS, ssl_verify, ssl_verify, VERIFY, "", 0, 0, "", "Whether the provider's certificate is verified, or the file of certificates to trust.")
FIELD(PARAMS, ssl_certificate, ssl_certificate, TEXT, "", 0, 0, "", "File with the client's certificate and its key.")
FIELD(PARAMS, mock_response, mock_response, ANY, "", 0, 0, "", "A canned answer, or the name of an error, for tests; nothing is called.")
FIELD_PART(PARAMS, configurable_clientside_auth_params, "list of names", "Which of api_base, api_key and the like a request may bring.")

FIELD(INFO, id, id, TEXT, "", 0, 0, "", "Identity of the deployment; not set: a hash of its group and params.")
FIELD(INFO, rpm, info_rpm, WHOLE, "per minute", 0, 1e15, "", "As in litellm_params, and after it; weighs no picks.")
FIELD(INFO, tpm, info_tpm, WHOLE, "per minute", 0, 1e15, "", "Likewise.")
FIELD(INFO, order, info_order, I32, "", -1000000, 1000000, "", "As in litellm_params, and after it.")
FIELD(INFO, cooldown_time, info_cooldown_ns, SECONDS, "s", 0, 2592000, "", "As in litellm_params, and before it.")
FIELD(INFO, allowed_fails, allowed_fails, U32, "", 0, 1000000, "", "Failures that this deployment may have before it cools down.")
FIELD(INFO, allowed_fails_policy, allowed_fails_policy, FAILS, "", 0, 0, "", "The same by the kind of the failure.")
#define WEIR_LIMIT(key, member, type, unit, min, max, prose, router) FIELD(INFO, key, info_##member, type, unit, min, max, "", "As in litellm_params, and after it.")
#include "config/tbl/limits.h"
FIELD(INFO, supports_assistant_prefill, supports_prefill, YES_NO, "", 0, 0, "", "Whether the model goes on with a trailing assistant message, so that it can continue broken streams; not set: by a table of known models.")
FIELD(INFO, mode, mode, TEXT, "", 0, 0, "", "Which calls the model serves, and what health checks ask for: chat, completion or embedding; another mode of LiteLLM: none of these, and no check. While another deployment of the group serves a call, this one gets no other than its own. Not set: every call, and an embedding is asked for where the name of the model says so, else a chat.")
FIELD_PART(INFO, access_windows, "a list of {start: \"HH:MM\", end: \"HH:MM\", timezone: NAME, team_ids: [ID]}", "Hours at which it is reserved for those teams, by the clocks of the place (UTC where none is named; else by the time zone database of the system); an end before the start is that of the next day. Teams are not there yet, so it is for nobody then.")
FIELD(INFO, supports_web_search, supports_web_search, YES_NO, "", 0, 0, "", "false: not for requests with a tool for searching the web, while there is another.")
FIELD(INFO, max_input_tokens, max_input_tokens, WHOLE, "", 0, 1e15, "", "Longest prompt, for enable_pre_call_checks; not set or 0: that of the model.")
FIELD(INFO, base_model, info_base_model, TEXT, "", 0, 0, "", "As in litellm_params, and after it.")
#define PRICE(key, member, prose) FIELD(INFO, key, info_##member, PRICE, "", 0, 1000000, "", "As in litellm_params, and after it.")
#include "config/tbl/prices.h"
FIELD(INFO, enable_tag_filtering, tag_filtering, YES_NO, "", 0, 0, "", "Whether tags choose among the group's deployments; beats the router's.")
FIELD(INFO, allow_fail_open, tag_fail_open, BOOL, "", 0, 0, "false", "Requests whose &tags and !tags nobody in the group meets get its default deployments.")
FIELD(INFO, type, lar1_class, TEXT, "", 0, 0, "", "For the strategy lar1: cloud-smart, cloud-fast, local or deep.")
FIELD(INFO, health_check_model, health_check_model, TEXT, "", 0, 0, "", "The model that health checks ask for, with its provider; not set: that of the deployment. Without it a model with * is not checked.")
FIELD(INFO, health_check_timeout, health_check_timeout_ns, SECONDS, "s", 0.001, 86400, "", "Longest wait for the answer to a health check; not set: the variable HEALTH_CHECK_TIMEOUT_SECONDS.")
FIELD(INFO, health_check_max_tokens, health_check_max_tokens, U32, "", 1, 1000000, "5", "max_tokens of health checks.")
FIELD(INFO, disable_background_health_check, unchecked, BOOL, "", 0, 0, "false", "Never ask it by itself, and never take it out for what a health check found.")
FIELD(INFO, blocked, blocked, BOOL, "", 0, 0, "false", "Paused: never picked.")

#undef FIELD
#undef FIELD_PART
