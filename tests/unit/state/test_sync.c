/*
 * Live state in a store that several processes share, in virtual time: keys, forms and lives as LiteLLM has
 * them (RS 22, 15.1, 16.1, 6.2, 6.3, 6.5, 17, 19; decisions 33, 34).
 */
#include "sync_kit.h"

#include <string.h>

#include "base/time.h"

#define TWO "d1 g w=1000000 cooldown=20 : 429; d2 g w=1; router shares retries=1\n"
#define ONE "d1 g cooldown=20 : 429; router shares retries=0 fails=0\n"

static void open_two(struct store *store, struct process *a, struct process *b, const char *config)
{
    store_init(store);
    process_open(a, store, "a:1", "", config);
    process_open(b, store, "b:2", "", config);
}

static void close_two(struct process *a, struct process *b)
{
    process_close(a);
    process_close(b);
}

/* ---- cooldowns ---- */

static void test_a_cooldown_is_written_as_litellm_writes_it(void **state)
{
    struct store store;
    struct process a, b;

    (void)state;
    open_two(&store, &a, &b, ONE);
    expect(a.kit, "g", "d1:429 fail:429");
    process_tell(&a);
    assert_string_equal(store_get(&store, "deployment:d1:cooldown"),
                        "{'exception_received': 'litellm.RateLimitError: weir a:1', 'status_code': '429', "
                        "'timestamp': 1700000000, 'cooldown_time': 20}");
    assert_true(store_life(&store, "deployment:d1:cooldown") > 19.9);
    close_two(&a, &b);
}

static void test_a_published_cooldown_holds_at_once_and_names_its_process(void **state)
{
    struct store store;
    struct process a, b;

    (void)state;
    open_two(&store, &a, &b, ONE);
    b.clock_s = 30;
    expect(a.kit, "g", "d1:429 fail:429");
    store_advance(&store, 2.5);
    process_tell(&a);
    process_go_on(&b);
    assert_float_equal(kit_cooling(b.kit, "d1"), 17.5, 0.01);
    assert_true(kit_view(b.kit, "d1").cooldown_elsewhere);
    assert_memory_equal(kit_view(b.kit, "d1").cooldown_by.text, "a:1", 3);
    assert_int_equal(kit_view(b.kit, "d1").cooldown_kind, WEIR_KIND_RATE_LIMIT);
    assert_int_equal(kit_view(b.kit, "d1").cooldown_status, 429);
    process_go_on(&a); /* its own message */
    assert_false(kit_view(a.kit, "d1").cooldown_elsewhere);
    close_two(&a, &b);
}

static void test_a_key_that_is_read_lasts_as_long_as_it_lives_whatever_the_clocks_say(void **state)
{
    static const int clocks[] = {-30, 0, 30};

    (void)state;
    for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
        struct store store;
        struct process a;
        char value[256];

        store_init(&store);
        process_open(&a, &store, "a:1", "", ONE);
        snprintf(value, sizeof(value),
                 "{'exception_received': 'litellm.Timeout: x', 'status_code': '408', 'timestamp': %d.25, "
                 "'cooldown_time': 5}",
                 (int)STORE_EPOCH_S + clocks[i]);
        store_set(&store, "deployment:d1:cooldown", value, 4);
        process_read(&a);
        assert_float_equal(kit_cooling(a.kit, "d1"), 4, 0.01);
        assert_int_equal(kit_view(a.kit, "d1").cooldown_kind, WEIR_KIND_TIMEOUT);
        process_close(&a);
    }
}

static void test_without_an_end_of_its_own_the_values_time_decides(void **state)
{
    struct store store;
    struct process a;

    (void)state;
    store_init(&store);
    process_open(&a, &store, "a:1", "", ONE);
    store_set(&store, "deployment:d1:cooldown",
              "{\"status_code\": \"500\", \"timestamp\": 1699999998.5, \"cooldown_time\": 5}", 0);
    process_read(&a);
    assert_float_equal(kit_cooling(a.kit, "d1"), 3.5, 0.01);
    store_advance(&store, 4);
    process_read(&a);
    process_read(&a);
    assert_float_equal(kit_cooling(a.kit, "d1"), 0, 0.01);
    process_close(&a);
}

static void test_what_cannot_be_read_is_no_cooldown_and_hides_no_other(void **state)
{
    static const char *const values[] = {"", "nonsense", "{'timestamp': ", "[1]", "42", "\xff\xfe"};

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        struct store store;
        struct process a;

        store_init(&store);
        process_open(&a, &store, "a:1", "", TWO);
        store_set(&store, "deployment:d1:cooldown", values[i], 10);
        store_set(&store, "deployment:d2:cooldown", "{'status_code': '429', 'cooldown_time': 9}", 9);
        process_read(&a);
        assert_float_equal(kit_cooling(a.kit, "d1"), 0, 0.01);
        assert_float_equal(kit_cooling(a.kit, "d2"), 9, 0.01);
        process_close(&a);
    }
}

static void test_a_value_is_asked_for_its_life_once(void **state)
{
    struct store store;
    struct process a;
    const char *asked;

    (void)state;
    store_init(&store);
    process_open(&a, &store, "a:1", "", ONE);
    store_set(&store, "deployment:d1:cooldown", "{'status_code': '429'}", 9);
    process_read(&a);
    process_read(&a);
    asked = strstr(store.log, "PTTL deployment:d1:cooldown");
    assert_non_null(asked);
    assert_null(strstr(asked + 1, "PTTL"));
    process_close(&a);
}

static void test_a_cooldown_taken_back_in_redis_ends_everywhere(void **state)
{
    struct store store;
    struct process a, b;

    (void)state;
    open_two(&store, &a, &b, ONE);
    expect(a.kit, "g", "d1:429 fail:429");
    process_tell(&a);
    process_read(&a);
    process_read(&b);
    store_advance(&store, 5);
    store_drop(&store, "deployment:d1:cooldown");
    process_read(&a);
    process_read(&b);
    assert_float_equal(kit_cooling(a.kit, "d1"), 0, 0.01);
    assert_float_equal(kit_cooling(b.kit, "d1"), 0, 0.01);
    close_two(&a, &b);
}

static void test_a_cooldown_lifted_by_hand_ends_everywhere_at_once(void **state)
{
    struct store store;
    struct process a, b;

    (void)state;
    open_two(&store, &a, &b, ONE);
    expect(a.kit, "g", "d1:429 fail:429");
    process_tell(&a);
    process_read(&a);
    process_read(&b);
    store_advance(&store, 5);
    assert_true(kit_lift(b.kit, "d1", "ann"));
    process_tell(&b);
    assert_null(store_get(&store, "deployment:d1:cooldown"));
    process_go_on(&a);
    assert_float_equal(kit_cooling(a.kit, "d1"), 0, 0.01);
    process_read(&a);
    process_read(&b);
    assert_float_equal(kit_cooling(b.kit, "d1"), 0, 0.01);
    /* and the next one is learned as ever */
    expect(a.kit, "g", "d1:429 fail:429");
    process_tell(&a);
    process_go_on(&b);
    assert_float_equal(kit_cooling(b.kit, "d1"), 20, 0.01);
    close_two(&a, &b);
}

static void test_a_lift_by_hand_that_is_under_way_is_not_undone_by_what_is_read_meanwhile(void **state)
{
    struct store store;
    struct process a;

    (void)state;
    store_init(&store);
    process_open(&a, &store, "a:1", "", ONE);
    store_set(&store, "deployment:d1:cooldown", "{'status_code': '429', 'cooldown_time': 30}", 30);
    process_read(&a);
    assert_float_equal(kit_cooling(a.kit, "d1"), 30, 0.01);
    assert_true(kit_lift(a.kit, "d1", "ann"));
    store_set(&store, "deployment:d1:cooldown", "{'status_code': '429', 'cooldown_time': 31}", 30);
    process_read(&a);
    assert_float_equal(kit_cooling(a.kit, "d1"), 0, 0.01);
    process_tell(&a);
    assert_null(store_get(&store, "deployment:d1:cooldown"));
    process_close(&a);
}

static void test_a_cooldown_by_hand_may_shorten_and_does_so_everywhere(void **state)
{
    struct store store;
    struct process a, b;

    (void)state;
    open_two(&store, &a, &b, ONE);
    expect(a.kit, "g", "d1:429 fail:429");
    process_tell(&a);
    process_read(&a);
    process_read(&b);
    kit_cool(b.kit, "d1", 3, "ann");
    process_tell(&b);
    process_go_on(&a);
    assert_float_equal(kit_cooling(a.kit, "d1"), 3, 0.01);
    assert_string_equal(store_get(&store, "deployment:d1:cooldown"),
                        "{'exception_received': 'litellm.ServiceUnavailableError: weir b:2', 'status_code': "
                        "'503', 'timestamp': 1700000000, 'cooldown_time': 3}");
    process_read(&a);
    process_read(&b);
    store_advance(&store, 2.9);
    process_read(&a);
    assert_float_equal(kit_cooling(a.kit, "d1"), 0.1, 0.01);
    assert_float_equal(kit_cooling(b.kit, "d1"), 0.1, 0.01);
    close_two(&a, &b);
}

static void test_a_lift_by_hand_waits_for_redis_to_come_back(void **state)
{
    struct store store;
    struct process a, b;

    (void)state;
    open_two(&store, &a, &b, ONE);
    expect(a.kit, "g", "d1:429 fail:429");
    process_tell(&a);
    process_go_on(&b);
    process_lose(&a);
    assert_true(kit_lift(a.kit, "d1", "ann"));
    process_come_back(&a);
    process_tell(&a);
    process_go_on(&b);
    assert_null(store_get(&store, "deployment:d1:cooldown"));
    assert_float_equal(kit_cooling(a.kit, "d1"), 0, 0.01);
    assert_float_equal(kit_cooling(b.kit, "d1"), 0, 0.01);
    close_two(&a, &b);
}

static void test_a_key_that_ends_by_itself_takes_nothing_back(void **state)
{
    struct store store;
    struct process a, b;

    (void)state;
    open_two(&store, &a, &b, "d1 g cooldown=5.9 : 429; router shares retries=0 fails=0\n");
    expect(a.kit, "g", "d1:429 fail:429");
    process_tell(&a);
    assert_float_equal(store_life(&store, "deployment:d1:cooldown"), 5, 0.01);
    process_read(&a);
    process_read(&b);
    store_advance(&store, 5.1);
    process_read(&a);
    process_read(&b);
    assert_float_equal(kit_cooling(a.kit, "d1"), 0.8, 0.01);
    close_two(&a, &b);
}

static void test_a_shorter_one_in_redis_shortens_nothing(void **state)
{
    struct store store;
    struct process a;

    (void)state;
    store_init(&store);
    process_open(&a, &store, "a:1", "", ONE);
    expect(a.kit, "g", "d1:429 fail:429");
    process_tell(&a);
    store_set(&store, "deployment:d1:cooldown", "{'status_code': '500', 'cooldown_time': 3}", 3);
    process_read(&a);
    store_advance(&store, 1);
    store_drop(&store, "deployment:d1:cooldown");
    process_read(&a);
    assert_float_equal(kit_cooling(a.kit, "d1"), 19, 0.01);
    process_close(&a);
}

static void test_less_than_a_second_is_published_and_not_kept(void **state)
{
    struct store store;
    struct process a, b;

    (void)state;
    open_two(&store, &a, &b, "d1 g cooldown=0.9 : 429; router shares retries=0 fails=0\n");
    expect(a.kit, "g", "d1:429 fail:429");
    process_tell(&a);
    process_go_on(&b);
    assert_null(store_get(&store, "deployment:d1:cooldown"));
    assert_float_equal(kit_cooling(b.kit, "d1"), 0.9, 0.01);
    close_two(&a, &b);
}

static void test_messages_of_others_that_make_no_sense_change_nothing(void **state)
{
    static const char *const payloads[] = {"",
                                           "x",
                                           "[]",
                                           "{}",
                                           "{\"id\":\"d1\"}",
                                           "{\"id\":\"d9\",\"remaining_ms\":5000}",
                                           "{\"id\":\"d1\",\"remaining_ms\":-5}",
                                           "{\"id\":\"d1\",\"remaining_ms\":\"x\"}"};
    struct store store;
    struct process a;

    (void)state;
    store_init(&store);
    process_open(&a, &store, "a:1", "", ONE);
    for (size_t i = 0; i < sizeof(payloads) / sizeof(*payloads); i++)
        weir_sync_hear(a.sync, weir_slice_str(payloads[i]));
    assert_float_equal(kit_cooling(a.kit, "d1"), 0, 0.01);
    weir_sync_hear(a.sync, WEIR_SLICE("{'id': 'd1', 'remaining_ms': 5000}"));
    assert_float_equal(kit_cooling(a.kit, "d1"), 5, 0.01);
    process_close(&a);
}

static void test_a_namespace_stands_before_every_key(void **state)
{
    struct store store;
    struct process a;

    (void)state;
    store_init(&store);
    process_open(&a, &store, "a:1", "team-a", TWO);
    expect(a.kit, "g", "d1:429 d2:ok");
    process_tell(&a);
    assert_non_null(store_get(&store, "team-a:deployment:d1:cooldown"));
    assert_null(store_get(&store, "deployment:d1:cooldown"));
    assert_non_null(strstr(store.log, "PUBLISH team-a:weir:cooldown {"));
    process_close(&a);
}

/* ---- Redis comes and goes ---- */

static void test_what_was_set_while_redis_was_away_is_written_when_it_is_back(void **state)
{
    struct store store;
    struct process a, b;

    (void)state;
    open_two(&store, &a, &b, ONE);
    process_lose(&a);
    expect(a.kit, "g", "d1:429 fail:429");
    process_tell(&a);
    store_advance(&store, 3);
    assert_null(store_get(&store, "deployment:d1:cooldown"));
    process_come_back(&a);
    assert_float_equal(store_life(&store, "deployment:d1:cooldown"), 17, 0.01);
    assert_non_null(
        strstr(store_get(&store, "deployment:d1:cooldown"), "'timestamp': 1700000000, 'cooldown_time': 20"));
    close_two(&a, &b);
}

static void test_after_a_new_redis_what_holds_here_is_written_again_and_nothing_lifted(void **state)
{
    struct store store;
    struct process a, b;

    (void)state;
    open_two(&store, &a, &b, ONE);
    expect(a.kit, "g", "d1:429 fail:429");
    process_tell(&a);
    process_read(&a);
    process_lose(&a);
    store_flush(&store);
    process_come_back(&a);
    process_read(&a);
    assert_float_equal(kit_cooling(a.kit, "d1"), 20, 0.01);
    assert_non_null(store_get(&store, "deployment:d1:cooldown"));
    close_two(&a, &b);
}

static void test_what_was_under_way_when_redis_was_lost_is_not_counted_twice(void **state)
{
    struct store store;
    struct process a;

    (void)state;
    store_init(&store);
    process_open(&a, &store, "a:1", "", "d1 g max.rpm=100 model=openai/m; router shares enforce\n");
    expect(a.kit, "g", "d1:ok");
    (void)weir_sync_tell(a.sync); /* done, and the answer lost */
    process_lose(&a);
    expect(a.kit, "g", "d1:ok");
    process_come_back(&a);
    process_tell(&a);
    process_read(&a);
    assert_string_equal(store_get(&store, "d1:openai/m:rpm:22-13"), "2");
    assert_int_equal(kit_view(a.kit, "d1").minute.requests, 2);
    process_close(&a);
}

static void test_refused_commands_are_told_once_and_tried_again(void **state)
{
    struct store store;
    struct process a;

    (void)state;
    store_init(&store);
    process_open(&a, &store, "a:1", "", ONE);
    store.refuses = "OOM command not allowed when used memory > 'maxmemory'.";
    expect(a.kit, "g", "d1:429 fail:429");
    process_tell(&a);
    process_tell(&a);
    process_read(&a);
    assert_int_equal(a.refusals, 1);
    store.refuses = NULL;
    store_advance(&store, 1.1);
    process_read(&a);
    assert_non_null(store_get(&store, "deployment:d1:cooldown"));
    process_close(&a);
}

/* ---- counters ---- */

static void test_the_third_failure_cools_whoever_had_the_others(void **state)
{
    static const char config[] = "d1 g cooldown=20 : 500; router shares retries=0 fails=2\n";
    struct store store;
    struct process a, b;

    (void)state;
    open_two(&store, &a, &b, config);
    expect_each(a.kit, 2, "g", "d1:500 fail:500");
    process_tell(&a);
    assert_string_equal(store_get(&store, "deployment:d1:allowed_fails"), "2");
    assert_float_equal(store_life(&store, "deployment:d1:allowed_fails"), 20, 0.01);
    assert_float_equal(kit_cooling(a.kit, "d1"), 0, 0.01);
    expect(b.kit, "g", "d1:500 fail:500");
    process_tell(&b);
    assert_string_equal(store_get(&store, "deployment:d1:allowed_fails"), "3");
    assert_float_equal(kit_cooling(b.kit, "d1"), 20, 0.01);
    process_tell(&b);
    process_go_on(&a);
    assert_float_equal(kit_cooling(a.kit, "d1"), 20, 0.01);
    close_two(&a, &b);
}

static void test_a_counter_of_fails_of_another_type_harms_nobody(void **state)
{
    struct store store;
    struct process a;

    (void)state;
    store_init(&store);
    process_open(&a, &store, "a:1", "", "d1 g cooldown=20 : 500; router shares retries=0 fails=1\n");
    store_make_list(&store, "deployment:d1:allowed_fails");
    expect(a.kit, "g", "d1:500 fail:500");
    process_tell(&a);
    expect(a.kit, "g", "d1:500 fail:500");
    process_tell(&a);
    assert_float_equal(kit_cooling(a.kit, "d1"), 20, 0.01); /* by its own count */
    assert_int_equal(a.refusals, 1);
    process_close(&a);
}

static void test_an_enforced_limit_holds_for_all_together(void **state)
{
    struct store store;
    struct process a, b;

    (void)state;
    open_two(&store, &a, &b, "d1 g max.rpm=3 model=openai/m; router shares enforce retries=0\n");
    expect_each(a.kit, 2, "g", "d1:ok");
    process_tell(&a);
    process_read(&b);
    expect(b.kit, "g", "d1:ok");
    expect(b.kit, "g", "d1! fail:429");
    process_tell(&b);
    assert_float_equal(store_life(&store, "d1:openai/m:rpm:22-13"), 60, 0.01);
    assert_non_null(store_get(&store, "global_router:d1:openai/m:rpm:22-13"));
    close_two(&a, &b);
}

static void test_a_counter_that_was_lost_has_a_life_all_the_same(void **state)
{
    struct store store;
    struct process a;

    (void)state;
    store_init(&store);
    process_open(&a, &store, "a:1", "", "d1 g max.rpm=9 model=openai/m; router shares enforce retries=0\n");
    expect(a.kit, "g", "d1:ok");
    process_tell(&a);
    store_flush(&store);
    expect(a.kit, "g", "d1:ok");
    process_tell(&a);
    process_go_on(&a);
    assert_string_equal(store_get(&store, "d1:openai/m:rpm:22-13"), "1");
    assert_float_equal(store_life(&store, "d1:openai/m:rpm:22-13"), 60, 0.01);
    assert_float_equal(store_life(&store, "global_router:d1:openai/m:rpm:22-13"), 60, 0.01);
    process_read(&a); /* what the store lost is told again */
    process_read(&a);
    assert_string_equal(store_get(&store, "d1:openai/m:rpm:22-13"), "2");
    process_close(&a);
}

static void test_where_nobody_looks_at_usage_the_routers_book_alone_is_kept(void **state)
{
    struct store store;
    struct process a;

    (void)state;
    store_init(&store);
    process_open(&a, &store, "a:1", "", "d1 g max.rpm=9 model=openai/m; router shares\n");
    expect(a.kit, "g", "d1:ok");
    process_tell(&a);
    assert_string_equal(store_get(&store, "global_router:d1:openai/m:rpm:22-13"), "1");
    assert_null(store_get(&store, "d1:openai/m:rpm:22-13"));
    process_close(&a);
}

static void test_counts_of_others_are_read_for_usage_routing(void **state)
{
    struct store store;
    struct process a;

    (void)state;
    store_init(&store);
    process_open(&a, &store, "a:1", "",
                 "d1 g model=openai/m; d2 g model=openai/m; d3 g model=openai/m; "
                 "router shares strategy=usage-based-routing-v2\n");
    store_set(&store, "d1:openai/m:tpm:22-13", "5000", 60);
    store_set(&store, "d3:openai/m:tpm:22-13", "9000.0", 60);
    process_read(&a);
    expect_each(a.kit, 6, "g", "d2:ok");
    process_close(&a);
}

static void test_attempts_that_run_elsewhere_count_for_least_busy(void **state)
{
    struct store store;
    struct process a, b;
    struct kit_call *call;

    (void)state;
    open_two(&store, &a, &b, "d1 g : hang; router shares strategy=least-busy\n");
    call = kit_begin(a.kit, "g");
    process_tell(&a);
    assert_string_equal(store_get(&store, "g_request_count:d1"), "1");
    assert_float_equal(store_life(&store, "g_request_count:d1"), 600, 0.01);
    process_read(&b);
    assert_int_equal(kit_view(b.kit, "d1").running_elsewhere, 1);
    assert_int_equal(kit_view(b.kit, "d1").running, 0);
    store_flush(&store); /* as after ten minutes */
    weir_call_free(call->call);
    call->call = NULL;
    process_tell(&a);
    assert_string_equal(store_get(&store, "g_request_count:d1"), "0");
    close_two(&a, &b);
}

/* ---- maps ---- */

static void test_samples_go_into_the_groups_map_beside_those_of_others(void **state)
{
    struct store store;
    struct process a;

    (void)state;
    store_init(&store);
    process_open(&a, &store, "a:1", "",
                 "d1 g : ok=1/10+0.5; router shares strategy=latency-based-routing samples=2\n");
    store_set(
        &store, "g_map",
        "{'other': {'latency': [1.5], '2023-11-14-22-13': {'tpm': 5, 'rpm': 1}}, 'd1': {'latency': [3, 4], "
        "'x': None}}",
        3600);
    expect(a.kit, "g", "d1:ok");
    process_read(&a);
    assert_string_equal(
        store_get(&store, "g_map"),
        "{'other': {'latency': [1.5], '2023-11-14-22-13': {'tpm': 5, 'rpm': 1}}, 'd1': {'x': None, "
        "'latency': [4, 0.05]}}");
    assert_float_equal(store_life(&store, "g_map"), 3600, 0.01);
    process_close(&a);
}

static void test_a_new_map_is_json_and_others_learn_from_it(void **state)
{
    struct store store;
    struct process a, b;

    (void)state;
    open_two(&store, &a, &b,
             "d1 g : ok=1/10+0.5; d2 h; router shares strategy=latency-based-routing ttl=60\n");
    expect(a.kit, "g", "d1:ok");
    process_read(&a);
    assert_string_equal(store_get(&store, "g_map"), "{\"d1\": {\"latency\": [0.05]}}");
    assert_float_equal(store_life(&store, "g_map"), 60, 0.01);
    process_read(&b);
    assert_float_equal(kit_view(b.kit, "d1").latency_s, 0.05, 0.001);
    process_read(&b);
    assert_null(store_get(&store, "h_map"));
    close_two(&a, &b);
}

static void test_a_map_that_nobody_can_read_is_written_anew(void **state)
{
    struct store store;
    struct process a;

    (void)state;
    store_init(&store);
    process_open(&a, &store, "a:1", "", "d1 g : ok=1/10+0.5; router shares strategy=latency-based-routing\n");
    store_set(&store, "g_map", "garbage", 0);
    expect(a.kit, "g", "d1:ok");
    process_read(&a);
    assert_string_equal(store_get(&store, "g_map"), "{\"d1\": {\"latency\": [0.05]}}");
    process_close(&a);
}

/* ---- a large fleet, a changing one ---- */

static void test_a_reading_goes_in_pieces(void **state)
{
    char config[8192] = "router shares\n";
    struct store store;
    struct process a;

    (void)state;
    for (int i = 0; i < 64; i++)
        snprintf(config + strlen(config), sizeof(config) - strlen(config), "d%d g\n", i);
    store_init(&store);
    process_open(&a, &store, "a:1", "", config);
    assert_int_equal(a.reads, 1);
    assert_true(store.most_args <= 65);
    process_close(&a);
}

static void test_a_reload_in_the_middle_of_a_reading(void **state)
{
    struct store store;
    struct process a;

    (void)state;
    store_init(&store);
    process_open(&a, &store, "a:1", "", TWO);
    store_set(&store, "deployment:d1:cooldown", "{'status_code': '429'}", 9);
    weir_sync_read(a.sync);
    process_reload(&a, "d0 g; d1 g : 429; router shares strategy=latency-based-routing\n");
    process_go_on(&a);
    assert_float_equal(kit_cooling(a.kit, "d0"), 0, 0.01);
    process_read(&a);
    assert_float_equal(kit_cooling(a.kit, "d1"), 9, 0.01);
    process_close(&a);
}

static void test_where_memory_ends_nothing_is_lost_for_good(void **state)
{
    static const char config[] = "d1 g cooldown=20 max.rpm=99 model=openai/m : ok=1/10+0.5 429; "
                                 "router shares retries=0 fails=0 strategy=latency-based-routing\n";

    (void)state;
    for (size_t n = 1;; n++) {
        struct store store;
        struct process a;
        bool failed;

        store_init(&store);
        (void)process_open_poor(&a, &store, n, config);
        expect(a.kit, "g", "d1:ok");
        expect(a.kit, "g", "d1:429 fail:429");
        store_set(&store, "n:deployment:d1:cooldown", "{'status_code': '429'}", 40);
        if (a.sync != NULL) {
            process_tell(&a);
            process_read(&a);
            a.mem.fail_from = 0; /* there is memory again */
            process_reload(&a, config);
            store_advance(&store, 2);
            process_read(&a);
            process_tell(&a);
            process_read(&a);
            assert_true(store_life(&store, "n:deployment:d1:cooldown") > 17);
            assert_string_equal(store_get(&store, "n:g_map"), "{\"d1\": {\"latency\": [0.05]}}");
        }
        failed = a.mem.failed;
        process_close(&a);
        if (!failed)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cooldown_is_written_as_litellm_writes_it),
        cmocka_unit_test(test_a_published_cooldown_holds_at_once_and_names_its_process),
        cmocka_unit_test(test_a_key_that_is_read_lasts_as_long_as_it_lives_whatever_the_clocks_say),
        cmocka_unit_test(test_without_an_end_of_its_own_the_values_time_decides),
        cmocka_unit_test(test_what_cannot_be_read_is_no_cooldown_and_hides_no_other),
        cmocka_unit_test(test_a_value_is_asked_for_its_life_once),
        cmocka_unit_test(test_a_cooldown_taken_back_in_redis_ends_everywhere),
        cmocka_unit_test(test_a_cooldown_lifted_by_hand_ends_everywhere_at_once),
        cmocka_unit_test(test_a_lift_by_hand_that_is_under_way_is_not_undone_by_what_is_read_meanwhile),
        cmocka_unit_test(test_a_cooldown_by_hand_may_shorten_and_does_so_everywhere),
        cmocka_unit_test(test_a_lift_by_hand_waits_for_redis_to_come_back),
        cmocka_unit_test(test_a_key_that_ends_by_itself_takes_nothing_back),
        cmocka_unit_test(test_a_shorter_one_in_redis_shortens_nothing),
        cmocka_unit_test(test_less_than_a_second_is_published_and_not_kept),
        cmocka_unit_test(test_messages_of_others_that_make_no_sense_change_nothing),
        cmocka_unit_test(test_a_namespace_stands_before_every_key),
        cmocka_unit_test(test_what_was_set_while_redis_was_away_is_written_when_it_is_back),
        cmocka_unit_test(test_after_a_new_redis_what_holds_here_is_written_again_and_nothing_lifted),
        cmocka_unit_test(test_what_was_under_way_when_redis_was_lost_is_not_counted_twice),
        cmocka_unit_test(test_refused_commands_are_told_once_and_tried_again),
        cmocka_unit_test(test_the_third_failure_cools_whoever_had_the_others),
        cmocka_unit_test(test_a_counter_of_fails_of_another_type_harms_nobody),
        cmocka_unit_test(test_an_enforced_limit_holds_for_all_together),
        cmocka_unit_test(test_a_counter_that_was_lost_has_a_life_all_the_same),
        cmocka_unit_test(test_where_nobody_looks_at_usage_the_routers_book_alone_is_kept),
        cmocka_unit_test(test_counts_of_others_are_read_for_usage_routing),
        cmocka_unit_test(test_attempts_that_run_elsewhere_count_for_least_busy),
        cmocka_unit_test(test_samples_go_into_the_groups_map_beside_those_of_others),
        cmocka_unit_test(test_a_new_map_is_json_and_others_learn_from_it),
        cmocka_unit_test(test_a_map_that_nobody_can_read_is_written_anew),
        cmocka_unit_test(test_a_reading_goes_in_pieces),
        cmocka_unit_test(test_a_reload_in_the_middle_of_a_reading),
        cmocka_unit_test(test_where_memory_ends_nothing_is_lost_for_good),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
