/*
 * How long prompts are, before a provider has counted them: an estimate for each request, corrected for each
 * model group by the usage that its answers tell (decisions 37).
 *
 * Groups are those of the snapshot; names that stand for several, or for none, share one correction.  Where
 * nothing in the configuration looks at the length of a prompt none is estimated, and bodies are not read for
 * it.
 *
 * Made before other threads see it; afterwards any thread may estimate and learn.
 */
#ifndef WEIR_GATEWAY_PROMPTS_H
#define WEIR_GATEWAY_PROMPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/call.h>
#include <weir/mem.h>
#include <weir/snapshot.h>

#include "base/map.h"
#include "provider/prompt_scale.h"

struct weir_prompts {
    const struct weir_mem *mem;
    const weir_snapshot *snapshot;
    bool used;                        /* something looks at the length of prompts */
    struct weir_prompt_scale *scales; /* one a group, then that of all other names */
    size_t count;
    struct weir_map by_group;
};

/* 0 or negative; weir_prompts_deinit is due in every case.  The snapshot must outlive it. */
WEIR_MUST_USE int weir_prompts_init(struct weir_prompts *ret_prompts, const weir_snapshot *snapshot,
                                    const struct weir_mem *mem);

/* Begins where the other one is, for the groups that both have; others may learn in it meanwhile. */
void weir_prompts_inherit(struct weir_prompts *prompts, const struct weir_prompts *before);

/* Accepts a zeroed one. */
void weir_prompts_deinit(struct weir_prompts *prompts);

/* The estimate for a request, whose names are set. */
uint64_t weir_prompts_estimate(const struct weir_prompts *prompts, const struct weir_request *request,
                               const struct weir_prompt *prompt);

/*
 * What is taken for the tokens of a prompt that nobody has seen: those of the shortest chat.  0: nothing
 * looks at them.
 */
uint64_t weir_prompts_least(const struct weir_prompts *prompts);

/* A deployment of the group has counted the prompt; 0: it has not. */
void weir_prompts_learn(struct weir_prompts *prompts, struct weir_slice group,
                        const struct weir_prompt *prompt, uint64_t tokens);

#endif
