/* clang-format off */ /* one row a line */
/*
 * Members of an error object, or of a body that is one, and what they say.  Of several for one thing the first counts.
 *
 * X(name, what)
 */
X("message", MESSAGE)
X("Message", MESSAGE)
X("error", MESSAGE)
X("detail", MESSAGE)
X("error_message", MESSAGE)
X("code", CODE)
X("type", TYPE)
X("error_type", TYPE)
X("__type", TYPE)
X("param", PARAM)
X("status", STATUS)
X("status_code", NUMBER)
X("http_status_code", NUMBER)
X("innererror", INNER)
X("inner_error", INNER)
