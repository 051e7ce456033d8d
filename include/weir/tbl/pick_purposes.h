/* clang-format off */ /* one row a line */
/*
 * What a deployment is picked for, one row each: X(PURPOSE, name, what it says).
 */
X(ATTEMPT, "attempt", "the first try in a group")
X(RETRY, "retry", "another try in the group")
X(ORDER, "order", "the first try in a later order of the group")
X(SIBLING, "sibling", "one of the group that has not failed yet, by weighted failover")
X(HEDGE, "hedge", "a second attempt beside one that has given nothing for too long")
X(CONTINUATION, "continuation", "to carry on a stream that broke after content")
