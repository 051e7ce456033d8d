/*
 * What a request says of the deployments that may serve it: tags, evidence, weights, the region, and what its
 * parameters ask of a model (router-semantics 6.1, 6.7, 18, 20).
 */
#ifndef WEIR_GATEWAY_ASKED_CHOICE_H
#define WEIR_GATEWAY_ASKED_CHOICE_H

#include <weir/attr.h>

#include "gateway/request/asked.h"

enum { WEIR_ASKED_TAGS_MAX = 256, WEIR_ASKED_WEIGHTS_MAX = 1024 };

/* Each takes a member of the body by that name.  0, WEIR_REFUSED with *ret_problem, or negative. */
typedef int weir_asked_choice_fn(const struct weir_asked_rules *rules, const struct weir_json_item *item,
                                 struct weir_arena *arena, struct weir_asked *asked,
                                 struct weir_problem *ret_problem);

weir_asked_choice_fn weir_asked_tags;      /* `tags`: what is no list of text has no tags, as in LiteLLM */
weir_asked_choice_fn weir_asked_metadata;  /* `metadata`, `litellm_metadata`: their `tags` and `lar1` */
weir_asked_choice_fn weir_asked_filtering; /* `enable_tag_filtering` */
weir_asked_choice_fn weir_asked_weights;   /* `_router_weights` */
weir_asked_choice_fn weir_asked_region;    /* `allowed_model_region` */

/* The header x-litellm-tags: names with commas between them.  0, WEIR_REFUSED or negative. */
WEIR_MUST_USE int weir_asked_tag_field(const struct weir_asked_rules *rules, struct weir_slice value,
                                       struct weir_arena *arena, struct weir_asked *asked,
                                       struct weir_problem *ret_problem);

/* Any member that goes on to the provider: what it asks of a model. */
void weir_asked_passing(const struct weir_asked_rules *rules, const struct weir_json_item *item,
                        struct weir_asked *asked);

#endif
