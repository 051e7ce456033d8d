/* Both are asked when a configuration is read, and once a call for names that a wildcard let in. */
#include "provider/model_name.h"

#include "base/slice.h"

static bool parts_words(char c)
{
    return c == '-' || c == '.' || c == '@' || c == ':';
}

static bool is_alphanumeric(char c)
{
    return weir_char_is_digit(c) || (weir_char_lower(c) >= 'a' && weir_char_lower(c) <= 'z');
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
    if (len > 0 && text.len > len && is_alphanumeric(text.ptr[len]))
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = weir_char_lower(text.ptr[i]);

        if (c != pattern.ptr[i] && !(pattern.ptr[i] == '-' && parts_words(c)))
            return false;
    }
    return true;
}

bool weir_model_fits(struct weir_slice pattern, struct weir_slice name)
{
    for (size_t i = 0; i < name.len; i++)
        if ((i == 0 || name.ptr[i - 1] == '/' || parts_words(name.ptr[i - 1])) &&
            fits(pattern, weir_slice_sub(name, i, name.len)))
            return true;
    return false;
}

bool weir_model_is(struct weir_slice model, struct weir_slice name)
{
    struct weir_slice rest = weir_slice_sub(name, model.len, name.len);
    size_t digits = 0;

    if (!weir_slice_eq_ci(weir_slice_sub(name, 0, model.len), model))
        return false;
    if (rest.len == 0 || weir_slice_eq_ci(rest, WEIR_SLICE("-latest")))
        return true;
    for (size_t i = 0; i < rest.len; i++) {
        if (weir_char_is_digit(rest.ptr[i]))
            digits++;
        else if (rest.ptr[i] != '-')
            return false;
    }
    return rest.ptr[0] == '-' && digits >= 4;
}
