/* The tables themselves, and the pages made from them. */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>

#include "config/reference.h"
#include "config/schema.h"

static void test_no_key_of_a_section_has_two_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < weir_schema_count(); i++) {
        const struct weir_setting_row *row = weir_schema_row(i);

        if (weir_schema_find(row->section, row->key) != row)
            fail_msg("%.*s stands twice in section %d", (int)row->key.len, row->key.ptr, (int)row->section);
    }
}

static void test_every_row_says_what_it_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < weir_schema_count(); i++) {
        const struct weir_setting_row *row = weir_schema_row(i);

        assert_true(row->prose.len > 0);
        if (row->status == WEIR_ROW_READ)
            assert_true(weir_schema_expected(row).len > 0);
        assert_true(row->max >= row->min);
        assert_int_equal(weir_schema_index(row), i);
    }
}

static void test_keys_lead_to_the_section_that_reads_them(void **state)
{
    (void)state;
    assert_int_equal(weir_schema_elsewhere(WEIR_SECTION_GENERAL, WEIR_SLICE("num_retries"))->section,
                     WEIR_SECTION_ROUTER);
    assert_int_equal(weir_schema_elsewhere(WEIR_SECTION_ROUTER, WEIR_SLICE("master_key"))->section,
                     WEIR_SECTION_GENERAL);
    assert_int_equal(weir_schema_elsewhere(WEIR_SECTION_ENTRY, WEIR_SLICE("api_key"))->section,
                     WEIR_SECTION_PARAMS);
    assert_null(weir_schema_elsewhere(WEIR_SECTION_PARAMS, WEIR_SLICE("temperature")));
    assert_null(weir_schema_elsewhere(WEIR_SECTION_PARAMS, WEIR_SLICE("max_tokens")));
}

/* Member by member: what lies between them may be anything. */
static void assert_same_router(const struct weir_router_spec *a, const struct weir_router_spec *b)
{
#define SAME(member) assert_memory_equal(&a->member, &b->member, sizeof(a->member))
    SAME(strategy);
    SAME(num_retries);
    SAME(retry_policy);
    SAME(retry_after_ns);
    SAME(initial_retry_delay_ns);
    SAME(max_retry_delay_ns);
    SAME(jitter_ns);
    SAME(max_fallbacks);
    SAME(weighted_failover);
    SAME(limits.timeout_ns);
    SAME(limits.stream_timeout_ns);
    SAME(limits.ttft_timeout_ns);
    SAME(limits.stream_idle_timeout_ns);
    SAME(limits.call_deadline_ns);
    SAME(limits.min_stream_rate);
    SAME(limits.stream_hold.said);
    SAME(limits.stream_hold.tokens);
    SAME(limits.stream_hold.window_ns);
    SAME(continuation);
    SAME(continue_to);
    SAME(cooldown_ns);
    SAME(cooldown_cap_ns);
    SAME(disable_cooldowns);
    SAME(allowed_fails);
    SAME(allowed_fails_policy);
    SAME(failure_threshold);
    SAME(failure_min_requests);
    SAME(single_failure_minimum);
    SAME(health_check_routing);
    SAME(health_ignore_transient);
    SAME(health_staleness_ns);
    SAME(health_group_count);
    SAME(cancel_on_disconnect);
    SAME(ask_before_hop);
#undef SAME
}

static void test_the_dump_of_defaults_is_a_file_that_changes_nothing(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct kit plain, dumped;

    (void)state;
    assert_non_null(out);
    assert_int_equal(weir_reference_defaults(out), 0);
    fclose(out);
    kit_load(&dumped, NULL, text);
    kit_load(&plain, NULL, "model_list: []\n");
    assert_int_equal(dumped.rv, 0);
    assert_int_equal(dumped.diags.counts[WEIR_SEVERITY_WARNING], 1);
    assert_same_router(weir_snapshot_router(dumped.config->snapshot),
                       weir_snapshot_router(plain.config->snapshot));
    assert_int_equal(dumped.config->settings.max_body_bytes, plain.config->settings.max_body_bytes);
    assert_int_equal(dumped.config->settings.drain_timeout_ns, plain.config->settings.drain_timeout_ns);
    kit_free(&dumped);
    kit_free(&plain);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_key_of_a_section_has_two_rows),
        cmocka_unit_test(test_every_row_says_what_it_does),
        cmocka_unit_test(test_keys_lead_to_the_section_that_reads_them),
        cmocka_unit_test(test_the_dump_of_defaults_is_a_file_that_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
