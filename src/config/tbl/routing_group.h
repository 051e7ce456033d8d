/* clang-format off */ /* one row a line */
/*
 * The keys of an item of routing_groups; all are read by config/routing.c.  Source: router-semantics.md 7.
 *
 * RGROUP(key, shape, what it does)
 */
RGROUP(group_name, "text", "Its name, which may be asked for as a model; not default.")
RGROUP(models, "list of groups", "The model groups in it. A group is in one routing group at most, those with priority not counted.")
RGROUP(routing_strategy, "the name of a strategy, or priority", "How a deployment of these groups is chosen. priority: who asks for the routing group gets its members in the order of model_priorities.")
RGROUP(routing_strategy_args, "map", "As in router_settings.")
RGROUP(model_priorities, "map of groups to whole numbers", "priority: the place of each member, the lowest first; a member without one comes last.")
