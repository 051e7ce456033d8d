/* A value that Prometheus could not read would cost it the whole page, so what comes out is valid whatever
 * went in. */
#include "gateway/metrics/label_text.h"

#include <string.h>

#include "base/slice.h"
#include "wire/utf8.h"

/* At most twice as long as what went in. */
static char *put_char(char *at, const char *from, size_t len)
{
    if (len == 0) {
        *at++ = '?';
    } else if (len == 1 && (*from == '\\' || *from == '"' || *from == '\n')) {
        *at++ = '\\';
        *at++ = *from == '\n' ? 'n' : *from;
    } else {
        memcpy(at, from, len);
        at += len;
    }
    return at;
}

static int put_value(struct weir_slice value, struct weir_buf *buf)
{
    struct weir_slice kept = weir_slice_sub(value, 0, WEIR_LABEL_VALUE_MAX);
    const char *from = kept.ptr, *end = kept.ptr + kept.len;
    char *room, *at;
    int r = weir_buf_reserve(buf, 2 * kept.len, &room);

    if (r < 0)
        return r;
    at = room;
    while (from < end) {
        size_t len = weir_utf8_len(from, end);

        if (len == 0 && kept.len < value.len && end - from < 4)
            break; /* a character that was cut through */
        at = put_char(at, from, len);
        from += len == 0 ? 1 : len;
    }
    weir_buf_commit(buf, (size_t)(at - room));
    return 0;
}

int weir_label_text(const uint8_t *labels, const struct weir_label_values *values, struct weir_buf *buf)
{
    int r = 0;

    for (size_t i = 0; r == 0 && labels[i] != WEIR_LABELS; i++) {
        r = WEIR_BUF_APPEND(buf, i == 0 ? WEIR_SLICE("") : WEIR_SLICE(","),
                            weir_label_name((weir_label)labels[i]), WEIR_SLICE("=\""));
        if (r == 0 && values->of[labels[i]].len > 0)
            r = put_value(values->of[labels[i]], buf);
        if (r == 0)
            r = weir_buf_append(buf, WEIR_SLICE("\""));
    }
    return r;
}
