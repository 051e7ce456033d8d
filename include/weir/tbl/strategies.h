/* clang-format off */ /* one row a line */
/*
 * The strategies, one row each: X(STRATEGY, name as `routing_strategy` spells it, other name or NULL, how it chooses).
 * Source: router-semantics.md 6 and 7; p2c-ewma is weir's own.
 */
X(SIMPLE_SHUFFLE, "simple-shuffle", NULL, "at random, by weight, else rpm, else tpm")
X(LEAST_BUSY, "least-busy", NULL, "the one with the fewest attempts running")
X(USAGE, "usage-based-routing-v2", "usage-based-routing", "the one with the fewest tokens this minute, inside its limits")
X(LATENCY, "latency-based-routing", NULL, "the one with the lowest mean latency, inside its limits")
X(COST, "cost-based-routing", NULL, "the cheapest one, inside its limits")
X(LAR1, "lar1", NULL, "the class that the caller's evidence asks for")
X(P2C_EWMA, "p2c-ewma", NULL, "the better of two drawn at random, by latency times attempts running")
X(PRIORITY, "priority", NULL, "the members of a routing group in the order of their numbers; of routing groups alone")
