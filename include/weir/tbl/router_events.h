/* clang-format off */ /* one row a line */
/*
 * What happened in a router outside of any call, one row each: X(EVENT, name, what it says).
 */
X(COOLDOWN_SET, "CooldownSet", "a deployment was taken out of every pick: by a probe, by hand, or because all processes together counted too many failures")
X(COOLDOWN_LEARNED, "CooldownLearned", "another process has taken a deployment out of every pick")
X(COOLDOWN_LIFTED, "CooldownLifted", "a cooldown was taken back before its time: by hand, here or elsewhere")
X(HEALTH_CHANGED, "HealthChanged", "a deployment was found healthy that was not, or the other way round")
