/* clang-format off */ /* one row a line */
/*
 * How an attempt can fail (error-classification.md 2, 12, 14 step 1).  The first three bring an answer, which decides
 * (tbl/classify.h); the others are what they are, whatever was received.
 *
 * X(MISHAP, kind, status, text, families for which it is another kind, that kind, its status)
 */
/* An answer with a status that is no 2xx. */
X(ANSWER, API_ERROR, 0, "", 0, API_ERROR, 0)
/* An error object under a 200, or in a stream. */
X(ERROR_BODY, API_ERROR, 0, "", 0, API_ERROR, 0)
/* A stream was due, and JSON or HTML came. */
X(NOT_A_STREAM, API_ERROR, 0, "", 0, API_ERROR, 0)
/* Name look-up, refused, TLS, reset before any byte of an answer. */
X(CONNECT, CONNECTION, 500, "Connection error.", WEIR_FAMILY_OLLAMA, SERVICE_UNAVAILABLE, 503)
/* A limit of the attempt ran out. */
X(TIMED_OUT, TIMEOUT, 408, "Request timed out.", 0, TIMEOUT, 408)
/* Ended in the middle, reset, bad chunking, bad compression. */
X(CUT_OFF, CONNECTION, 500, "Connection error.", 0, CONNECTION, 500)
/* A stream closed with neither finish reason nor end marker. */
X(STREAM_CUT, CONNECTION, 500, "The stream ended without a finish reason.", 0, CONNECTION, 500)
/* A 2xx that is no answer to this route: empty, no JSON, another shape. */
X(BAD_ANSWER, INTERNAL, 500, "The provider's answer is not the expected JSON.", 0, INTERNAL, 500)
/* The finish reason "error" without an error object; what was said until then is no description of it. */
X(GAVE_UP, INTERNAL, 500, "The provider ended its answer with the finish reason error.", 0, INTERNAL, 500)
/* A chunk that is not valid JSON (decisions 28). */
X(BAD_CHUNK, INTERNAL, 500, "A chunk of the provider's stream is not valid JSON.", 0, INTERNAL, 500)
/* An answer without content, where that is not taken for one (beyond 6). */
X(EMPTY, INTERNAL, 500, "The provider's answer is empty.", 0, INTERNAL, 500)
/* A head or an event over its limit. */
X(TOO_LARGE, INTERNAL, 500, "The provider's answer is larger than weir reads.", 0, INTERNAL, 500)
