/* Bytes by words: each length and place against one byte at a time. */
#include "unit.h"

#include <string.h>

#include "base/word.h"

enum { LENGTHS = 150 };

static void a_copy_has_all_bytes_and_touches_no_others(void **state)
{
    char from[LENGTHS], to[LENGTHS + 2];

    (void)state;
    for (size_t i = 0; i < sizeof(from); i++)
        from[i] = (char)(i + 1);
    for (size_t len = 0; len <= sizeof(from); len++) {
        memset(to, 0, sizeof(to));
        assert_ptr_equal(weir_bytes_copy(to + 1, from, len), to + 1 + len);
        assert_memory_equal(to + 1, from, len);
        assert_int_equal(to[0], 0);
        assert_int_equal(to[1 + len], 0);
    }
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void one_byte_anywhere_decides_whether_bytes_are_plain(void **state)
{
    char text[LENGTHS];

    (void)state;
    memset(text, 'a', sizeof(text));
    for (size_t len = 0; len <= 80; len++) {
        assert_true(weir_bytes_are_plain(text, len));
        for (size_t at = 0; at < len; at++) {
            for (unsigned c = 0; c < 256; c++) {
                text[at] = (char)c;
                assert_int_equal(weir_bytes_are_plain(text, len), is_plain((unsigned char)c));
            }
            text[at] = 'a';
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_has_all_bytes_and_touches_no_others),
        cmocka_unit_test(one_byte_anywhere_decides_whether_bytes_are_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
