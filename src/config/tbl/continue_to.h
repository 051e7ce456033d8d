/* The words of continuation_targets.  X(word, weir_continue_to) */
X("fallback", WEIR_CONTINUE_FALLBACK)
X("group", WEIR_CONTINUE_GROUP)
