/* The golden cases of error-classification.md 14.1, in its order and with its numbers. */
#include "unit.h"

#include "classify_case.h"

#define E(message, type, code)                                                                               \
    "{\"error\": {\"message\": \"" message "\", \"type\": \"" type "\", \"param\": null, \"code\": \"" code  \
    "\"}}"

static const struct classify_case golden[] = {
    /* 1 */ {"openai", WEIR_MISHAP_ANSWER, 400,
             E("This model's maximum context length is 8192 tokens", "invalid_request_error",
               "context_length_exceeded"),
             WEIR_KIND_CONTEXT_WINDOW, 400},
    /* 2 */
    {"openai", WEIR_MISHAP_ANSWER, 400, E("Rejected", "invalid_request_error", "content_policy_violation"),
     WEIR_KIND_CONTENT_POLICY, 400},
    /* 3 */
    {"openai", WEIR_MISHAP_ANSWER, 400,
     E("Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
       "invalid_request_error", "invalid_prompt"),
     WEIR_KIND_CONTENT_POLICY, 400},
    /* 4 */
    {"openai", WEIR_MISHAP_ANSWER, 401,
     E("Incorrect API key provided: sk-x", "invalid_request_error", "invalid_api_key"), WEIR_KIND_AUTH, 401},
    /* 5 */
    {"openai", WEIR_MISHAP_ANSWER, 404,
     E("The model does not exist", "invalid_request_error", "model_not_found"), WEIR_KIND_NOT_FOUND, 404},
    /* 6 */
    {"openai", WEIR_MISHAP_ANSWER, 429,
     E("You exceeded your current quota", "insufficient_quota", "insufficient_quota"), WEIR_KIND_RATE_LIMIT,
     429},
    /* 7 */
    {"openai", WEIR_MISHAP_ANSWER, 400,
     E("Invalid token ids [1, 429, 7]", "invalid_request_error", "invalid_value"), WEIR_KIND_BAD_REQUEST,
     400},
    /* 8 */
    {"openai", WEIR_MISHAP_ANSWER, 400,
     E("Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024",
       "invalid_request_error", "string_above_max_length"),
     WEIR_KIND_BAD_REQUEST, 400},
    /* 9 */ {"openai", WEIR_MISHAP_ANSWER, 403, "Forbidden", WEIR_KIND_API_ERROR, 403},
    /* 10 */
    {"openai", WEIR_MISHAP_ANSWER, 422, "{\"detail\": [{\"loc\": [\"body\"], \"msg\": \"field required\"}]}",
     WEIR_KIND_BAD_REQUEST, 422},
    /* 11 */
    {"openai", WEIR_MISHAP_ANSWER, 504, "<html><head><title>504 Gateway Time-out</title></head></html>",
     WEIR_KIND_TIMEOUT, 504},
    /* 12 */
    {"openai", WEIR_MISHAP_ANSWER, 520, "<html><body>Web server is returning an unknown error</body></html>",
     WEIR_KIND_INTERNAL, 500},
    /* 13 */ {"openai", WEIR_MISHAP_CONNECT, 0, "", WEIR_KIND_CONNECTION, 500},
    /* 14 */
    {"groq", WEIR_MISHAP_ANSWER, 413,
     E("Request too large for model `llama` in organization `o` on tokens per minute (TPM): Limit 6000, "
       "Requested 7000",
       "tokens", "rate_limit_exceeded"),
     WEIR_KIND_RATE_LIMIT, 429},
    /* 15 */
    {"mistral", WEIR_MISHAP_ANSWER, 429,
     "{\"object\":\"error\",\"message\":\"Service tier capacity exceeded for this "
     "model.\",\"type\":\"service_tier_capacity_exceeded\"}",
     WEIR_KIND_RATE_LIMIT, 429},
    /* 16 */
    {"vllm", WEIR_MISHAP_ANSWER, 400,
     "{\"object\":\"error\",\"message\":\"You passed 9000 input tokens and requested 500 output tokens. "
     "However, the model's context length is only 8192 tokens\",\"type\":\"BadRequestError\",\"code\":400}",
     WEIR_KIND_CONTEXT_WINDOW, 400},
    /* 17 */
    {"openai", WEIR_MISHAP_ANSWER, 400,
     "{\"object\":\"error\",\"message\":\"The input (9000 tokens) is longer than the model's context length "
     "(8192 tokens).\",\"code\":400}",
     WEIR_KIND_CONTEXT_WINDOW, 400},
    /* 18 */
    {"openai", WEIR_MISHAP_ANSWER, 400,
     "{\"error\":{\"code\":400,\"message\":\"the request is too "
     "long\",\"type\":\"exceed_context_size_error\"}}",
     WEIR_KIND_CONTEXT_WINDOW, 400},
    /* 19 */
    {"huggingface", WEIR_MISHAP_ANSWER, 422,
     "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: "
     "5000\",\"error_type\":\"validation\"}",
     WEIR_KIND_CONTEXT_WINDOW, 400},
    /* 20 */
    {"azure", WEIR_MISHAP_ANSWER, 400,
     "{\"error\":{\"message\":\"filtered\",\"code\":\"content_filter\",\"status\":400,\"innererror\":{"
     "\"code\":\"ResponsibleAIPolicyViolation\"}}}",
     WEIR_KIND_CONTENT_POLICY, 400},
    /* 21 */
    {"azure", WEIR_MISHAP_ANSWER, 404,
     "{\"error\":{\"code\":\"DeploymentNotFound\",\"message\":\"The API deployment for this resource does "
     "not exist.\"}}",
     WEIR_KIND_NOT_FOUND, 404},
    /* 22 */
    {"azure", WEIR_MISHAP_ANSWER, 429,
     "{\"error\":{\"code\":\"no_capacity\",\"message\":\"The system is at capacity\"}}", WEIR_KIND_RATE_LIMIT,
     429},
    /* 23 */
    {"azure", WEIR_MISHAP_ANSWER, 400,
     "{\"error\":{\"message\":\"Input tokens exceed the configured limit of 272000 "
     "tokens.\",\"code\":\"string\"}}",
     WEIR_KIND_CONTEXT_WINDOW, 400},
    /* 24 */
    {"anthropic", WEIR_MISHAP_ANSWER, 529,
     "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
     WEIR_KIND_INTERNAL, 500},
    /* 25 */
    {"anthropic", WEIR_MISHAP_ANSWER, 400,
     "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: "
     "210000 tokens > 200000 maximum\"}}",
     WEIR_KIND_CONTEXT_WINDOW, 400},
    /* 26 */
    {"anthropic", WEIR_MISHAP_ANSWER, 400,
     "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input length and "
     "`max_tokens` exceed context limit: 199000 + 8192 > 200000\"}}",
     WEIR_KIND_CONTEXT_WINDOW, 400},
    /* 27 */
    {"anthropic", WEIR_MISHAP_ANSWER, 400,
     "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Output blocked by "
     "content filtering policy\"}}",
     WEIR_KIND_CONTENT_POLICY, 400},
    /* 28 */
    {"anthropic", WEIR_MISHAP_ANSWER, 403,
     "{\"type\":\"error\",\"error\":{\"type\":\"permission_error\",\"message\":\"no\"}}",
     WEIR_KIND_PERMISSION, 403},
    /* 29 */
    {"anthropic", WEIR_MISHAP_ERROR_BODY, 200,
     "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
     WEIR_KIND_INTERNAL, 500},
    /* 30 */
    {"gemini", WEIR_MISHAP_ANSWER, 400,
     "{\"error\":{\"code\":400,\"message\":\"API key not valid. Please pass a valid API "
     "key.\",\"status\":\"INVALID_ARGUMENT\"}}",
     WEIR_KIND_AUTH, 401},
    /* 31 */
    {"gemini", WEIR_MISHAP_ANSWER, 400,
     "{\"error\":{\"code\":400,\"message\":\"The input token count (1300000) exceeds the maximum number of "
     "tokens allowed (1048576).\"}}",
     WEIR_KIND_CONTEXT_WINDOW, 400},
    /* 32 */
    {"vertex_ai", WEIR_MISHAP_ANSWER, 429,
     "{\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\",\"message\":\"Quota\",\"details\":[{"
     "\"retryDelay\":\"5.403s\"}]}}",
     WEIR_KIND_RATE_LIMIT, 429},
    /* 33 */
    {"vertex_ai", WEIR_MISHAP_ANSWER, 503, "{\"error\":{\"code\":429,\"message\":\"busy\"}}",
     WEIR_KIND_RATE_LIMIT, 429},
    /* 34 */
    {"vertex_ai", WEIR_MISHAP_ANSWER, 403,
     "{\"error\":{\"code\":403,\"status\":\"PERMISSION_DENIED\",\"message\":\"denied\"}}",
     WEIR_KIND_BAD_REQUEST, 403},
    /* 35 */
    {"vertex_ai", WEIR_MISHAP_ANSWER, 502, "<html><title>502</title></html>", WEIR_KIND_CONNECTION, 500},
    /* 36 */
    {"bedrock", WEIR_MISHAP_ANSWER, 429,
     "{\"__type\":\"ThrottlingException\",\"message\":\"Too many tokens, please wait before trying again.\"}",
     WEIR_KIND_RATE_LIMIT, 429},
    /* 37 */
    {"bedrock", WEIR_MISHAP_ANSWER, 400, "{\"message\":\"Input is too long for requested model.\"}",
     WEIR_KIND_CONTEXT_WINDOW, 400},
    /* 38 */
    {"bedrock", WEIR_MISHAP_ANSWER, 403, "{\"__type\":\"AccessDeniedException\",\"message\":\"no access\"}",
     WEIR_KIND_PERMISSION, 403},
    /* 39 */
    {"bedrock", WEIR_MISHAP_ANSWER, 500, "{\"__type\":\"InternalServerException\",\"message\":\"oops\"}",
     WEIR_KIND_SERVICE_UNAVAILABLE, 503},
    /* 40 */ {"ollama", WEIR_MISHAP_CONNECT, 0, "", WEIR_KIND_SERVICE_UNAVAILABLE, 503},
    /* 40 */
    {"ollama", WEIR_MISHAP_ANSWER, 0, "failed to establish a new connection", WEIR_KIND_SERVICE_UNAVAILABLE,
     503},
    /* 41 */
    {"openai", WEIR_MISHAP_ERROR_BODY, 200, "{\"error\": {\"code\": 429}}", WEIR_KIND_RATE_LIMIT, 429},
    /* 41 */
    {"azure", WEIR_MISHAP_ERROR_BODY, 200, "{\"error\": {\"code\": 429}}", WEIR_KIND_RATE_LIMIT, 429},
    /* 42 */ {"openai", WEIR_MISHAP_STREAM_CUT, 200, "", WEIR_KIND_CONNECTION, 500},
    /* 43 */
    {"openai", WEIR_MISHAP_ANSWER, 409, E("Conflict", "conflict_error", ""), WEIR_KIND_API_ERROR, 409},
    /* 43 */ {"anthropic", WEIR_MISHAP_ANSWER, 409, "conflict", WEIR_KIND_API_ERROR, 409},
    /* 44 */
    {"litellm_proxy", WEIR_MISHAP_ANSWER, 400,
     "{\"error\":{\"message\":\"litellm.ContextWindowExceededError: litellm.BadRequestError: "
     "ContextWindowExceededError: OpenAIException - too long\",\"type\":null,\"code\":\"400\"}}",
     WEIR_KIND_CONTEXT_WINDOW, 400},
    /* 45 */
    {"perplexity", WEIR_MISHAP_ANSWER, 400,
     "{\"error\":{\"message\":\"The length of all messages is too long\",\"code\":400}}",
     WEIR_KIND_CONTEXT_WINDOW, 400},
};

static void each_golden_case_is_what_it_must_be(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++)
        classify_case_check(&golden[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_golden_case_is_what_it_must_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
