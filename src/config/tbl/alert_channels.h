/* clang-format off */ /* one row a line */
/* The names of general_settings.alerting.  X(CHANNEL, name, supported, what it is about) */
X(SLACK, "slack", true, "messages in Slack's form")
X(WEBHOOK, "webhook", true, "objects of JSON")
X(EMAIL, "email", false, "mail")
X(TEAMS, "ms_teams", false, "Microsoft Teams; its workflows take weir_settings.alert_webhook")
X(PAGERDUTY, "pagerduty", false, "PagerDuty")
