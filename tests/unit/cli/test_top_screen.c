/* The screen of `weir top`, at each size, and what keys do to it. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "cli/top_screen.h"
#include "kit.h"

static struct weir_top_screen new_screen(unsigned lines, unsigned columns)
{
    struct weir_top_screen screen;

    weir_top_screen_init(&screen, WEIR_SLICE("http://127.0.0.1:4000"));
    screen.lines = lines;
    screen.columns = columns;
    return screen;
}

static void press(struct weir_top_screen *screen, const char *keys)
{
    for (; *keys != '\0'; keys++)
        assert_true(weir_top_screen_key(screen, (uint32_t)*keys));
}

/* Draws, and expects the text somewhere, or nowhere where it begins with "!". */
static void expect_shown(struct weir_top_screen *screen, const struct weir_top_model *model, const char *text)
{
    struct kit_screen drawn;
    bool wanted = *text != '!';

    kit_draw(screen, model, &drawn);
    if ((strstr(drawn.text, wanted ? text : text + 1) != NULL) != wanted)
        fail_msg("%s: in\n%s", text, drawn.text);
    kit_screen_free(&drawn);
}

static void a_screen_of_any_size_is_filled_and_not_overrun(void **state)
{
    static const unsigned sizes[] = {1, 2, 3, 4, 5, 6, 8, 12, 19, 20, 21, 24, 50, 80, 200};
    struct weir_top_model *model = kit_model(40);

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        for (size_t j = 0; j < sizeof(sizes) / sizeof(*sizes); j++) {
            for (const char *view = "dgf?"; *view != '\0'; view++) {
                struct weir_top_screen screen = new_screen(sizes[i], sizes[j]);
                struct kit_screen drawn;

                (void)weir_top_screen_key(&screen, (uint32_t)*view);
                kit_draw(&screen, model, &drawn); /* counts lines and columns */
                kit_screen_free(&drawn);
                kit_draw(&screen, NULL, &drawn);
                kit_screen_free(&drawn);
            }
        }
    }
    weir_top_model_free(model);
}

static void the_first_line_says_who_is_asked_and_since_when_it_knows(void **state)
{
    struct weir_top_model *model = kit_model(3);
    struct weir_top_screen screen = new_screen(24, 100);
    struct kit_screen drawn;

    (void)state;
    kit_draw(&screen, model, &drawn);
    assert_string_equal(kit_line(&drawn, 0),
                        "weir 0.1.0 http://127.0.0.1:4000  09:01:00 UTC  since 08:00:00 (1 h 1 min)");
    assert_string_equal(kit_line(&drawn, 1),
                        "1 group, 3 deployments: 2 eligible, 1 cooling down; 7 in flight");
    kit_screen_free(&drawn);
    weir_top_model_free(model);
}

static void the_worst_deployment_stands_first_with_its_cause(void **state)
{
    struct weir_top_model *model = kit_model(30);
    struct weir_top_screen screen = new_screen(24, 80);
    struct kit_screen drawn;

    (void)state;
    kit_draw(&screen, model, &drawn);
    assert_non_null(strstr(kit_line(&drawn, 2), "GROUP"));
    assert_non_null(strstr(kit_line(&drawn, 3), "d20"));
    assert_non_null(strstr(kit_line(&drawn, 3), "cools 21 s rate_limit"));
    kit_screen_free(&drawn);
    weir_top_model_free(model);
}

static void the_newest_failovers_stand_below(void **state)
{
    struct weir_top_model *model = kit_model(3);
    struct weir_top_screen screen = new_screen(24, 80);
    struct kit_screen drawn;

    (void)state;
    kit_draw(&screen, model, &drawn);
    assert_non_null(strstr(kit_line(&drawn, 18), "ASKED FOR"));
    assert_non_null(strstr(kit_line(&drawn, 19), "09:00:30"));
    assert_non_null(strstr(kit_line(&drawn, 19), "2, retry"));
    assert_non_null(strstr(kit_line(&drawn, 20), "429 rate_limit"));
    assert_non_null(strstr(kit_line(&drawn, 20), "3, 2 fallbacks"));
    kit_screen_free(&drawn);
    screen.lines = 12;
    expect_shown(&screen, model, "!ASKED FOR");
    weir_top_model_free(model);
}

static void keys_change_the_view(void **state)
{
    struct weir_top_model *model = kit_model(9);
    struct weir_top_screen screen = new_screen(24, 120);

    (void)state;
    press(&screen, "g");
    expect_shown(&screen, model, "ELIGIBLE");
    expect_shown(&screen, model, "1 cools, back in 1 s");
    press(&screen, "f");
    expect_shown(&screen, model, "weir explain c1");
    press(&screen, "d");
    expect_shown(&screen, model, "d8");
    assert_false(weir_top_screen_key(&screen, 'q'));
    weir_top_model_free(model);
}

static void sorting_is_by_the_next_column_and_turned_round(void **state)
{
    struct weir_top_model *model = kit_model(30);
    struct weir_top_screen screen = new_screen(24, 80);
    struct kit_screen drawn;

    (void)state;
    press(&screen, "S"); /* from STATE back to DEPLOYMENT */
    expect_shown(&screen, model, "by DEPLOYMENT");
    press(&screen, "r");
    kit_draw(&screen, model, &drawn);
    assert_non_null(strstr(kit_line(&drawn, 3), "d9"));
    kit_screen_free(&drawn);
    press(&screen, "ss");
    expect_shown(&screen, model, "by FLYING");
    weir_top_model_free(model);
}

static void a_filter_is_typed_kept_and_dropped(void **state)
{
    struct weir_top_model *model = kit_model(30);
    struct weir_top_screen screen = new_screen(24, 80);

    (void)state;
    press(&screen, "/d12q");
    expect_shown(&screen, model, "/d12q_");
    expect_shown(&screen, model, "nothing has that text");
    assert_true(weir_top_screen_key(&screen, WEIR_KEY_BACKSPACE));
    assert_true(weir_top_screen_key(&screen, WEIR_KEY_ENTER));
    expect_shown(&screen, model, "d12 of g4");
    expect_shown(&screen, model, "!d11");
    assert_true(weir_top_screen_key(&screen, WEIR_KEY_ESCAPE));
    expect_shown(&screen, model, "d11");
    weir_top_model_free(model);
}

static void a_filter_has_a_maximum(void **state)
{
    struct weir_top_screen screen = new_screen(24, 80);

    (void)state;
    press(&screen, "/");
    for (int i = 0; i < 1000; i++)
        assert_true(weir_top_screen_key(&screen, 0x6a21));
    assert_int_equal(screen.filter_len, WEIR_TOP_FILTER_BYTES / 3 * 3);
    for (int i = 0; i < 1000; i++)
        assert_true(weir_top_screen_key(&screen, WEIR_KEY_BACKSPACE));
    assert_int_equal(screen.filter_len, 0);
}

static void the_cursor_stays_among_the_rows_and_on_the_screen(void **state)
{
    struct weir_top_model *model = kit_model(2000), *small = kit_model(3);
    struct weir_top_screen screen = new_screen(24, 80);
    struct kit_screen drawn;

    (void)state;
    press(&screen, "S");
    expect_shown(&screen, model, "d10");
    assert_true(weir_top_screen_key(&screen, WEIR_KEY_END));
    expect_shown(&screen, model, "d999 of g333");
    assert_int_equal(screen.cursor, 1999);
    assert_true(weir_top_screen_key(&screen, WEIR_KEY_DOWN));
    assert_int_equal(screen.cursor, 1999);
    assert_true(weir_top_screen_key(&screen, WEIR_KEY_PAGE_UP));
    assert_true(screen.cursor < 1999 && screen.cursor > 1970);
    kit_draw(&screen, small, &drawn); /* a reload has left three */
    kit_screen_free(&drawn);
    assert_int_equal(screen.cursor, 2);
    assert_int_equal(screen.first, 0);
    assert_true(weir_top_screen_key(&screen, WEIR_KEY_HOME));
    assert_true(weir_top_screen_key(&screen, WEIR_KEY_UP));
    assert_int_equal(screen.cursor, 0);
    weir_top_model_free(model);
    weir_top_model_free(small);
}

static void a_weir_that_does_not_answer_is_said_beside_what_was_known(void **state)
{
    struct weir_top_model *model = kit_model(3);
    struct weir_top_screen screen = new_screen(24, 80);

    (void)state;
    expect_shown(&screen, NULL, "asking ...");
    screen.trouble = WEIR_SLICE("cannot ask http://127.0.0.1:4000: connection refused");
    expect_shown(&screen, NULL, "cannot ask http://127.0.0.1:4000: connection refused");
    expect_shown(&screen, model, "LOST: cannot ask");
    expect_shown(&screen, model, "d2");
    screen.trouble = WEIR_SLICE_EMPTY;
    screen.restarted = true;
    expect_shown(&screen, model, "RESTARTED");
    weir_top_model_free(model);
}

static void pause_and_help_are_shown(void **state)
{
    struct weir_top_model *model = kit_model(3);
    struct weir_top_screen screen = new_screen(24, 80);

    (void)state;
    press(&screen, "p");
    expect_shown(&screen, model, "PAUSED");
    press(&screen, "p?");
    expect_shown(&screen, model, "the other way round");
    expect_shown(&screen, model, "!PAUSED");
    press(&screen, "x");
    expect_shown(&screen, model, "!the other way round");
    weir_top_model_free(model);
}

static void printed_once_everything_is_there(void **state)
{
    struct weir_top_model *model = kit_model(300);
    struct weir_top_screen screen = new_screen(24, 80);
    struct kit_screen drawn;

    (void)state;
    kit_print(&screen, model, &drawn);
    assert_int_equal(drawn.lines, 2 + (2 + 100) + (2 + 300) + (2 + 2));
    assert_non_null(strstr(drawn.text, "STRATEGY"));
    assert_non_null(strstr(drawn.text, "PROVIDER"));
    assert_non_null(strstr(drawn.text, "d299"));
    assert_non_null(strstr(drawn.text, "g99"));
    kit_screen_free(&drawn);
    weir_top_model_free(model);
}

static void names_of_others_cannot_steer_the_terminal(void **state)
{
    struct weir_top_model *model;
    struct weir_top_screen screen = new_screen(24, 200);
    struct kit_screen drawn;

    (void)state;
    assert_int_equal(
        weir_top_model_new(
            kit_json("{'version':'\\u001b[1m','since':'\\u009b2J','groups':[{'group':'\\u001b]0;x\\u0007',"
                     "'deployments':[{'id':'a\\u001b[2J','model':'\\u202e','api_base':'\\n'}]}]}"),
            NULL, &model),
        0);
    kit_draw(&screen, model, &drawn);
    for (const char *c = drawn.text; *c != '\0'; c++)
        assert_true(*c == '\n' || (unsigned char)*c >= ' ');
    assert_null(strstr(drawn.text, "\xc2\x9b"));
    assert_null(strstr(drawn.text, "\xe2\x80\xae"));
    assert_non_null(strstr(drawn.text, "a?[2J"));
    kit_screen_free(&drawn);
    weir_top_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_screen_of_any_size_is_filled_and_not_overrun),
        cmocka_unit_test(the_first_line_says_who_is_asked_and_since_when_it_knows),
        cmocka_unit_test(the_worst_deployment_stands_first_with_its_cause),
        cmocka_unit_test(the_newest_failovers_stand_below),
        cmocka_unit_test(keys_change_the_view),
        cmocka_unit_test(sorting_is_by_the_next_column_and_turned_round),
        cmocka_unit_test(a_filter_is_typed_kept_and_dropped),
        cmocka_unit_test(a_filter_has_a_maximum),
        cmocka_unit_test(the_cursor_stays_among_the_rows_and_on_the_screen),
        cmocka_unit_test(a_weir_that_does_not_answer_is_said_beside_what_was_known),
        cmocka_unit_test(pause_and_help_are_shown),
        cmocka_unit_test(printed_once_everything_is_there),
        cmocka_unit_test(names_of_others_cannot_steer_the_terminal),
    };

    (void)setenv("LC_ALL", "C.UTF-8", 1);
    weir_cells_locale();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
