/* clang-format off: one row a line */
/*
 * The states of a call, one row each: X(STATE, function of that state, what the call does in it).
 */
X(RESOLVE, weir_state_resolve, "finds what the name of the frame stands for")
X(PICK, weir_state_pick, "chooses a deployment and starts an attempt on it")
X(RUN, weir_state_run, "has attempts running and waits for news of them")
X(CONTINUE, weir_state_continue, "looks who carries on a stream that broke, and starts an attempt on it")
X(WAIT, weir_state_wait, "waits before a retry")
X(COOL, weir_state_cool, "waits for a cooldown of the asked group to end: nobody else is left")
X(LEAVE, weir_state_leave, "has given up a retry loop and looks where to go: orders, siblings, chain")
X(WALK, weir_state_walk, "takes the next target of the chain")
X(ASK, weir_state_ask, "waits for the host to say whether the target may be used")
X(FAIL, weir_state_fail, "stops what still runs and tells the caller the failure")
X(OVER, weir_state_over, "has nothing more to say")
