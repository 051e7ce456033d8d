/* clang-format off */ /* one row a line */
/*
 * The names of routing_strategy.  X(name, the engine's strategy, supported)
 *
 * One that is not supported yet is served by the strategy named here, with a warning.
 */
X("simple-shuffle", WEIR_STRATEGY_SIMPLE_SHUFFLE, true)
X("least-busy", WEIR_STRATEGY_SIMPLE_SHUFFLE, false)
X("usage-based-routing", WEIR_STRATEGY_SIMPLE_SHUFFLE, false)
X("usage-based-routing-v2", WEIR_STRATEGY_SIMPLE_SHUFFLE, false)
X("latency-based-routing", WEIR_STRATEGY_SIMPLE_SHUFFLE, false)
X("cost-based-routing", WEIR_STRATEGY_SIMPLE_SHUFFLE, false)
X("lar1", WEIR_STRATEGY_SIMPLE_SHUFFLE, false)
