/* The first row that fits speaks for the model. */
#include "provider/limit_name.h"

#include "base/slice.h"
#include "provider/model_name.h"

static const struct {
    struct weir_slice provider;
    struct weir_slice model;
} rows[] = {
#define X(provider, model) {WEIR_SLICE_INIT(provider), WEIR_SLICE_INIT(model)},
#include "provider/tbl/limit_names.h"
#undef X
};

struct weir_slice weir_limit_name_of(const struct weir_provider *provider, struct weir_slice model)
{
    struct weir_slice name = weir_provider_strip(provider, model);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (weir_slice_eq(rows[i].provider, provider->name) && weir_model_fits(rows[i].model, name))
            return WEIR_SLICE("max_completion_tokens");
    return WEIR_SLICE("max_tokens");
}
