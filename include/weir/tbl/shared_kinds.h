/* clang-format off */ /* one row a line */
/*
 * What several processes share of a deployment's live state, one row each: X(KIND, name, what it is).
 * Source: router-semantics.md 22.
 */
X(LIFT, "lift", "that whatever cooldown it had was taken back by hand")
X(COOLDOWN, "cooldown", "that it is out of every pick, and for how long")
X(FAILS, "fails", "its counters of allowed fails")
X(USAGE, "usage", "requests and tokens of the minute")
X(RUNNING, "running", "attempts that run")
X(LATENCY, "latency", "the newest samples of its speed")
X(HEALTH, "health", "what the newest probe of it found")
