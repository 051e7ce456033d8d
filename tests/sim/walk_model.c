/*
 * A stack of frames, as the pages tell it: the group served and the groups whose walks led to it.  A frame
 * whose targets are used up is left for the one below.
 */
#include "walk_model.h"

#include "base/slice.h"

#include "model.h"

static struct weir_slice resolve_alias(const struct kit_config *config, struct weir_slice name)
{
    for (size_t i = 0; i < config->alias_count; i++) {
        if (weir_slice_eq(config->aliases[i].name, name))
            return config->aliases[i].target;
    }
    return name;
}

/* Remembers the target; false when it was tried before. */
static bool try_once(struct walk *walk, struct weir_slice name, struct weir_slice overrides)
{
    for (size_t i = 0; i < walk->tried_count; i++) {
        if (weir_slice_eq(walk->tried[i].name, name) && weir_slice_eq(walk->tried[i].overrides, overrides))
            return false;
    }
    if (walk->tried_count == WALK_TRIED_MAX) {
        walk->lost = true;
        return false;
    }
    walk->tried[walk->tried_count].name = name;
    walk->tried[walk->tried_count++].overrides = overrides;
    return true;
}

/* ---- lists ---- */

/* The chains of the list that holds for the call, one after another; NULL behind the last. */
static const struct weir_chain *chain_at(const struct kit_call *call, weir_list_kind list, size_t index)
{
    const struct weir_chain_list *own = &call->request.request.lists[list];
    const struct kit_config *config = call->config;
    weir_list_source source = WEIR_SOURCE_PROCESS;

    if (own->presence != WEIR_LIST_ABSENT)
        return index < own->count ? &own->chains[index] : NULL;
    for (size_t i = 0; i < config->chain_count; i++) {
        if (config->chains[i].list == list && config->chains[i].source == WEIR_SOURCE_ROUTER)
            source = WEIR_SOURCE_ROUTER;
    }
    for (size_t i = 0; i < config->chain_count; i++) {
        if (config->chains[i].list == list && config->chains[i].source == source && index-- == 0)
            return &config->chains[i].chain;
    }
    return NULL;
}

static bool find_star(const struct kit_call *call, weir_list_kind list, struct weir_chain *ret_chain)
{
    const struct weir_chain *chain;
    weir_list_source source = WEIR_SOURCE_ROUTER;

    for (size_t i = 0; (chain = chain_at(call, list, i)) != NULL; i++) {
        if (weir_slice_eq(chain->group, WEIR_SLICE("*"))) {
            *ret_chain = *chain;
            return true;
        }
    }
    if (list != WEIR_LIST_GENERIC || call->request.request.lists[list].presence != WEIR_LIST_ABSENT)
        return false;
    if (call->config->default_counts[source] == 0)
        source = WEIR_SOURCE_PROCESS;
    *ret_chain = (struct weir_chain){WEIR_SLICE("*"), call->config->defaults[source],
                                     call->config->default_counts[source]};
    return ret_chain->count > 0;
}

static bool is_configured(const struct kit_call *call, weir_list_kind list)
{
    struct weir_chain star;

    if (call->request.request.lists[list].presence != WEIR_LIST_ABSENT)
        return call->request.request.lists[list].presence == WEIR_LIST_GIVEN;
    return chain_at(call, list, 0) != NULL || find_star(call, list, &star);
}

static bool is_sibling_spelling(struct weir_slice a, struct weir_slice b)
{
    const struct weir_slice longer = a.len > b.len ? a : b;
    const struct weir_slice shorter = a.len > b.len ? b : a;

    return !weir_slice_eq(shorter, WEIR_SLICE("*")) && longer.len > shorter.len + 1 &&
           weir_slice_ends(longer, shorter) && longer.ptr[longer.len - shorter.len - 1] == '/';
}

static bool find_named(const struct kit_call *call, weir_list_kind list, struct weir_slice name,
                       struct weir_chain *ret_chain)
{
    const struct weir_chain *chain;

    for (size_t i = 0; (chain = chain_at(call, list, i)) != NULL; i++) {
        if (weir_slice_eq(chain->group, name)) {
            *ret_chain = *chain;
            return true;
        }
    }
    for (size_t i = 0; (chain = chain_at(call, list, i)) != NULL; i++) {
        if (is_sibling_spelling(chain->group, name)) {
            *ret_chain = *chain;
            return true;
        }
    }
    return false;
}

static void choose_chain(struct walk *walk, const struct kit_call *call, struct walk_frame *frame)
{
    weir_list_kind list = WEIR_LIST_GENERIC;
    const struct walk_frame *root = &walk->frames[0];

    if (frame->has_chain)
        return;
    frame->has_chain = true;
    if (frame->kind == WEIR_KIND_CONTEXT_WINDOW)
        list = WEIR_LIST_CONTEXT_WINDOW;
    if (frame->kind == WEIR_KIND_CONTENT_POLICY)
        list = WEIR_LIST_CONTENT_POLICY;
    if (list != WEIR_LIST_GENERIC && !frame->is_certain)
        walk->lost = true;
    if (!is_configured(call, list))
        list = WEIR_LIST_GENERIC;
    if (!is_configured(call, list))
        return;
    if (!find_named(call, list, frame->group, &frame->chain) &&
        !find_named(call, list, frame->name, &frame->chain) &&
        !find_named(call, list, root->group, &frame->chain) &&
        !find_named(call, list, root->name, &frame->chain))
        (void)find_star(call, list, &frame->chain);
}

/* ---- frames ---- */

/* A name that stands for nothing is served by the first target of "*" (router-semantics 3.8). */
static void stand_in(struct walk *walk, const struct kit_call *call, struct walk_frame *frame)
{
    struct weir_chain star;
    struct weir_slice group;

    if (model_resolve(call->config, frame->group) != 0 || call->request.request.disable_fallbacks)
        return;
    if (!is_configured(call, WEIR_LIST_GENERIC) || !find_star(call, WEIR_LIST_GENERIC, &star) ||
        star.count == 0)
        return;
    group = resolve_alias(call->config, star.targets[0].model);
    if (model_resolve(call->config, group) != 0 && try_once(walk, group, WEIR_SLICE_EMPTY))
        frame->group = group;
}

static void push(struct walk *walk, const struct kit_call *call, struct weir_slice name,
                 struct weir_slice overrides)
{
    walk->frames[walk->depth] = (struct walk_frame){.name = name,
                                                    .group = resolve_alias(call->config, name),
                                                    .overrides = overrides,
                                                    .kind = WEIR_KIND_BAD_REQUEST,
                                                    .is_certain = true};
    if (walk->depth == 0)
        (void)try_once(walk, walk->frames[0].group, WEIR_SLICE_EMPTY);
    stand_in(walk, call, &walk->frames[walk->depth]);
}

static bool is_refused(const struct walk *walk, const struct kit_call *call, const struct walk_frame *frame,
                       struct weir_slice target)
{
    const struct kit_config *config = call->config;

    if (config->router.ask_before_hop == 0 || weir_slice_eq(target, frame->group) ||
        weir_slice_eq(target, walk->frames[0].group))
        return false;
    for (size_t i = 0; i < config->reply_count; i++) {
        if (weir_slice_eq(config->replies[i].target, target))
            return config->replies[i].answer != WEIR_ANSWER_YES;
    }
    return false;
}

/* The next target that the frame's walk goes to; NULL: there is none. */
static const struct weir_target *next_target(struct walk *walk, const struct kit_call *call,
                                             struct walk_frame *frame)
{
    choose_chain(walk, call, frame);
    while (walk->hops < call->config->router.max_fallbacks && frame->next < frame->chain.count) {
        const struct weir_target *target = &frame->chain.targets[frame->next++];
        struct weir_slice name = resolve_alias(call->config, target->model);

        if (try_once(walk, name, target->overrides) && !is_refused(walk, call, frame, name))
            return target;
    }
    return NULL;
}

/* Goes down from the frame that serves until one has a target left; NULL: the walk is over. */
static const struct weir_target *next_of_all(struct walk *walk, const struct kit_call *call)
{
    for (;;) {
        const struct weir_target *target = next_target(walk, call, &walk->frames[walk->depth]);

        if (target != NULL || walk->depth == walk->base)
            return target;
        walk->depth--;
    }
}

/* ---- what the call tells ---- */

void walk_begin(struct walk *walk, const struct kit_call *call)
{
    *walk = (struct walk){.depth = 0};
    push(walk, call, call->request.request.model, WEIR_SLICE_EMPTY);
}

void walk_started(struct walk *walk, const struct kit_call *call, const struct weir_start *start)
{
    const struct walk_frame *frame = &walk->frames[walk->depth];

    if (walk->lost)
        return;
    if (walk->goes_on && walk->depth > walk->base &&
        !(weir_slice_eq(frame->group, start->group) && weir_slice_eq(frame->overrides, start->overrides))) {
        /* from the chain back to the group that broke */
        if (next_of_all(walk, call) != NULL && !walk->lost)
            kit_die(call->kit, "back to the group though a target is left");
        frame = &walk->frames[walk->depth];
    }
    if (!weir_slice_eq(frame->group, start->group))
        kit_die(call->kit, "an attempt in another group than the walk has come to");
    if (!weir_slice_eq(frame->overrides, start->overrides))
        kit_die(call->kit, "an attempt with the overrides of another hop");
}

/* Whether the group's own setting, or else the router's, lists the source. */
static bool is_listed(const struct kit_call *call, struct weir_slice group, weir_continue_to source)
{
    const weir_continue_to *sources = call->config->router.continue_to;

    for (size_t i = 0; i < call->config->group_count; i++) {
        const struct kit_group *own = &call->config->groups[i];

        if (weir_slice_eq(own->name, group) && own->spec.continue_to[0] != WEIR_CONTINUE_NOWHERE)
            sources = own->spec.continue_to;
    }
    for (size_t i = 0; i < WEIR_CONTINUE_SOURCES; i++) {
        if (sources[i] == source)
            return true;
    }
    return false;
}

/* Whether a break would be retried, or is a 429 (decisions 31). */
static bool is_mendable(const struct weir_failure *failure)
{
    int status = failure->status;

    if (failure->kind == WEIR_KIND_RATE_LIMIT)
        return true;
    return failure->kind != WEIR_KIND_GUARDRAIL && failure->kind != WEIR_KIND_NOT_FOUND &&
           (status >= 500 || status == 401 || status == 403 || status == 408 || status == 409 ||
            status == 429);
}

void walk_broke(struct walk *walk, const struct kit_call *call, const struct kit_deployment *deployment,
                const struct weir_failure *failure)
{
    struct walk_frame *frame = &walk->frames[walk->depth];

    walk->base = walk->depth;
    walk->goes_on = call->config->router.continuation && call->request.request.may_continue &&
                    call->request.request.stream && !call->request.request.disable_fallbacks &&
                    !call->other && call->text_bytes > 0 && call->text_bytes <= KIT_CONTINUE_MAX_BYTES &&
                    failure->origin != WEIR_ORIGIN_CLIENT_GONE && is_mendable(failure);
    walk->by_chain = walk->goes_on && is_listed(call, deployment->spec.group, WEIR_CONTINUE_FALLBACK);
    frame->kind = failure->kind;
    frame->is_certain = true;
    frame->has_chain = false;
    frame->chain = (struct weir_chain){.count = 0};
    frame->next = 0;
}

void walk_failed(struct walk *walk, weir_kind kind)
{
    /* what the base walks by is its break */
    if (walk->goes_on && walk->depth == walk->base)
        return;
    walk->frames[walk->depth].kind = kind;
    walk->frames[walk->depth].is_certain = true;
}

void walk_waited(struct walk *walk)
{
    walk->frames[walk->depth].is_certain = false;
}

void walk_hop(struct walk *walk, const struct kit_call *call, const struct weir_event *event)
{
    const struct weir_target *target = walk->lost ? NULL : next_of_all(walk, call);

    if (walk->lost)
        return;
    if (target == NULL || (call->committed != 0 && !walk->by_chain))
        kit_die(call->kit, "a hop where the walk is over");
    if (!weir_slice_eq(resolve_alias(call->config, target->model), event->u.fallback.target))
        kit_die(call->kit, "a hop to another target than the next one, %.*s", (int)target->model.len,
                target->model.ptr);
    walk->hops++;
    if (event->u.fallback.level != walk->depth || event->u.fallback.depth != walk->hops ||
        !weir_slice_eq(event->u.fallback.source, walk->frames[walk->depth].group))
        kit_die(call->kit, "a hop from another group than the one whose walk it is");
    if (++walk->depth == WALK_FRAMES_MAX) {
        walk->lost = true;
        return;
    }
    push(walk, call, target->model, target->overrides);
    if (!walk->goes_on)
        return;
    walk->frames[walk->depth].kind = walk->frames[walk->base].kind;
    /* a name that stands for nothing has no way on of its own */
    walk->frames[walk->depth].has_chain = model_resolve(call->config, walk->frames[walk->depth].group) == 0;
}

void walk_ended(struct walk *walk, const struct kit_call *call)
{
    if (walk->lost || (call->committed != 0 && !walk->by_chain) || call->request.request.disable_fallbacks)
        return;
    if (next_of_all(walk, call) != NULL && !walk->lost)
        kit_die(call->kit, "a call that fails though a target is left");
}
