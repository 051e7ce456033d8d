#include "unit.h"

#include <string.h>

#include "provider/prompt_text.h"

static struct weir_prompt read_text(const char *text)
{
    struct weir_prompt prompt = {{0}};
    struct weir_prompt_text reader;

    weir_prompt_text_begin(&reader, &prompt);
    weir_prompt_text_add(&reader, (struct weir_slice){text, strlen(text)});
    weir_prompt_text_end(&reader);
    return prompt;
}

struct expected {
    enum weir_prompt_unit unit;
    uint64_t times;
};

/* The text has these units, and none else. */
#define ASSERT_UNITS(text, ...)                                                                              \
    do {                                                                                                     \
        const struct expected expected_[] = {{WEIR_PROMPT_WORD, 0}, __VA_ARGS__};                            \
        assert_units(text, expected_, sizeof(expected_) / sizeof(expected_[0]));                             \
    } while (0)

static void assert_units(const char *text, const struct expected *expected, size_t count)
{
    struct weir_prompt prompt = read_text(text);
    struct weir_prompt want = {{0}};

    for (size_t i = 0; i < count; i++)
        want.units[expected[i].unit] += expected[i].times;
    for (size_t u = 0; u < WEIR_PROMPT_UNITS; u++)
        if (prompt.units[u] != want.units[u])
            fail_msg("\"%s\": unit %zu is there %u times, not %u", text, u, (unsigned)prompt.units[u],
                     (unsigned)want.units[u]);
}

static void words_take_their_space_and_split_before_capitals(void **state)
{
    (void)state;
    ASSERT_UNITS("the cat sat", {WEIR_PROMPT_WORD, 3});
    ASSERT_UNITS("getUserName", {WEIR_PROMPT_WORD, 3});
    ASSERT_UNITS("HTTP", {WEIR_PROMPT_WORD, 1});
    ASSERT_UNITS("internationally", {WEIR_PROMPT_WORD, 1}, {WEIR_PROMPT_LETTER, 9});
}

static void marks_go_with_words_and_with_each_other(void **state)
{
    (void)state;
    ASSERT_UNITS("a.b", {WEIR_PROMPT_WORD, 2}, {WEIR_PROMPT_MARK_WORD, 1});
    ASSERT_UNITS("a (b", {WEIR_PROMPT_WORD, 2}, {WEIR_PROMPT_MARK, 1});
    ASSERT_UNITS("f();", {WEIR_PROMPT_WORD, 1}, {WEIR_PROMPT_MARK, 1}, {WEIR_PROMPT_MARK_MORE, 2});
    ASSERT_UNITS("a ->b", {WEIR_PROMPT_WORD, 2}, {WEIR_PROMPT_MARK, 1}, {WEIR_PROMPT_MARK_MORE, 1});
    ASSERT_UNITS("yes.", {WEIR_PROMPT_WORD, 1}, {WEIR_PROMPT_MARK, 1});
}

static void white_space_counts_where_it_goes_with_nothing(void **state)
{
    (void)state;
    ASSERT_UNITS("a\nb", {WEIR_PROMPT_WORD, 2}, {WEIR_PROMPT_BLANK, 1});
    ASSERT_UNITS("a\n    b", {WEIR_PROMPT_WORD, 2}, {WEIR_PROMPT_BLANK, 2});
    ASSERT_UNITS("a;\n    b", {WEIR_PROMPT_WORD, 2}, {WEIR_PROMPT_MARK, 1}, {WEIR_PROMPT_BLANK, 1});
    ASSERT_UNITS("a;\n\n\nb", {WEIR_PROMPT_WORD, 2}, {WEIR_PROMPT_MARK, 1});
    ASSERT_UNITS("a  b", {WEIR_PROMPT_WORD, 2}, {WEIR_PROMPT_BLANK, 1});
    ASSERT_UNITS("a \n \n b", {WEIR_PROMPT_WORD, 2}, {WEIR_PROMPT_BLANK, 1});
    ASSERT_UNITS("a  ", {WEIR_PROMPT_WORD, 1}, {WEIR_PROMPT_BLANK, 1});
}

static void numbers_come_in_threes(void **state)
{
    (void)state;
    ASSERT_UNITS("123", {WEIR_PROMPT_NUMBER, 1});
    ASSERT_UNITS("1234567", {WEIR_PROMPT_NUMBER, 3});
    ASSERT_UNITS("a 12", {WEIR_PROMPT_WORD, 1}, {WEIR_PROMPT_NUMBER, 1}, {WEIR_PROMPT_NUMBER_BLANK, 1});
    ASSERT_UNITS("1.5", {WEIR_PROMPT_NUMBER, 2}, {WEIR_PROMPT_MARK, 1});
}

static void other_scripts_count_by_character(void **state)
{
    (void)state;
    ASSERT_UNITS("你好，", {WEIR_PROMPT_HAN, 2}, {WEIR_PROMPT_HAN_MARK, 1});
    ASSERT_UNITS("ひらカタ", {WEIR_PROMPT_HAN, 4});
    ASSERT_UNITS("да", {WEIR_PROMPT_SCRIPT, 2});
    ASSERT_UNITS("für", {WEIR_PROMPT_WORD, 1}, {WEIR_PROMPT_ACCENT, 1});
    ASSERT_UNITS("😀", {WEIR_PROMPT_SCRIPT, 3});
}

static void nothing_is_nothing(void **state)
{
    (void)state;
    ASSERT_UNITS("", {WEIR_PROMPT_WORD, 0});
}

static void pieces_count_as_the_whole(void **state)
{
    const char *text = "Hello, getUserName(12345);\n\n    x = \"für 你好，да\" # ok\n";
    struct weir_prompt whole = read_text(text);
    size_t len = strlen(text);

    (void)state;
    for (size_t cut = 1; cut < len; cut++) {
        struct weir_prompt prompt = {{0}};
        struct weir_prompt_text reader;

        if (((unsigned char)text[cut] & 0xc0) == 0x80)
            continue; /* pieces are of whole characters */
        weir_prompt_text_begin(&reader, &prompt);
        weir_prompt_text_add(&reader, (struct weir_slice){text, cut});
        weir_prompt_text_add(&reader, (struct weir_slice){text + cut, len - cut});
        weir_prompt_text_end(&reader);
        assert_memory_equal(&prompt, &whole, sizeof(whole));
    }
}

static void a_character_that_is_cut_off_is_not_read(void **state)
{
    struct weir_prompt prompt = read_text("a\xe4\xbd");

    (void)state;
    assert_int_equal(prompt.units[WEIR_PROMPT_WORD], 1);
    assert_int_equal(prompt.units[WEIR_PROMPT_HAN], 0);
}

static void escapes_count_as_what_they_spell(void **state)
{
    struct weir_prompt plain = read_text("if (a)\n\t\"b\" \\ 你😀");
    struct weir_prompt escaped = {{0}};

    (void)state;
    weir_prompt_json_text(&escaped, WEIR_SLICE("if (a)\\n\\t\\\"b\\\" \\\\ \\u4f60\\ud83d\\ude00"));
    assert_memory_equal(&escaped, &plain, sizeof(plain));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_take_their_space_and_split_before_capitals),
        cmocka_unit_test(marks_go_with_words_and_with_each_other),
        cmocka_unit_test(white_space_counts_where_it_goes_with_nothing),
        cmocka_unit_test(numbers_come_in_threes),
        cmocka_unit_test(other_scripts_count_by_character),
        cmocka_unit_test(nothing_is_nothing),
        cmocka_unit_test(pieces_count_as_the_whole),
        cmocka_unit_test(a_character_that_is_cut_off_is_not_read),
        cmocka_unit_test(escapes_count_as_what_they_spell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
