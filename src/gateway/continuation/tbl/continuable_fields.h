/* clang-format off */ /* one row a line */
/*
 * The members of a chat request that decide whether a broken answer to it may be continued (decisions 32), and what
 * they may say for that; any other member is all the same.  null is as good as nothing.
 *
 * X(name, RULE)
 *
 * NOTHING   must not be there
 * OFF       false or 0
 * ONE       1
 * FREE      "auto" or "none": the model may choose, or has no tools
 * TEXT_FORMAT  {"type": "text"}
 * TEXT_LIST    ["text"]
 */
X("n", ONE)
X("best_of", ONE)
X("logprobs", OFF)
X("top_logprobs", OFF)
X("prompt_logprobs", OFF)
X("response_format", TEXT_FORMAT)
X("modalities", TEXT_LIST)
X("audio", NOTHING)
X("tool_choice", FREE)
X("function_call", FREE)
X("structured_outputs", NOTHING)
X("guided_json", NOTHING)
X("guided_regex", NOTHING)
X("guided_choice", NOTHING)
X("guided_grammar", NOTHING)
X("guided_decoding", NOTHING)
X("json_schema", NOTHING)
X("json_object", NOTHING)
X("grammar", NOTHING)
X("regex", NOTHING)
X("ebnf", NOTHING)
X("format", NOTHING)
