/*
 * A model is written in many ways: "claude-3-5-haiku-20241022", "anthropic/claude-3.5-haiku",
 * "us.anthropic.claude-3-5-haiku-20241022-v1:0", "databricks-claude-3-7-sonnet".  So a row is tried at each
 * part of a name, and the marks that part versions are all the same to it.
 */
#include "provider/prefill.h"

#include "base/slice.h"

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

static bool parts_words(char c)
{
    return c == '-' || c == '.' || c == '@' || c == ':';
}

/* The pattern fits the whole of text, or with "*" at its end whole words at its start. */
static bool fits(struct weir_slice pattern, struct weir_slice text)
{
    size_t len = pattern.len;
    bool open = pattern.ptr[len - 1] == '*';

    if (open)
        len--;
    if (text.len < len || (!open && text.len > len))
        return false;
    if (len > 0 && text.len > len && weir_char_is_alnum(text.ptr[len]))
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = weir_char_lower(text.ptr[i]);

        if (c != pattern.ptr[i] && !(pattern.ptr[i] == '-' && parts_words(c)))
            return false;
    }
    return true;
}

static bool fits_a_part(struct weir_slice pattern, struct weir_slice name)
{
    for (size_t i = 0; i < name.len; i++)
        if ((i == 0 || name.ptr[i - 1] == '/' || parts_words(name.ptr[i - 1])) &&
            fits(pattern, weir_slice_sub(name, i, name.len)))
            return true;
    return false;
}

static const struct row *find(const struct weir_provider *provider, struct weir_slice model)
{
    struct weir_slice name = weir_provider_strip(provider, model);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if ((rows[i].provider.len == 0 || weir_slice_eq(rows[i].provider, provider->name)) &&
            fits_a_part(rows[i].model, name))
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
