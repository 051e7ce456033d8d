/*
 * Settings from their sections.
 *
 * Model: each key of a section is looked up among the rows; a row with a member gets its value, a part is
 * left to the code that reads it, anything else is said to be not read.  Variables come last, as text.
 */
#include "config/sections.h"

#include <weir/error.h>

#include "base/slice.h"
#include "config/value.h"
#include "config/variables.h"

void weir_sections_defaults(struct weir_settings *settings)
{
    for (size_t i = 0; i < WEIR_SETTING_COUNT; i++) {
        const struct weir_setting_row *row = weir_schema_row(i);

        weir_value_default(row, (char *)settings + row->offset);
    }
}

static int read_setting(struct weir_loader *loader, const struct weir_setting_row *row,
                        const struct weir_yaml *node, const struct weir_path *path)
{
    void *member = (char *)&loader->config->settings + row->offset;
    int rv = weir_value_read(loader, row, node, path, WEIR_SEVERITY_FATAL, member);

    if (rv == WEIR_VALUE_WRONG)
        return WEIR_CONFIG_REFUSED;
    if (rv == 0 && node->kind != WEIR_YAML_NULL)
        loader->config->sources[weir_schema_index(row)] = node->place;
    return rv;
}

static int read_key(struct weir_loader *loader, enum weir_section section, const struct weir_yaml_pair *pair,
                    const struct weir_path *path)
{
    const struct weir_setting_row *row = weir_loader_find(loader, section, pair->key->text);

    if (row == NULL || row->status != WEIR_ROW_READ)
        weir_loader_unread_key(loader, section, pair->key, path);
    else if (row->type != WEIR_VALUE_PART)
        return read_setting(loader, row, pair->value, path);
    return 0;
}

/* The section that is a key of parent, which is at path up; both may be NULL. */
static int read_section(struct weir_loader *loader, enum weir_section section, const struct weir_yaml *parent,
                        const struct weir_path *up)
{
    struct weir_path path = {up, weir_section_key(section), 0};
    const struct weir_yaml *map = weir_yaml_get(parent, path.key);
    int worst = 0;

    if (map == NULL)
        return 0;
    if (map->kind != WEIR_YAML_MAP) {
        WEIR_REPORT(loader, FATAL, map, &path, WEIR_SLICE("found "), weir_yaml_kind_name(map),
                    WEIR_SLICE(", expected a map of settings"));
        return WEIR_CONFIG_REFUSED;
    }
    for (size_t i = 0; i < map->count; i++) {
        struct weir_path here = {&path, map->pairs[i].key->text, 0};
        int rv = read_key(loader, section, &map->pairs[i], &here);

        if (rv < 0)
            return rv;
        worst = rv > worst ? rv : worst;
    }
    return worst;
}

static void read_top(struct weir_loader *loader)
{
    for (size_t i = 0; i < loader->root->count; i++) {
        const struct weir_yaml *key = loader->root->pairs[i].key;
        const struct weir_setting_row *row = weir_loader_find(loader, WEIR_SECTION_TOP, key->text);
        struct weir_path path = {NULL, key->text, 0};

        if (weir_slice_starts(key->text, WEIR_SLICE("x-")) || (row != NULL && row->status == WEIR_ROW_READ))
            continue;
        weir_loader_unread_key(loader, WEIR_SECTION_TOP, key, &path);
    }
}

static int read_variable(struct weir_loader *loader, const struct weir_setting_row *row)
{
    struct weir_yaml node = {
        .kind = WEIR_YAML_TEXT, .quoted = true, .variable = true, .place = {WEIR_SLICE("environment"), 0, 0}};
    struct weir_path path = {NULL, row->key, 0};
    struct weir_slice value;

    if (!weir_variables_get(loader->config, row->key, &value))
        return 0;
    node.text = weir_arena_copy(loader->arena, value);
    return read_setting(loader, row, &node, &path);
}

static int read_variables(struct weir_loader *loader)
{
    int worst = 0;

    for (size_t i = 0; i < WEIR_SETTING_COUNT; i++) {
        const struct weir_setting_row *row = weir_schema_row(i);
        int rv = row->section == WEIR_SECTION_VARIABLE ? read_variable(loader, row) : 0;

        if (rv < 0)
            return rv;
        worst = rv > worst ? rv : worst;
    }
    return worst;
}

/* Settings that have no place in the snapshot and stand in for one another. */
static void settle(struct weir_config *config)
{
    struct weir_settings *s = &config->settings;
    const struct weir_tls_verify *verify =
        s->litellm_ssl_verify.said ? &s->litellm_ssl_verify : &s->variable_ssl_verify;

    if (s->master_key.len == 0)
        s->master_key = s->variable_master_key;
    s->permit_no_master_key = s->permit_no_master_key || s->variable_permit_no_master_key;
    if (config->sources[WEIR_SETTING_ssl_verify].line == 0 && verify->said)
        s->ssl_verify = !verify->insecure;
    if (s->ca_file.len == 0)
        s->ca_file = verify->ca_file.len > 0 ? verify->ca_file : s->variable_ca_file;
}

int weir_sections_read(struct weir_loader *loader)
{
    static const enum weir_section sections[] = {WEIR_SECTION_ROUTER, WEIR_SECTION_LITELLM,
                                                 WEIR_SECTION_GENERAL, WEIR_SECTION_WEIR};
    /* Sections in others. */
    static const enum weir_section inner[][2] = {{WEIR_SECTION_LITELLM, WEIR_SECTION_CACHE},
                                                 {WEIR_SECTION_GENERAL, WEIR_SECTION_ALERTS},
                                                 {WEIR_SECTION_WEIR, WEIR_SECTION_OTLP}};
    int worst = 0, rv;

    read_top(loader);
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        rv = read_section(loader, sections[i], loader->root, NULL);
        if (rv < 0)
            return rv;
        worst = rv > worst ? rv : worst;
    }
    for (size_t i = 0; i < sizeof(inner) / sizeof(*inner); i++) {
        const struct weir_path outer = {NULL, weir_section_key(inner[i][0]), 0};

        rv = read_section(loader, inner[i][1], weir_yaml_get(loader->root, outer.key), &outer);
        if (rv < 0)
            return rv;
        worst = rv > worst ? rv : worst;
    }
    rv = read_variables(loader);
    settle(loader->config);
    return rv < 0 || rv > worst ? rv : worst;
}

static uint32_t count_or(uint32_t first, uint32_t second, uint32_t otherwise)
{
    if (first != WEIR_UNSET)
        return first;
    return second != WEIR_UNSET ? second : otherwise;
}

static uint64_t time_or(uint64_t first, uint64_t second, uint64_t otherwise)
{
    if (first != WEIR_UNSET_NS)
        return first;
    return second != WEIR_UNSET_NS ? second : otherwise;
}

/* A cooldown of 0 counts as not set (RS 2.4). */
static uint64_t positive(uint64_t time_ns)
{
    return time_ns == 0 ? WEIR_UNSET_NS : time_ns;
}

const struct weir_names *weir_sections_health_groups(const struct weir_settings *s)
{
    return s->router_health_groups.count > 0 ? &s->router_health_groups : &s->general_health_groups;
}

static void health_of(const struct weir_settings *s, struct weir_router_spec *spec)
{
    const struct weir_names *groups = weir_sections_health_groups(s);

    spec->health_check_routing = s->router_health_check_routing || s->general_health_check_routing;
    spec->health_ignore_transient = s->router_health_ignore_transient || s->general_health_ignore_transient;
    spec->health_staleness_ns = time_or(s->router_health_staleness_ns, s->general_health_staleness_ns, 0);
    spec->health_groups = groups->items;
    spec->health_group_count = groups->count;
}

void weir_sections_router(const struct weir_settings *s, struct weir_router_spec *ret_spec)
{
    struct weir_router_spec spec;

    weir_router_spec_init(&spec);
    spec.enforce_minute_limits = (s->optional_checks & WEIR_CHECK_BIT(WEIR_CHECK_ENFORCE_LIMITS)) != 0;
    spec.pre_call_checks = s->pre_call_checks;
    spec.token_margin = s->prompt_token_margin;
    spec.tag_filtering = s->tag_filtering;
    spec.tag_match_all = !s->tag_match_any;
    spec.num_retries = count_or(s->router_num_retries, s->litellm_num_retries, spec.num_retries);
    spec.retry_policy = s->retry_policy;
    spec.retry_after_ns = s->retry_after_ns;
    spec.initial_retry_delay_ns = s->initial_retry_delay_ns;
    spec.max_retry_delay_ns = s->max_retry_delay_ns;
    spec.jitter_ns = s->jitter_ns;
    spec.max_fallbacks =
        count_or(s->router_max_fallbacks, s->litellm_max_fallbacks, s->default_max_fallbacks);
    spec.weighted_failover = s->weighted_failover;
#define LIMIT(key, member, type, unit, min, max, prose, router) spec.limits.member = s->router_##member;
#include "config/tbl/limits.h"
#define SHARE(key, member, type, unit, min, max, prose) spec.resilience.member = s->router_##member;
#include "config/tbl/resilience.h"
    spec.limits.timeout_ns = time_or(s->router_timeout_ns, s->request_timeout_ns, s->default_timeout_ns);
    spec.continuation = s->continuation;
    for (size_t i = 0; i < WEIR_CONTINUE_SOURCES && s->continue_to.to[0] != WEIR_CONTINUE_NOWHERE; i++)
        spec.continue_to[i] = s->continue_to.to[i];
    spec.cooldown_ns =
        time_or(positive(s->router_cooldown_ns), positive(s->litellm_cooldown_ns), s->default_cooldown_ns);
    spec.cooldown_cap_ns = s->cooldown_cap_ns;
    spec.disable_cooldowns = s->disable_cooldowns;
    spec.allowed_fails = s->router_allowed_fails;
    spec.allowed_fails_policy = s->allowed_fails_policy;
    spec.failure_threshold = s->failure_threshold;
    spec.failure_min_requests = s->failure_min_requests;
    spec.single_failure_minimum = s->single_failure_minimum;
    health_of(s, &spec);
    spec.cancel_on_disconnect = s->cancel_on_disconnect;
    spec.ask_before_hop = s->ask_access ? WEIR_ASK_ACCESS : 0;
    *ret_spec = spec;
}
