/* Keys as LiteLLM spells them (RS 22). */
#include <weir/mem_libc.h>

#include "state/keys.h"
#include "unit.h"

static const struct weir_key_parts parts = {
    .id = WEIR_SLICE_INIT("d1"),
    .group = WEIR_SLICE_INIT("gpt-4"),
    .model = WEIR_SLICE_INIT("openai/m"),
    .counter = WEIR_SLICE_INIT("tpm"),
    .minute = WEIR_SLICE_INIT("09-05"),
    .suffix = WEIR_SLICE_INIT("RateLimitError"),
};

static void each_key_is_spelt_as_the_table_of_the_specification_has_it(void **state)
{
    static const struct {
        enum weir_key key;
        const char *text;
    } rows[] = {
        {WEIR_KEY_COOLDOWN, "deployment:d1:cooldown"},
        {WEIR_KEY_ALLOWED_FAILS, "deployment:d1:allowed_fails"},
        {WEIR_KEY_ALLOWED_FAILS_OF, "deployment:d1:allowed_fails:RateLimitError"},
        {WEIR_KEY_ROUTER_USAGE, "global_router:d1:openai/m:tpm:09-05"},
        {WEIR_KEY_USAGE, "d1:openai/m:tpm:09-05"},
        {WEIR_KEY_GROUP_USAGE, "gpt-4:tpm:09-05"},
        {WEIR_KEY_GROUP_MAP, "gpt-4_map"},
        {WEIR_KEY_RUNNING, "gpt-4_request_count:d1"},
        {WEIR_KEY_HEALTH, "litellm:health_check:deployment_health_state"},
        {WEIR_KEY_HEALTH_LOCK, "health_check_lock"},
        {WEIR_KEY_HEALTH_RESULTS, "health_check_results"},
        {WEIR_KEY_CHANNEL, "weir:cooldown"},
    };
    struct weir_buf buf;

    (void)state;
    assert_int_equal(sizeof(rows) / sizeof(rows[0]), WEIR_KEYS);
    weir_buf_init(&buf, weir_mem_libc(), 256);
    for (size_t i = 0; i < WEIR_KEYS; i++) {
        assert_int_equal(weir_key_write(&buf, WEIR_SLICE_EMPTY, rows[i].key, &parts), 0);
        assert_slice_is(weir_buf_slice(&buf), rows[i].text);
        weir_buf_clear(&buf);
    }
    weir_buf_deinit(&buf);
}

static void the_namespace_stands_in_front_of_every_key(void **state)
{
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 256);
    assert_int_equal(weir_key_write(&buf, WEIR_SLICE("team-a"), WEIR_KEY_COOLDOWN, &parts), 0);
    assert_int_equal(weir_key_write(&buf, WEIR_SLICE("team-a"), WEIR_KEY_CHANNEL, &parts), 0);
    assert_slice_is(weir_buf_slice(&buf), "team-a:deployment:d1:cooldownteam-a:weir:cooldown");
    weir_buf_deinit(&buf);
}

static void a_key_that_has_no_room_leaves_nothing_behind(void **state)
{
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 20);
    assert_true(weir_key_write(&buf, WEIR_SLICE("n"), WEIR_KEY_COOLDOWN, &parts) < 0);
    assert_int_equal(weir_buf_len(&buf), 0);
    weir_buf_deinit(&buf);
}

static void minutes_are_those_of_utc(void **state)
{
    char text[WEIR_KEY_MINUTE_BYTES];

    (void)state;
    /* 2024-10-08 00:00:00 UTC */
    assert_slice_is(weir_key_minute(UINT64_C(1728345600000000000), text), "00-00");
    assert_slice_is(weir_key_minute(UINT64_C(1728345600250000000) + UINT64_C(86399) * 1000000000, text),
                    "23-59");
    assert_slice_is(weir_key_minute(UINT64_C(1728378300000000000), text), "09-05");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_is_spelt_as_the_table_of_the_specification_has_it),
        cmocka_unit_test(the_namespace_stands_in_front_of_every_key),
        cmocka_unit_test(a_key_that_has_no_room_leaves_nothing_behind),
        cmocka_unit_test(minutes_are_those_of_utc),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
