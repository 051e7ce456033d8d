/*
 * A model map in LiteLLM's form: one JSON object with a member for each model, whose name may have its
 * provider in front, and in it what tbl/model_figures.h names and more.
 *
 * The text is checked once and stays where it is; models are looked up by name and read when they are asked
 * for.  Never changed after it was read, so safe for all threads.
 */
#ifndef WEIR_PROVIDER_MODEL_MAP_H
#define WEIR_PROVIDER_MODEL_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "base/map.h"
#include "provider/model_facts.h"

struct weir_model_map {
    struct weir_map models; /* a name to its struct weir_json_value */
};

/*
 * Reads the text, which must live as long as the map; everything else is made in the arena.  0; WEIR_JSON_BAD
 * with *ret_bad_at (the text is no JSON); WEIR_JSON_OTHER (no object of objects); or negative.
 */
WEIR_MUST_USE int weir_model_map_read(struct weir_slice text, struct weir_arena *arena,
                                      struct weir_model_map *ret_map, size_t *ret_bad_at);

/*
 * What it says of a model as a deployment writes it: under that very name, else without the provider in front
 * where the entry is of that provider.  False, with nothing known in *ret_facts: no such model.
 */
bool weir_model_map_find(const struct weir_model_map *map, const struct weir_provider *provider,
                         struct weir_slice model, struct weir_model_facts *ret_facts);

#endif
