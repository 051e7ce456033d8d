/*
 * Names are looked up when a configuration is read, and for names of models that no group has: seldom enough
 * for a walk over the table, whose order is that of the files of rows.
 */
#include "provider/provider.h"

#include "base/slice.h"

static const struct weir_provider rows[] = {
#define VARS(...) VARS_PICK(__VA_ARGS__, "", "", "", )
#define VARS_PICK(first, second, third, fourth, ...)                                                         \
    {                                                                                                        \
        WEIR_SLICE_INIT(first), WEIR_SLICE_INIT(second), WEIR_SLICE_INIT(third), WEIR_SLICE_INIT(fourth)     \
    }
#define X(prefix, shown, address, key_variables, base_variables, dialect_id, family_bits, quirk_bits, form)  \
    {.name = WEIR_SLICE_INIT(prefix),                                                                        \
     .display = WEIR_SLICE_INIT(shown),                                                                      \
     .api_base = WEIR_SLICE_INIT(address),                                                                   \
     .key_vars = key_variables,                                                                              \
     .base_vars = base_variables,                                                                            \
     .dialect = WEIR_DIALECT_##dialect_id,                                                                   \
     .families = (family_bits),                                                                              \
     .quirks = (quirk_bits),                                                                                 \
     .prefill = WEIR_PREFILL_##form},
#include "provider/tbl/openai_compatible.h"
#undef X
#define X(prefix, shown, family_bits)                                                                        \
    {.name = WEIR_SLICE_INIT(prefix),                                                                        \
     .display = WEIR_SLICE_INIT(shown),                                                                      \
     .dialect = WEIR_DIALECT_NONE,                                                                           \
     .families = (family_bits)},
#include "provider/tbl/other_providers.h"
#undef X
};

struct bare_name {
    struct weir_slice pattern;
    struct weir_slice provider;
};

static const struct bare_name bare_names[] = {
#define X(name, provider) {WEIR_SLICE_INIT(name), WEIR_SLICE_INIT(provider)},
#include "provider/tbl/bare_names.h"
#undef X
};

size_t weir_provider_count(void)
{
    return sizeof(rows) / sizeof(rows[0]);
}

const struct weir_provider *weir_provider_at(size_t index)
{
    return index < weir_provider_count() ? &rows[index] : NULL;
}

const struct weir_provider *weir_provider_named(struct weir_slice name)
{
    for (size_t i = 0; i < weir_provider_count(); i++)
        if (weir_slice_eq(rows[i].name, name))
            return &rows[i];
    return NULL;
}

static bool fits(struct weir_slice pattern, struct weir_slice model)
{
    if (pattern.ptr[pattern.len - 1] == '*' && pattern.len > 1)
        return weir_slice_starts(model, weir_slice_sub(pattern, 0, pattern.len - 1));
    return weir_slice_eq(pattern, model);
}

const struct weir_provider *weir_provider_infer(struct weir_slice bare_model)
{
    for (size_t i = 0; i < sizeof(bare_names) / sizeof(bare_names[0]); i++)
        if (fits(bare_names[i].pattern, bare_model))
            return weir_provider_named(bare_names[i].provider);
    return NULL;
}

struct weir_slice weir_provider_strip(const struct weir_provider *provider, struct weir_slice model)
{
    size_t prefix = provider->name.len;

    if (model.len > prefix && model.ptr[prefix] == '/' && weir_slice_starts(model, provider->name))
        return weir_slice_sub(model, prefix + 1, model.len);
    return model;
}

static const struct weir_provider *of_prefix(struct weir_slice model)
{
    size_t slash = weir_slice_find_char(model, '/');

    return slash == WEIR_SLICE_NONE ? NULL : weir_provider_named(weir_slice_sub(model, 0, slash));
}

int weir_provider_find(struct weir_slice model, struct weir_slice custom_llm_provider,
                       const struct weir_provider **ret_provider, struct weir_slice *ret_model)
{
    const struct weir_provider *provider;

    if (custom_llm_provider.len > 0) {
        provider = weir_provider_named(custom_llm_provider);
    } else {
        provider = of_prefix(model);
        if (provider == NULL)
            provider = weir_provider_infer(model);
    }
    if (provider == NULL)
        return WEIR_PROVIDER_UNKNOWN;
    *ret_provider = provider;
    if (ret_model != NULL)
        *ret_model = weir_provider_strip(provider, model);
    return 0;
}
