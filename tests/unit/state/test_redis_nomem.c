/* Memory runs out at each allocation in turn: nothing is left behind, and no command is told twice. */
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "redis_kit.h"
#include "unit.h"

/* What the server has read and written so far, without waiting for either. */
static void play(struct redis_kit *kit, int *fd, bool *served)
{
    kit_turn(kit->loop);
    if (*fd < 0)
        *fd = accept4(kit->listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (*fd < 0 || *served)
        return;
    kit_turn(kit->loop);
    kit_send(kit->loop, *fd, redis_kit_master);
    kit_send(kit->loop, *fd, "+PONG\r\n");
    *served = true;
}

static void run(struct redis_kit *kit)
{
    bool served = false;
    unsigned taken = 0;
    int fd = -1;

    for (unsigned i = 0; i < 40 && kit->state_count == 0; i++)
        play(kit, &fd, &served);
    for (unsigned i = 0; i < 100; i++)
        if (redis_kit_send(kit, i, "SET", "key", "value") == 0)
            taken++;
    for (unsigned i = 0; i < 5; i++)
        kit_turn(kit->loop);
    if (fd >= 0) {
        kit_send(kit->loop, fd, "+OK\r\n*2\r\n:1\r\n$3\r\nabc\r\n");
        (void)close(fd);
    }
    for (unsigned i = 0; i < 10; i++)
        kit_turn(kit->loop);
    weir_redis_free(kit->redis);
    kit->redis = NULL;
    assert_int_equal(kit->answer_count, taken);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        struct redis_kit *kit = redis_kit_open();
        bool failed;

        kit->spec.service = WEIR_SLICE_EMPTY;
        kit->mem.fail_from = kit->mem.allocations + n;
        if (weir_redis_new(&kit->spec, &kit->redis) == 0)
            run(kit);
        failed = kit->mem.failed;
        redis_kit_close(kit);
        if (!failed)
            break;
        assert_true(n < 200);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, kit_setup, NULL);
}
