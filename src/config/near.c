/*
 * Damerau-Levenshtein distance with three rows of the table, in its restricted form: no part of a name is
 * edited twice.
 */
#include "config/near.h"

#include <stdbool.h>
#include <string.h>

#include "base/slice.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool alike(char a, char b)
{
    return weir_char_lower(a) == weir_char_lower(b);
}

size_t weir_near_distance(struct weir_slice a, struct weir_slice b, size_t limit)
{
    size_t rows[3][WEIR_NEAR_NAME_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];

    if (a.len > WEIR_NEAR_NAME_MAX || b.len > WEIR_NEAR_NAME_MAX)
        return limit + 1;
    memset(before, 0, sizeof(rows[0]));
    for (size_t j = 0; j <= b.len; j++)
        last[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *spare = before;

        now[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t change = last[j - 1] + !alike(a.ptr[i - 1], b.ptr[j - 1]);

            now[j] = least(change, least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && alike(a.ptr[i - 1], b.ptr[j - 2]) && alike(a.ptr[i - 2], b.ptr[j - 1]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
        before = last;
        last = now;
        now = spare;
    }
    return least(last[b.len], limit + 1);
}

size_t weir_near_limit(struct weir_slice name, size_t limit)
{
    return name.len < 2 ? 0 : least(limit, (name.len - 1) / 2);
}
