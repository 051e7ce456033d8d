/*
 * Where a key may stand in several places of an entry, one of them holds; the rows say which.
 */
#include "config/spec.h"

#include "config/groups.h"
#include "provider/endpoint.h"
#include "provider/prefill.h"

static double limit_of(uint64_t first, uint64_t second)
{
    if (first != WEIR_UNSET_NS)
        return (double)first;
    return second != WEIR_UNSET_NS ? (double)second : 0;
}

static void fill_limits(const struct weir_deployment_settings *s, struct weir_limits *limits)
{
#define SAID_SECONDS(limit)                                     ((limit) != WEIR_UNSET_NS)
#define SAID_RATE(limit)                                        ((limit).tokens_per_s >= 0)
#define SAID_HOLD(limit)                                        ((limit).said)
#define LIMIT(key, member, type, unit, min, max, prose, router) limits->member = s->member;
#define WEIR_LIMIT(key, member, type, unit, min, max, prose, router)                                         \
    limits->member = SAID_##type(s->member) ? s->member : s->info_##member;
#include "config/tbl/limits.h"
#undef SAID_SECONDS
#undef SAID_RATE
#undef SAID_HOLD
}

static bool takes_prefill(const struct weir_deployment_settings *s,
                          const struct weir_config_deployment *deployment)
{
    if (s->supports_prefill != WEIR_UNSAID)
        return s->supports_prefill == WEIR_YES;
    return weir_provider_takes_prefill(deployment->endpoint->provider, s->model);
}

void weir_spec_of_router(const struct weir_deployment_settings *s, struct weir_config_deployment *deployment,
                         struct weir_deployment_spec *ret_spec)
{
    weir_deployment_spec_init(ret_spec);
    ret_spec->id = deployment->id;
    ret_spec->user = deployment;
    ret_spec->group = s->model_name;
    ret_spec->model = s->model;
    ret_spec->weight = s->weight;
    ret_spec->rpm = limit_of(s->entry_rpm, s->rpm);
    ret_spec->tpm = limit_of(s->entry_tpm, s->tpm);
    ret_spec->order = s->order != WEIR_UNSET_ORDER ? s->order : s->info_order;
    ret_spec->num_retries = s->num_retries;
    fill_limits(s, &ret_spec->limits);
    ret_spec->supports_prefill = takes_prefill(s, deployment);
    ret_spec->cooldown_ns = s->info_cooldown_ns != WEIR_UNSET_NS ? s->info_cooldown_ns : s->cooldown_ns;
    ret_spec->allowed_fails = s->allowed_fails;
    ret_spec->allowed_fails_policy = s->allowed_fails_policy;
    ret_spec->blocked = s->blocked;
}

static uint64_t first_said(const uint64_t *times_ns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (times_ns[i] != WEIR_UNSET_NS)
            return times_ns[i];
    return 0;
}

static bool fails_empty(const struct weir_settings *settings, const struct weir_group_settings *group)
{
    enum weir_empty_answer said = group == NULL ? WEIR_EMPTY_UNSAID : group->empty_answer;

    return (said == WEIR_EMPTY_UNSAID ? settings->empty_answer : said) == WEIR_EMPTY_FAIL;
}

void weir_spec_of_stream(const struct weir_loader *loader, const struct weir_deployment_settings *s,
                         struct weir_config_deployment *deployment)
{
    const struct weir_settings *all = &loader->config->settings;
    const uint64_t keepalives_ns[] = {s->keepalive_ns, all->router_keepalive_ns, all->sse_ping_ns};

    deployment->keepalive_ns = first_said(keepalives_ns, sizeof(keepalives_ns) / sizeof(*keepalives_ns));
    /* A deployment's own 0 is for good (RS 2.2). */
    deployment->keepalive_by_caller = s->client_keepalive && s->keepalive_ns != 0;
    deployment->fail_empty = fails_empty(all, weir_groups_find(loader, s->model_name));
}
