/* Which alerts there are, in virtual time. */
#include "unit.h"

#include <stdio.h>

#include "base/time.h"
#include "gateway/alert/book.h"

#define S WEIR_NS_PER_S

static struct weir_alert_book book;
static struct weir_alert alert;
static uint64_t now_ns;
static struct weir_alert_rules rules;

static int begin(void **state)
{
    (void)state;
    now_ns = 1000 * S;
    rules = (struct weir_alert_rules){.types = UINT32_MAX,
                                      .window_ns = 300 * S,
                                      .max_per_minute = 20,
                                      .storm_fallbacks = 5,
                                      .storm_window_ns = 60 * S};
    weir_alert_book_init(&book, now_ns);
    weir_alert_book_follow(&book, &rules);
    return 0;
}

static struct weir_alert_signal signal_of(weir_alert_kind kind, const char *group, const char *other)
{
    struct weir_alert_signal signal = {
        .kind = kind, .time_ns = now_ns, .length_ns = 20 * S, .failure = WEIR_KIND_RATE_LIMIT, .status = 429};

    weir_alert_name_set(&signal.group, weir_slice_str(group));
    weir_alert_name_set(&signal.other, weir_slice_str(other));
    return signal;
}

static int tell(weir_alert_kind kind, const char *group, const char *other)
{
    const struct weir_alert_signal signal = signal_of(kind, group, other);

    return weir_alert_book_signal(&book, &signal, now_ns, &alert);
}

static int look(const char *group, uint32_t members, uint32_t cooling, bool sound)
{
    const struct weir_alert_group seen = {
        .members = members, .cooling = cooling, .sound = sound, .first_ns = now_ns + 5 * S};
    struct weir_alert_name name;

    weir_alert_name_set(&name, weir_slice_str(group));
    return weir_alert_book_group(&book, &name, &seen, now_ns, &alert);
}

static size_t outages(void)
{
    size_t count = 0;

    for (size_t i = 0; i < WEIR_ALERT_OUTAGES_MAX; i++)
        count += weir_alert_book_outage(&book, i) != NULL;
    return count;
}

/* ---- the same again ---- */

static void the_first_is_told_at_once(void **state)
{
    (void)state;
    assert_int_equal(tell(WEIR_ALERT_COOLDOWN, "g", "d1"), 0);
    assert_int_equal(alert.kind, WEIR_ALERT_COOLDOWN);
    assert_slice_is(weir_alert_name_slice(&alert.about.group), "g");
    assert_slice_is(weir_alert_name_slice(&alert.about.other), "d1");
    assert_int_equal(alert.repeated, 0);
    assert_int_equal(alert.held_back, 0);
}

static void the_same_within_the_window_is_counted_and_told_in_the_next_one(void **state)
{
    (void)state;
    assert_int_equal(tell(WEIR_ALERT_COOLDOWN, "g", "d1"), 0);
    now_ns += 10 * S;
    for (int i = 0; i < 12; i++)
        assert_int_equal(tell(WEIR_ALERT_COOLDOWN, "g", "d1"), WEIR_ALERT_REPEATED);
    now_ns += 290 * S - 1;
    assert_int_equal(tell(WEIR_ALERT_COOLDOWN, "g", "d1"), WEIR_ALERT_REPEATED);
    now_ns += 1;
    assert_int_equal(tell(WEIR_ALERT_COOLDOWN, "g", "d1"), 0);
    assert_int_equal(alert.repeated, 13);
    assert_int_equal(alert.repeated_since_ns, 1010 * S);
    now_ns += 300 * S;
    assert_int_equal(tell(WEIR_ALERT_COOLDOWN, "g", "d1"), 0);
    assert_int_equal(alert.repeated, 0);
}

static void another_subject_or_kind_is_not_the_same(void **state)
{
    (void)state;
    assert_int_equal(tell(WEIR_ALERT_COOLDOWN, "g", "d1"), 0);
    assert_int_equal(tell(WEIR_ALERT_COOLDOWN, "g", "d2"), 0);
    assert_int_equal(tell(WEIR_ALERT_COOLDOWN, "h", "d1"), 0);
    assert_int_equal(tell(WEIR_ALERT_SLOW, "g", "d1"), 0);
    assert_int_equal(tell(WEIR_ALERT_FAILED, "g", "d1"), 0);
    assert_int_equal(tell(WEIR_ALERT_FAILED, "g", "d2"), WEIR_ALERT_REPEATED); /* by whom is no matter ... */
    assert_int_equal(tell(WEIR_ALERT_HANGING, "g", "d1"), 0);
    assert_int_equal(tell(WEIR_ALERT_HANGING, "g", "d2"), WEIR_ALERT_REPEATED);
}

static void failures_of_another_kind_are_another_thing(void **state)
{
    struct weir_alert_signal signal = signal_of(WEIR_ALERT_FAILED, "g", "d1");

    (void)state;
    assert_int_equal(weir_alert_book_signal(&book, &signal, now_ns, &alert), 0);
    signal.failure = WEIR_KIND_AUTH;
    assert_int_equal(weir_alert_book_signal(&book, &signal, now_ns, &alert), 0);
    assert_int_equal(weir_alert_book_signal(&book, &signal, now_ns, &alert), WEIR_ALERT_REPEATED);
}

static void without_a_window_each_is_told(void **state)
{
    (void)state;
    rules.window_ns = 0;
    weir_alert_book_follow(&book, &rules);
    for (int i = 0; i < 5; i++)
        assert_int_equal(tell(WEIR_ALERT_COOLDOWN, "g", "d1"), 0);
}

static void types_that_nobody_wants_are_nothing(void **state)
{
    (void)state;
    rules.types = WEIR_ALERT_BIT(WEIR_ALERT_TYPE_TOO_SLOW);
    weir_alert_book_follow(&book, &rules);
    assert_int_equal(tell(WEIR_ALERT_COOLDOWN, "g", "d1"), WEIR_ALERT_NOTHING);
    for (int i = 0; i < 10; i++)
        assert_int_equal(tell(WEIR_ALERT_STORM, "g", "h"), WEIR_ALERT_NOTHING);
    assert_int_equal(look("g", 1, 1, false), WEIR_ALERT_NOTHING);
    assert_int_equal(outages(), 0);
    assert_int_equal(tell(WEIR_ALERT_SLOW, "g", "d1"), 0);
}

static void more_subjects_than_places_push_the_oldest_out(void **state)
{
    char name[32];

    (void)state;
    rules.max_per_minute = 10000;
    weir_alert_book_follow(&book, &rules);
    for (int i = 0; i <= WEIR_ALERT_SUBJECTS_MAX; i++) {
        (void)snprintf(name, sizeof(name), "d%d", i);
        now_ns += WEIR_NS_PER_MS;
        assert_int_equal(tell(WEIR_ALERT_COOLDOWN, "g", name), 0);
    }
    assert_int_equal(tell(WEIR_ALERT_COOLDOWN, "g", "d1"), WEIR_ALERT_REPEATED);
    assert_int_equal(tell(WEIR_ALERT_COOLDOWN, "g", "d0"), 0); /* which was forgotten */
}

/* ---- too many ---- */

static int tell_many(int first, int count)
{
    char name[32];
    int told = 0;

    for (int i = first; i < first + count; i++) {
        (void)snprintf(name, sizeof(name), "d%d", i);
        told += tell(WEIR_ALERT_COOLDOWN, "g", name) == 0;
    }
    return told;
}

static void beyond_the_rate_they_are_counted_and_told_in_the_next_one(void **state)
{
    (void)state;
    assert_int_equal(tell_many(0, 50), 16); /* of 20: a fifth is kept */
    now_ns += 3 * S;                        /* a twentieth of a minute */
    assert_int_equal(tell(WEIR_ALERT_COOLDOWN, "g", "d40"), 0);
    assert_int_equal(alert.repeated, 1);
    assert_int_equal(alert.held_back, 34);
    assert_int_equal(tell(WEIR_ALERT_COOLDOWN, "g", "d41"), WEIR_ALERT_HELD_BACK);
    now_ns += 3 * S;
    assert_int_equal(tell(WEIR_ALERT_COOLDOWN, "g", "x"), 0);
    assert_int_equal(alert.held_back, 1);
}

static void in_the_long_run_there_are_so_many_a_minute(void **state)
{
    int told;

    (void)state;
    told = tell_many(0, 100);
    for (int i = 1; i <= 600; i++) { /* ten minutes */
        now_ns += S;
        told += tell_many(100 * i, 100);
    }
    assert_in_range(told, 200, 16 + 200);
}

static void a_fifth_is_kept_for_outages(void **state)
{
    int told = 0;
    char name[32];

    (void)state;
    (void)tell_many(0, 50);
    for (int i = 0; i < 10; i++) {
        (void)snprintf(name, sizeof(name), "g%d", i);
        told += look(name, 2, 2, false) == 0;
    }
    assert_int_equal(told, 4);
}

static void what_is_held_back_opens_no_window(void **state)
{
    (void)state;
    (void)tell_many(0, 50);
    assert_int_equal(tell(WEIR_ALERT_SLOW, "g", "d1"), WEIR_ALERT_HELD_BACK);
    now_ns += 3 * S;
    assert_int_equal(tell(WEIR_ALERT_SLOW, "g", "d1"), 0);
    assert_int_equal(alert.repeated, 1);
}

static void one_a_minute_is_one(void **state)
{
    (void)state;
    rules.max_per_minute = 1;
    weir_alert_book_follow(&book, &rules);
    assert_int_equal(tell_many(0, 5), 1);
    now_ns += 60 * S - 1;
    assert_int_equal(tell_many(10, 5), 0);
    now_ns += 1;
    assert_int_equal(tell_many(20, 5), 1);
}

/* ---- storms ---- */

static void so_many_fallbacks_in_the_window_are_a_storm(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tell(WEIR_ALERT_STORM, "g", "h"), WEIR_ALERT_NOTHING);
        now_ns += 10 * S;
    }
    assert_int_equal(tell(WEIR_ALERT_STORM, "g", "k"), 0);
    assert_int_equal(alert.kind, WEIR_ALERT_STORM);
    assert_int_equal(alert.fallbacks, 5);
    assert_int_equal(alert.window_ns, 60 * S);
    assert_slice_is(weir_alert_name_slice(&alert.about.other), "k");
}

static void fallbacks_that_are_far_apart_are_none(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(tell(WEIR_ALERT_STORM, "g", "h"), WEIR_ALERT_NOTHING);
        now_ns += 16 * S;
    }
}

static void each_group_has_its_own_weather(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tell(WEIR_ALERT_STORM, "g", "h"), WEIR_ALERT_NOTHING);
        assert_int_equal(tell(WEIR_ALERT_STORM, "h", "k"), WEIR_ALERT_NOTHING);
    }
    assert_int_equal(tell(WEIR_ALERT_STORM, "g", "h"), 0);
}

static void a_storm_that_lasts_is_told_once_in_a_window(void **state)
{
    int told = 0;

    (void)state;
    for (int i = 0; i < 650; i++) {
        told += tell(WEIR_ALERT_STORM, "g", "h") == 0;
        now_ns += S;
    }
    assert_int_equal(told, 3);
    assert_in_range(alert.fallbacks, 57, 60); /* counted by twentieths of the window */
    assert_int_equal(alert.repeated, 0);
}

static void a_storm_of_none_is_never(void **state)
{
    (void)state;
    rules.storm_fallbacks = 0;
    weir_alert_book_follow(&book, &rules);
    for (int i = 0; i < 100; i++)
        assert_int_equal(tell(WEIR_ALERT_STORM, "g", "h"), WEIR_ALERT_NOTHING);
}

static void another_window_of_storms_may_come_at_any_time(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(tell(WEIR_ALERT_STORM, "g", "h"), WEIR_ALERT_NOTHING);
    rules.storm_window_ns = 3600 * S;
    weir_alert_book_follow(&book, &rules);
    assert_int_equal(tell(WEIR_ALERT_STORM, "g", "h"), WEIR_ALERT_NOTHING);
    rules.storm_window_ns = S;
    weir_alert_book_follow(&book, &rules);
    for (int i = 0; i < 4; i++)
        assert_int_equal(tell(WEIR_ALERT_STORM, "g", "h"), WEIR_ALERT_NOTHING);
    assert_int_equal(tell(WEIR_ALERT_STORM, "g", "h"), 0);
}

static void more_storms_than_places_push_the_oldest_out(void **state)
{
    char name[32];

    (void)state;
    for (int i = 0; i < 3 * WEIR_ALERT_STORMS_MAX; i++) {
        (void)snprintf(name, sizeof(name), "g%d", i);
        now_ns += 10 * S;
        for (int k = 0; k < 4; k++)
            assert_int_equal(tell(WEIR_ALERT_STORM, name, "h"), WEIR_ALERT_NOTHING);
    }
    assert_int_equal(tell(WEIR_ALERT_STORM, name, "h"), 0);
}

/* ---- outages ---- */

static void all_cooling_is_an_outage(void **state)
{
    (void)state;
    assert_int_equal(look("g", 3, 2, false), WEIR_ALERT_NOTHING);
    assert_int_equal(outages(), 0);
    assert_int_equal(look("g", 3, 3, false), 0);
    assert_int_equal(alert.kind, WEIR_ALERT_OUTAGE);
    assert_int_equal(alert.members, 3);
    assert_int_equal(alert.back_ns, 5 * S);
    assert_int_equal(outages(), 1);
    assert_slice_is(weir_alert_name_slice(weir_alert_book_outage(&book, 0)), "g");
}

static void a_group_of_nobody_is_not_out(void **state)
{
    (void)state;
    assert_int_equal(look("g", 0, 0, false), WEIR_ALERT_NOTHING);
    assert_int_equal(look("", 1, 1, false), WEIR_ALERT_NOTHING);
    assert_int_equal(outages(), 0);
}

static void an_outage_is_told_once(void **state)
{
    (void)state;
    assert_int_equal(look("g", 1, 1, false), 0);
    for (int i = 0; i < 1000; i++) {
        now_ns += S;
        assert_int_equal(look("g", 1, 1, false), WEIR_ALERT_NOTHING);
    }
}

static void it_is_over_when_one_has_answered(void **state)
{
    (void)state;
    assert_int_equal(look("g", 2, 2, false), 0);
    now_ns += 7 * S;
    assert_int_equal(look("g", 2, 1, false), WEIR_ALERT_NOTHING); /* back, but for how long? */
    now_ns += 5 * S;
    assert_int_equal(look("g", 2, 1, true), 0);
    assert_int_equal(alert.kind, WEIR_ALERT_RECOVERED);
    assert_int_equal(alert.about.length_ns, 12 * S);
    assert_int_equal(outages(), 0);
}

static void or_when_one_is_back_for_a_minute(void **state)
{
    (void)state;
    assert_int_equal(look("g", 2, 2, false), 0);
    now_ns += S;
    assert_int_equal(look("g", 2, 1, false), WEIR_ALERT_NOTHING);
    now_ns += 59 * S;
    assert_int_equal(look("g", 2, 2, false), WEIR_ALERT_NOTHING); /* it begins anew */
    now_ns += S;
    assert_int_equal(look("g", 2, 1, false), WEIR_ALERT_NOTHING);
    now_ns += 60 * S - 1;
    assert_int_equal(look("g", 2, 1, false), WEIR_ALERT_NOTHING);
    now_ns += 1;
    assert_int_equal(look("g", 2, 0, false), 0);
    assert_int_equal(alert.kind, WEIR_ALERT_RECOVERED);
}

static void outages_again_and_again_are_counted(void **state)
{
    (void)state;
    assert_int_equal(look("g", 1, 1, false), 0);
    assert_int_equal(look("g", 1, 0, true), 0);
    for (int i = 0; i < 3; i++) {
        now_ns += 10 * S;
        assert_int_equal(look("g", 1, 1, false), WEIR_ALERT_REPEATED);
        assert_int_equal(look("g", 1, 1, false), WEIR_ALERT_NOTHING); /* the same one, counted once */
        now_ns += 10 * S;
        assert_int_equal(look("g", 1, 0, true), WEIR_ALERT_NOTHING); /* whose end is not told either */
    }
    now_ns += 300 * S;
    assert_int_equal(look("g", 1, 1, false), 0);
    assert_int_equal(alert.repeated, 3);
}

static void one_that_lasts_beyond_the_window_is_told_then(void **state)
{
    (void)state;
    assert_int_equal(look("g", 1, 1, false), 0);
    assert_int_equal(look("g", 1, 0, true), 0);
    now_ns += 100 * S;
    assert_int_equal(look("g", 1, 1, false), WEIR_ALERT_REPEATED);
    now_ns += 200 * S;
    assert_int_equal(look("g", 1, 1, false), 0);
    assert_int_equal(alert.about.length_ns, 200 * S);
    assert_int_equal(alert.repeated, 0); /* it is the one that was counted */
    assert_int_equal(look("g", 1, 0, true), 0);
}

static void an_end_that_is_held_back_is_told_later(void **state)
{
    (void)state;
    rules.max_per_minute = 1;
    weir_alert_book_follow(&book, &rules);
    assert_int_equal(look("g", 1, 1, false), 0);
    now_ns += S;
    assert_int_equal(look("g", 1, 0, true), WEIR_ALERT_NOTHING);
    assert_int_equal(outages(), 1);
    now_ns += 60 * S;
    assert_int_equal(look("g", 1, 0, true), 0);
    assert_int_equal(alert.kind, WEIR_ALERT_RECOVERED);
}

static void a_group_that_is_gone_is_forgotten(void **state)
{
    (void)state;
    assert_int_equal(look("g", 1, 1, false), 0);
    assert_int_equal(look("g", 0, 0, false), WEIR_ALERT_NOTHING);
    assert_int_equal(outages(), 0);
}

static void there_is_an_end_to_outages_at_once(void **state)
{
    char name[32];

    (void)state;
    rules.max_per_minute = 10000;
    weir_alert_book_follow(&book, &rules);
    for (int i = 0; i < WEIR_ALERT_OUTAGES_MAX; i++) {
        (void)snprintf(name, sizeof(name), "g%d", i);
        assert_int_equal(look(name, 1, 1, false), 0);
    }
    assert_int_equal(look("one more", 1, 1, false), WEIR_ALERT_HELD_BACK);
    assert_int_equal(look("g0", 1, 0, true), 0);
    assert_int_equal(look("one more", 1, 1, false), 0);
}

/* ---- names ---- */

static void names_are_cut_between_characters_and_hold_no_controls(void **state)
{
    struct weir_alert_name name;
    char text[WEIR_ALERT_NAME_MAX + 3];

    (void)state;
    weir_alert_name_set(&name, WEIR_SLICE("a\nb\x7f\xffz"));
    assert_slice_is(weir_alert_name_slice(&name), "a b ?z");
    weir_alert_name_set(&name, WEIR_SLICE_EMPTY);
    assert_int_equal(name.len, 0);
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = 'x';
    memcpy(text + WEIR_ALERT_NAME_MAX - 1, "\xc3\xa9", 2);
    weir_alert_name_set(&name, (struct weir_slice){text, sizeof(text)});
    assert_int_equal(name.len, WEIR_ALERT_NAME_MAX - 1);
    memcpy(text + WEIR_ALERT_NAME_MAX - 2, "\xc3\xa9", 2);
    weir_alert_name_set(&name, (struct weir_slice){text, sizeof(text)});
    assert_int_equal(name.len, WEIR_ALERT_NAME_MAX);
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_is_told_at_once),
        TEST(the_same_within_the_window_is_counted_and_told_in_the_next_one),
        TEST(another_subject_or_kind_is_not_the_same),
        TEST(failures_of_another_kind_are_another_thing),
        TEST(without_a_window_each_is_told),
        TEST(types_that_nobody_wants_are_nothing),
        TEST(more_subjects_than_places_push_the_oldest_out),
        TEST(beyond_the_rate_they_are_counted_and_told_in_the_next_one),
        TEST(in_the_long_run_there_are_so_many_a_minute),
        TEST(a_fifth_is_kept_for_outages),
        TEST(what_is_held_back_opens_no_window),
        TEST(one_a_minute_is_one),
        TEST(so_many_fallbacks_in_the_window_are_a_storm),
        TEST(fallbacks_that_are_far_apart_are_none),
        TEST(each_group_has_its_own_weather),
        TEST(a_storm_that_lasts_is_told_once_in_a_window),
        TEST(a_storm_of_none_is_never),
        TEST(another_window_of_storms_may_come_at_any_time),
        TEST(more_storms_than_places_push_the_oldest_out),
        TEST(all_cooling_is_an_outage),
        TEST(a_group_of_nobody_is_not_out),
        TEST(an_outage_is_told_once),
        TEST(it_is_over_when_one_has_answered),
        TEST(or_when_one_is_back_for_a_minute),
        TEST(outages_again_and_again_are_counted),
        TEST(one_that_lasts_beyond_the_window_is_told_then),
        TEST(an_end_that_is_held_back_is_told_later),
        TEST(a_group_that_is_gone_is_forgotten),
        TEST(there_is_an_end_to_outages_at_once),
        TEST(names_are_cut_between_characters_and_hold_no_controls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
