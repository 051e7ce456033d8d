/* clang-format off */ /* one row a line */
/*
 * The columns of `weir top`, in their order from the left: X(VIEW, name, title, least width, rank, align, order)
 *
 * Where they do not all fit, those of the highest rank are left out first; the others grow as their content needs.
 * align    LEFT or RIGHT
 * order    what sorting by the column puts first: UP (the least, or the first letter), DOWN (the most)
 * The cells are made by cell_VIEW_name, the number that is sorted by comes from key_VIEW_name (top_columns.c).
 */
X(DEPLOYMENTS, group,    "GROUP",        8, 1, LEFT,  UP)
X(DEPLOYMENTS, id,       "DEPLOYMENT",  10, 0, LEFT,  UP)
X(DEPLOYMENTS, state,    "STATE",       22, 0, LEFT,  DOWN)
X(DEPLOYMENTS, flight,   "FLYING",       6, 3, RIGHT, DOWN)
X(DEPLOYMENTS, latency,  "LATENCY",      7, 4, RIGHT, DOWN)
X(DEPLOYMENTS, ttft,     "FIRST",        7, 9, RIGHT, DOWN)
X(DEPLOYMENTS, fails,    "FAILED",       6, 2, RIGHT, DOWN)
X(DEPLOYMENTS, requests, "REQ/MIN",      7, 5, RIGHT, DOWN)
X(DEPLOYMENTS, tokens,   "TOK/MIN",      7, 8, RIGHT, DOWN)
X(DEPLOYMENTS, odds,     "ODDS",         5, 11, RIGHT, DOWN)
X(DEPLOYMENTS, last,     "LAST FAILURE", 16, 6, LEFT, DOWN)
X(DEPLOYMENTS, model,    "MODEL",       12, 7, LEFT,  UP)
X(DEPLOYMENTS, provider, "PROVIDER",     8, 10, LEFT, UP)

X(GROUPS, name,     "GROUP",    10, 0, LEFT,  UP)
X(GROUPS, eligible, "ELIGIBLE",  8, 0, RIGHT, UP)
X(GROUPS, trouble,  "STATE",    23, 1, LEFT,  DOWN)
X(GROUPS, flight,   "FLYING",    6, 3, RIGHT, DOWN)
X(GROUPS, fails,    "FAILED",    6, 2, RIGHT, DOWN)
X(GROUPS, requests, "REQ/MIN",   7, 4, RIGHT, DOWN)
X(GROUPS, tokens,   "TOK/MIN",   7, 6, RIGHT, DOWN)
X(GROUPS, strategy, "STRATEGY", 14, 5, LEFT,  UP)

X(FAILOVERS, time,   "TIME",       8, 0, LEFT,  DOWN)
X(FAILOVERS, model,  "ASKED FOR", 10, 1, LEFT,  UP)
X(FAILOVERS, by,     "SERVED BY", 10, 2, LEFT,  UP)
X(FAILOVERS, result, "RESULT",     8, 0, LEFT,  DOWN)
X(FAILOVERS, how,    "ATTEMPTS",  12, 3, LEFT,  DOWN)
X(FAILOVERS, span,   "DURATION",   8, 4, RIGHT, DOWN)
X(FAILOVERS, call,   "CALL",      16, 5, LEFT,  UP)
