/* clang-format off */ /* one row a line */
/*
 * Names under which a request refers to what a provider has stored: X(name, WHERE it may stand).  null is as good as
 * nothing.
 *
 * TOP        a member of the request
 * ANYWHERE   at any depth of it: parts of messages, tools
 */
X("previous_response_id", TOP)
X("conversation", TOP)
X("thread_id", TOP)
X("assistant_id", TOP)
X("container", TOP)
X("batch_id", TOP)
X("file_id", ANYWHERE)
X("file_ids", ANYWHERE)
X("vector_store_ids", ANYWHERE)
