/* Reserved hours as a file says them, and the clocks of places (model_info.access_windows). */
#include "unit.h"

#include <stdio.h>

#include <weir/mem_libc.h>

#include "config/zone.h"
#include "engine/snapshot/snapshot.h"
#include "kit.h"

static void load_window(struct kit *kit, const char *windows)
{
    char text[1024];

    (void)snprintf(text, sizeof(text),
                   "model_list:\n"
                   "- model_name: g\n"
                   "  litellm_params: {model: sim/m}\n"
                   "  model_info:\n"
                   "    access_windows: %s\n"
                   "- {model_name: h, litellm_params: {model: sim/m}}\n",
                   windows);
    kit_load(kit, NULL, text);
    assert_int_equal(kit->rv, 0);
}

static void test_windows_reach_the_engine(void **state)
{
    const struct weir_deployment_spec *spec;
    struct kit kit;

    (void)state;
    load_window(&kit, "[{start: \"22:00\", end: \"06:30\", timezone: Europe/Berlin, team_ids: [a, b]},"
                      " {start: 09:00, end: 17:00, team_ids: [c]}]");
    kit_expect_count(&kit, 0);
    spec = &weir_snapshot_deployment(kit.config->snapshot, 0)->spec;
    assert_int_equal(spec->window_count, 2);
    assert_int_equal(spec->windows[0].start_min, 22 * 60);
    assert_int_equal(spec->windows[0].end_min, 6 * 60 + 30);
    assert_int_equal(spec->windows[0].team_count, 2);
    assert_slice_is(spec->windows[0].teams[1], "b");
    assert_true(spec->windows[0].zone.count > 100);
    assert_int_equal(spec->windows[1].start_min, 9 * 60);
    assert_int_equal(spec->windows[1].end_min, 17 * 60);
    assert_int_equal(spec->windows[1].zone.count, 0);
    kit_free(&kit);
}

static void test_a_window_that_is_not_understood_keeps_the_deployment_out(void **state)
{
    static const struct {
        const char *windows;
        uint32_t line;
        const char *path;
        const char *words;
    } cases[] = {
        {"22:00", 5, "", "expected a list of windows"},
        {"[22]", 5, "[0]", "a window must be a map"},
        {"[{start: \"25:00\", end: \"06:00\", team_ids: [a]}]", 5, "[0].start", "times of a day"},
        {"[{start: \"22:60\", end: \"06:00\", team_ids: [a]}]", 5, "[0].start", "times of a day"},
        {"[{start: \"22:00+05:00\", end: \"06:00\", team_ids: [a]}]", 5, "[0].start", "times of a day"},
        {"[{start: \"22:00\", team_ids: [a]}]", 5, "[0]", "times of a day"},
        {"[{start: \"22:00\", end: \"22:00\", team_ids: [a]}]", 5, "[0].end", "must not end when it starts"},
        {"[{start: \"22:00\", end: \"06:00\", timezone: Mars/Olympus, team_ids: [a]}]", 5, "[0].timezone",
         "no time zone has this name"},
        {"[{start: \"22:00\", end: \"06:00\", timezone: ../../../etc/passwd, team_ids: [a]}]", 5,
         "[0].timezone", "no time zone has this name"},
        {"[{start: \"22:00\", end: \"06:00\", team_ids: []}]", 5, "[0].team_ids", "with one at least"},
        {"[{start: \"22:00\", end: \"06:00\"}]", 5, "[0]", "with one at least"},
        {"[{start: \"22:00\", end: \"06:00\", team_ids: [[a]]}]", 5, "[0].team_ids", "each of them text"},
    };
    char path[128];
    struct kit kit;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        load_window(&kit, cases[i].windows);
        (void)snprintf(path, sizeof(path), "model_list[0].model_info.access_windows%s", cases[i].path);
        kit_expect(&kit, cases[i].line, path, "error", cases[i].words);
        assert_int_equal(weir_snapshot_deployment_count(kit.config->snapshot), 1);
        kit_free(&kit);
    }
}

/* ---- clocks ---- */

static int32_t ahead_at(const struct weir_zone *zone, int64_t unix_s)
{
    int32_t ahead = 0;

    for (size_t i = 0; i < zone->count && zone->changes[i].since_min * 60 <= unix_s; i++)
        ahead = zone->changes[i].ahead_min;
    return ahead;
}

/* The borders are those that Python's zoneinfo tells. */
static void test_clocks_change_at_the_second_for_good(void **state)
{
    static const struct {
        const char *zone;
        int64_t unix_s; /* of a change */
        int32_t before_min;
        int32_t after_min;
    } cases[] = {
        {"Europe/Berlin", 1774746000, 60, 120},        {"Europe/Berlin", 1792890000, 120, 60},
        {"Europe/Berlin", 3321219600, 60, 120},        {"Europe/Berlin", 3339363600, 120, 60},
        {"America/New_York", 1772953200, -300, -240},  {"America/New_York", 1793512800, -240, -300},
        {"America/New_York", 3319426800, -300, -240},  {"America/New_York", 3339986400, -240, -300},
        {"Australia/Lord_Howe", 1775314800, 660, 630}, {"Australia/Lord_Howe", 1791041400, 630, 660},
        {"Australia/Lord_Howe", 3321788400, 660, 630}, {"Australia/Lord_Howe", 3337515000, 630, 660},
        {"America/Santiago", 1775358000, -180, -240},  {"America/Santiago", 1788667200, -240, -180},
        {"America/Santiago", 3321831600, -180, -240},  {"America/Santiago", 3335140800, -240, -180},
        {"Europe/Dublin", 1774746000, 0, 60},          {"Europe/Dublin", 1792890000, 60, 0},
        {"Europe/Dublin", 3321219600, 0, 60},          {"Europe/Dublin", 3339363600, 60, 0},
        {"Africa/Casablanca", 1771120800, 60, 0},      {"Africa/Casablanca", 1774144800, 0, 60},
        {"Africa/Casablanca", 3332714400, 60, 0},      {"Africa/Casablanca", 3335738400, 0, 60},
        {"America/Nuuk", 1774746000, -120, -60},       {"America/Nuuk", 1792890000, -60, -120},
        {"America/Nuuk", 3321219600, -120, -60},       {"America/Nuuk", 3339363600, -60, -120},
    };
    struct weir_arena arena;
    struct weir_zone zone;
    struct weir_slice why;

    (void)state;
    weir_arena_init(&arena, weir_mem_libc(), 4096, 1 << 22);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(weir_zone_read(weir_slice_str(cases[i].zone), &arena, &zone, &why), 0);
        assert_int_equal(ahead_at(&zone, cases[i].unix_s - 1), cases[i].before_min);
        assert_int_equal(ahead_at(&zone, cases[i].unix_s), cases[i].after_min);
        for (size_t c = 1; c < zone.count; c++)
            assert_true(zone.changes[c].since_min > zone.changes[c - 1].since_min);
    }
    weir_arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_reach_the_engine),
        cmocka_unit_test(test_a_window_that_is_not_understood_keeps_the_deployment_out),
        cmocka_unit_test(test_clocks_change_at_the_second_for_good),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
