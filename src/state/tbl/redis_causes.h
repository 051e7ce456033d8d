/* clang-format off: one row a line */
/*
 * Why Redis is not there: X(CAUSE, its text).  After the text there may be a detail in brackets.
 */
X(NONE, "")
X(NAME, "its name cannot be looked up")
X(UNREACHABLE, "it cannot be reached")
X(SLOW, "it did not answer in time")
X(TLS, "TLS failed")
X(CLOSED, "it closed the connection")
X(GARBAGE, "its answers are not the Redis protocol")
X(LARGE, "an answer is larger than allowed")
X(PASSWORD, "it does not take the password, or wants one")
X(DATABASE, "it does not take the database number")
X(LOADING, "it is loading its data")
X(READ_ONLY, "it is a replica and takes no writes")
X(CLUSTER, "Redis Cluster is not supported")
X(SENTINEL, "it is a Sentinel and no server: its address belongs to sentinel_nodes")
X(CHANNEL, "its channel cannot be listened to")
X(MASTER, "no Sentinel names a master of the service")
X(NOMEM, "no memory is left")
