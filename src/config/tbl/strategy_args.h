/* clang-format off */ /* one row a line */
/*
 * The keys of routing_strategy_args.  Source: router-semantics.md 6.5, 6.7, 6.8; decay is weir's own.
 *
 * ARG(key, member, TYPE, unit, min, max, default, what it does)
 *
 * member   of struct weir_strategy_spec, which has the defaults too; the others as in settings.h
 */
ARG(ttl, ttl_ns, SECONDS, "s", 0.001, 2592000, "3600", "latency-based-routing: how long what was measured counts. usage-based-routing-v2: taken, and of no effect, since its counters are those of the minute.")
ARG(lowest_latency_buffer, lowest_latency_buffer, NUMBER, "", 0, 1000000, "0", "latency-based-routing: chosen among all whose latency is at most so much above the lowest, 0.5 being half of it.")
ARG(max_latency_list_size, max_latency_samples, U32, "", 1, 1000000, "10", "latency-based-routing: the newest so many answers count, at most 32.")
ARG(confidence_threshold_low, confidence_low, NUMBER, "", 0, 1, "0.3", "lar1: a confidence below goes to cloud-smart.")
ARG(confidence_threshold_medium, confidence_medium, NUMBER, "", 0, 1, "0.5", "lar1: one below goes to cloud-fast.")
ARG(confidence_threshold_high, confidence_high, NUMBER, "", 0, 1, "0.7", "lar1: one below goes to local, any other to deep. 0 < low < medium < high < 1.")
ARG(decay, decay_ns, SECONDS, "s", 0.1, 3600, "10", "p2c-ewma: how fast a slow answer is forgotten.")
