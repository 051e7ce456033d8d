/* clang-format off */ /* one row a line */
/*
 * Members of a chat delta that are content (router-semantics 14.2), when they hold something.
 *
 * X(name, class)   TEXT: plain text of the assistant when it is a string; OTHER: anything else that a caller receives
 */
X("content", TEXT)
X("tool_calls", OTHER)
X("function_call", OTHER)
X("reasoning_content", OTHER)
X("reasoning", OTHER)
X("reasoning_details", OTHER)
X("thinking", OTHER)
X("thinking_blocks", OTHER)
X("refusal", OTHER)
X("audio", OTHER)
X("images", OTHER)
X("annotations", OTHER)
