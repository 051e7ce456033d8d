/* What a Picked event says of the candidates: the first thing that kept each of them from being chosen. */
#include "engine_kit.h"

static void expect_picked(struct kit *kit, const char *request, const char *text)
{
    const struct kit_call *call = kit_call(kit, request);

    kit_expect_events(call, "Picked", text, __FILE__, __LINE__);
}

static void nobody_is_told_of_picks_who_did_not_ask(void **state)
{
    (void)state;
    KIT(kit, "d1 g : ok\n");
    expect_picked(kit, "g", "");
}

static void a_pick_says_who_was_chosen_and_who_was_passed_over(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : ok\n"
             "d2 g w=0 : ok\n");
    expect_picked(kit, "g note=16", "Picked for attempt d1=chosen d2=not_chosen");
}

static void the_event_names_the_strategy_and_comes_before_the_attempt(void **state)
{
    const struct kit_call *call;
    const struct weir_event *event;
    (void)state;

    KIT(kit, "d1 g : ok\n");
    call = kit_call(kit, "g note=16");
    event = kit_event(call, WEIR_EVENT_PICKED, 0);
    assert_ptr_equal(event, &call->events[0]);
    assert_int_equal(call->events[1].kind, WEIR_EVENT_ATTEMPT_STARTED);
    assert_slice_is(event->u.picked.strategy, "simple-shuffle");
    assert_slice_is(event->deployment, "d1");
    assert_slice_is(event->group, "g");
}

static void a_deployment_that_is_paused_is_told_of(void **state)
{
    (void)state;
    KIT(kit, "d1 g blocked : ok\n"
             "d2 g : ok\n");
    expect_picked(kit, "g note=16", "Picked for attempt d1=blocked d2=chosen");
}

static void later_orders_are_not_looked_at(void **state)
{
    (void)state;
    KIT(kit, "d2 g order=2 : ok\n"
             "d1 g order=1 : 500 ok\n"
             "router retries=0\n");
    expect_picked(kit, "g note=16",
                  "Picked for attempt d2=later_order d1=chosen, "
                  "Picked for order d2=chosen d1=earlier_order");
}

static void what_cools_down_says_until_when(void **state)
{
    const struct kit_call *call;
    const struct weir_event *event;
    (void)state;

    KIT(kit, "d1 g w=1 : 429 ok\n"
             "d2 g w=0 : ok\n"
             "router cooldown=30\n");
    call = kit_call(kit, "g note=16");
    kit_expect_events(call, "Picked",
                      "Picked for attempt d1=chosen d2=not_chosen, "
                      "Picked for retry d1=cooling_down d2=chosen",
                      __FILE__, __LINE__);
    event = kit_event(call, WEIR_EVENT_PICKED, 1);
    assert_int_equal(event->u.picked.candidates[0].until_ns, event->time_ns + UINT64_C(30000000000));
    assert_int_equal(event->u.picked.candidates[1].until_ns, 0);
}

static void one_that_failed_before_is_avoided_and_says_so(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : 500 ok\n"
             "d2 g w=0 : 500 ok\n"
             "router retries=2\n");
    expect_picked(kit, "g note=16",
                  "Picked for attempt d1=chosen d2=not_chosen, "
                  "Picked for retry d1=failed_before d2=chosen, "
                  "Picked for retry d1=chosen d2=not_chosen");
}

static void a_pick_that_finds_nobody_is_told_of_too(void **state)
{
    const struct kit_call *call;
    (void)state;

    KIT(kit, "d1 g : 429 ok\n"
             "d2 g : 429 ok\n"
             "router retries=0 cooldown=30\n");
    kit_call(kit, "g");
    kit_call(kit, "g");
    call = kit_call(kit, "g note=16");
    kit_expect_events(call, "Picked", "Picked for attempt d1=cooling_down d2=cooling_down", __FILE__,
                      __LINE__);
    assert_int_equal(kit_event(call, WEIR_EVENT_PICKED, 0)->deployment.len, 0);
}

static void siblings_leave_out_what_has_failed(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=3 : 500\n"
             "d2 g w=0 : ok\n"
             "router retries=0 weighted\n");
    expect_picked(kit, "g note=16",
                  "Picked for attempt d1=chosen d2=not_chosen, "
                  "Picked for sibling d1=excluded d2=chosen");
}

static void a_hedge_leaves_out_what_runs(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : ok+5\n"
             "d2 g w=0 : ok\n"
             "router hedge=1\n");
    expect_picked(kit, "g note=16",
                  "Picked for attempt d1=chosen d2=not_chosen, "
                  "Picked for hedge d1=excluded d2=chosen");
}

static void a_continuation_needs_one_that_takes_a_prefill(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=1 : text,500\n"
             "d2 g w=0 : ok\n"
             "d3 h : ok\n"
             "d4 h prefill : ok\n"
             "router retries=0 continuation targets=fallback\n"
             "fallbacks g: h\n");
    expect_picked(kit, "g stream continue note=16",
                  "Picked for attempt d1=chosen d2=not_chosen, "
                  "Picked for continuation d3=no_prefill d4=chosen");
}

static void an_id_is_a_set_of_one(void **state)
{
    const struct kit_call *call;
    (void)state;

    KIT(kit, "d1 g : ok\n"
             "d2 g blocked : ok\n");
    call = kit_call(kit, "d1 note=16");
    kit_expect_events(call, "Picked", "Picked for attempt d1=chosen", __FILE__, __LINE__);
    assert_int_equal(kit_event(call, WEIR_EVENT_PICKED, 0)->u.picked.strategy.len, 0);
    expect_picked(kit, "d2 note=16", "Picked for attempt d2=blocked");
}

static void filters_are_told_by_their_names(void **state)
{
    (void)state;
    KIT(kit, "d1 g max_input=10 : ok\n"
             "d2 g region=us : ok\n"
             "d3 g params=1 : ok\n"
             "d4 g : ok\n"
             "router checks margin=0\n");
    expect_picked(kit, "g note=16 tokens=100 region=eu params=2",
                  "Picked for attempt d1=prompt_too_long d2=out_of_region d3=lacks_parameters d4=chosen");
}

static void what_the_tags_leave_out_says_so(void **state)
{
    (void)state;
    KIT(kit, "d1 g tags=a : ok\n"
             "d2 g tags=b : ok\n"
             "d3 g tags=default : ok\n"
             "router filter\n");
    expect_picked(kit, "g note=16 tags=b", "Picked for attempt d1=out_of_tags d2=chosen d3=out_of_tags");
    expect_picked(kit, "g note=16 tags=!default",
                  "Picked for attempt d1=out_of_tags d2=out_of_tags d3=out_of_tags");
}

/* A set of so many members has a pool for each tag. */
static void pools_of_tags_tell_the_same(void **state)
{
    char config[2048] = "";
    size_t len = 0;
    (void)state;

    for (int i = 0; i < 20; i++)
        len += (size_t)snprintf(config + len, sizeof(config) - len, "d%d g tags=%s : ok\n", i,
                                i == 3 ? "a" : "b");
    snprintf(config + len, sizeof(config) - len, "router filter\n");
    KIT(kit, config);
    expect_picked(kit, "g note=4 tags=a",
                  "Picked for attempt d0=out_of_tags d1=out_of_tags d2=out_of_tags d3=chosen and 16");
    expect_picked(kit, "g note=2 tags=c", "Picked for attempt d0=out_of_tags d1=out_of_tags and 18");
}

static void what_has_no_room_says_so(void **state)
{
    (void)state;
    KIT(kit, "d1 g max.rpm=0 : ok\n"
             "d2 g : ok\n"
             "router strategy=usage-based-routing-v2\n");
    expect_picked(kit, "g note=16", "Picked for attempt d1=no_room d2=chosen");
}

static void the_chosen_one_is_always_among_the_noted(void **state)
{
    (void)state;
    KIT(kit, "d1 g w=0 : ok\n"
             "d2 g w=0 : ok\n"
             "d3 g w=0 : ok\n"
             "d4 g w=1 : ok\n");
    expect_picked(kit, "g note=2", "Picked for attempt d1=not_chosen d4=chosen and 2");
    expect_picked(kit, "g note=1", "Picked for attempt d4=chosen and 3");
}

static void cooldowns_that_are_ignored_still_say_their_end(void **state)
{
    const struct kit_call *call;
    (void)state;

    KIT(kit, "d1 g fails.rate_limit=0 : 429 ok\n"
             "router retries=0 cooldown=30 bypass fails.rate_limit=0\n");
    kit_call(kit, "g");
    call = kit_call(kit, "g note=16");
    kit_expect_events(call, "Picked", "Picked for attempt d1=chosen", __FILE__, __LINE__);
    assert_true(kit_event(call, WEIR_EVENT_PICKED, 0)->u.picked.candidates[0].until_ns > kit->now_ns);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_is_told_of_picks_who_did_not_ask),
        cmocka_unit_test(a_pick_says_who_was_chosen_and_who_was_passed_over),
        cmocka_unit_test(the_event_names_the_strategy_and_comes_before_the_attempt),
        cmocka_unit_test(a_deployment_that_is_paused_is_told_of),
        cmocka_unit_test(later_orders_are_not_looked_at),
        cmocka_unit_test(what_cools_down_says_until_when),
        cmocka_unit_test(one_that_failed_before_is_avoided_and_says_so),
        cmocka_unit_test(a_pick_that_finds_nobody_is_told_of_too),
        cmocka_unit_test(siblings_leave_out_what_has_failed),
        cmocka_unit_test(a_hedge_leaves_out_what_runs),
        cmocka_unit_test(a_continuation_needs_one_that_takes_a_prefill),
        cmocka_unit_test(an_id_is_a_set_of_one),
        cmocka_unit_test(filters_are_told_by_their_names),
        cmocka_unit_test(what_the_tags_leave_out_says_so),
        cmocka_unit_test(pools_of_tags_tell_the_same),
        cmocka_unit_test(what_has_no_room_says_so),
        cmocka_unit_test(the_chosen_one_is_always_among_the_noted),
        cmocka_unit_test(cooldowns_that_are_ignored_still_say_their_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
