/* clang-format off */ /* one row a line */
/* What became of alerts: X(OUTCOME, name, what it counts) */
X(SENT, "sent", "messages that a webhook has taken")
X(FAILED, "failed", "messages that no webhook took, after the last try")
X(REPEATED, "repeated", "alerts that were only counted, within alert_window after one like them")
X(HELD_BACK, "held_back", "alerts that were only counted, beyond alert_max_per_minute")
X(DROPPED, "dropped", "alerts and messages for which there was no room, or no webhook any more")
