/* clang-format off */ /* one row a line */
/*
 * X(METHOD, key asked for, prefix, name in the path, suffix, SERVICE, ROUTE)
 *
 * The first row that fits is taken: "/engines/{model}/chat/completions" stands before "/engines/{model}/completions".
 */
X(POST, KEY, "/v1/chat/completions", UNNAMED, "", CALL, CHAT)
X(POST, KEY, "/chat/completions", UNNAMED, "", CALL, CHAT)
X(POST, KEY, "/openai/deployments/", NAMED, "/chat/completions", CALL, CHAT)
X(POST, KEY, "/engines/", NAMED, "/chat/completions", CALL, CHAT)
X(POST, KEY, "/v1/completions", UNNAMED, "", CALL, COMPLETIONS)
X(POST, KEY, "/completions", UNNAMED, "", CALL, COMPLETIONS)
X(POST, KEY, "/openai/deployments/", NAMED, "/completions", CALL, COMPLETIONS)
X(POST, KEY, "/engines/", NAMED, "/completions", CALL, COMPLETIONS)
X(POST, KEY, "/v1/embeddings", UNNAMED, "", CALL, EMBEDDINGS)
X(POST, KEY, "/embeddings", UNNAMED, "", CALL, EMBEDDINGS)
X(POST, KEY, "/openai/deployments/", NAMED, "/embeddings", CALL, EMBEDDINGS)
X(POST, KEY, "/engines/", NAMED, "/embeddings", CALL, EMBEDDINGS)
X(GET, KEY, "/v1/models", UNNAMED, "", MODELS, CHAT)
X(GET, KEY, "/models", UNNAMED, "", MODELS, CHAT)
X(GET, KEY, "/v1/models/", NAMED, "", MODEL, CHAT)
X(GET, KEY, "/models/", NAMED, "", MODEL, CHAT)
X(GET, KEY, "/v1/model/info", UNNAMED, "", MODEL_INFO, CHAT)
X(GET, KEY, "/model/info", UNNAMED, "", MODEL_INFO, CHAT)
X(GET, KEY, "/health", UNNAMED, "", HEALTH, CHAT)
X(POST, KEY, "/weir/reload", UNNAMED, "", RELOAD, CHAT)
X(GET, OPEN, "/health/liveliness", UNNAMED, "", LIVE, CHAT)
X(GET, OPEN, "/health/liveness", UNNAMED, "", LIVE, CHAT)
X(GET, OPEN, "/health/readiness", UNNAMED, "", READY, CHAT)
