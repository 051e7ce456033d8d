/*
 * A pattern is its literals with a star between each two.  Every star takes as much as it can, the first one
 * first; so each literal stands at the last place where those after it still fit, and placing them from the
 * last to the first, each at its last occurrence before the next, finds exactly that without trying again.
 */
#include "engine/snapshot/wildcard.h"

#include "base/slice.h"
#include "engine/snapshot/snapshot.h"

size_t weir_wildcard_stars(struct weir_slice pattern)
{
    size_t stars = 0;

    for (size_t i = 0; i < pattern.len; i++)
        stars += pattern.ptr[i] == '*';
    return stars;
}

static size_t special_characters(struct weir_slice pattern)
{
    size_t count = 0;

    for (size_t i = 0; i < pattern.len; i++)
        count += weir_slice_find_char(WEIR_SLICE("*+?\\^$|()"), pattern.ptr[i]) != WEIR_SLICE_NONE;
    return count;
}

bool weir_wildcard_is_more_specific(struct weir_slice a, struct weir_slice b)
{
    if (a.len != b.len)
        return a.len > b.len;
    return special_characters(a) > special_characters(b);
}

/* The last place of the needle in s, or WEIR_SLICE_NONE. */
static size_t find_last(struct weir_slice s, struct weir_slice needle)
{
    for (size_t at = s.len + 1; at-- > 0;)
        if (weir_slice_starts(weir_slice_sub(s, at, s.len), needle))
            return at;
    return WEIR_SLICE_NONE;
}

/* Cuts the last literal and the star before it off the pattern. */
static struct weir_slice cut_last_literal(struct weir_slice *pattern)
{
    size_t star = pattern->len;
    struct weir_slice literal;

    while (pattern->ptr[star - 1] != '*')
        star--;
    literal = weir_slice_sub(*pattern, star, pattern->len);
    *pattern = weir_slice_sub(*pattern, 0, star - 1);
    return literal;
}

bool weir_wildcard_match(struct weir_slice pattern, struct weir_slice name, struct weir_slice *ret_captures)
{
    size_t stars = weir_wildcard_stars(pattern), end = name.len, head, at;
    struct weir_slice literal;

    head = stars == 0 ? pattern.len : weir_slice_find_char(pattern, '*');
    if (!weir_slice_starts(name, weir_slice_sub(pattern, 0, head)))
        return false;
    for (size_t star = stars; star-- > 0;) {
        literal = cut_last_literal(&pattern);
        at = find_last(weir_slice_sub(name, head, end), literal);
        if (at == WEIR_SLICE_NONE)
            return false;
        end = head + at;
        /* A capture begins where the literal before it ends, which is known only now for the next star's. */
        if (star + 1 < stars)
            ret_captures[star + 1] = weir_slice_sub(ret_captures[star + 1], end + literal.len, name.len);
        ret_captures[star] = weir_slice_sub(name, 0, end);
    }
    if (stars > 0)
        ret_captures[0] = weir_slice_sub(ret_captures[0], head, name.len);
    return true;
}

/* The pieces of the model with the captures between them; returns how many parts that makes. */
static size_t interleave(struct weir_slice model, const struct weir_slice *captures, size_t count,
                         struct weir_slice *ret_parts)
{
    size_t parts = 0, star;

    for (size_t i = 0; i < count; i++) {
        star = weir_slice_find_char(model, '*');
        if (star == WEIR_SLICE_NONE)
            break;
        ret_parts[parts++] = weir_slice_sub(model, 0, star);
        ret_parts[parts++] = captures[i];
        model = weir_slice_sub(model, star + 1, model.len);
    }
    ret_parts[parts++] = model;
    return parts;
}

struct weir_slice weir_wildcard_fill(struct weir_arena *arena, struct weir_slice model,
                                     struct weir_slice pattern, struct weir_slice name)
{
    struct weir_slice captures[WEIR_WILDCARD_STARS_MAX], parts[2 * WEIR_WILDCARD_STARS_MAX + 1];
    size_t stars = weir_wildcard_stars(pattern);

    if (weir_wildcard_stars(model) == 0 || stars > WEIR_WILDCARD_STARS_MAX ||
        !weir_wildcard_match(pattern, name, captures))
        return model;
    if (stars > weir_wildcard_stars(model))
        return name;
    return weir_arena_join(arena, parts, interleave(model, captures, stars, parts));
}
