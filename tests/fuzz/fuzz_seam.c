/*
 * Whatever was said and is said: what passes the seam is an end of the new text; what is dropped is an end of
 * the old one, or white space of its end; and pieces make no difference.
 *
 * The first byte says how much white space was not shown and how the new text is cut; a zero parts the texts.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "gateway/continuation/seam.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 65536 };

struct gathered {
    char text[TEXT_MAX];
    size_t len;
};

static void gather(struct gathered *out, struct weir_slice text)
{
    if (out->len + text.len > TEXT_MAX)
        abort();
    if (text.len > 0)
        memcpy(out->text + out->len, text.ptr, text.len);
    out->len += text.len;
}

static void join(struct gathered *out, struct weir_slice old, size_t shown, struct weir_slice new,
                 size_t piece)
{
    struct weir_seam seam;

    out->len = 0;
    weir_seam_init(&seam, old, shown);
    for (size_t at = 0; at < new.len; at += piece) {
        struct weir_seam_out part = weir_seam_take(&seam, weir_slice_sub(new, at, at + piece));

        gather(out, part.held);
        gather(out, part.piece);
    }
    gather(out, weir_seam_end(&seam));
}

static struct weir_slice without_blank(struct weir_slice text)
{
    while (text.len > 0 && memchr(" \t\n\v\f\r", text.ptr[text.len - 1], 6) != NULL)
        text.len--;
    return text;
}

/* The dropped bytes are an end of the text and a start of its white space. */
static void check_dropped(struct weir_slice dropped, struct weir_slice old, size_t shown)
{
    struct weir_slice text = without_blank(old), blank = weir_slice_sub(old, text.len, old.len);

    for (size_t i = 0; i <= dropped.len; i++)
        if (weir_slice_ends(text, weir_slice_sub(dropped, 0, i)) &&
            weir_slice_starts(blank, weir_slice_sub(dropped, i, dropped.len)) &&
            (i > 0 || dropped.len == 0 || shown < old.len))
            return;
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gathered whole, pieces;
    struct weir_slice input = {(const char *)data, size}, old, new, kept;
    size_t split, shown;

    if (size < 1 || size > TEXT_MAX)
        return 0;
    split = weir_slice_find_char(weir_slice_sub(input, 1, size), '\0');
    if (split == WEIR_SLICE_NONE)
        return 0;
    old = weir_slice_sub(input, 1, 1 + split);
    new = weir_slice_sub(input, split + 2, size);
    shown = data[0] % 2 == 0 ? old.len : without_blank(old).len;
    join(&whole, old, shown, new, TEXT_MAX);
    join(&pieces, old, shown, new, 1 + data[0] / 2);
    kept = (struct weir_slice){whole.text, whole.len};
    if (!weir_slice_eq(kept, (struct weir_slice){pieces.text, pieces.len}) || !weir_slice_ends(new, kept))
        abort();
    check_dropped(weir_slice_sub(new, 0, new.len - kept.len), old, shown);
    return 0;
}
