/*
 * An answer teaches the scale of the group whose deployment gave it, and the one that stands in for all names
 * without a scale of their own.
 */
#include "gateway/prompts.h"

#include <weir/error.h>

#include "base/slice.h"

enum { LEAST_TOKENS = 8 }; /* "Hi", as OpenAI counts it with what goes around it */

static int add_groups(struct weir_prompts *prompts)
{
    for (size_t i = 0; i + 1 < prompts->count; i++) {
        int r = weir_map_add(&prompts->by_group, weir_snapshot_group_name(prompts->snapshot, i),
                             &prompts->scales[i]);

        if (r < 0)
            return r;
    }
    return 0;
}

int weir_prompts_init(struct weir_prompts *ret_prompts, const weir_snapshot *snapshot,
                      const struct weir_mem *mem)
{
    size_t count = weir_snapshot_group_count(snapshot) + 1;

    *ret_prompts = (struct weir_prompts){
        .mem = mem, .snapshot = snapshot, .used = weir_snapshot_uses_prompt_tokens(snapshot)};
    if (!ret_prompts->used)
        return 0;
    weir_map_init(&ret_prompts->by_group, mem, count);
    ret_prompts->scales = mem->alloc(mem->user, count * sizeof(*ret_prompts->scales));
    if (ret_prompts->scales == NULL)
        return WEIR_ERR_NOMEM;
    ret_prompts->count = count;
    for (size_t i = 0; i < count; i++)
        weir_prompt_scale_init(&ret_prompts->scales[i]);
    return add_groups(ret_prompts);
}

void weir_prompts_inherit(struct weir_prompts *prompts, const struct weir_prompts *before)
{
    if (!prompts->used || !before->used)
        return;
    for (size_t i = 0; i + 1 < prompts->count; i++) {
        const struct weir_prompt_scale *old =
            weir_map_get(&before->by_group, weir_snapshot_group_name(prompts->snapshot, i));

        if (old != NULL)
            weir_prompt_scale_copy(&prompts->scales[i], old);
    }
    weir_prompt_scale_copy(&prompts->scales[prompts->count - 1], &before->scales[before->count - 1]);
}

void weir_prompts_deinit(struct weir_prompts *prompts)
{
    if (prompts->scales != NULL)
        prompts->mem->free(prompts->mem->user, prompts->scales, prompts->count * sizeof(*prompts->scales));
    weir_map_deinit(&prompts->by_group);
    *prompts = (struct weir_prompts){0};
}

/* Of a name without a group: the last one. */
static struct weir_prompt_scale *scale_of(const struct weir_prompts *prompts, struct weir_slice group)
{
    struct weir_prompt_scale *scale = group.len == 0 ? NULL : weir_map_get(&prompts->by_group, group);

    return scale != NULL ? scale : &prompts->scales[prompts->count - 1];
}

uint64_t weir_prompts_estimate(const struct weir_prompts *prompts, const struct weir_request *request,
                               const struct weir_prompt *prompt)
{
    struct weir_slice group =
        weir_snapshot_group_of(prompts->snapshot, request->model, request->qualified_model);

    return weir_prompt_tokens(prompt, scale_of(prompts, group));
}

uint64_t weir_prompts_least(const struct weir_prompts *prompts)
{
    return prompts->used ? LEAST_TOKENS : 0;
}

void weir_prompts_learn(struct weir_prompts *prompts, struct weir_slice group,
                        const struct weir_prompt *prompt, uint64_t tokens)
{
    struct weir_prompt_scale *scale = scale_of(prompts, group);
    struct weir_prompt_scale *others = &prompts->scales[prompts->count - 1];

    weir_prompt_learn(scale, prompt, tokens);
    if (scale != others)
        weir_prompt_learn(others, prompt, tokens);
}
