/* The life of setups: who works by which, and when the last of it is over. */
#include "unit.h"

#include <pthread.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "base/container.h"
#include "config/config.h"
#include "gateway/attempt/trust.h"
#include "gateway/seat.h"
#include "test_mem.h"

enum { SEATS = 3, OFFERS = 300 };

static const char text[] =
    "model_list:\n- {model_name: g, litellm_params: {model: sim/a}, model_info: {id: d}}\n"
    "- {model_name: 'x/*', litellm_params: {model: 'openai/*', api_key: k}}\n";

static struct test_mem mem;
static struct weir_graves graves;
static struct weir_trust trust;
static weir_loop *loop;
static unsigned changes;

/* ---- setups ---- */

static int try_setup(const struct weir_mem *of, struct weir_setup **ret_setup)
{
    const struct weir_config_env env = {NULL, NULL};
    struct weir_setup_plan plan = {.mem = of, .trust = &trust, .graves = &graves, .seats = SEATS};
    char why[WEIR_SETUP_TEXT_MAX];
    struct weir_diags diags;
    int r;

    weir_diags_init(&diags, of);
    r = weir_config_load_text(weir_slice_str(text), "c.yaml", &env, of, &diags, &plan.config);
    weir_diags_deinit(&diags);
    if (r == 0)
        r = weir_setup_new(&plan, why, ret_setup);
    return r;
}

static struct weir_setup *new_setup(void)
{
    struct weir_setup *setup;

    assert_int_equal(try_setup(&mem.mem, &setup), 0);
    return setup;
}

/* Lies in the graves. */
static bool is_over(const struct weir_setup *setup)
{
    for (const struct weir_setup *dead = atomic_load(&graves.top); dead != NULL; dead = dead->below)
        if (dead == setup)
            return true;
    return false;
}

static void on_changed(struct weir_seat *seat)
{
    (void)seat;
    changes++;
}

/* ---- the loop ---- */

static void run_stop(struct weir_loop_task *task)
{
    (void)task;
    weir_loop_stop(loop);
}

/* What was posted so far is done. */
static void turn(void)
{
    struct weir_loop_task stop = {.run = run_stop};

    weir_loop_post(loop, &stop);
    weir_loop_run(loop);
}

static int begin(void **state)
{
    (void)state;
    test_mem_init(&mem, 0);
    weir_graves_init(&graves, NULL);
    weir_trust_init(&trust, &mem.mem);
    assert_int_equal(weir_loop_new(weir_mem_libc(), &loop), 0);
    changes = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_loop_free(loop);
    weir_graves_deinit(&graves);
    weir_trust_deinit(&trust);
    test_mem_assert_empty(&mem);
    return 0;
}

/* Makes a setup, offers it, and lets the seat alone have it. */
static struct weir_setup *offer(struct weir_seat *seat)
{
    struct weir_setup *setup = new_setup();

    weir_seat_offer(seat, setup);
    weir_setup_unref(setup);
    return setup;
}

static void take_seat(struct weir_seat *seat)
{
    struct weir_setup *setup = new_setup();

    weir_seat_init(seat, loop, 1, setup, on_changed);
    weir_setup_unref(setup);
}

/* ---- tests ---- */

static void a_setup_tells_what_follows_from_its_configuration(void **state)
{
    struct weir_setup *setup = new_setup();

    (void)state;
    assert_true(setup->has_patterns);
    assert_false(setup->hedges);
    assert_ptr_equal(setup->snapshot, setup->config->snapshot);
    assert_int_equal(setup->upstreams.count, 2);
    weir_setup_unref(setup);
    assert_true(is_over(setup));
}

static void what_began_by_a_setup_keeps_it_over_two_others(void **state)
{
    struct weir_setup *first, *second, *third;
    struct weir_seat seat;

    (void)state;
    take_seat(&seat);
    first = weir_seat_hold(&seat);
    assert_ptr_equal(weir_seat_hold(&seat), first);
    second = offer(&seat);
    assert_ptr_equal(seat.setup, first); /* not before the loop's turn */
    turn();
    assert_ptr_equal(seat.setup, second);
    third = offer(&seat);
    turn();
    assert_ptr_equal(weir_seat_hold(&seat), third);
    assert_int_equal(changes, 2);
    assert_true(is_over(second)); /* nothing was begun by it */
    assert_false(is_over(first));
    weir_seat_release(&seat, first);
    assert_false(is_over(first));
    weir_seat_release(&seat, first);
    assert_true(is_over(first));
    weir_seat_release(&seat, third);
    assert_false(is_over(third)); /* it is the current one */
    weir_seat_deinit(&seat);
    assert_true(is_over(third));
}

static void an_offer_takes_the_place_of_one_that_was_not_taken_up(void **state)
{
    struct weir_setup *second, *third;
    struct weir_seat seat;

    (void)state;
    take_seat(&seat);
    second = offer(&seat);
    third = offer(&seat);
    assert_true(is_over(second));
    turn();
    assert_ptr_equal(seat.setup, third);
    assert_int_equal(changes, 1);
    weir_seat_deinit(&seat);
}

static void a_seat_may_be_left_with_an_offer_on_it(void **state)
{
    struct weir_setup *second;
    struct weir_seat seat;

    (void)state;
    take_seat(&seat);
    second = offer(&seat);
    weir_seat_deinit(&seat);
    assert_true(is_over(second));
}

static void the_graves_are_emptied_by_the_loop_that_they_belong_to(void **state)
{
    struct weir_setup *setups[3];

    (void)state;
    weir_graves_init(&graves, loop);
    for (size_t i = 0; i < 3; i++)
        setups[i] = new_setup();
    for (size_t round = 0; round < 3; round++) {
        weir_setup_unref(setups[round]);
        assert_true(is_over(setups[round]));
        if (round > 0) {
            turn();
            assert_null(atomic_load(&graves.top));
        }
    }
}

static void wherever_memory_runs_out_all_of_it_comes_back(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        struct weir_setup *setup = NULL;
        struct test_mem few;
        int r;

        test_mem_init(&few, n);
        r = try_setup(&few.mem, &setup);
        assert_true(r == 0 || r == WEIR_ERR_NOMEM);
        assert_int_equal(r == 0, setup != NULL);
        weir_setup_unref(setup);
        weir_graves_deinit(&graves);
        test_mem_assert_empty(&few);
        if (!few.failed)
            break;
    }
}

/* ---- threads ---- */

struct holder {
    pthread_t thread;
    weir_loop *loop;
    struct weir_seat seat;
    struct weir_loop_task work;
    struct weir_setup *held[8];
    size_t at;
    atomic_bool ending;
};

/* Begins one thing and ends the oldest, again and again. */
static void run_work(struct weir_loop_task *task)
{
    struct holder *holder = WEIR_CONTAINER(task, struct holder, work);
    struct weir_setup **place = &holder->held[holder->at++ % 8];

    if (*place != NULL) {
        assert_int_equal((*place)->config->deployment_count, 2);
        weir_seat_release(&holder->seat, *place);
        *place = NULL;
    }
    if (atomic_load(&holder->ending)) {
        weir_loop_stop(holder->loop);
        return;
    }
    *place = weir_seat_hold(&holder->seat);
    weir_loop_post(holder->loop, &holder->work);
}

static void *holder_main(void *user)
{
    struct holder *holder = user;

    weir_loop_post(holder->loop, &holder->work);
    weir_loop_run(holder->loop);
    for (size_t i = 0; i < 8; i++)
        if (holder->held[i] != NULL)
            weir_seat_release(&holder->seat, holder->held[i]);
    return NULL;
}

static void begin_holder(struct holder *holder, size_t index, struct weir_setup *setup)
{
    *holder = (struct holder){.work = {.run = run_work}};
    atomic_init(&holder->ending, false);
    assert_int_equal(weir_loop_new(weir_mem_libc(), &holder->loop), 0);
    weir_seat_init(&holder->seat, holder->loop, index, setup, NULL);
    assert_int_equal(pthread_create(&holder->thread, NULL, holder_main, holder), 0);
}

static void end_holder(struct holder *holder)
{
    atomic_store(&holder->ending, true);
    assert_int_equal(pthread_join(holder->thread, NULL), 0);
    weir_loop_free(holder->loop);
    weir_seat_deinit(&holder->seat);
}

static void many_threads_follow_many_setups(void **state)
{
    static struct holder holders[SEATS];
    struct weir_setup *setup;

    (void)state;
    weir_graves_init(&graves, loop);
    assert_int_equal(try_setup(weir_mem_libc(), &setup), 0);
    for (size_t i = 0; i < SEATS; i++)
        begin_holder(&holders[i], i, setup);
    weir_setup_unref(setup);
    for (unsigned n = 0; n < OFFERS; n++) {
        assert_int_equal(try_setup(weir_mem_libc(), &setup), 0);
        for (size_t i = 0; i < SEATS; i++)
            weir_seat_offer(&holders[i].seat, setup);
        weir_setup_unref(setup);
        if (n % 8 == 0)
            turn();
    }
    for (size_t i = 0; i < SEATS; i++)
        end_holder(&holders[i]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_setup_tells_what_follows_from_its_configuration),
        TEST(what_began_by_a_setup_keeps_it_over_two_others),
        TEST(an_offer_takes_the_place_of_one_that_was_not_taken_up),
        TEST(a_seat_may_be_left_with_an_offer_on_it),
        TEST(the_graves_are_emptied_by_the_loop_that_they_belong_to),
        TEST(wherever_memory_runs_out_all_of_it_comes_back),
        TEST(many_threads_follow_many_setups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
