#include "unit.h"

#include "provider/pattern.h"

static bool found(const char *pattern, const char *text)
{
    return weir_pattern_found(weir_slice_str(pattern), weir_slice_str(text));
}

static void a_plain_phrase_is_found_anywhere(void **state)
{
    (void)state;
    assert_true(found("too long", "it is too long"));
    assert_true(found("too long", "too long"));
    assert_false(found("too long", "Too long"));
    assert_false(found("too long", "too lon"));
    assert_false(found("x", ""));
}

static void a_hash_is_a_number(void **state)
{
    (void)state;
    assert_true(found("length (# tokens)", "length (9000 tokens)"));
    assert_true(found("length (# tokens)", "length (1,048,576 tokens)"));
    assert_false(found("length (# tokens)", "length ( tokens)"));
    assert_false(found("length (# tokens)", "length (many tokens)"));
    assert_true(found("#", "a1"));
}

static void a_tilde_is_any_blank_between_words(void **state)
{
    (void)state;
    assert_true(found("rate~limit", "ratelimit"));
    assert_true(found("rate~limit", "rate limit"));
    assert_true(found("rate~limit", "rate_-_ limit"));
    assert_false(found("rate~limit", "rate.limit"));
    assert_true(found("rate~limit", "rate rate limit"));
}

static void a_star_is_any_text_within_reach(void **state)
{
    char text[1024];

    (void)state;
    assert_true(found("a*b", "ab"));
    assert_true(found("a*b*c", "a--b--c"));
    assert_false(found("a*b", "ba"));
    for (size_t i = 0; i < sizeof(text) - 1; i++)
        text[i] = '-';
    text[0] = 'a';
    text[sizeof(text) - 2] = 'b';
    text[sizeof(text) - 1] = '\0';
    assert_false(found("a*b", text));
    text[500] = 'b';
    assert_true(found("a*b", text));
}

static void a_percent_is_the_border_of_a_word(void **state)
{
    (void)state;
    assert_true(found("%429%", "429"));
    assert_true(found("%429%", "HTTP 429: slow"));
    assert_false(found("%429%", "14290"));
    assert_false(found("%403%", "5.4031s"));
    assert_false(found("%403%", "id_403"));
    assert_true(found("%403%", "403 and 5.4031"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_phrase_is_found_anywhere),
        cmocka_unit_test(a_hash_is_a_number),
        cmocka_unit_test(a_tilde_is_any_blank_between_words),
        cmocka_unit_test(a_star_is_any_text_within_reach),
        cmocka_unit_test(a_percent_is_the_border_of_a_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
