/*
 * Where a key may stand in several places of an entry, one of them holds; the rows say which.
 */
#include "config/spec.h"

#include "base/slice.h"
#include "config/facts.h"
#include "config/groups.h"

static uint64_t first_of(uint64_t first, uint64_t second)
{
    return first != WEIR_UNSET_NS ? first : second;
}

/* What weighs the picks. */
static double weight_of(uint64_t limit)
{
    return limit == WEIR_UNSET_NS ? 0 : (double)limit;
}

static struct weir_minute_limits minute_of(const struct weir_deployment_settings *s)
{
    return (struct weir_minute_limits){.requests = first_of(first_of(s->entry_rpm, s->rpm), s->info_rpm),
                                       .tokens = first_of(first_of(s->entry_tpm, s->tpm), s->info_tpm),
                                       .input_tokens = s->itpm,
                                       .output_tokens = s->otpm};
}

static uint32_t to_count(uint64_t number)
{
    return number < WEIR_UNSET ? (uint32_t)number : WEIR_UNSET - 1;
}

/* Its own number, else what its limits of a minute let pass, else the router's (RS 19). */
static uint32_t parallel_of(const struct weir_settings *settings, const struct weir_deployment_settings *s)
{
    uint64_t of_tokens;

    if (s->max_parallel != WEIR_UNSET)
        return s->max_parallel;
    if (s->rpm != WEIR_UNSET_NS)
        return to_count(s->rpm);
    if (s->tpm == WEIR_UNSET_NS)
        return settings->default_max_parallel;
    of_tokens = s->tpm / 1000 * 6 + s->tpm % 1000 * 6 / 1000;
    return to_count(of_tokens > 0 ? of_tokens : 1);
}

static weir_lar1_class lar1_class_of(struct weir_slice type)
{
    static const struct {
        struct weir_slice name;
        weir_lar1_class lar1_class;
    } classes[] = {{WEIR_SLICE_INIT("cloud-smart"), WEIR_LAR1_CLOUD_SMART},
                   {WEIR_SLICE_INIT("cloud-fast"), WEIR_LAR1_CLOUD_FAST},
                   {WEIR_SLICE_INIT("local"), WEIR_LAR1_LOCAL},
                   {WEIR_SLICE_INIT("deep"), WEIR_LAR1_DEEP}};

    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        if (weir_slice_eq(classes[i].name, type))
            return classes[i].lar1_class;
    return WEIR_LAR1_NONE;
}

static weir_flag flag_of(enum weir_yes_no value)
{
    if (value == WEIR_UNSAID)
        return WEIR_FLAG_UNSAID;
    return value == WEIR_YES ? WEIR_FLAG_ON : WEIR_FLAG_OFF;
}

static void fill_choice(const struct weir_deployment_settings *s,
                        const struct weir_config_deployment *deployment, struct weir_deployment_spec *spec)
{
    spec->region = s->region_name;
    spec->routes = deployment->routes;
    spec->lar1_class = lar1_class_of(s->lar1_class);
    spec->tags = s->tags.items;
    spec->tag_count = s->tags.count;
    spec->has_tag_pattern = deployment->tag_patterns != NULL;
    spec->tag_filtering = flag_of(s->tag_filtering);
    spec->tag_fail_open = s->tag_fail_open;
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

void weir_spec_of_router(const struct weir_loader *loader, const struct weir_deployment_settings *s,
                         struct weir_config_deployment *deployment, struct weir_deployment_spec *ret_spec)
{
    weir_deployment_spec_init(ret_spec);
    ret_spec->id = deployment->id;
    ret_spec->user = deployment;
    ret_spec->group = s->model_name;
    ret_spec->model = s->model;
    ret_spec->weight = s->weight;
    ret_spec->rpm = weight_of(first_of(s->entry_rpm, s->rpm));
    ret_spec->tpm = weight_of(first_of(s->entry_tpm, s->tpm));
    ret_spec->minute = minute_of(s);
    ret_spec->max_parallel = parallel_of(&loader->config->settings, s);
    ret_spec->order = s->order != WEIR_UNSET_ORDER ? s->order : s->info_order;
    ret_spec->num_retries = s->num_retries;
    fill_limits(s, &ret_spec->limits);
    fill_choice(s, deployment, ret_spec);
    weir_facts_read(loader, s, deployment, ret_spec);
    ret_spec->cooldown_ns = s->info_cooldown_ns != WEIR_UNSET_NS ? s->info_cooldown_ns : s->cooldown_ns;
    ret_spec->allowed_fails = s->allowed_fails;
    ret_spec->allowed_fails_policy = s->allowed_fails_policy;
    ret_spec->blocked = s->blocked;
    ret_spec->never_probed = s->unchecked;
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
