/* Matching a name against a pattern, and what the stars capture. */
#include "unit.h"

#include <weir/mem_libc.h>

#include "base/rand.h"
#include "engine/snapshot/snapshot.h"
#include "engine/snapshot/wildcard.h"

static struct weir_slice captures[WEIR_WILDCARD_STARS_MAX];

static bool match(const char *pattern, const char *name)
{
    return weir_wildcard_match(weir_slice_str(pattern), weir_slice_str(name), captures);
}

static void a_star_captures_what_stands_between_the_literals(void **state)
{
    (void)state;
    assert_true(match("acme-*-chat", "acme-7b-chat"));
    assert_slice_is(captures[0], "7b");
    assert_true(match("*", "anything/at-all"));
    assert_slice_is(captures[0], "anything/at-all");
    assert_true(match("a/*", "a/"));
    assert_slice_is(captures[0], "");
}

static void what_follows_the_last_literal_is_not_looked_at(void **state)
{
    (void)state;
    assert_true(match("acme-*-chat", "acme-7b-chat-large"));
    assert_slice_is(captures[0], "7b");
    assert_false(match("acme-*-chat", "acme-7b"));
    assert_false(match("acme-*-chat", "my-acme-7b-chat"));
}

static void earlier_stars_take_as_much_as_they_can(void **state)
{
    (void)state;
    assert_true(match("a-*-b-*", "a-x-b-y-b-z"));
    assert_slice_is(captures[0], "x-b-y");
    assert_slice_is(captures[1], "z");
    assert_true(match("**", "ab"));
    assert_slice_is(captures[0], "ab");
    assert_slice_is(captures[1], "");
}

static void literals_do_not_share_characters(void **state)
{
    (void)state;
    assert_false(match("ab*bc", "abc"));
    assert_true(match("ab*bc", "abbc"));
    assert_false(match("*aa*aa", "aaa"));
}

static void longer_patterns_are_more_specific_then_those_with_more_special_characters(void **state)
{
    (void)state;
    assert_true(weir_wildcard_is_more_specific(WEIR_SLICE("acme/*"), WEIR_SLICE("*")));
    assert_true(weir_wildcard_is_more_specific(WEIR_SLICE("a*c*"), WEIR_SLICE("abc*")));
    assert_false(weir_wildcard_is_more_specific(WEIR_SLICE("abc*"), WEIR_SLICE("a*c*")));
    assert_false(weir_wildcard_is_more_specific(WEIR_SLICE("abc*"), WEIR_SLICE("abd*")));
}

static void expect_filled(const char *model, const char *pattern, const char *name, const char *expected)
{
    struct weir_arena arena;

    weir_arena_init(&arena, weir_mem_libc(), 256, 4096);
    assert_slice_is(
        weir_wildcard_fill(&arena, weir_slice_str(model), weir_slice_str(pattern), weir_slice_str(name)),
        expected);
    weir_arena_deinit(&arena);
}

static void captures_fill_the_model_from_left_to_right(void **state)
{
    (void)state;
    expect_filled("openai/*", "acme/*", "acme/small", "openai/small");
    expect_filled("openai/*/then/*", "one-*-two-*", "one-a-two-b", "openai/a/then/b");
    expect_filled("openai/fixed", "acme/*", "acme/small", "openai/fixed");
    expect_filled("openai/*", "one-*-two-*", "one-a-two-b", "one-a-two-b");
    expect_filled("openai/*-*", "acme/*", "acme/small", "openai/small-*");
    expect_filled("openai/*-*", "x-*-*", "x-*-b", "openai/*-b");
}

/* The rule spelt out: each star from left to right tries its longest capture first. */
static bool match_by_trying(struct weir_slice pattern, struct weir_slice name, struct weir_slice *ret)
{
    size_t star = weir_slice_find_char(pattern, '*');
    struct weir_slice head = weir_slice_sub(pattern, 0, star), rest;

    if (!weir_slice_starts(name, head))
        return false;
    if (star == WEIR_SLICE_NONE)
        return true;
    pattern = weir_slice_sub(pattern, star + 1, pattern.len);
    rest = weir_slice_sub(name, head.len, name.len);
    for (size_t len = rest.len + 1; len-- > 0;) {
        *ret = weir_slice_sub(rest, 0, len);
        if (match_by_trying(pattern, weir_slice_sub(rest, len, rest.len), ret + 1))
            return true;
    }
    return false;
}

static struct weir_slice random_text(struct weir_rand *rand, const char *alphabet, char *into, size_t max)
{
    size_t len = (size_t)weir_rand_below(rand, max + 1);

    for (size_t i = 0; i < len; i++)
        into[i] = alphabet[weir_rand_below(rand, 3)];
    return (struct weir_slice){into, len};
}

static void matching_agrees_with_trying_every_way(void **state)
{
    struct weir_slice expected[WEIR_WILDCARD_STARS_MAX + 1], pattern, name;
    struct weir_rand rand;
    char pattern_text[8], name_text[12];
    bool matches;

    (void)state;
    weir_rand_init(&rand, 1);
    for (int i = 0; i < 20000; i++) {
        pattern = random_text(&rand, "a*b", pattern_text, sizeof(pattern_text));
        name = random_text(&rand, "aba", name_text, sizeof(name_text));
        matches = match_by_trying(pattern, name, expected);
        assert_int_equal(weir_wildcard_match(pattern, name, captures), matches);
        for (size_t star = 0; matches && star < weir_wildcard_stars(pattern); star++)
            assert_true(weir_slice_eq(captures[star], expected[star]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_star_captures_what_stands_between_the_literals),
        cmocka_unit_test(what_follows_the_last_literal_is_not_looked_at),
        cmocka_unit_test(earlier_stars_take_as_much_as_they_can),
        cmocka_unit_test(literals_do_not_share_characters),
        cmocka_unit_test(longer_patterns_are_more_specific_then_those_with_more_special_characters),
        cmocka_unit_test(captures_fill_the_model_from_left_to_right),
        cmocka_unit_test(matching_agrees_with_trying_every_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
