/*
 * Whom weir tells of trouble: general_settings.alerting with SLACK_WEBHOOK_URL, WEBHOOK_URL and
 * alert_to_webhook_url, as LiteLLM has them, and weir_settings.alert_webhook.
 *
 * Addresses of webhooks are secrets: who has one may write there.  They are in no message.
 */
#ifndef WEIR_CONFIG_ALERTS_H
#define WEIR_CONFIG_ALERTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "config/settings.h"

struct weir_loader;

enum { WEIR_CONFIG_HOOKS_MAX = 32 };

/* One address. */
struct weir_config_hook {
    struct weir_slice url;    /* http or https; secret */
    struct weir_slice origin; /* the setting or variable that names it, for people */
    enum weir_alert_form form;
    uint32_t types; /* WEIR_ALERT_BIT of each weir_alert_type that goes there */
};

struct weir_config_alerts {
    struct weir_config_hook hooks[WEIR_CONFIG_HOOKS_MAX];
    size_t hook_count;
    uint32_t types; /* that go anywhere; 0: nobody is told of anything */
    bool console;   /* stderr is told too */
};

/* As alert_types has it: "cooldown_deployment".  Lives for ever. */
struct weir_slice weir_alert_type_name(enum weir_alert_type type);

/* After the sections; fills the configuration's alerts. */
WEIR_MUST_USE int weir_alerts_read(struct weir_loader *loader);

#endif
