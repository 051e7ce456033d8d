/*
 * A key is its template with the names in braces replaced: the pieces are put together first, so that the key
 * is appended as a whole or not at all.
 */
#include "state/keys.h"

#include <assert.h>

#include "base/slice.h"

#define NS_PER_MINUTE UINT64_C(60000000000)

enum { PIECES_MAX = 14, MINUTES_PER_DAY = 24 * 60 };

static const struct weir_slice templates[WEIR_KEYS] = {
#define X(name, template) [WEIR_KEY_##name] = WEIR_SLICE_INIT(template),
#include "state/tbl/keys.h"
#undef X
};

static struct weir_slice part_of(const struct weir_key_parts *parts, struct weir_slice name)
{
    const struct {
        struct weir_slice name;
        struct weir_slice value;
    } known[] = {
        {WEIR_SLICE("id"), parts->id},         {WEIR_SLICE("group"), parts->group},
        {WEIR_SLICE("model"), parts->model},   {WEIR_SLICE("counter"), parts->counter},
        {WEIR_SLICE("minute"), parts->minute}, {WEIR_SLICE("suffix"), parts->suffix},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (weir_slice_eq(known[i].name, name))
            return known[i].value;
    assert(false); /* the templates name nothing else */
    return WEIR_SLICE_EMPTY;
}

int weir_key_write(struct weir_buf *buf, struct weir_slice name_space, enum weir_key key,
                   const struct weir_key_parts *parts)
{
    struct weir_slice pieces[PIECES_MAX] = {name_space, WEIR_SLICE(":")};
    struct weir_slice rest = templates[key];
    size_t count = name_space.len > 0 ? 2 : 0;

    while (rest.len > 0) {
        size_t open = weir_slice_find_char(rest, '{');
        size_t close = weir_slice_find_char(rest, '}');

        assert(count + 2 <= PIECES_MAX); /* no template names more than five parts */
        pieces[count++] = weir_slice_sub(rest, 0, open);
        if (open == WEIR_SLICE_NONE)
            break;
        pieces[count++] = part_of(parts, weir_slice_sub(rest, open + 1, close));
        rest = weir_slice_sub(rest, close + 1, rest.len);
    }
    return weir_buf_append_all(buf, pieces, count);
}

struct weir_slice weir_key_minute(uint64_t wall_ns, char text[WEIR_KEY_MINUTE_BYTES])
{
    unsigned minute = (unsigned)(wall_ns / NS_PER_MINUTE % MINUTES_PER_DAY);

    text[0] = (char)('0' + minute / 600);
    text[1] = (char)('0' + minute / 60 % 10);
    text[2] = '-';
    text[3] = (char)('0' + minute % 60 / 10);
    text[4] = (char)('0' + minute % 10);
    return (struct weir_slice){text, WEIR_KEY_MINUTE_BYTES};
}
