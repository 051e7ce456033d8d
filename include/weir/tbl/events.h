/* clang-format off */ /* one row a line */
/*
 * The routing events, one row each: X(EVENT, name, what it says).  Source: router-semantics.md 23, reliability.md.
 */
X(PICKED, "Picked", "a deployment was looked for: whom the call could choose from, and why each was, or was not, taken")
X(ATTEMPT_STARTED, "AttemptStarted", "a provider call was started on a deployment")
X(ATTEMPT_FAILED, "AttemptFailed", "a provider call failed; says whether and after which wait it is retried")
X(RETRY, "Retry", "the same group is tried again")
X(FALLBACK, "Fallback", "the request moves to another group, to the next order, or to a sibling")
X(RETRY_REFUSED, "RetryRefused", "the retry budget of the group is spent: no retry, or no second attempt beside a slow one")
X(HEDGED, "Hedged", "an attempt has given nothing for too long: another one begins beside it")
X(HEDGE_LOST, "HedgeLost", "an attempt is stopped because another one beside it has answered first")
X(COOLING_WAIT, "CoolingWait", "every deployment cools down and no fallback is left: the call waits for the first of them")
X(COOLDOWN_SET, "CooldownSet", "a deployment was taken out of every pick")
X(STREAM_BROKEN, "StreamBroken", "a stream ended without being complete; says whether content had gone out")
X(STREAM_RECOVERED, "StreamRecovered", "a stream that broke before content was served after all")
X(STREAM_CONTINUED, "StreamContinued", "a stream that broke after content goes on with another attempt's text")
X(SUCCEEDED, "Succeeded", "the call has its answer")
X(FAILED, "Failed", "the call ended with a failure")
X(ATTEMPT_REFUSED, "AttemptRefused", "a deployment was not asked, for a limit of its is used up; says whether and after which wait the group is retried")
