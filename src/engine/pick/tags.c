/*
 * Each candidate has a rank for the request: it matches, it is of the default pool, it is some other one.  Of
 * all candidates the best rank there is makes the pool, which is filled in one pass that starts over when a
 * better rank turns up.
 *
 * Constraints (tags to carry, tags not to carry) come before matching, so one who breaks them matches
 * nothing. Where nothing is there to match they come after: the pool is the default one although it may have
 * nobody who keeps to them.
 */
#include "engine/pick/tags.h"

#include <string.h>

#include "base/slice.h"
#include "engine/snapshot/pools.h"

enum rank { RANK_NONE, RANK_OTHER, RANK_DEFAULT, RANK_MATCH };

/* What of the request's tags is looked at. */
struct asked {
    const weir_snapshot *snapshot;
    const struct weir_request *request;
    bool has_plain;
    bool fails_open; /* constraints of the caller's own are left out, and there is nothing to match */
};

/* What was found among the candidates. */
struct found {
    enum rank best;
    bool any;
    bool kept_out; /* somebody would be in the pool but for a constraint */
};

bool weir_tags_route(const struct weir_pick *pick)
{
    weir_flag flag = pick->request->tag_filtering;

    /* All are of the one pool there is. */
    if (pick->request->tag_count == 0 && !pick->from->set->has_tags)
        return false;
    if (flag == WEIR_FLAG_UNSAID)
        flag = pick->from->set->tag_filtering;
    return flag == WEIR_FLAG_UNSAID ? pick->snapshot->spec.tag_filtering : flag == WEIR_FLAG_ON;
}

static bool carries(const struct weir_deployment_spec *spec, struct weir_slice tag)
{
    for (size_t i = 0; i < spec->tag_count; i++)
        if (weir_slice_eq(spec->tags[i], tag))
            return true;
    return false;
}

static bool meets_constraints(const struct asked *asked, const struct weir_deployment_spec *spec)
{
    for (size_t i = 0; i < asked->request->tag_count; i++) {
        const struct weir_tag *tag = &asked->request->tags[i];

        if (tag->kind != WEIR_TAG_PLAIN && (tag->inherited || !asked->fails_open) &&
            carries(spec, tag->name) != (tag->kind == WEIR_TAG_REQUIRED))
            return false;
    }
    return true;
}

/* Whether any, or all, of the plain tags are carried; there are some. */
static bool matches_plain(const struct asked *asked, const struct weir_deployment_spec *spec)
{
    bool all = asked->snapshot->spec.tag_match_all;

    for (size_t i = 0; i < asked->request->tag_count; i++)
        if (asked->request->tags[i].kind == WEIR_TAG_PLAIN &&
            carries(spec, asked->request->tags[i].name) != all)
            return !all;
    return all;
}

/* A pattern cannot make up for tags that must all match and do not. */
static bool matches_pattern(const struct asked *asked, const weir_deployment *d)
{
    if (!d->spec.has_tag_pattern || asked->request->matches == NULL)
        return false;
    if (asked->has_plain && asked->snapshot->spec.tag_match_all && d->spec.tag_count > 0)
        return false;
    return asked->request->matches(asked->request->matches_user, d);
}

static enum rank rank_of(const struct asked *asked, const weir_deployment *d)
{
    if (!asked->fails_open &&
        ((asked->has_plain && matches_plain(asked, &d->spec)) || matches_pattern(asked, d)))
        return RANK_MATCH;
    if (carries(&d->spec, WEIR_SLICE("default")))
        return RANK_DEFAULT;
    return asked->has_plain ? RANK_NONE : RANK_OTHER;
}

static void clear(const struct weir_pick *pick)
{
    memset(pick->pool.words, 0, (pick->snapshot->slot_limit + 63) / 64 * sizeof(*pick->pool.words));
}

static void consider(const struct weir_pick *pick, const struct asked *asked, const weir_deployment *d,
                     struct found *found)
{
    enum rank rank = rank_of(asked, d);
    bool meets = meets_constraints(asked, &d->spec);

    found->kept_out |= rank != RANK_NONE && !meets;
    if (!meets && rank == RANK_MATCH)
        return;
    if (rank > found->best) {
        found->best = rank;
        found->any = false;
        clear(pick);
    }
    if (rank == RANK_NONE || rank < found->best || !meets)
        return;
    pick->pool.words[d->slot / 64] |= UINT64_C(1) << d->slot % 64;
    found->any = true;
}

static struct found fill(const struct weir_pick *pick, unsigned filters, const struct asked *asked)
{
    struct found found = {RANK_NONE, false, false};
    struct weir_candidates c = weir_filter_candidates(pick, filters);

    clear(pick);
    for (uint32_t t = 0; t < pick->from->set->tier_count; t++) {
        c.tier = &pick->from->set->tiers[t];
        for (uint32_t m = weir_filter_next(&c, 0); m < c.tier->count; m = weir_filter_next(&c, m + 1))
            consider(pick, asked, c.tier->members[m], &found);
    }
    return found;
}

bool weir_tags_fill(const struct weir_pick *pick, unsigned filters)
{
    struct asked asked = {.snapshot = pick->snapshot, .request = pick->request};
    struct found found;

    if (pick->pool.words == NULL)
        return false;
    for (size_t i = 0; i < pick->request->tag_count; i++)
        asked.has_plain |= pick->request->tags[i].kind == WEIR_TAG_PLAIN;
    found = fill(pick, filters, &asked);
    if (!found.any && found.kept_out && pick->from->set->tag_fail_open) {
        asked.has_plain = false;
        asked.fails_open = true;
        found = fill(pick, filters, &asked);
    }
    return found.any;
}

/* The pool of what the plain tags match, NULL when they match nobody; false: there may be several, or more
 * than plain tags. */
static bool only_pool(const struct weir_pick *pick, const struct weir_set **ret_pool)
{
    const struct weir_set *only = NULL, *pool;
    bool all = pick->snapshot->spec.tag_match_all, misses = false;

    for (size_t i = 0; i < pick->request->tag_count; i++) {
        if (pick->request->tags[i].kind != WEIR_TAG_PLAIN)
            return false;
        pool = weir_pool_of(pick->from->set, pick->request->tags[i].name);
        misses |= pool == NULL;
        if (pool == NULL)
            continue;
        if (only != NULL && only != pool)
            return false;
        only = pool;
    }
    *ret_pool = all && misses ? NULL : only;
    return true;
}

int weir_tags_pool(const struct weir_pick *pick, unsigned filters, const struct weir_set **ret_pool)
{
    const struct weir_set *set = pick->from->set, *pool;

    if (!weir_has_pools(set) || (set->has_tag_patterns && pick->request->matches != NULL) ||
        !only_pool(pick, &pool))
        return WEIR_TAGS_MIXED;
    if (pool == NULL || !weir_filter_leaves_any(pick, pool, filters))
        pool = weir_pool_of(set, WEIR_SLICE("default"));
    if (pool == NULL || !weir_filter_leaves_any(pick, pool, filters))
        pool = pick->request->tag_count == 0 ? set : NULL;
    *ret_pool = pool;
    return 0;
}

bool weir_tags_has(const struct weir_set *pool, const struct weir_set *set, const weir_deployment *deployment)
{
    return pool == set || (pool != NULL && carries(&deployment->spec, pool->name));
}
