/* clang-format off */ /* one row a line */
/*
 * Failures that are no HTTP answer with a status of 4xx or 5xx (error-classification.md 2, 12).  For a provider of the
 * families named, kind and status are these; KIND API_ERROR with status 0 means: look at the answer (tbl/classify.h).
 *
 * X(MISHAP, families, kind, status, text)
 */
X(ANSWER, 0, API_ERROR, 0, "")                                                                 /* an answer with status 300 or more */
X(ERROR_BODY, 0, API_ERROR, 0, "")                                                             /* 200, but an error object; or one in a stream */
X(NOT_A_STREAM, 0, API_ERROR, 0, "")                                                           /* a stream was due and JSON or HTML came */
X(CONNECT, 0, CONNECTION, 500, "Connection error.")                                            /* DNS, refused, TLS, reset before any byte */
X(TIMED_OUT, 0, TIMEOUT, 408, "Request timed out.")                                            /* a limit of the attempt ran out */
X(CUT_OFF, 0, CONNECTION, 500, "Connection error.")                                            /* ended in the middle, bad chunking, bad gzip, reset */
X(STREAM_CUT, 0, CONNECTION, 500, "The stream ended without a finish reason.")                 /* neither finish reason nor end marker */
X(BAD_ANSWER, 0, INTERNAL, 500, "The provider's answer is not the expected JSON.")             /* 200, but no answer */
X(BAD_CHUNK, 0, INTERNAL, 500, "A chunk of the provider's stream is not valid JSON.")          /* decisions 28 */
X(TOO_LARGE, 0, INTERNAL, 500, "The provider's answer is larger than weir reads.")             /* a head or an event over its limit */
