/* Signals and other descriptors that come to a loop. */
#include "unit.h"

#include <fcntl.h>
#include <unistd.h>

#include <weir/mem_libc.h>

#include "base/container.h"
#include "net/fd_watch.h"
#include "net/signals.h"

static weir_loop *loop;
static int seen[4];
static size_t seen_count;
static size_t wanted;

static void on_signal(struct weir_signals *signals, int number)
{
    (void)signals;
    seen[seen_count++] = number;
    if (seen_count == wanted)
        weir_loop_stop(loop);
}

static void claimed_signals_wait_until_they_are_asked_for(void **state)
{
    struct weir_signals signals = {0};
    sigset_t set;

    (void)state;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGHUP);
    (void)sigaddset(&set, SIGTERM);
    weir_signals_claim(&set);
    assert_int_equal(raise(SIGHUP), 0);
    assert_int_equal(weir_signals_start(loop, &signals, &set, on_signal), 0);
    wanted = 1;
    weir_loop_run(loop);
    assert_int_equal(seen[0], SIGHUP);
    assert_int_equal(raise(SIGTERM), 0);
    assert_int_equal(raise(SIGHUP), 0);
    wanted = 3;
    weir_loop_run(loop);
    assert_int_equal(seen[1] + seen[2], SIGHUP + SIGTERM);
    weir_signals_stop(&signals);
    weir_signals_stop(&signals);
    weir_loop_free(loop);
}

static void on_ready(struct weir_fd_watch *watch)
{
    char room[8];

    assert_int_equal(read(watch->fd, room, sizeof(room)), 1);
    weir_fd_watch_stop(watch);
    weir_loop_stop(loop);
}

static void a_watched_descriptor_is_closed_with_its_watch(void **state)
{
    struct weir_fd_watch watch = {0};
    int ends[2];

    (void)state;
    assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    assert_int_equal(weir_fd_watch_start(loop, &watch, ends[0], on_ready), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    weir_loop_run(loop);
    assert_false(watch.open);
    assert_int_equal(fcntl(ends[0], F_GETFD), -1);
    (void)close(ends[1]);
    weir_loop_free(loop);
}

static int begin(void **state)
{
    (void)state;
    seen_count = 0;
    return weir_loop_new(weir_mem_libc(), &loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(claimed_signals_wait_until_they_are_asked_for, begin),
        cmocka_unit_test_setup(a_watched_descriptor_is_closed_with_its_watch, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
