/* The channel that the client listens to, on a connection beside that of the commands. */
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "redis_kit.h"
#include "unit.h"

static const char subscribed[] = "*3\r\n$9\r\nsubscribe\r\n$13\r\nweir:cooldown\r\n:1\r\n";

static struct redis_kit *open_listening(void)
{
    struct redis_kit *kit = redis_kit_open();

    kit->spec.channel = WEIR_SLICE("weir:cooldown");
    redis_kit_start(kit);
    return kit;
}

/* The listener's connection, up to its question. */
static int accept_listener(struct redis_kit *kit)
{
    int fd = kit_accept(kit->loop, kit->listening);

    kit->text.len = 0;
    kit_receive(kit->loop, fd, &kit->text, "weir:cooldown\r\n");
    assert_string_equal(kit->text.bytes, "*2\r\n$9\r\nSUBSCRIBE\r\n$13\r\nweir:cooldown\r\n");
    return fd;
}

static void publish(struct redis_kit *kit, int fd, const char *text)
{
    kit_send(kit->loop, fd, "*3\r\n$7\r\nmessage\r\n$13\r\nweir:cooldown\r\n$3\r\n");
    kit_send(kit->loop, fd, text);
    kit_send(kit->loop, fd, "\r\n");
}

static void what_is_published_is_told(void **state)
{
    struct redis_kit *kit = open_listening();
    int fd = redis_kit_serve(kit);
    int listener = accept_listener(kit);

    (void)state;
    assert_false(weir_redis_listens(kit->redis));
    kit_send(kit->loop, listener, subscribed);
    publish(kit, listener, "one");
    redis_kit_messages(kit, 1);
    assert_string_equal(kit->message, "one");
    assert_true(weir_redis_listens(kit->redis));
    publish(kit, listener, "two");
    publish(kit, listener, "...");
    redis_kit_messages(kit, 3);
    assert_string_equal(kit->message, "...");
    assert_int_equal(kit->state_count, 1);
    (void)close(listener);
    (void)close(fd);
    redis_kit_close(kit);
}

static void a_listener_that_is_lost_comes_back_without_a_word(void **state)
{
    struct redis_kit *kit = open_listening();
    int fd = redis_kit_serve(kit);
    int listener = accept_listener(kit);

    (void)state;
    kit_send(kit->loop, listener, subscribed);
    publish(kit, listener, "one");
    redis_kit_messages(kit, 1);
    (void)close(listener);
    listener = accept_listener(kit);
    assert_true(weir_redis_is_up(kit->redis));
    kit_send(kit->loop, listener, subscribed);
    publish(kit, listener, "two");
    redis_kit_messages(kit, 2);
    assert_int_equal(kit->state_count, 1);
    (void)close(listener);
    (void)close(fd);
    redis_kit_close(kit);
}

static void a_channel_that_is_forbidden_is_told_once_and_commands_go_on(void **state)
{
    struct redis_kit *kit = open_listening();
    int fd = redis_kit_serve(kit);
    const struct redis_kit_state *told;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        int listener = accept_listener(kit);

        kit_send(kit->loop, listener, "-NOPERM this user has no permissions to access the channel\r\n");
        kit_expect_end(kit->loop, listener, &kit->text);
        kit->text.ended = false;
        (void)close(listener);
    }
    assert_int_equal(kit->state_count, 2);
    told = &kit->states[1];
    assert_true(told->up && told->deaf);
    assert_non_null(strstr(told->text, "answers, but its channel cannot be listened to (NOPERM"));
    assert_int_equal(redis_kit_send(kit, 1, "GET", "k", NULL), 0);
    kit_send(kit->loop, fd, "$1\r\nv\r\n");
    redis_kit_answers(kit, 1);
    (void)close(fd);
    redis_kit_close(kit);
}

static void with_the_connection_of_the_commands_the_listener_goes_too(void **state)
{
    struct redis_kit *kit = open_listening();
    int fd = redis_kit_serve(kit);
    int listener = accept_listener(kit);

    (void)state;
    kit_send(kit->loop, listener, subscribed);
    publish(kit, listener, "one");
    redis_kit_messages(kit, 1);
    (void)close(fd);
    assert_false(redis_kit_state(kit, 2)->up);
    assert_false(weir_redis_listens(kit->redis));
    kit_expect_end(kit->loop, listener, &kit->text);
    (void)close(listener);
    redis_kit_close(kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_published_is_told),
        cmocka_unit_test(a_listener_that_is_lost_comes_back_without_a_word),
        cmocka_unit_test(a_channel_that_is_forbidden_is_told_once_and_commands_go_on),
        cmocka_unit_test(with_the_connection_of_the_commands_the_listener_goes_too),
    };

    return cmocka_run_group_tests(tests, kit_setup, NULL);
}
