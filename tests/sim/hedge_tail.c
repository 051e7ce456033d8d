/*
 * What hedging is for, in virtual time: where one answer in twenty takes ten times as long as it should, a
 * second attempt after half as long again as usual takes the tail away, for a twentieth more calls.
 */
#include <stdlib.h>

#include "base/rand.h"
#include "base/time.h"

#include "engine_kit.h"

enum { CALLS = 20000 };

#define SLOW_SHARE  0.05
#define SLOW_FACTOR 10

static struct weir_rand rand_of_answers;

/* Around a second, or ten times that. */
static uint64_t answer_time(void)
{
    double seconds = 0.6 + 0.4 * (weir_rand_unit(&rand_of_answers) + weir_rand_unit(&rand_of_answers));

    if (weir_rand_unit(&rand_of_answers) < SLOW_SHARE)
        seconds *= SLOW_FACTOR;
    return weir_time_from_s(seconds);
}

/* The first piece of an attempt's answer comes when the dice say. */
static void on_step(struct kit_call *call, const struct weir_step *step)
{
    uintptr_t index;

    if (step->kind != WEIR_STEP_START)
        return;
    index = (uintptr_t)weir_deployment_user(step->u.start.deployment) - 1;
    call->config->deployments[index].answers[0].pieces[0].delay_ns = answer_time();
}

struct load {
    double p50_s; /* until the first content of a stream, or the answer of a plain call */
    double p99_s;
    double calls_per_request;
};

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static struct load play(const char *request, const char *router)
{
    static double seconds[CALLS];
    char config[256];
    size_t attempts = 0;

    snprintf(config, sizeof(config),
             "d1 g : text,ok; d2 g : text,ok; d3 g : text,ok; d4 g : text,ok; router %s", router);
    KIT(kit, config);
    kit->on_step = on_step;
    weir_rand_init(&rand_of_answers, 7);
    for (size_t i = 0; i < CALLS; i++) {
        const struct kit_call *call = kit_call(kit, request);

        assert_int_equal(call->end, KIT_DELIVERED);
        seconds[i] = weir_time_to_s(kit->now_ns - call->begun_ns);
        attempts += call->attempt_count;
        kit_forget(kit);
        kit_advance(kit, 0.01);
    }
    qsort(seconds, CALLS, sizeof(*seconds), compare);
    return (struct load){seconds[CALLS / 2], seconds[CALLS / 100 * 99], (double)attempts / CALLS};
}

static void show(const char *what, struct load load)
{
    print_message("%-50s p50 %.2f s, p99 %.2f s, %.3f calls a request\n", what, load.p50_s, load.p99_s,
                  load.calls_per_request);
}

static void check(const char *request)
{
    struct load without = play(request, "retries=1"), with = play(request, "retries=1 hedge=1.5"),
                bounded = play(request, "retries=1 hedge=1.5 budget=0.1/0.2");

    show("without hedging", without);
    show("hedge: {after: 1.5}", with);
    show("and retry_budget: {ratio: 0.1, min_per_s: 0.2}", bounded);
    assert_true(without.p99_s > 5 * without.p50_s);
    assert_true(with.p99_s < 3 * with.p50_s);
    assert_true(with.calls_per_request < 1.06);
    assert_true(bounded.p99_s < 3 * bounded.p50_s);
    assert_true(bounded.calls_per_request < 1.06);
}

static void hedging_takes_the_tail_of_plain_calls(void **state)
{
    (void)state;
    check("g");
}

static void hedging_takes_the_tail_of_streams(void **state)
{
    (void)state;
    check("g stream");
}

/* When all are slow hedging would double the load: the budget keeps it from that. */
static void a_budget_bounds_what_hedging_adds(void **state)
{
    struct load without = play("g", "hedge=0.1"), bounded = play("g", "hedge=0.1 budget=0.1");
    (void)state;

    show("hedge: {after: 0.1}", without);
    show("and retry_budget: {ratio: 0.1}", bounded);
    assert_true(without.calls_per_request > 1.99);
    assert_true(bounded.calls_per_request < 1.11);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(hedging_takes_the_tail_of_plain_calls),
        cmocka_unit_test(hedging_takes_the_tail_of_streams),
        cmocka_unit_test(a_budget_bounds_what_hedging_adds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
