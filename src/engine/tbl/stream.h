/* clang-format off */ /* one row a line */
/*
 * The life of one attempt's answer, streamed or plain, as one table.  Whoever includes it defines what of it is wanted:
 *
 * WEIR_STREAM_STATE(STATE, clocks of a stream, clocks of a plain answer, what the state means)
 *     The clocks are limits of time that run in the state; see limits.h.
 * WEIR_STREAM_END(STATE, what the end means)
 *     Nothing leads out of an end: inputs are ignored there.
 * WEIR_STREAM_INPUT(INPUT, what happens)
 * WEIR_STREAM_ROW(STATE, INPUT, NEXT, why)
 *     One for every state and every input.
 *
 * Sources: reliability.md, Streams; router-semantics 14; decisions 17, 28 to 31; beyond 1 and 2.
 */
#ifndef WEIR_STREAM_STATE
#define WEIR_STREAM_STATE(state, stream_clocks, plain_clocks, prose)
#endif
#ifndef WEIR_STREAM_END
#define WEIR_STREAM_END(state, prose)
#endif
#ifndef WEIR_STREAM_INPUT
#define WEIR_STREAM_INPUT(input, prose)
#endif
#ifndef WEIR_STREAM_ROW
#define WEIR_STREAM_ROW(state, input, next, prose)
#endif

WEIR_STREAM_STATE(ASKED, TIMEOUT | TTFT, TIMEOUT | TTFT, "the request is on its way; there is no response head")
WEIR_STREAM_STATE(OPEN, TIMEOUT | TTFT, TIMEOUT, "there is a head, and no chunk")
WEIR_STREAM_STATE(BEGUN, TTFT | IDLE, TIMEOUT, "there is a chunk, and no content")
WEIR_STREAM_STATE(HOLDING, IDLE | RATE, TIMEOUT, "there is content, held back by the commit window")
WEIR_STREAM_STATE(FLOWING, IDLE | RATE, TIMEOUT, "content goes to the caller")
WEIR_STREAM_STATE(ENDING, TAIL, TAIL, "the answer is complete; usage and the end marker may follow")

WEIR_STREAM_END(DONE, "the answer is complete and over: a success")
WEIR_STREAM_END(BROKEN, "it broke, and the caller has nothing of it: a failed attempt like any other")
WEIR_STREAM_END(CUT, "it broke, and the caller has a part of it: it is continued, or the call fails")
WEIR_STREAM_END(STOPPED, "the call did not want it any more: neither a success nor a failure")

WEIR_STREAM_INPUT(OPENED, "a response head that is no failure")
WEIR_STREAM_INPUT(CHUNK, "a chunk without content")
WEIR_STREAM_INPUT(CONTENT, "a chunk with content")
WEIR_STREAM_INPUT(WINDOW_OVER, "the commit window ends: what is held goes to the caller")
WEIR_STREAM_INPUT(FINISH, "the last finish reason that is due")
WEIR_STREAM_INPUT(FINISHED, "the answer is complete in form")
WEIR_STREAM_INPUT(FAILED, "any other end")
WEIR_STREAM_INPUT(LATE, "a clock has run out")
WEIR_STREAM_INPUT(STOP, "the call ends for another reason")

WEIR_STREAM_ROW(ASKED, OPENED, OPEN, "opening ends an attempt for nobody")
WEIR_STREAM_ROW(ASKED, CHUNK, BEGUN, "a chunk is a head as well")
WEIR_STREAM_ROW(ASKED, CONTENT, HOLDING, "content is a chunk as well")
WEIR_STREAM_ROW(ASKED, WINDOW_OVER, ASKED, "no window before content")
WEIR_STREAM_ROW(ASKED, FINISH, ENDING, "a finish without content is an answer")
WEIR_STREAM_ROW(ASKED, FINISHED, DONE, "so comes a plain answer")
WEIR_STREAM_ROW(ASKED, FAILED, BROKEN, "it failed up front")
WEIR_STREAM_ROW(ASKED, LATE, BROKEN, "no head, or no chunk, in time")
WEIR_STREAM_ROW(ASKED, STOP, STOPPED, "the caller left, or the call's time is up")

WEIR_STREAM_ROW(OPEN, OPENED, OPEN, "one head")
WEIR_STREAM_ROW(OPEN, CHUNK, BEGUN, "the first chunk ends the timeout")
WEIR_STREAM_ROW(OPEN, CONTENT, HOLDING, "content is a chunk as well")
WEIR_STREAM_ROW(OPEN, WINDOW_OVER, OPEN, "no window before content")
WEIR_STREAM_ROW(OPEN, FINISH, ENDING, "a finish without content is an answer")
WEIR_STREAM_ROW(OPEN, FINISHED, DONE, "so comes a plain answer")
WEIR_STREAM_ROW(OPEN, FAILED, BROKEN, "before content it is as if it had failed up front")
WEIR_STREAM_ROW(OPEN, LATE, BROKEN, "no chunk in time")
WEIR_STREAM_ROW(OPEN, STOP, STOPPED, "the caller left, or the call's time is up")

WEIR_STREAM_ROW(BEGUN, OPENED, BEGUN, "the chunk was the head as well")
WEIR_STREAM_ROW(BEGUN, CHUNK, BEGUN, "no content resets no clock")
WEIR_STREAM_ROW(BEGUN, CONTENT, HOLDING, "the first content ends the time to it and begins the window")
WEIR_STREAM_ROW(BEGUN, WINDOW_OVER, BEGUN, "no window before content")
WEIR_STREAM_ROW(BEGUN, FINISH, ENDING, "a finish without content is an answer")
WEIR_STREAM_ROW(BEGUN, FINISHED, DONE, "so is an end marker")
WEIR_STREAM_ROW(BEGUN, FAILED, BROKEN, "before content it is as if it had failed up front")
WEIR_STREAM_ROW(BEGUN, LATE, BROKEN, "no content in time")
WEIR_STREAM_ROW(BEGUN, STOP, STOPPED, "the caller left, or the call's time is up")

WEIR_STREAM_ROW(HOLDING, OPENED, HOLDING, "the chunk was the head as well")
WEIR_STREAM_ROW(HOLDING, CHUNK, HOLDING, "it is held with the rest")
WEIR_STREAM_ROW(HOLDING, CONTENT, HOLDING, "it is held with the rest")
WEIR_STREAM_ROW(HOLDING, WINDOW_OVER, FLOWING, "the attempt is committed")
WEIR_STREAM_ROW(HOLDING, FINISH, ENDING, "a complete answer needs no window")
WEIR_STREAM_ROW(HOLDING, FINISHED, DONE, "content and an end marker are an answer")
WEIR_STREAM_ROW(HOLDING, FAILED, BROKEN, "nothing of it is ever shown")
WEIR_STREAM_ROW(HOLDING, LATE, BROKEN, "nothing of it is ever shown")
WEIR_STREAM_ROW(HOLDING, STOP, STOPPED, "the caller left, or the call's time is up")

WEIR_STREAM_ROW(FLOWING, OPENED, FLOWING, "the chunk was the head as well")
WEIR_STREAM_ROW(FLOWING, CHUNK, FLOWING, "it goes to the caller")
WEIR_STREAM_ROW(FLOWING, CONTENT, FLOWING, "it goes to the caller")
WEIR_STREAM_ROW(FLOWING, WINDOW_OVER, FLOWING, "a window ends once")
WEIR_STREAM_ROW(FLOWING, FINISH, ENDING, "whatever happens next, the answer is complete")
WEIR_STREAM_ROW(FLOWING, FINISHED, DONE, "content and an end marker are an answer")
WEIR_STREAM_ROW(FLOWING, FAILED, CUT, "a retry would repeat what the caller has")
WEIR_STREAM_ROW(FLOWING, LATE, CUT, "a retry would repeat what the caller has")
WEIR_STREAM_ROW(FLOWING, STOP, STOPPED, "the caller left, or the call's time is up")

WEIR_STREAM_ROW(ENDING, OPENED, ENDING, "the chunk was the head as well")
WEIR_STREAM_ROW(ENDING, CHUNK, ENDING, "usage, mostly")
WEIR_STREAM_ROW(ENDING, CONTENT, ENDING, "it goes along, and buys no time")
WEIR_STREAM_ROW(ENDING, WINDOW_OVER, ENDING, "the finish ended the window")
WEIR_STREAM_ROW(ENDING, FINISH, ENDING, "said twice")
WEIR_STREAM_ROW(ENDING, FINISHED, DONE, "the usual end")
WEIR_STREAM_ROW(ENDING, FAILED, DONE, "the answer was complete before it broke")
WEIR_STREAM_ROW(ENDING, LATE, DONE, "what is still to come is not worth the wait")
WEIR_STREAM_ROW(ENDING, STOP, STOPPED, "the caller left")

#undef WEIR_STREAM_STATE
#undef WEIR_STREAM_END
#undef WEIR_STREAM_INPUT
#undef WEIR_STREAM_ROW
