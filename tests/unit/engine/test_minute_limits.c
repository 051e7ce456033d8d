/*
 * Limits of the minute: those that are enforced (router-semantics 19) and usage-based routing's own (6.3),
 * at their borders and over the turn of a minute.
 */
#include "engine_kit.h"

#include "base/slice.h"
#include "base/time.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 19", rs_19_the_limit_itself_is_allowed_and_no_request_more) \
    X("RS 19", rs_19_limits_do_nothing_unless_they_are_enforced) \
    X("RS 19", rs_19_the_refusal_says_which_limit_it_was) \
    X("RS 19", rs_19_a_refused_request_does_not_count) \
    X("RS 19", rs_19_every_attempt_is_a_request) \
    X("RS 19", rs_19_the_minute_turns_on_the_second) \
    X("RS 19", rs_19_the_minute_is_the_wall_clocks) \
    X("RS 19", rs_19_tokens_refuse_once_the_usage_has_reached_the_limit) \
    X("RS 19", rs_19_tokens_count_when_the_answer_tells_them) \
    X("RS 19", rs_19_input_is_reserved_before_the_call) \
    X("RS 19", rs_19_input_is_put_right_by_the_answer) \
    X("RS 19", rs_19_output_is_reserved_and_put_right) \
    X("RS 19", rs_19_an_unknown_number_of_tokens_is_one) \
    X("decisions 37", decision_37_only_the_sure_part_of_the_estimate_is_reserved) \
    X("RS 19", rs_19_a_failure_gives_back_what_it_reserved) \
    X("RS 19", rs_19_content_without_usage_leaves_the_reserve) \
    X("beyond 1", beyond_1_a_piece_of_a_stream_without_usage_is_a_token) \
    X("RS 19", rs_19_a_reserve_is_put_right_in_its_own_minute) \
    X("RS 19", rs_19_one_refusal_gives_back_the_other_parts) \
    X("RS 19", rs_19_a_full_deployment_takes_nothing_of_the_minute) \
    X("RS 19", rs_19_keys_of_the_callers_own_count_nowhere) \
    X("RS 15.4", rs_15_a_refusal_counts_like_a_429_of_the_provider) \
    X("RS 15.4", rs_15_a_refusal_counts_in_the_allowed_fails) \
    X("RS 15.4", rs_15_a_lone_deployment_is_not_cooled) \
    X("RS 19", rs_19_a_retry_goes_to_a_sibling_at_once) \
    X("RS 19", rs_19_a_lone_deployment_is_not_retried) \
    X("RS 19", rs_19_fallbacks_apply) \
    X("RS 19", rs_19_orders_apply) \
    X("RS 5", rs_5_a_spent_deployment_is_not_healthy_until_the_minute_turns) \
    X("RS 5", rs_5_each_of_the_limits_makes_it_unhealthy) \
    X("RS 5", rs_5_limits_that_are_not_enforced_leave_it_healthy) \
    X("RS 5", rs_5_a_spent_id_is_not_healthy) \
    X("beyond 4", beyond_4_a_spent_limit_is_no_cooldown_to_wait_for) \
    X("RS 6.3", rs_6_usage_based_routing_refuses_an_id_over_its_requests) \
    X("RS 6.3", rs_6_usage_based_routing_does_not_refuse_by_tokens) \
    X("RS 6.3", rs_6_with_all_over_their_limits_the_usage_is_told) \
    X("RS 6.3", rs_6_a_request_counts_once_with_both)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

/* Goes to the beginning of the next minute. */
static void next_minute(struct kit *kit)
{
    kit->now_ns += 60 * WEIR_NS_PER_S - kit->now_ns % (60 * WEIR_NS_PER_S);
}

static struct weir_minute_usage used(const struct kit *kit, const char *id)
{
    return kit_view(kit, id).minute;
}

static void expect_limit(const struct kit_call *call, weir_reason reason, const char *what, uint64_t limit,
                         uint64_t usage)
{
    const struct weir_fail *fail = &call->fail;

    assert_int_equal(fail->reason, reason);
    assert_int_equal(fail->failure.kind, WEIR_KIND_RATE_LIMIT);
    assert_int_equal(fail->failure.status, 429);
    assert_int_equal(fail->failure.origin, WEIR_ORIGIN_PROVIDER);
    assert_true(weir_slice_eq(fail->limit.what, weir_slice_str(what)));
    assert_int_equal(fail->limit.limit, limit);
    assert_int_equal(fail->limit.usage, usage);
}

static void rs_19_the_limit_itself_is_allowed_and_no_request_more(void **state)
{
    KIT(kit, "d g max.rpm=3; router retries=0 enforce");
    (void)state;

    next_minute(kit);
    expect_each(kit, 3, "g", "d:ok");
    expect_each(kit, 3, "g", "d! fail:429");
}

static void rs_19_limits_do_nothing_unless_they_are_enforced(void **state)
{
    KIT(kit, "d g max.rpm=1 max.tpm=1 max.itpm=1 max.otpm=1; router retries=0");
    (void)state;

    next_minute(kit);
    expect_each(kit, 5, "g", "d:ok");
    assert_int_equal(used(kit, "d").requests, 5);
    assert_int_equal(used(kit, "d").tokens, 40);
    assert_int_equal(used(kit, "d").input_tokens, 15);
    assert_int_equal(used(kit, "d").output_tokens, 25);
}

static void rs_19_the_refusal_says_which_limit_it_was(void **state)
{
    KIT(kit, "r r max.rpm=1; t t max.tpm=7; i i max.itpm=3; o o max.otpm=5; router retries=0 enforce");
    struct kit_call *call;
    (void)state;

    next_minute(kit);
    expect(kit, "r", "r:ok");
    call = expect_call(kit, "r", "r! fail:429");
    expect_limit(call, WEIR_REASON_MINUTE_LIMIT, "RPM", 1, 1);
    assert_true(weir_slice_eq(call->fail.limit.deployment, WEIR_SLICE("r")));
    assert_int_equal(call->fail.failure.retry_after_ns, 0);
    assert_int_equal(call->fail.attempt, 0);
    expect(kit, "t", "t:ok");
    expect_limit(expect_call(kit, "t", "t! fail:429"), WEIR_REASON_MINUTE_LIMIT, "TPM", 7, 8);
    expect(kit, "i", "i:ok");
    expect_limit(expect_call(kit, "i", "i! fail:429"), WEIR_REASON_MINUTE_LIMIT, "ITPM", 3, 3);
    expect(kit, "o", "o:ok");
    expect_limit(expect_call(kit, "o", "o! fail:429"), WEIR_REASON_MINUTE_LIMIT, "OTPM", 5, 5);
}

static void rs_19_a_refused_request_does_not_count(void **state)
{
    KIT(kit, "d g max.rpm=2; router retries=0 enforce");
    (void)state;

    next_minute(kit);
    expect_each(kit, 2, "g", "d:ok");
    expect_each(kit, 5, "g", "d! fail:429");
    assert_int_equal(used(kit, "d").requests, 2);
    assert_int_equal(used(kit, "d").tokens, 16);
}

static void rs_19_every_attempt_is_a_request(void **state)
{
    KIT(kit, "d g max.rpm=3 : 500 500 ok; router retries=2 enforce jitter=0");
    (void)state;

    next_minute(kit);
    expect(kit, "g", "d:500 d:500 d:ok");
    expect(kit, "g", "d! fail:429");
}

static void rs_19_the_minute_turns_on_the_second(void **state)
{
    KIT(kit, "d g max.rpm=1; router retries=0 enforce");
    (void)state;

    next_minute(kit);
    expect(kit, "g", "d:ok");
    kit->now_ns += 60 * WEIR_NS_PER_S - 1;
    expect(kit, "g", "d! fail:429");
    kit->now_ns += 1;
    expect(kit, "g", "d:ok");
    assert_int_equal(used(kit, "d").requests, 1);
}

static void rs_19_the_minute_is_the_wall_clocks(void **state)
{
    KIT(kit, "d g max.rpm=1; router retries=0 enforce");
    (void)state;

    next_minute(kit);
    /* ten seconds before a minute turns, long after 1970 */
    weir_router_set_wall(kit->router, (UINT64_C(29000000) * 60 + 50) * WEIR_NS_PER_S, kit->now_ns);
    expect(kit, "g", "d:ok");
    kit_advance(kit, 9.9);
    expect(kit, "g", "d! fail:429");
    kit_advance(kit, 0.1);
    expect(kit, "g", "d:ok");
}

static void rs_19_tokens_refuse_once_the_usage_has_reached_the_limit(void **state)
{
    KIT(kit, "d g max.tpm=100 : ok=90/9 ok=1/0 ok; router retries=0 enforce");
    (void)state;

    next_minute(kit);
    expect(kit, "g", "d:ok");
    assert_int_equal(used(kit, "d").tokens, 99);
    /* what a prompt is expected to have is not looked at */
    expect(kit, "g tokens=1000", "d:ok");
    expect_limit(expect_call(kit, "g", "d! fail:429"), WEIR_REASON_MINUTE_LIMIT, "TPM", 100, 100);
    next_minute(kit);
    expect(kit, "g", "d:ok");
}

static void rs_19_tokens_count_when_the_answer_tells_them(void **state)
{
    KIT(kit, "d g max.tpm=10 : ok=10/10+30; router retries=0 enforce");
    struct kit_call *first, *second;
    (void)state;

    next_minute(kit);
    kit_advance(kit, 40);
    first = kit_begin(kit, "g");
    second = kit_begin(kit, "g");
    kit_run(first);
    kit_run(second);
    /* both are of this minute, though they began in the last */
    assert_int_equal(used(kit, "d").tokens, 40);
    assert_int_equal(used(kit, "d").requests, 0);
    expect(kit, "g", "d! fail:429");
}

static void rs_19_input_is_reserved_before_the_call(void **state)
{
    KIT(kit, "d g max.itpm=100 : ok=60/1+10 ok=40/1+10 ok; router retries=0 enforce margin=0");
    (void)state;

    next_minute(kit);
    (void)kit_begin(kit, "g tokens=60");
    assert_int_equal(used(kit, "d").input_tokens, 60);
    expect_limit(expect_call(kit, "g tokens=41", "d! fail:429"), WEIR_REASON_MINUTE_LIMIT, "ITPM", 100, 60);
    (void)kit_begin(kit, "g tokens=40");
    expect(kit, "g tokens=1", "d! fail:429");
    kit_run_all(kit);
    assert_int_equal(used(kit, "d").input_tokens, 100);
    assert_int_equal(used(kit, "d").tokens, 102);
}

static void rs_19_input_is_put_right_by_the_answer(void **state)
{
    KIT(kit, "d g max.itpm=100 : ok=10/1 ok=85/1 ok; router retries=0 enforce margin=0");
    (void)state;

    next_minute(kit);
    expect(kit, "g tokens=100", "d:ok");
    assert_int_equal(used(kit, "d").input_tokens, 10);
    expect(kit, "g tokens=90", "d:ok");
    assert_int_equal(used(kit, "d").input_tokens, 95);
    expect(kit, "g tokens=6", "d! fail:429");
    expect(kit, "g tokens=5", "d:ok");
}

static void rs_19_output_is_reserved_and_put_right(void **state)
{
    KIT(kit, "d g max.otpm=100 : ok=5/20+1 ok; router retries=0 enforce");
    (void)state;

    next_minute(kit);
    (void)kit_begin(kit, "g tokens=5/90");
    assert_int_equal(used(kit, "d").output_tokens, 90);
    assert_int_equal(used(kit, "d").input_tokens, 0);
    expect_limit(expect_call(kit, "g tokens=5/11", "d! fail:429"), WEIR_REASON_MINUTE_LIMIT, "OTPM", 100, 90);
    kit_run_all(kit);
    assert_int_equal(used(kit, "d").output_tokens, 20);
    expect(kit, "g tokens=5/80", "d:ok");
}

static void rs_19_an_unknown_number_of_tokens_is_one(void **state)
{
    KIT(kit, "d g max.itpm=2 max.otpm=2 : ok=1/1; router retries=0 enforce");
    (void)state;

    next_minute(kit);
    expect_each(kit, 2, "g", "d:ok");
    expect(kit, "g", "d! fail:429");
}

static void decision_37_only_the_sure_part_of_the_estimate_is_reserved(void **state)
{
    KIT(kit, "d g max.itpm=75 : ok=1/1; router retries=0 enforce");
    (void)state;

    next_minute(kit);
    expect(kit, "g tokens=102", "d! fail:429");
    expect(kit, "g tokens=100", "d:ok");
}

static void rs_19_a_failure_gives_back_what_it_reserved(void **state)
{
    KIT(kit, "d g max.itpm=100 max.otpm=100 timeout=1 : 500 hang open,chunk,connection hang\n"
             "router retries=0 enforce margin=0 single=9 cancel_on_disconnect");
    (void)state;

    next_minute(kit);
    expect(kit, "g tokens=100/100", "d:500 fail:500");
    assert_int_equal(used(kit, "d").input_tokens, 0);
    expect(kit, "g tokens=100/100", "d:cancel fail:408");
    expect(kit, "g stream tokens=100/100", "d:500 fail:500");
    expect(kit, "g tokens=100/100 gone=0.5", "d:cancel fail:499");
    (void)kit_begin(kit, "g tokens=100/100");
    assert_int_equal(used(kit, "d").input_tokens, 100);
    kit_forget(kit);
    assert_int_equal(used(kit, "d").input_tokens, 0);
    assert_int_equal(used(kit, "d").output_tokens, 0);
    assert_int_equal(used(kit, "d").requests, 5);
}

static void rs_19_content_without_usage_leaves_the_reserve(void **state)
{
    KIT(kit,
        "d g max.itpm=100 max.otpm=100 : text,connection ok=0/0; e e max.itpm=100 max.otpm=100 : text,hang\n"
        "router retries=0 enforce margin=0");
    (void)state;

    next_minute(kit);
    expect(kit, "g stream tokens=30/40", "d*:500 fail*:500");
    expect(kit, "g tokens=3/4", "d:ok");
    assert_int_equal(used(kit, "d").input_tokens, 33);
    assert_int_equal(used(kit, "d").output_tokens, 44);
    expect(kit, "e stream tokens=30/40 gone=1", "e*:cancel fail*:499");
    assert_int_equal(used(kit, "e").input_tokens, 30);
    assert_int_equal(used(kit, "e").output_tokens, 40);
}

static void beyond_1_a_piece_of_a_stream_without_usage_is_a_token(void **state)
{
    KIT(kit, "d g max.tpm=36 : text,text,text,ok=0/0 text,text,connection; e e max.otpm=3 : 3xtext,ok=0/0\n"
             "router retries=0 enforce margin=0");
    (void)state;

    next_minute(kit);
    expect(kit, "g stream tokens=30", "d*:ok");
    assert_int_equal(used(kit, "d").tokens, 33);
    expect(kit, "g stream tokens=1", "d*:500 fail*:500");
    expect_limit(expect_call(kit, "g", "d! fail:429"), WEIR_REASON_MINUTE_LIMIT, "TPM", 36, 36);
    expect(kit, "e stream", "e*:ok");
    expect_limit(expect_call(kit, "e", "e! fail:429"), WEIR_REASON_MINUTE_LIMIT, "OTPM", 3, 3);
}

static void rs_19_a_reserve_is_put_right_in_its_own_minute(void **state)
{
    KIT(kit, "d g max.itpm=100 : ok=50/1+60 ok=7/1; router retries=0 enforce margin=0");
    struct kit_call *call;
    (void)state;

    next_minute(kit);
    call = kit_begin(kit, "g tokens=100");
    next_minute(kit);
    expect(kit, "g tokens=100", "d:ok");
    kit_run(call);
    assert_int_equal(used(kit, "d").input_tokens, 7);
    assert_int_equal(used(kit, "d").tokens, 8 + 51);
}

static void rs_19_one_refusal_gives_back_the_other_parts(void **state)
{
    KIT(kit, "d g max.rpm=0 max.itpm=100 max.otpm=100 slots=1; router retries=0 enforce");
    (void)state;

    next_minute(kit);
    expect_each(kit, 3, "g tokens=100/100", "d! fail:429");
    assert_int_equal(used(kit, "d").input_tokens, 0);
    assert_int_equal(used(kit, "d").output_tokens, 0);
    assert_int_equal(kit_view(kit, "d").running, 0);
}

static void rs_19_a_full_deployment_takes_nothing_of_the_minute(void **state)
{
    KIT(kit, "d g max.rpm=2 slots=1 : ok+1 ok; router retries=0 enforce");
    struct kit_call *call;
    (void)state;

    next_minute(kit);
    call = kit_begin(kit, "g");
    assert_int_equal(expect_call(kit, "g", "d! fail:429")->fail.reason, WEIR_REASON_SLOTS);
    kit_run(call);
    expect(kit, "g", "d:ok");
    assert_int_equal(expect_call(kit, "g", "d! fail:429")->fail.reason, WEIR_REASON_MINUTE_LIMIT);
}

static void rs_19_keys_of_the_callers_own_count_nowhere(void **state)
{
    KIT(kit, "d g max.rpm=1 max.tpm=1; router retries=0 enforce");
    (void)state;

    next_minute(kit);
    expect_each(kit, 3, "g creds", "d:ok");
    assert_int_equal(used(kit, "d").requests, 0);
    assert_int_equal(used(kit, "d").tokens, 0);
    expect(kit, "g", "d:ok");
    expect(kit, "g", "d! fail:429");
    expect(kit, "g creds", "d:ok");
}

static void rs_15_a_refusal_counts_like_a_429_of_the_provider(void **state)
{
    KIT(kit, "d g w=1 max.rpm=1; e g w=0; router retries=0 enforce cooldown=7");
    struct kit_call *call;
    (void)state;

    next_minute(kit);
    expect(kit, "g", "d:ok");
    call = expect_call(kit, "g", "d! fail:429");
    expect_events(call, "AttemptRefused,CooldownSet",
                  "AttemptRefused d 429 leave, CooldownSet d 429 rate_limited 7");
    assert_float_equal(kit_cooling(kit, "d"), 7, 1e-9);
    assert_int_equal(kit_view(kit, "d").failures, 1);
    expect_each(kit, 3, "g", "e:ok");
}

static void rs_15_a_refusal_counts_in_the_allowed_fails(void **state)
{
    KIT(kit, "d g w=1 max.rpm=1 fails=1; e g w=0; router retries=0 enforce cooldown=7");
    (void)state;

    next_minute(kit);
    expect(kit, "g", "d:ok");
    expect_each(kit, 2, "g", "d! fail:429");
    assert_float_equal(kit_cooling(kit, "d"), 7, 1e-9);
}

static void rs_15_a_lone_deployment_is_not_cooled(void **state)
{
    KIT(kit, "d g max.rpm=1; router retries=0 enforce");
    (void)state;

    next_minute(kit);
    expect(kit, "g", "d:ok");
    expect_each(kit, 10, "g", "d! fail:429");
    assert_float_equal(kit_cooling(kit, "d"), 0, 0);
}

static void rs_19_a_retry_goes_to_a_sibling_at_once(void **state)
{
    KIT(kit, "d g w=1 max.rpm=1; e g w=0; router retries=1 enforce");
    struct kit_call *call;
    (void)state;

    next_minute(kit);
    expect(kit, "g", "d:ok");
    call = expect_call(kit, "g", "d! e:ok");
    expect_waits(call, 0, 0, 0);
    assert_int_equal(kit_summary(call).retries, 1);
}

static void rs_19_a_lone_deployment_is_not_retried(void **state)
{
    KIT(kit, "d g max.rpm=1; router retries=2 enforce");
    struct kit_call *call;
    (void)state;

    next_minute(kit);
    expect(kit, "g", "d:ok");
    call = expect_call(kit, "g retries=5", "d! fail:429");
    expect_waits(call, 0, 0, 0);
    expect_events(call, "AttemptRefused", "AttemptRefused d 429 leave");
}

static void rs_19_fallbacks_apply(void **state)
{
    KIT(kit, "d g max.rpm=1; b B; router retries=2 enforce; fallbacks g: B");
    (void)state;

    next_minute(kit);
    expect(kit, "g", "d:ok");
    expect_each(kit, 3, "g", "d! b:ok");
}

static void rs_19_orders_apply(void **state)
{
    KIT(kit, "d g order=1 max.rpm=1; e g order=2; router retries=0 enforce no_cooldowns");
    (void)state;

    next_minute(kit);
    expect(kit, "g", "d:ok");
    expect_each(kit, 3, "g", "d! e:ok");
}

static void rs_5_a_spent_deployment_is_not_healthy_until_the_minute_turns(void **state)
{
    /* e cools down after its first failure, and then nothing healthy is left beside the spent d */
    KIT(kit, "d g w=0 max.rpm=1; e g w=1 fails=0 : ok 500 500\n"
             "router retries=2 enforce jitter=0 cooldown=100");
    (void)state;

    next_minute(kit);
    expect(kit, "g", "e:ok");
    expect(kit, "d", "d:ok");
    expect(kit, "g", "e:500 fail:500");
    next_minute(kit);
    expect(kit, "g", "d:ok");
    kit_advance(kit, 60);
    expect(kit, "g", "e:500 d:ok");
}

static void rs_5_each_of_the_limits_makes_it_unhealthy(void **state)
{
    static const char *const limits[] = {"max.rpm=1", "max.tpm=8", "max.itpm=3", "max.otpm=5"};
    char config[128];
    (void)state;

    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        snprintf(config, sizeof(config), "d g %s : ok 500; router retries=1 enforce", limits[i]);
        KIT(kit, config);
        next_minute(kit);
        expect(kit, "g", "d:ok");
        assert_int_equal(expect_call(kit, "g", "d! fail:429")->wait_count, 0);
    }
}

static void rs_5_limits_that_are_not_enforced_leave_it_healthy(void **state)
{
    KIT(kit, "d g max.rpm=1 : 500 ok; router retries=1 jitter=0");
    (void)state;

    next_minute(kit);
    expect(kit, "g", "d:500 d:ok");
}

static void rs_5_a_spent_id_is_not_healthy(void **state)
{
    KIT(kit, "d g max.rpm=1 : 500 ok; e g; router retries=1 enforce jitter=0 no_cooldowns");
    (void)state;

    next_minute(kit);
    expect(kit, "d", "d:500 fail:500");
    next_minute(kit);
    expect(kit, "d", "d:ok");
}

static void beyond_4_a_spent_limit_is_no_cooldown_to_wait_for(void **state)
{
    KIT(kit, "d g max.rpm=1; router retries=3 enforce cool_wait=100");
    struct kit_call *call;
    (void)state;

    next_minute(kit);
    expect(kit, "g", "d:ok");
    call = expect_call(kit, "g", "d! fail:429");
    expect_waits(call, 0, 0, 0);
}

static void rs_6_usage_based_routing_refuses_an_id_over_its_requests(void **state)
{
    KIT(kit, "d g max.rpm=2; e g; router retries=0 strategy=usage-based-routing-v2");
    struct kit_call *call;
    (void)state;

    next_minute(kit);
    expect_each(kit, 2, "d", "d:ok");
    call = expect_call(kit, "d", "d! fail:429");
    expect_limit(call, WEIR_REASON_USAGE_LIMIT, "RPM", 2, 2);
    assert_int_equal(call->fail.failure.retry_after_ns, 60 * WEIR_NS_PER_S);
    /* the Retry-After is the length of the cooldown */
    assert_float_equal(kit_cooling(kit, "d"), 60, 1e-9);
}

static void rs_6_usage_based_routing_does_not_refuse_by_tokens(void **state)
{
    KIT(kit, "d g max.tpm=1 max.itpm=1 max.otpm=1; router retries=0 strategy=usage-based-routing-v2");
    (void)state;

    next_minute(kit);
    expect_each(kit, 3, "d", "d:ok");
}

static void rs_6_with_all_over_their_limits_the_usage_is_told(void **state)
{
    KIT(kit, "d g max.tpm=50 : ok=47/5; e g max.rpm=1 : ok=60/1; b B\n"
             "router retries=0 strategy=usage-based-routing-v2 cooldown=9; fallbacks h: B");
    const weir_deployment *members[4];
    struct kit_call *call;
    (void)state;

    next_minute(kit);
    (void)kit_call(kit, "g");
    (void)kit_call(kit, "g");
    call = expect_call(kit, "g", "fail:429");
    assert_int_equal(call->fail.reason, WEIR_REASON_USAGE);
    assert_int_equal(call->fail.failure.retry_after_ns, 9 * WEIR_NS_PER_S);
    assert_int_equal(weir_call_members(call->call, call->fail.group, members, 4), 2);
    assert_true(weir_slice_eq(weir_deployment_id(members[0]), WEIR_SLICE("d")));
    assert_int_equal(weir_deployment_minute_limits(members[0])->tokens, 50);
    assert_int_equal(used(kit, "d").tokens, 52);
    assert_int_equal(weir_call_members(call->call, WEIR_SLICE("b"), members, 1), 1);
    assert_int_equal(weir_call_members(call->call, WEIR_SLICE("nothing"), members, 1), 0);
    expect(kit, "g fallbacks=B", "b:ok");
}

static void rs_6_a_request_counts_once_with_both(void **state)
{
    KIT(kit, "d g max.rpm=2; router retries=0 enforce strategy=usage-based-routing-v2");
    (void)state;

    next_minute(kit);
    expect_each(kit, 2, "g", "d:ok");
    assert_int_equal(used(kit, "d").requests, 2);
    /* the strategy leaves it out before the check could refuse it */
    assert_int_equal(expect_call(kit, "g", "fail:429")->fail.reason, WEIR_REASON_USAGE);
    assert_int_equal(expect_call(kit, "d", "d! fail:429")->fail.reason, WEIR_REASON_MINUTE_LIMIT);
}

KIT_TESTS_MAIN(TESTS)
