/*
 * Things are made in the order in which they need each other and taken down in the reverse; a setup that was
 * made half is taken down by the same function.
 *
 * The graves are a stack without a lock: laying a setup down is one exchange, and who finds the stack empty
 * knocks at the main thread, which takes all of it at once.  So the task is posted only when it is in no
 * queue.
 */
#include "gateway/setup.h"

#include <string.h>

#include <weir/error.h>

#include "base/container.h"
#include "base/slice.h"
#include "config/config.h"
#include "provider/fields.h"

/* Whether it matters to any deployment that a request has a tool for searching the web. */
static bool minds_web_search(const struct weir_config *config)
{
    for (size_t i = 0; i < config->deployment_count; i++) {
        const struct weir_model_facts *facts = &config->deployments[i]->facts;

        if (weir_figure_known(facts, WEIR_FIGURE_WEB_SEARCH) && !(facts->figures[WEIR_FIGURE_WEB_SEARCH] > 0))
            return true;
    }
    return false;
}

static struct weir_asked_rules rules_of(const struct weir_setup *setup)
{
    const struct weir_settings *settings = &setup->config->settings;

    return (struct weir_asked_rules){.max_depth = settings->max_json_depth,
                                     .mock_flags = settings->allow_mock_params,
                                     .overrides = settings->request_overrides,
                                     .caller_places = setup->upstreams.caller_places,
                                     .tag_prefix = settings->tag_prefix,
                                     .parameters = settings->pre_call_checks,
                                     .web_search = minds_web_search(setup->config),
                                     .user_agent = setup->config->patterns != NULL};
}

static bool has_patterns(const weir_snapshot *snapshot)
{
    for (size_t i = 0; i < weir_snapshot_group_count(snapshot); i++)
        if (weir_slice_find_char(weir_snapshot_group_name(snapshot, i), '*') != WEIR_SLICE_NONE)
            return true;
    return false;
}

static void free_setup(struct weir_setup *setup)
{
    const struct weir_mem *mem = setup->mem;

    weir_upstreams_deinit(&setup->upstreams);
    weir_prompts_deinit(&setup->prompts);
    weir_config_free(setup->config); /* and its snapshot */
    if (setup->uses != NULL)
        mem->free(mem->user, setup->uses, setup->seats * sizeof(*setup->uses));
    mem->free(mem->user, setup, sizeof(*setup));
}

static int make_uses(struct weir_setup *setup)
{
    setup->uses = setup->mem->alloc(setup->mem->user, setup->seats * sizeof(*setup->uses));
    if (setup->uses == NULL)
        return WEIR_ERR_NOMEM;
    memset(setup->uses, 0, setup->seats * sizeof(*setup->uses));
    return 0;
}

static void inherit(struct weir_setup *setup, const struct weir_setup *before)
{
    weir_prompts_inherit(&setup->prompts, &before->prompts);
    for (size_t i = 0; i < setup->upstreams.count; i++) {
        struct weir_upstream *upstream = &setup->upstreams.list[i];
        const weir_deployment *same = weir_snapshot_find_deployment(before->snapshot, upstream->id);
        const struct weir_config_deployment *config = same == NULL ? NULL : weir_deployment_user(same);

        if (config != NULL)
            weir_upstream_inherit(upstream, weir_upstream_of(config->endpoint));
    }
}

static int make(struct weir_setup *setup, const struct weir_setup_plan *plan, char text[WEIR_SETUP_TEXT_MAX])
{
    int r = make_uses(setup);

    if (r == 0)
        r = weir_upstreams_init(&setup->upstreams, setup->config, plan->trust, setup->mem, text);
    if (r > 0)
        return WEIR_SETUP_REFUSED;
    if (r == 0)
        r = weir_prompts_init(&setup->prompts, setup->snapshot, setup->mem);
    if (r < 0)
        return r;
    if (plan->before != NULL)
        inherit(setup, plan->before);
    setup->rules = rules_of(setup);
    setup->has_patterns = has_patterns(setup->snapshot);
    setup->keeps_stories = setup->config->settings.trace_calls > 0;
    setup->hedges = weir_snapshot_hedges(setup->snapshot) || (setup->config->settings.request_overrides &
                                                              WEIR_OVERRIDE_BIT(WEIR_OVERRIDE_ID_hedge)) != 0;
    return 0;
}

int weir_setup_new(const struct weir_setup_plan *plan, char text[WEIR_SETUP_TEXT_MAX],
                   struct weir_setup **ret_setup)
{
    struct weir_setup *setup = plan->mem->alloc(plan->mem->user, sizeof(*setup));
    int r;

    if (setup == NULL) {
        weir_config_free(plan->config);
        return WEIR_ERR_NOMEM;
    }
    *setup = (struct weir_setup){.mem = plan->mem,
                                 .config = plan->config,
                                 .snapshot = plan->config->snapshot,
                                 .graves = plan->graves,
                                 .seats = plan->seats};
    atomic_init(&setup->refs, 1);
    r = make(setup, plan, text);
    if (r != 0)
        free_setup(setup);
    else
        *ret_setup = setup;
    return r;
}

/* ---- the end ---- */

static void bury(struct weir_graves *graves)
{
    struct weir_setup *setup = atomic_exchange_explicit(&graves->top, NULL, memory_order_acquire);

    while (setup != NULL) {
        struct weir_setup *below = setup->below;

        free_setup(setup);
        setup = below;
    }
}

static void run_bury(struct weir_loop_task *task)
{
    bury(WEIR_CONTAINER(task, struct weir_graves, task));
}

static void lay(struct weir_graves *graves, struct weir_setup *setup)
{
    struct weir_setup *top = atomic_load_explicit(&graves->top, memory_order_relaxed);

    do {
        setup->below = top;
    } while (!atomic_compare_exchange_weak_explicit(&graves->top, &top, setup, memory_order_release,
                                                    memory_order_relaxed));
    if (top == NULL && graves->loop != NULL)
        weir_loop_post(graves->loop, &graves->task);
}

struct weir_setup *weir_setup_ref(struct weir_setup *setup)
{
    (void)atomic_fetch_add_explicit(&setup->refs, 1, memory_order_relaxed);
    return setup;
}

void weir_setup_unref(struct weir_setup *setup)
{
    if (setup != NULL && atomic_fetch_sub_explicit(&setup->refs, 1, memory_order_acq_rel) == 1)
        lay(setup->graves, setup);
}

void weir_graves_init(struct weir_graves *ret_graves, weir_loop *loop)
{
    atomic_init(&ret_graves->top, NULL);
    ret_graves->loop = loop;
    ret_graves->task = (struct weir_loop_task){.run = run_bury};
}

void weir_graves_deinit(struct weir_graves *graves)
{
    bury(graves);
    graves->loop = NULL;
}
