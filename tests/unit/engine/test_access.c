/* Deployments that are reserved for some teams at some hours, in virtual time (router-semantics 3 and 21). */
#include "engine_kit.h"

#include "base/slice.h"
#include "base/time.h"
#include "engine/pick/access.h"

/* clang-format off */
#define TESTS(X) \
    X("RS 3", rs_3_a_window_holds_its_start_and_not_its_end) \
    X("RS 3", rs_3_a_window_may_go_over_midnight) \
    X("RS 3", rs_3_a_window_goes_by_the_clocks_of_its_place) \
    X("RS 3", rs_3_one_open_window_that_lets_through_is_enough) \
    X("RS 3", rs_3_a_reserved_deployment_is_for_its_teams_alone) \
    X("RS 3", rs_3_when_all_are_reserved_there_is_nobody) \
    X("RS 3", rs_3_a_reserved_deployment_is_not_asked_by_its_id) \
    X("RS 3", rs_3_a_reserved_deployment_makes_no_retry_worth_while) \
    X("RS 3", rs_3_a_reserved_deployment_is_not_told_of)
/* clang-format on */

TESTS(KIT_TEST_DECLARE)

enum { DAY = 24 * 60, SOME_DAY = 20000 * DAY };

static const struct weir_slice team_a[] = {WEIR_SLICE_INIT("a")};

static bool is_shut(const struct weir_access_window *windows, size_t count, const char *team, int minute)
{
    struct weir_deployment_spec spec;

    weir_deployment_spec_init(&spec);
    spec.windows = windows;
    spec.window_count = count;
    return weir_access_is_shut(&spec, weir_slice_str(team), (uint64_t)(SOME_DAY + minute));
}

static void rs_3_a_window_holds_its_start_and_not_its_end(void **state)
{
    const struct weir_access_window window = {9 * 60, 17 * 60, {NULL, 0}, team_a, 1};
    (void)state;

    assert_false(is_shut(&window, 1, "b", 9 * 60 - 1));
    assert_true(is_shut(&window, 1, "b", 9 * 60));
    assert_true(is_shut(&window, 1, "", 17 * 60 - 1));
    assert_false(is_shut(&window, 1, "b", 17 * 60));
    assert_false(is_shut(&window, 1, "a", 9 * 60));
}

static void rs_3_a_window_may_go_over_midnight(void **state)
{
    const struct weir_access_window window = {22 * 60, 6 * 60, {NULL, 0}, team_a, 1};
    (void)state;

    assert_false(is_shut(&window, 1, "b", 22 * 60 - 1));
    assert_true(is_shut(&window, 1, "b", 22 * 60));
    assert_true(is_shut(&window, 1, "b", DAY + 6 * 60 - 1));
    assert_false(is_shut(&window, 1, "b", DAY + 6 * 60));
}

/* An hour ahead of UTC, two from noon of the day on. */
static void rs_3_a_window_goes_by_the_clocks_of_its_place(void **state)
{
    const struct weir_zone_change changes[] = {{0, 60}, {SOME_DAY + 720, 120}, {SOME_DAY + DAY, -300}};
    const struct weir_access_window window = {600, 840, {changes, 3}, team_a, 1};
    (void)state;

    assert_false(is_shut(&window, 1, "b", 539));
    assert_true(is_shut(&window, 1, "b", 540));
    assert_true(is_shut(&window, 1, "b", 719));
    assert_false(is_shut(&window, 1, "b", 720)); /* it is two o'clock */
    assert_false(is_shut(&window, 1, "b", DAY + 899));
    assert_true(is_shut(&window, 1, "b", DAY + 900));
    assert_false(is_shut(&window, 1, "b", -SOME_DAY)); /* one o'clock, in 1970 */
}

static void rs_3_one_open_window_that_lets_through_is_enough(void **state)
{
    static const struct weir_slice team_b[] = {WEIR_SLICE_INIT("b"), WEIR_SLICE_INIT("c")};
    const struct weir_access_window windows[] = {{60, 180, {NULL, 0}, team_a, 1},
                                                 {120, 240, {NULL, 0}, team_b, 2}};
    (void)state;

    assert_true(is_shut(windows, 2, "c", 60));
    assert_false(is_shut(windows, 2, "c", 120));
    assert_false(is_shut(windows, 2, "a", 120));
    assert_true(is_shut(windows, 2, "d", 120));
    assert_true(is_shut(windows, 2, "a", 180));
}

/* A kit whose wall clock stands at a minute of the day. */
static void stand_at(struct kit *kit, int minute)
{
    weir_router_set_wall(kit->router, (uint64_t)(SOME_DAY + minute) * 60 * WEIR_NS_PER_S, kit->now_ns);
}

static void rs_3_a_reserved_deployment_is_for_its_teams_alone(void **state)
{
    KIT(kit, "d g w=1 window=60-120/a; e g w=0; router retries=0");
    (void)state;

    stand_at(kit, 59);
    expect(kit, "g", "d:ok");
    kit_advance(kit, 60);
    expect(kit, "g", "e:ok");
    expect(kit, "g team=b", "e:ok");
    expect(kit, "g team=a", "d:ok");
    kit_advance(kit, 59 * 60 + 59);
    expect(kit, "g", "e:ok");
    kit_advance(kit, 1);
    expect(kit, "g", "d:ok");
}

static void rs_3_when_all_are_reserved_there_is_nobody(void **state)
{
    KIT(kit, "d g window=60-120/a; b B; router retries=2; fallbacks g: B");
    struct kit_call *call;
    (void)state;

    stand_at(kit, 60);
    call = expect_call(kit, "g no_fallbacks", "fail:429");
    assert_int_equal(call->fail.reason, WEIR_REASON_NO_DEPLOYMENTS);
    expect(kit, "g", "b:ok");
    expect(kit, "g team=a", "d:ok");
}

static void rs_3_a_reserved_deployment_is_not_asked_by_its_id(void **state)
{
    KIT(kit, "d g window=60-120/a; router retries=0");
    struct kit_call *call;
    (void)state;

    stand_at(kit, 60);
    call = expect_call(kit, "d", "fail:503");
    assert_int_equal(call->fail.reason, WEIR_REASON_PAUSED);
    expect(kit, "d team=a", "d:ok");
    kit_advance(kit, 3600);
    expect(kit, "d", "d:ok");
}

static void rs_3_a_reserved_deployment_makes_no_retry_worth_while(void **state)
{
    KIT(kit, "d g w=0 window=60-120/a; e g w=1 : 429; router retries=2 cooldown=5 jitter=0");
    (void)state;

    stand_at(kit, 60);
    expect(kit, "g", "e:429 fail:429");
    kit_advance(kit, 3600);
    expect(kit, "g", "e:429 d:ok");
}

static void rs_3_a_reserved_deployment_is_not_told_of(void **state)
{
    const weir_deployment *members[4];
    struct weir_slice ids[4];
    struct kit_call *call;
    KIT(kit, "d g w=1 window=60-120/a : 429/2; e g w=0 : 429/9; router retries=1");
    (void)state;

    stand_at(kit, 60);
    expect(kit, "g team=a", "d:429 e:429 fail:429");
    call = expect_call(kit, "g", "fail:429");
    assert_int_equal(call->fail.failure.retry_after_ns, 9 * WEIR_NS_PER_S);
    assert_int_equal(weir_call_cooling(call->call, WEIR_SLICE("g"), kit->now_ns, ids, 4), 1);
    assert_true(weir_slice_eq(ids[0], WEIR_SLICE("e")));
    assert_int_equal(weir_call_members(call->call, WEIR_SLICE("g"), members, 4), 1);
    assert_true(weir_slice_eq(weir_deployment_id(members[0]), WEIR_SLICE("e")));
}

KIT_TESTS_MAIN(TESTS)
