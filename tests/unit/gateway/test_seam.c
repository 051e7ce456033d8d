/* How two texts meet: what is dropped of the new one, what never is, and how soon that is known. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "gateway/continuation/seam.h"

enum { ROOM = 32 * 1024 };

struct joined {
    char text[ROOM];
    size_t len;
};

static void gather(struct joined *out, struct weir_slice text)
{
    assert_true(out->len + text.len <= ROOM);
    if (text.len > 0)
        memcpy(out->text + out->len, text.ptr, text.len);
    out->len += text.len;
}

/* Joins with the new text in pieces of the given length. */
static struct weir_slice join(struct joined *out, struct weir_slice old, size_t shown, struct weir_slice new,
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
    return (struct weir_slice){out->text, out->len};
}

/* Of the new text exactly that is left, in whatever pieces it comes. */
static void assert_left(const char *old, size_t hidden, const char *new, const char *left)
{
    static struct joined out;
    struct weir_slice text = weir_slice_str(old), more = weir_slice_str(new);

    for (size_t piece = 1; piece <= more.len + 1; piece++)
        assert_slice_is(join(&out, text, text.len - hidden, more, piece), left);
}

static void new_text_passes(void **state)
{
    (void)state;
    assert_left("Hello wor", 0, "ld!", "ld!");
    assert_left("Hello", 0, "", "");
    assert_left("Hello", 0, " Hello", " Hello");
    assert_left("The quick brown fox jumps over", 0, " the lazy dog", " the lazy dog");
}

static void a_repeat_of_the_whole_text_is_dropped(void **state)
{
    (void)state;
    assert_left("The quick brown fox jumps over", 0, "The quick brown fox jumps over the lazy dog",
                " the lazy dog");
    assert_left("The quick brown fox jumps over", 0, "The quick brown fox jumps over", "");
    assert_left("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "b");
}

static void the_whole_text_is_recognised_from_24_characters_on(void **state)
{
    (void)state;
    assert_left("123456789012345678901234", 0, "123456789012345678901234!", "!");
    assert_left("12345678901234567890123", 0, "12345678901234567890123!", "12345678901234567890123!");
    assert_left("one two three four five", 0, "one two three four five six", "one two three four five six");
    /* Characters, not bytes. */
    assert_left("äöüäöüäöüäöüäöüäöüäöüäöü", 0, "äöüäöüäöüäöüäöüäöüäöüäöü!", "!");
    assert_left("äöüäöüäöüäöüäöüäöüäöüäö", 0, "äöüäöüäöüäöüäöüäöüäöüäö!", "äöüäöüäöüäöüäöüäöüäöüäö!");
    assert_left("東京東京東京東京東京東京東京東京東京東京東京東京", 0,
                "東京東京東京東京東京東京東京東京東京東京東京東京です", "です");
}

static void almost_a_repeat_is_none(void **state)
{
    (void)state;
    assert_left("The quick brown fox jumps over", 0, "The quick brown fox jumps ever",
                "The quick brown fox jumps ever");
    assert_left("The quick brown fox jumps over", 0, "The quick brown fox jumps",
                "The quick brown fox jumps");
    assert_left("The quick brown fox jumps over", 0, "the quick brown fox jumps over the",
                "the quick brown fox jumps over the");
}

static void a_partial_repeat_is_dropped_from_three_distinct_words_on(void **state)
{
    (void)state;
    assert_left("The quick brown fox jumps", 0, "brown fox jumps over", " over");
    assert_left("The quick brown fox jumps", 0, "fox jumps over", "fox jumps over");
    assert_left("So it goes on and on and on", 0, "on and on and on we go", "on and on and on we go");
    assert_left("So it goes on and On AND on", 0, "on and On AND on we go", "on and On AND on we go");
    assert_left("a - b - - b", 0, "b - - b - c", "b - - b - c");
    assert_left("see | - | * | # |", 0, "- | * | # | x", "- | * | # | x");
    assert_left("it isn't so, he said", 0, "isn't so, he said, but", ", but");
}

static void a_piece_of_a_word_is_no_word_at_the_start(void **state)
{
    (void)state;
    assert_left("We were running two miles", 0, "ning two miles more", "ning two miles more");
    assert_left("We were running two long miles", 0, "ning two long miles more", " more");
}

static void the_longest_repeat_counts(void **state)
{
    (void)state;
    assert_left("go a b c then a b c then", 0, "a b c then a b c then x", " x");
    assert_left("go a b c then a b c then", 0, "a b c then x", " x");
    assert_left("see: a b c d e, a b c", 0, "a b c d f", " d f");
}

static void white_space_that_was_not_shown_may_come_again(void **state)
{
    (void)state;
    assert_left("Hello ", 1, " world", "world");
    assert_left("Hello ", 1, "world", "world");
    assert_left("Hello\n\n", 2, "\n\nworld", "world");
    assert_left("Hello\n\n", 2, "\nworld", "world");
    assert_left("Hello\n\n", 2, " world", " world");
    assert_left("Hello\n", 1, "\n\n\tworld", "\n\tworld");
    assert_left(" \n", 2, " \nHello", "Hello");
}

static void white_space_that_was_shown_is_no_repeat(void **state)
{
    (void)state;
    assert_left("Hello ", 0, " world", " world");
    assert_left("Hello\n", 0, "\nworld", "\nworld");
}

static void white_space_behind_a_repeat_is_one_with_it(void **state)
{
    (void)state;
    assert_left("The quick brown fox jumps ", 0, "The quick brown fox jumps over", "over");
    assert_left("The quick brown fox jumps ", 1, "brown fox jumps over", "over");
    assert_left("The quick brown fox jumps\n", 1, "brown fox jumps over", " over");
}

static void of_old_text_only_the_last_4_kib_repeat_in_part(void **state)
{
    static char old[ROOM / 2], new[ROOM], other[ROOM];
    static struct joined out;
    size_t len = 0;

    (void)state;
    while (len < 9000)
        len += (size_t)snprintf(old + len, sizeof(old) - len, "w%zu ", len);
    (void)snprintf(new, sizeof(new), "%s!", old);
    assert_slice_is(join(&out, weir_slice_str(old), len, weir_slice_str(new), 7), "!");
    (void)snprintf(new, sizeof(new), "%s!", old + len - 4000);
    assert_slice_is(join(&out, weir_slice_str(old), len, weir_slice_str(new), 7), "!");
    (void)snprintf(other, sizeof(other), "%s!", old + len - 4200);
    assert_slice_is(join(&out, weir_slice_str(old), len, weir_slice_str(other), 7), other);
    /* The whole, but for the last of it. */
    (void)snprintf(new, sizeof(new), "%.*s?", (int)len - 3, old);
    assert_slice_is(join(&out, weir_slice_str(old), len, weir_slice_str(new), 7), new);
}

static void text_passes_as_soon_as_a_repeat_is_excluded(void **state)
{
    struct weir_slice old = WEIR_SLICE("The quick brown fox jumps over the lazy dog");
    struct weir_seam_out out;
    struct weir_seam seam;

    (void)state;
    weir_seam_init(&seam, old, old.len);
    out = weir_seam_take(&seam, WEIR_SLICE("And"));
    assert_slice_is(out.held, "");
    assert_slice_is(out.piece, "And");
    assert_int_equal(seam.state, WEIR_SEAM_OPEN);

    weir_seam_init(&seam, old, old.len);
    out = weir_seam_take(&seam, WEIR_SLICE("brown fox"));
    assert_int_equal(out.held.len + out.piece.len, 0);
    out = weir_seam_take(&seam, WEIR_SLICE(" jumps off"));
    assert_slice_is(out.held, "brown fox");
    assert_slice_is(out.piece, " jumps off");

    /* Behind the third word from the end nothing can become a repeat. */
    weir_seam_init(&seam, old, old.len);
    out = weir_seam_take(&seam, WEIR_SLICE("lazy"));
    assert_slice_is(out.piece, "lazy");

    /* The last byte of a repeat decides. */
    weir_seam_init(&seam, old, old.len);
    out = weir_seam_take(&seam, WEIR_SLICE("jumps over the lazy dog"));
    assert_int_equal(out.held.len + out.piece.len, 0);
    assert_int_equal(seam.state, WEIR_SEAM_OPEN);
}

/* ---- against the rules, written plainly ---- */

static bool of_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '\'' || (unsigned char)c >= 0x80;
}

/* Words of text that begin at or behind from, which are alike in nothing. */
static size_t count_words(struct weir_slice text, size_t from)
{
    struct weir_slice seen[64];
    size_t count = 0;

    for (size_t i = from; i < text.len; i++) {
        size_t end = i;
        bool known = false;

        if (!of_word(text.ptr[i]) || (i > 0 && of_word(text.ptr[i - 1])))
            continue;
        while (end < text.len && of_word(text.ptr[end]))
            end++;
        for (size_t k = 0; k < count; k++)
            known |= weir_slice_eq(seen[k], weir_slice_sub(text, i, end));
        if (!known && count < 64)
            seen[count++] = weir_slice_sub(text, i, end);
    }
    return count;
}

static struct weir_slice by_the_rules(struct weir_slice old, size_t shown, struct weir_slice new)
{
    struct weir_slice text = old, blank;
    size_t repeat = 0;

    while (text.len > 0 && text.ptr[text.len - 1] == ' ')
        text.len--;
    blank = weir_slice_sub(old, text.len, old.len);
    if (old.len >= 24 && text.len > 0 && weir_slice_starts(new, text))
        repeat = text.len;
    for (size_t len = text.len - (text.len > 0); len > 0 && repeat == 0; len--)
        if (weir_slice_starts(new, weir_slice_sub(text, text.len - len, text.len)) &&
            count_words(text, text.len - len) >= 3)
            repeat = len;
    new = weir_slice_sub(new, repeat, new.len);
    while (new.len > 0 && blank.len > 0 && new.ptr[0] == blank.ptr[0] && (repeat > 0 || shown < old.len)) {
        new = weir_slice_sub(new, 1, new.len);
        blank = weir_slice_sub(blank, 1, blank.len);
    }
    return new;
}

static size_t random_text(unsigned *seed, char *room, size_t most)
{
    static const char letters[] = "ab c ";
    size_t len = (size_t)rand_r(seed) % most;

    for (size_t i = 0; i < len; i++)
        room[i] = letters[(size_t)rand_r(seed) % (sizeof(letters) - 1)];
    return len;
}

static void random_texts_join_by_the_rules(void **state)
{
    static struct joined out;
    unsigned seed = 7;
    char old[48], new[96];

    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct weir_slice text = {old, random_text(&seed, old, sizeof(old))};
        size_t shown = text.len, from = text.len == 0 ? 0 : (size_t)rand_r(&seed) % text.len, len;
        struct weir_slice more, expected, got;

        /* Half of the new texts begin as a repeat would. */
        len = round % 2 == 0 ? text.len - from : 0;
        if (len > 0)
            memcpy(new, old + from, len);
        len += random_text(&seed, new + len, sizeof(new) - len);
        more = (struct weir_slice){new, len};
        while (round % 3 == 0 && shown > 0 && old[shown - 1] == ' ')
            shown--;
        expected = by_the_rules(text, shown, more);
        got = join(&out, text, shown, more, 1 + (size_t)rand_r(&seed) % 9);
        if (!weir_slice_eq(expected, got))
            fail_msg("'%.*s' + '%.*s': '%.*s', not '%.*s'", (int)text.len, old, (int)len, new, (int)got.len,
                     got.ptr, (int)expected.len, expected.ptr);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_text_passes),
        cmocka_unit_test(a_repeat_of_the_whole_text_is_dropped),
        cmocka_unit_test(the_whole_text_is_recognised_from_24_characters_on),
        cmocka_unit_test(almost_a_repeat_is_none),
        cmocka_unit_test(a_partial_repeat_is_dropped_from_three_distinct_words_on),
        cmocka_unit_test(a_piece_of_a_word_is_no_word_at_the_start),
        cmocka_unit_test(the_longest_repeat_counts),
        cmocka_unit_test(white_space_that_was_not_shown_may_come_again),
        cmocka_unit_test(white_space_that_was_shown_is_no_repeat),
        cmocka_unit_test(white_space_behind_a_repeat_is_one_with_it),
        cmocka_unit_test(of_old_text_only_the_last_4_kib_repeat_in_part),
        cmocka_unit_test(text_passes_as_soon_as_a_repeat_is_excluded),
        cmocka_unit_test(random_texts_join_by_the_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
