/* The first row that fits a model speaks for it; providers with a form of their own are asked before. */
#include "provider/prefill.h"

#include "base/slice.h"
#include "provider/model_name.h"

struct row {
    struct weir_slice provider; /* empty: any */
    struct weir_slice model;
    weir_prefill_form form;
};

static const struct row rows[] = {
#define X(provider, model, form) {WEIR_SLICE_INIT(provider), WEIR_SLICE_INIT(model), WEIR_PREFILL_##form},
#include "provider/tbl/prefill_models.h"
#undef X
};

static const struct row *find(const struct weir_provider *provider, struct weir_slice model)
{
    struct weir_slice name = weir_provider_strip(provider, model);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if ((rows[i].provider.len == 0 || weir_slice_eq(rows[i].provider, provider->name)) &&
            weir_model_fits(rows[i].model, name))
            return &rows[i];
    return NULL;
}

bool weir_provider_takes_prefill(const struct weir_provider *provider, struct weir_slice model)
{
    return provider != NULL && find(provider, model) != NULL;
}

weir_prefill_form weir_prefill_form_of(const struct weir_provider *provider, struct weir_slice model)
{
    const struct row *row;

    if (provider->prefill != WEIR_PREFILL_PLAIN)
        return provider->prefill;
    row = find(provider, model);
    return row == NULL ? WEIR_PREFILL_PLAIN : row->form;
}

struct weir_slice weir_prefill_sent(weir_prefill_form form, struct weir_slice text)
{
    return form == WEIR_PREFILL_TRIMMED ? weir_slice_trim_end(text) : text;
}
