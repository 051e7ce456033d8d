/*
 * While the seam decides, the new text is equal to a part of the old one wherever a repeat is still possible:
 * to its start (`whole`), or to what stands at some place of the window from which it could go on to the end
 * of the text (`partial`, the earliest such place is `at`).  As the new text grows these places only become
 * fewer, so each is looked at once and the search goes on behind the last one.
 *
 * When no longer repeat is possible, the longest that has come is the answer: the longest end of the window
 * that is a start of the new text, by the prefix function of Knuth, Morris and Pratt.
 */
#include "gateway/continuation/seam.h"

#include <stdint.h>
#include <string.h>

#include "base/slice.h"

/* ---- the old text ---- */

static bool is_of_word(char c)
{
    return weir_char_is_alnum(c) || c == '\'' || (unsigned char)c >= 0x80;
}

static bool has_characters(struct weir_slice text, size_t wanted)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len && count < wanted; i++)
        count += ((unsigned char)text.ptr[i] & 0xc0) != 0x80 ? 1 : 0;
    return count >= wanted;
}

/* The last word of text that begins at or behind from; empty: there is none. */
static struct weir_slice last_word(struct weir_slice text, size_t from)
{
    size_t end = text.len, start;

    while (end > from && !is_of_word(text.ptr[end - 1]))
        end--;
    start = end;
    while (start > 0 && start >= from && is_of_word(text.ptr[start - 1]))
        start--;
    return start < from ? WEIR_SLICE_EMPTY : weir_slice_sub(text, start, end);
}

/* The last place of the window from which there are words enough to the end; false: there is none. */
static bool find_latest(const struct weir_seam *seam, size_t *ret_latest)
{
    struct weir_slice words[WEIR_SEAM_WORDS], rest = seam->text, word;
    size_t count = 0;

    while (count < WEIR_SEAM_WORDS && (word = last_word(rest, seam->from)).len > 0) {
        bool known = false;

        for (size_t i = 0; i < count; i++)
            known |= weir_slice_eq_ci(words[i], word);
        if (!known)
            words[count++] = word;
        rest.len = (size_t)(word.ptr - rest.ptr);
    }
    if (count < WEIR_SEAM_WORDS)
        return false;
    *ret_latest = (size_t)(words[count - 1].ptr - seam->text.ptr);
    return true;
}

void weir_seam_init(struct weir_seam *seam, struct weir_slice text, size_t shown)
{
    size_t len = weir_slice_trim_end(text).len;

    seam->state = WEIR_SEAM_DECIDING;
    seam->text = weir_slice_sub(text, 0, len);
    seam->blank = weir_slice_sub(text, len, text.len);
    seam->hidden = shown < text.len;
    seam->whole = len > 0 && has_characters(text, WEIR_SEAM_WHOLE_CHARACTERS);
    seam->from = len > WEIR_SEAM_WINDOW ? len - WEIR_SEAM_WINDOW : 1; /* from 0 it would be the whole */
    seam->at = seam->from;
    seam->len = 0;
    seam->partial = find_latest(seam, &seam->latest);
}

/* ---- the new text ---- */

/* How much of the window's end has come as the start of the new text. */
static size_t find_overlap(const struct weir_seam *seam)
{
    uint16_t fail[WEIR_SEAM_WINDOW];
    size_t end = seam->text.len, most = end > seam->from ? end - seam->from : 0, matched = 0;
    size_t len = seam->len < most ? seam->len : most;
    const char *head = seam->head;

    if (len == 0)
        return 0;
    fail[0] = 0;
    for (size_t i = 1; i < len; i++) {
        while (matched > 0 && head[i] != head[matched])
            matched = fail[matched - 1];
        matched += head[i] == head[matched] ? 1 : 0;
        fail[i] = (uint16_t)matched;
    }
    matched = 0;
    for (size_t i = seam->from; i < end; i++) {
        while (matched > 0 && (matched == len || seam->text.ptr[i] != head[matched]))
            matched = fail[matched - 1];
        matched += seam->text.ptr[i] == head[matched] ? 1 : 0;
    }
    return matched;
}

/* The longest end of the text that has come again and holds words enough. */
static size_t repeated_end(const struct weir_seam *seam)
{
    size_t latest, overlap;

    if (!find_latest(seam, &latest))
        return 0;
    overlap = find_overlap(seam);
    return overlap >= seam->text.len - latest ? overlap : 0;
}

static void follow_whole(struct weir_seam *seam, struct weir_slice piece)
{
    size_t left = seam->text.len - seam->len;
    size_t len = piece.len < left ? piece.len : left;

    seam->whole = memcmp(seam->text.ptr + seam->len, piece.ptr, len) == 0;
}

/* The new text, now of len bytes, may still go on to the end of the old one from some place. */
static void follow_partial(struct weir_seam *seam, size_t len)
{
    size_t end = seam->latest + len;
    const char *found = NULL;

    if (end >= seam->text.len) /* at the very end it would be complete, not possible */
        end = seam->text.len - 1;
    if (len <= WEIR_SEAM_WINDOW && seam->at + len <= end)
        found = memmem(seam->text.ptr + seam->at, end - seam->at, seam->head, len);
    seam->partial = found != NULL;
    if (found != NULL)
        seam->at = (size_t)(found - seam->text.ptr);
}

static void remember(struct weir_seam *seam, struct weir_slice piece)
{
    size_t room = seam->len < WEIR_SEAM_WINDOW ? WEIR_SEAM_WINDOW - seam->len : 0;

    if (room > 0)
        memcpy(seam->head + seam->len, piece.ptr, piece.len < room ? piece.len : room);
}

/* Takes off the front what comes again of the white space. */
static void drop_blank(struct weir_seam *seam, struct weir_slice *text)
{
    while (text->len > 0 && seam->blank.len > 0 && text->ptr[0] == seam->blank.ptr[0]) {
        *text = weir_slice_sub(*text, 1, text->len);
        seam->blank = weir_slice_sub(seam->blank, 1, seam->blank.len);
    }
    if (text->len > 0 || seam->blank.len == 0)
        seam->state = WEIR_SEAM_OPEN;
}

/* Drops a repeat from the new text: what was held back of it (before bytes) and the piece. */
static struct weir_seam_out settle(struct weir_seam *seam, size_t repeat, size_t before,
                                   struct weir_slice piece)
{
    /* Beyond the window only the whole is followed, and what was held back is the same as that. */
    const char *held = before <= WEIR_SEAM_WINDOW ? seam->head : seam->text.ptr;
    struct weir_seam_out out = {
        .held = weir_slice_sub((struct weir_slice){held, before}, repeat, before),
        .piece = repeat <= before ? piece : weir_slice_sub(piece, repeat - before, piece.len)};

    seam->state = repeat > 0 || seam->hidden ? WEIR_SEAM_BLANK : WEIR_SEAM_OPEN;
    if (seam->state == WEIR_SEAM_BLANK)
        drop_blank(seam, &out.held);
    if (seam->state == WEIR_SEAM_BLANK)
        drop_blank(seam, &out.piece);
    return out;
}

static struct weir_seam_out decide(struct weir_seam *seam, struct weir_slice piece)
{
    size_t before = seam->len;

    remember(seam, piece);
    if (seam->whole)
        follow_whole(seam, piece);
    if (seam->partial)
        follow_partial(seam, before + piece.len);
    seam->len += piece.len;
    if (seam->whole && seam->len >= seam->text.len)
        return settle(seam, seam->text.len, before, piece);
    if (seam->whole || seam->partial)
        return (struct weir_seam_out){WEIR_SLICE_EMPTY, WEIR_SLICE_EMPTY};
    return settle(seam, repeated_end(seam), before, piece);
}

struct weir_seam_out weir_seam_take(struct weir_seam *seam, struct weir_slice piece)
{
    if (piece.len > 0 && seam->state == WEIR_SEAM_DECIDING)
        return decide(seam, piece);
    if (seam->state == WEIR_SEAM_BLANK)
        drop_blank(seam, &piece);
    return (struct weir_seam_out){WEIR_SLICE_EMPTY, piece};
}

struct weir_slice weir_seam_end(struct weir_seam *seam)
{
    struct weir_slice held = WEIR_SLICE_EMPTY;

    if (seam->state == WEIR_SEAM_DECIDING)
        held = settle(seam, repeated_end(seam), seam->len, WEIR_SLICE_EMPTY).held;
    seam->state = WEIR_SEAM_OPEN;
    return held;
}
