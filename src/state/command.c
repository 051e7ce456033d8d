/*
 * The room is reserved for all of it at once, by the longest that the lengths can be written.
 */
#include "state/command.h"

#include "base/slice.h"
#include "base/text.h"

enum { FRAME_MAX = 1 + WEIR_TEXT_U64_MAX + 2 }; /* "$", digits, CR LF */

static char *put(char *at, struct weir_slice bytes)
{
    if (bytes.len > 0)
        memcpy(at, bytes.ptr, bytes.len);
    return at + bytes.len;
}

static char *put_frame(char *at, char mark, size_t number)
{
    char digits[WEIR_TEXT_U64_MAX];

    *at = mark;
    return put(put(at + 1, weir_text_u64(number, digits)), WEIR_SLICE("\r\n"));
}

int weir_command_write(struct weir_buf *buf, const struct weir_slice *args, size_t count)
{
    size_t total = FRAME_MAX;
    char *room;
    char *at;
    int r;

    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(total, (size_t)FRAME_MAX + 2, &total) ||
            __builtin_add_overflow(total, args[i].len, &total))
            return WEIR_ERR_LIMIT;
    r = weir_buf_reserve(buf, total, &room);
    if (r < 0)
        return r;
    at = put_frame(room, '*', count);
    for (size_t i = 0; i < count; i++)
        at = put(put(put_frame(at, '$', args[i].len), args[i]), WEIR_SLICE("\r\n"));
    weir_buf_commit(buf, (size_t)(at - room));
    return 0;
}
