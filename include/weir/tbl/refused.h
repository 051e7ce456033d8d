/* clang-format off */ /* one row a line */
/*
 * What a spent retry budget did not pay for, one row each: X(WHAT, name, what it says).  Source: beyond.md 1.
 */
X(RETRY, "retry", "another try after a failure")
X(HEDGE, "hedge", "a second attempt beside one that has given nothing for too long")
