/* The master of a service, as Sentinels name it, and a failover. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "redis_kit.h"
#include "unit.h"

struct fleet {
    struct redis_kit *kit; /* its own socket is the first master */
    int sentinels[2];
    struct weir_redis_address addresses[2];
    int second; /* the other master */
    uint16_t second_port;
};

static void open_fleet(struct fleet *fleet)
{
    fleet->kit = redis_kit_open();
    for (size_t i = 0; i < 2; i++) {
        fleet->addresses[i].host = WEIR_SLICE("127.0.0.1");
        fleet->sentinels[i] = kit_listen(&fleet->addresses[i].port);
    }
    fleet->second = kit_listen(&fleet->second_port);
    fleet->kit->spec.servers = fleet->addresses;
    fleet->kit->spec.server_count = 2;
    fleet->kit->spec.service = WEIR_SLICE("mymaster");
}

static void close_fleet(struct fleet *fleet)
{
    (void)close(fleet->sentinels[0]);
    (void)close(fleet->sentinels[1]);
    (void)close(fleet->second);
    redis_kit_close(fleet->kit);
}

/* Waits for a question to a Sentinel and answers it; the client closes. */
static void answer(struct fleet *fleet, size_t sentinel, const char *text)
{
    struct redis_kit *kit = fleet->kit;
    int fd = kit_accept(kit->loop, fleet->sentinels[sentinel]);

    kit->text.len = 0;
    kit_receive(kit->loop, fd, &kit->text, "mymaster\r\n");
    assert_non_null(strstr(kit->text.bytes, "GET-MASTER-ADDR-BY-NAME"));
    kit_send(kit->loop, fd, text);
    (void)close(fd);
}

static void name_master(struct fleet *fleet, size_t sentinel, uint16_t port)
{
    char text[64], digits[8];
    int len = snprintf(digits, sizeof(digits), "%u", port);

    (void)snprintf(text, sizeof(text), "*2\r\n$9\r\n127.0.0.1\r\n$%d\r\n%s\r\n", len, digits);
    answer(fleet, sentinel, text);
}

static void the_master_that_a_sentinel_names_is_used(void **state)
{
    struct fleet fleet;
    int fd;

    (void)state;
    open_fleet(&fleet);
    redis_kit_start(fleet.kit);
    name_master(&fleet, 0, fleet.kit->server.port);
    fd = redis_kit_serve(fleet.kit);
    (void)close(fd);
    close_fleet(&fleet);
}

static void a_sentinel_that_knows_nothing_sends_on_to_the_next(void **state)
{
    struct fleet fleet;
    int fd;

    (void)state;
    open_fleet(&fleet);
    redis_kit_start(fleet.kit);
    answer(&fleet, 0, "*-1\r\n");
    name_master(&fleet, 1, fleet.kit->server.port);
    fd = redis_kit_serve(fleet.kit);
    /* The one that knew is asked first from now on. */
    (void)close(fd);
    name_master(&fleet, 1, fleet.kit->server.port);
    fd = redis_kit_serve(fleet.kit);
    (void)close(fd);
    close_fleet(&fleet);
}

static void when_none_names_a_master_that_is_told_with_what_the_last_said(void **state)
{
    struct fleet fleet;
    const struct redis_kit_state *told;

    (void)state;
    open_fleet(&fleet);
    redis_kit_start(fleet.kit);
    answer(&fleet, 0, "-ERR odd\r\n");
    answer(&fleet, 1, "*2\r\n$0\r\n\r\n$5\r\n99999\r\n");
    told = redis_kit_state(fleet.kit, 1);
    assert_int_equal(told->cause, WEIR_REDIS_MASTER);
    assert_non_null(strstr(told->text, "Redis (the master mymaster) is away"));
    assert_non_null(strstr(told->text, "(the service is unknown)"));
    close_fleet(&fleet);
}

static void after_a_failover_the_new_master_is_used(void **state)
{
    struct fleet fleet;
    int fd;

    (void)state;
    open_fleet(&fleet);
    redis_kit_start(fleet.kit);
    name_master(&fleet, 0, fleet.kit->server.port);
    fd = redis_kit_serve(fleet.kit);
    assert_int_equal(redis_kit_send(fleet.kit, 1, "SET", "k", "v"), 0);
    kit_send(fleet.kit->loop, fd, "-READONLY You can't write against a read only replica.\r\n");
    assert_int_equal(redis_kit_state(fleet.kit, 2)->cause, WEIR_REDIS_READ_ONLY);
    (void)close(fd);
    name_master(&fleet, 0, fleet.second_port);
    (void)close(fleet.kit->listening);
    fleet.kit->listening = fleet.second;
    fleet.second = -1;
    fd = redis_kit_serve(fleet.kit);
    (void)close(fd);
    close_fleet(&fleet);
}

/* The breaker rests the old master, not the new one. */
static void a_new_master_ends_the_rest_of_the_old_one(void **state)
{
    struct fleet fleet;
    int fd;

    (void)state;
    open_fleet(&fleet);
    fleet.kit->spec.breaker_threshold = 1;
    redis_kit_start(fleet.kit);
    name_master(&fleet, 0, fleet.kit->server.port);
    fd = redis_kit_serve_as(fleet.kit, redis_kit_replica, "+PONG\r\n");
    assert_true(redis_kit_state(fleet.kit, 1)->resting);
    (void)close(fd);
    name_master(&fleet, 0, fleet.second_port);
    (void)close(fleet.kit->listening);
    fleet.kit->listening = fleet.second;
    fleet.second = -1;
    fd = redis_kit_serve(fleet.kit);
    (void)close(fd);
    close_fleet(&fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_master_that_a_sentinel_names_is_used),
        cmocka_unit_test(a_sentinel_that_knows_nothing_sends_on_to_the_next),
        cmocka_unit_test(when_none_names_a_master_that_is_told_with_what_the_last_said),
        cmocka_unit_test(after_a_failover_the_new_master_is_used),
        cmocka_unit_test(a_new_master_ends_the_rest_of_the_old_one),
    };

    return cmocka_run_group_tests(tests, kit_setup, NULL);
}
