/* Waiting for the end of a cooldown where nothing else is left to do (beyond 4, all_cooling_wait). */
#include "engine_kit.h"

#include "base/time.h"

#define RULES(X)                                                                                             \
    X("beyond 4", a_pick_that_finds_everybody_cooling_waits)                                                 \
    X("beyond 4", the_soonest_end_is_waited_for)                                                             \
    X("beyond 4", the_end_of_one_that_may_not_serve_is_not_waited_for)                                       \
    X("beyond 4", an_end_at_the_limit_is_waited_for_and_one_behind_it_is_not)                                \
    X("beyond 4", fallbacks_come_first)                                                                      \
    X("beyond 4", a_retry_that_lacks_a_healthy_deployment_is_made_after_the_wait)                            \
    X("beyond 4", a_call_without_retries_left_does_not_wait)                                                 \
    X("beyond 4", a_failure_that_no_wait_mends_is_told_at_once)                                              \
    X("beyond 4", all_waits_together_last_no_longer)                                                         \
    X("beyond 4", what_follows_the_wait_is_what_the_caller_is_told)                                          \
    X("beyond 4", a_wait_does_not_begin_that_the_deadline_ends)                                              \
    X("beyond 4", a_caller_who_leaves_ends_the_wait)                                                         \
    X("beyond 4", an_id_is_not_waited_for)                                                                   \
    X("beyond 4", a_request_says_it_before_the_group)                                                        \
    X("beyond 4", a_group_says_it_before_the_router)                                                         \
    X("beyond 4", without_the_setting_the_call_fails_at_once)                                                \
    X("beyond 4", a_cooldown_that_ended_on_the_walk_is_no_wait)                                              \
    X("beyond 4", one_that_is_back_is_not_kept_waiting_for_another)                                          \
    X("beyond 4", the_retry_after_the_wait_spends_the_budget)                                                \
    X("beyond 4", disabled_fallbacks_are_none_that_are_left)                                                 \
    X("beyond 4", a_sibling_that_fails_last_is_waited_for_with_the_retries_left)                             \
    X("beyond 4", a_sibling_that_fails_last_is_not_waited_for_without_retries_left)                          \
    X("beyond 4", the_wait_is_told)

RULES(KIT_TEST_DECLARE)

static void took(const struct kit_call *call, double seconds)
{
    assert_float_equal(weir_time_to_s(call->kit->now_ns - call->begun_ns), seconds, 1e-9);
}

static void a_pick_that_finds_everybody_cooling_waits(void **state)
{
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0 : 429 ok; router retries=1 cooldown=4 cool_wait=3");
    struct kit_call *call;
    (void)state;

    expect(kit, "g", "d1:429 d2:429 fail:429");
    kit_advance(kit, 1.5);
    call = expect_call(kit, "g", "d1:ok");
    took(call, 2.5);
    expect_waits(call, 1, 2.5, 2.5);
}

static void the_soonest_end_is_waited_for(void **state)
{
    KIT(kit, "d1 g w=1 : 429/30 ok; d2 g w=0 : 429/20 ok; router retries=1 cool_wait=60");
    struct kit_call *call;
    (void)state;

    expect(kit, "g", "d1:429 d2:429 fail:429");
    call = expect_call(kit, "g", "d2:ok");
    took(call, 20);
}

static void the_end_of_one_that_may_not_serve_is_not_waited_for(void **state)
{
    KIT(kit, "d1 g tags=a : 429/30 ok; d2 g tags=b : 429/20 ok; router retries=0 filter cool_wait=25");
    struct kit_call *call;
    (void)state;

    expect(kit, "g tags=a", "d1:429 fail:429");
    expect(kit, "g tags=b", "d2:429 fail:429");
    call = expect_call(kit, "g tags=a", "fail:429");
    took(call, 0);
    kit_advance(kit, 10);
    call = expect_call(kit, "g tags=a", "d1:ok");
    took(call, 20);
    expect_events(call, "CoolingWait", "CoolingWait 20");
}

static void an_end_at_the_limit_is_waited_for_and_one_behind_it_is_not(void **state)
{
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0 : 429 ok; router retries=1 cooldown=5 cool_wait=3");
    (void)state;

    expect(kit, "g", "d1:429 d2:429 fail:429");
    kit_advance(kit, 1.999);
    expect(kit, "g", "fail:429");
    kit_advance(kit, 0.001);
    expect(kit, "g", "d1:ok");
}

static void fallbacks_come_first(void **state)
{
    KIT(kit,
        "d1 g w=1 : 429 ok; d2 g w=0 : 429 ok; b B : ok 400; router retries=1 cool_wait=60; fallbacks g: B");
    (void)state;

    expect(kit, "g", "d1:429 d2:429 b:ok");
    expect(kit, "g", "b:400 d1:ok");
}

static void a_retry_that_lacks_a_healthy_deployment_is_made_after_the_wait(void **state)
{
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0 : 429 500; router retries=2 cooldown=5 cool_wait=60");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g", "d1:429 d2:429 d1:ok");
    took(call, 5);
    assert_int_equal(kit_summary(call).retries, 2);
    expect_events(
        call, "AttemptFailed,CoolingWait,Retry",
        "AttemptFailed d1 429 retry, Retry 1/2, AttemptFailed d2 429 leave, CoolingWait 5, Retry 2/2");
}

static void a_call_without_retries_left_does_not_wait(void **state)
{
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0 : 429 ok; router retries=1 cool_wait=60");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g", "d1:429 d2:429 fail:429");
    took(call, 0);
}

static void a_failure_that_no_wait_mends_is_told_at_once(void **state)
{
    KIT(kit, "d1 g : 401 ok; router retries=2 cooldown=5 cool_wait=60");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g", "d1:401 fail:401");
    assert_true(kit_cooling(kit, "d1") > 0);
    took(call, 0);
}

/* A 404 is not retried, but siblings are tried after it; the last of them leaves everybody cooling down. */
static void a_sibling_that_fails_last_is_waited_for_with_the_retries_left(void **state)
{
    KIT(kit, "d1 g w=1 : 404 ok; d2 g w=0 : 429 ok; router retries=2 weighted cooldown=5 cool_wait=60");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g", "d1:404 d2:429 d1:ok");
    took(call, 5);
    assert_int_equal(kit_summary(call).retries, 1);
}

static void a_sibling_that_fails_last_is_not_waited_for_without_retries_left(void **state)
{
    KIT(kit, "d1 g w=1 : 404 ok; d2 g w=0 : 429 ok; router retries=0 weighted cooldown=5 cool_wait=60");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g", "d1:404 d2:429 fail:404");
    took(call, 0);
}

static void all_waits_together_last_no_longer(void **state)
{
    KIT(kit, "d1 g w=1 : 429; d2 g w=0 : 429; router retries=9 cooldown=4 cool_wait=10");
    struct kit_call *call = kit_call(kit, "g");
    (void)state;

    assert_string_equal(call->story, "d1:429 d2:429 d1:429 d2:429 d1:429 d2:429 fail:429");
    took(call, 8);
}

static void what_follows_the_wait_is_what_the_caller_is_told(void **state)
{
    KIT(kit, "d1 g w=1 : 429 400; d2 g w=0 : 429; router retries=1 cooldown=5 cool_wait=60");
    (void)state;

    expect(kit, "g", "d1:429 d2:429 fail:429");
    expect(kit, "g", "d1:400 fail:400");
}

static void a_wait_does_not_begin_that_the_deadline_ends(void **state)
{
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0 : 429 ok; router retries=1 cooldown=5 cool_wait=60");
    struct kit_call *call;
    (void)state;

    expect(kit, "g", "d1:429 d2:429 fail:429");
    call = expect_call(kit, "g deadline=5", "fail:429");
    took(call, 0);
    expect(kit, "g deadline=5.1", "d1:ok");
}

static void a_caller_who_leaves_ends_the_wait(void **state)
{
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0 : 429 ok; router retries=1 cooldown=5 cool_wait=60");
    struct kit_call *call;
    (void)state;

    expect(kit, "g", "d1:429 d2:429 fail:429");
    call = expect_call(kit, "g stream gone=2", "fail:499");
    took(call, 2);
}

static void an_id_is_not_waited_for(void **state)
{
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0; router retries=1 cool_wait=60");
    (void)state;

    expect(kit, "d1", "d1:429 fail:429");
    expect(kit, "d1", "d1:ok");
}

static void a_request_says_it_before_the_group(void **state)
{
    KIT(kit, "d g : 429 ok; e h : 429 ok; router retries=0 cooldown=5 fails=0; group g cool_wait=60");
    struct kit_call *call;
    (void)state;

    expect(kit, "g", "d:429 fail:429");
    expect(kit, "h", "e:429 fail:429");
    expect(kit, "g cool_wait=0", "fail:429");
    expect(kit, "h cool_wait=4", "fail:429");
    call = expect_call(kit, "h cool_wait=5", "e:ok");
    took(call, 5);
    expect(kit, "g", "d:ok");
}

static void a_group_says_it_before_the_router(void **state)
{
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0 : 429 ok; e1 h w=1 : 429 ok; e2 h w=0 : 429 ok\n"
             "router retries=1 cool_wait=60; group g cool_wait=0");
    (void)state;

    expect(kit, "g", "d1:429 d2:429 fail:429");
    expect(kit, "h", "e1:429 e2:429 fail:429");
    expect(kit, "g", "fail:429");
    expect(kit, "h", "e1:ok");
}

static void without_the_setting_the_call_fails_at_once(void **state)
{
    KIT(kit, "d1 g w=1 : 429; d2 g w=0 : 429; b B : 400+10; router retries=5 cooldown=5; fallbacks g: B");
    (void)state;

    expect(kit, "g", "d1:429 d2:429 b:400 fail:429");
}

static void a_cooldown_that_ended_on_the_walk_is_no_wait(void **state)
{
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0 : 429; b B : 400+10; router retries=5 cooldown=5 cool_wait=60; "
             "fallbacks g: B");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g", "d1:429 d2:429 b:400 d1:ok");
    took(call, 10);
}

static void one_that_is_back_is_not_kept_waiting_for_another(void **state)
{
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0 : 429/20; b B : 400+10; router retries=5 cooldown=5 cool_wait=60; "
             "fallbacks g: B");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g", "d1:429 d2:429 b:400 d1:ok");
    took(call, 10);
}

static void the_retry_after_the_wait_spends_the_budget(void **state)
{
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0 : 429; router retries=5 cooldown=5 cool_wait=60 budget=0/0.1");
    struct kit_call *call;
    (void)state;

    call = expect_call(kit, "g", "d1:429 d2:429 fail:429");
    expect_events(call, "RetryRefused,CoolingWait", "RetryRefused d2 retry 1/1");
}

static void disabled_fallbacks_are_none_that_are_left(void **state)
{
    KIT(kit,
        "d1 g w=1 : 429 ok; d2 g w=0 : 429; b B; router retries=1 cooldown=5 cool_wait=60; fallbacks g: B");
    (void)state;

    expect(kit, "g no_fallbacks", "d1:429 d2:429 fail:429");
    expect(kit, "g no_fallbacks", "d1:ok");
}

static void the_wait_is_told(void **state)
{
    KIT(kit, "d1 g w=1 : 429 ok; d2 g w=0 : 429 ok; router retries=1 cooldown=4 cool_wait=60");
    struct kit_call *call;
    (void)state;

    expect(kit, "g", "d1:429 d2:429 fail:429");
    call = kit_call(kit, "g");
    expect_events(call, "CoolingWait,Retry,AttemptStarted,Succeeded",
                  "CoolingWait 4, AttemptStarted d1, Succeeded");
    assert_int_equal(kit_event(call, WEIR_EVENT_COOLING_WAIT, 0)->group.len, 1);
}

KIT_TESTS_MAIN(RULES)
