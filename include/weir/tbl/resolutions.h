/* clang-format off */ /* one row a line */
/*
 * What a name can stand for, one row each: X(HOW, name, what it says).  Source: router-semantics.md 3.
 */
X(GROUP, "group", "the name of a group")
X(ALIAS, "alias", "another name for what it stands for")
X(PATTERN, "pattern", "a name that a wildcard covers")
X(ID, "id", "the id of a deployment")
X(ROUTING_GROUP, "routing_group", "a routing group")
X(MODEL, "model", "what providers call the model of some deployments")
X(FALLBACK_STAR, "fallback_star", "unknown, and served by the first target of the list's star")
X(UNKNOWN, "unknown", "nothing")
