/*
 * The list that holds for a call is looked at through a view: the request's own list, else the router's, else
 * the process settings', with the default chain that stands in for "*" where the list has no such entry.
 */
#include "engine/call/fallback.h"

#include "base/slice.h"
#include "engine/call/call.h"
#include "engine/snapshot/snapshot.h"

struct view {
    bool is_configured;
    const struct weir_chain *chains;
    size_t count;
    const struct weir_map *by_group; /* NULL: the request's list, which is searched */
    struct weir_default_chain star;
};

static struct view router_view(const weir_snapshot *s, weir_list_kind list)
{
    bool own = s->lists[list][WEIR_SOURCE_ROUTER].count > 0,
         own_star = s->defaults[WEIR_SOURCE_ROUTER].count > 0;
    const struct weir_list *chosen = &s->lists[list][own ? WEIR_SOURCE_ROUTER : WEIR_SOURCE_PROCESS];
    struct view v = {.chains = chosen->chains, .count = chosen->count, .by_group = &chosen->by_group};

    if (list == WEIR_LIST_GENERIC)
        v.star = s->defaults[own_star ? WEIR_SOURCE_ROUTER : WEIR_SOURCE_PROCESS];
    v.is_configured = v.count > 0 || v.star.count > 0;
    return v;
}

static struct view view_of(const weir_call *call, weir_list_kind list)
{
    const struct weir_chain_list *own = &call->request.lists[list];

    if (own->presence == WEIR_LIST_ABSENT)
        return router_view(call->snapshot, list);
    if (own->presence == WEIR_LIST_NULL)
        return (struct view){.is_configured = false};
    return (struct view){.is_configured = true, .chains = own->chains, .count = own->count};
}

weir_list_kind weir_fallback_own_list(weir_kind kind)
{
    if (kind == WEIR_KIND_CONTEXT_WINDOW)
        return WEIR_LIST_CONTEXT_WINDOW;
    return kind == WEIR_KIND_CONTENT_POLICY ? WEIR_LIST_CONTENT_POLICY : WEIR_LIST_GENERIC;
}

bool weir_fallback_is_configured(const weir_call *call, weir_list_kind list)
{
    return view_of(call, list).is_configured;
}

static const struct weir_chain *find_exact(const struct view *v, struct weir_slice name)
{
    if (v->by_group != NULL)
        return weir_map_get(v->by_group, name);
    for (size_t i = 0; i < v->count; i++)
        if (weir_slice_eq(v->chains[i].group, name))
            return &v->chains[i];
    return NULL;
}

/* Whether long is short with a provider before it: "openai/gpt-4o" of "gpt-4o". */
static bool is_prefixed(struct weir_slice longer, struct weir_slice shorter)
{
    return longer.len > shorter.len + 1 && weir_slice_ends(longer, shorter) &&
           longer.ptr[longer.len - shorter.len - 1] == '/';
}

static bool is_star(struct weir_slice name)
{
    return weir_slice_eq(name, WEIR_SLICE("*"));
}

static const struct weir_chain *find_sibling_spelling(const struct view *v, struct weir_slice name)
{
    for (size_t i = 0; i < v->count; i++) {
        struct weir_slice key = v->chains[i].group;

        if (!is_star(key) && (is_prefixed(key, name) || is_prefixed(name, key)))
            return &v->chains[i];
    }
    return NULL;
}

size_t weir_fallback_frame_names(const struct weir_frame *frame, struct weir_slice *ret_names)
{
    size_t count = 0;

    ret_names[count++] = frame->from.group;
    ret_names[count++] = frame->name;
    /* The pattern that catches everything is no more specific than the entry of that name. */
    if (frame->from.is_wildcard && !is_star(frame->from.set->name))
        ret_names[count++] = frame->from.set->name;
    return count;
}

static const struct weir_chain *find_for_frame(const struct view *v, const struct weir_frame *frame)
{
    struct weir_slice names[WEIR_FALLBACK_FRAME_NAMES];
    size_t count = weir_fallback_frame_names(frame, names);
    const struct weir_chain *found = NULL;

    for (size_t i = 0; found == NULL && i < count; i++) {
        found = find_exact(v, names[i]);
        if (found == NULL)
            found = find_sibling_spelling(v, names[i]);
    }
    return found;
}

static bool find_star(const struct view *v, struct weir_chain *ret_chain)
{
    const struct weir_chain *found = find_exact(v, WEIR_SLICE("*"));

    if (found != NULL)
        *ret_chain = *found;
    else
        *ret_chain = (struct weir_chain){WEIR_SLICE("*"), v->star.targets, v->star.count};
    return found != NULL || v->star.count > 0;
}

static bool find_in(const weir_call *call, const struct view *v, const struct weir_frame *frame,
                    struct weir_chain *ret_chain)
{
    const struct weir_chain *found = find_for_frame(v, frame);

    if (found == NULL && frame != &call->root)
        found = find_for_frame(v, &call->root);
    if (found == NULL)
        return find_star(v, ret_chain);
    *ret_chain = *found;
    return true;
}

bool weir_fallback_chain(const weir_call *call, const struct weir_frame *frame, weir_kind kind,
                         struct weir_chain *ret_chain)
{
    struct view v = view_of(call, weir_fallback_own_list(kind));

    if (!v.is_configured)
        v = view_of(call, WEIR_LIST_GENERIC);
    return find_in(call, &v, frame, ret_chain);
}

bool weir_fallback_has_content_policy(const weir_call *call, const struct weir_frame *frame)
{
    struct view v = view_of(call, WEIR_LIST_CONTENT_POLICY);
    struct weir_chain chain;

    return v.is_configured && find_in(call, &v, frame, &chain) && chain.count > 0;
}

const struct weir_target *weir_fallback_star(const weir_call *call)
{
    struct view v = view_of(call, WEIR_LIST_GENERIC);
    struct weir_chain chain;

    return find_star(&v, &chain) && chain.count > 0 ? chain.targets : NULL;
}
