/* Replies of a server, whole and in pieces, and what is refused of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "base/rand.h"
#include "chunks.h"
#include "state/command.h"
#include "state/reply.h"
#include "unit.h"

static const struct weir_reply_limits usual = {.max_bytes = 65536, .max_items = 100};

static weir_reply_reader *reader_with(struct weir_reply_limits limits)
{
    weir_reply_reader *reader;

    assert_int_equal(weir_reply_reader_new(weir_mem_libc(), limits, &reader), 0);
    return reader;
}

static void each_kind_of_reply_is_read(void **state)
{
    weir_reply_reader *reader = reader_with(usual);
    const struct weir_reply *reply;

    (void)state;
    assert_int_equal(weir_reply_reader_feed(
                         reader, WEIR_SLICE("+OK\r\n-ERR no\r\n:-42\r\n$5\r\nhello\r\n$-1\r\n"
                                            "$0\r\n\r\n*3\r\n$1\r\na\r\n:1\r\n*2\r\n$-1\r\n-E\r\n*-1\r\n")),
                     0);
    assert_int_equal(weir_reply_reader_next(reader, &reply), 0);
    assert_int_equal(reply->kind, WEIR_REPLY_STATUS);
    assert_slice_is(reply->text, "OK");
    assert_int_equal(weir_reply_reader_next(reader, &reply), 0);
    assert_int_equal(reply->kind, WEIR_REPLY_ERROR);
    assert_slice_is(reply->text, "ERR no");
    assert_int_equal(weir_reply_reader_next(reader, &reply), 0);
    assert_int_equal(reply->kind, WEIR_REPLY_INTEGER);
    assert_int_equal(reply->number, -42);
    assert_int_equal(weir_reply_reader_next(reader, &reply), 0);
    assert_int_equal(reply->kind, WEIR_REPLY_BYTES);
    assert_slice_is(reply->text, "hello");
    assert_int_equal(weir_reply_reader_next(reader, &reply), 0);
    assert_int_equal(reply->kind, WEIR_REPLY_NIL);
    assert_int_equal(weir_reply_reader_next(reader, &reply), 0);
    assert_int_equal(reply->kind, WEIR_REPLY_BYTES);
    assert_int_equal(reply->text.len, 0);
    assert_int_equal(weir_reply_reader_next(reader, &reply), 0);
    assert_int_equal(reply->kind, WEIR_REPLY_LIST);
    assert_int_equal(reply->count, 3);
    assert_slice_is(reply->items[0].text, "a");
    assert_int_equal(reply->items[1].number, 1);
    assert_int_equal(reply->items[2].count, 2);
    assert_int_equal(reply->items[2].items[0].kind, WEIR_REPLY_NIL);
    assert_int_equal(reply->items[2].items[1].kind, WEIR_REPLY_ERROR);
    assert_int_equal(weir_reply_reader_next(reader, &reply), 0);
    assert_int_equal(reply->kind, WEIR_REPLY_NIL);
    assert_int_equal(weir_reply_reader_next(reader, &reply), WEIR_REPLY_MORE);
    weir_reply_reader_free(reader);
}

static void cut_anywhere_the_replies_are_the_same(void **state)
{
    static const char text[] =
        "*3\r\n$7\r\nmessage\r\n$13\r\nweir:cooldown\r\n$4\r\n\r\n\r\n\r\n:7\r\n+PONG\r\n";

    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        weir_reply_reader *reader = reader_with(usual);
        const struct weir_reply *reply;
        struct weir_slice piece;
        struct weir_rand rand;
        struct chunks chunks;
        unsigned count = 0;

        weir_rand_init(&rand, seed);
        chunks_init(&chunks, weir_slice_str(text), &rand, 9);
        while (chunks_next(&chunks, &piece)) {
            assert_int_equal(weir_reply_reader_feed(reader, piece), 0);
            while (weir_reply_reader_next(reader, &reply) == 0) {
                if (count == 0) {
                    assert_slice_is(reply->items[1].text, "weir:cooldown");
                    assert_slice_is(reply->items[2].text, "\r\n\r\n");
                } else if (count == 1) {
                    assert_int_equal(reply->number, 7);
                } else {
                    assert_slice_is(reply->text, "PONG");
                }
                count++;
            }
        }
        assert_int_equal(count, 3);
        chunks_deinit(&chunks);
        weir_reply_reader_free(reader);
    }
}

static int outcome(struct weir_reply_limits limits, struct weir_slice bytes)
{
    weir_reply_reader *reader = reader_with(limits);
    const struct weir_reply *reply;
    int r = weir_reply_reader_feed(reader, bytes);

    while (r == 0)
        r = weir_reply_reader_next(reader, &reply);
    weir_reply_reader_free(reader);
    return r;
}

static void what_is_not_the_protocol_is_garbage(void **state)
{
    static const char *const rows[] = {
        "HTTP/1.1 400 Bad Request\r\n",
        "\r\n",
        "$abc\r\n",
        "*x\r\n",
        ":\r\n",
        "$-2\r\n",
        "*-5\r\n",
        "hello",
        "%1\r\n+a\r\n+b\r\n",
        "=8\r\ntxt:some\r\n",
        "~1\r\n+a\r\n",
        ">1\r\n+a\r\n",
        "(12345\r\n",
        ",1.5\r\n",
        "#t\r\n",
        "*1\r\n#t\r\n",
        "*1\r\n,1.5\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (outcome(usual, weir_slice_str(rows[i])) != WEIR_REPLY_GARBAGE)
            fail_msg("\"%s\" was taken", rows[i]);
}

static void a_reply_that_is_too_long_is_refused_before_it_is_whole(void **state)
{
    struct weir_reply_limits limits = {.max_bytes = 1000, .max_items = 100};
    char bytes[2000];

    (void)state;
    memset(bytes, 'x', sizeof(bytes));
    memcpy(bytes, "$500000000\r\n", 12);
    assert_int_equal(outcome(limits, (struct weir_slice){bytes, sizeof(bytes)}), WEIR_REPLY_LARGE);
}

static void many_replies_in_one_read_are_no_long_one(void **state)
{
    struct weir_reply_limits limits = {.max_bytes = 1000, .max_items = 2};
    char bytes[5000];

    (void)state;
    for (size_t i = 0; i + 8 <= sizeof(bytes); i += 8)
        memcpy(bytes + i, "*1\r\n:1\r\n", 8);
    assert_int_equal(outcome(limits, (struct weir_slice){bytes, sizeof(bytes)}), WEIR_REPLY_MORE);
}

static void a_list_of_too_many_is_refused_where_it_is_announced(void **state)
{
    (void)state;
    assert_int_equal(outcome(usual, WEIR_SLICE("*101\r\n")), WEIR_REPLY_LARGE);
    assert_int_equal(outcome(usual, WEIR_SLICE("*2147483647\r\n")), WEIR_REPLY_LARGE);
    assert_int_equal(outcome(usual, WEIR_SLICE("*2\r\n*60\r\n")), WEIR_REPLY_MORE);
    assert_int_equal(outcome(usual, WEIR_SLICE("*2\r\n*99\r\n")), WEIR_REPLY_LARGE);
}

static void a_line_without_end_is_garbage(void **state)
{
    struct weir_reply_limits limits = {.max_bytes = 1 << 20, .max_items = 100};
    char *bytes = malloc(70000);

    (void)state;
    assert_non_null(bytes);
    memset(bytes, '+', 70000);
    assert_int_equal(outcome(limits, (struct weir_slice){bytes, 70000}), WEIR_REPLY_GARBAGE);
    memcpy(bytes, "$69000\r\n", 8);
    assert_int_equal(outcome(limits, (struct weir_slice){bytes, 68000}), WEIR_REPLY_MORE);
    free(bytes);
}

static void a_counter_is_read_from_whatever_form_it_has(void **state)
{
    struct weir_reply reply = {.kind = WEIR_REPLY_INTEGER, .number = 7};
    int64_t number;

    (void)state;
    assert_int_equal(weir_reply_number(&reply, &number), 0);
    assert_int_equal(number, 7);
    reply = (struct weir_reply){.kind = WEIR_REPLY_BYTES, .text = WEIR_SLICE_INIT("1234")};
    assert_int_equal(weir_reply_number(&reply, &number), 0);
    assert_int_equal(number, 1234);
    reply.text = WEIR_SLICE("-2.75");
    assert_int_equal(weir_reply_number(&reply, &number), 0);
    assert_int_equal(number, -2);
    reply.text = WEIR_SLICE("{'a': 1}");
    assert_int_equal(weir_reply_number(&reply, &number), WEIR_REPLY_NOT_A_NUMBER);
    reply.text = WEIR_SLICE("1e300");
    assert_int_equal(weir_reply_number(&reply, &number), WEIR_REPLY_NOT_A_NUMBER);
    reply.kind = WEIR_REPLY_NIL;
    assert_int_equal(weir_reply_number(&reply, &number), WEIR_REPLY_NOT_A_NUMBER);
}

static void a_command_is_a_list_of_strings(void **state)
{
    struct weir_slice args[] = {WEIR_SLICE("SET"), WEIR_SLICE("k"), WEIR_SLICE_EMPTY};
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), 200);
    assert_int_equal(weir_command_write(&buf, args, 3), 0);
    assert_slice_is(weir_buf_slice(&buf), "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n");
    args[2] = (struct weir_slice){"", SIZE_MAX};
    assert_true(weir_command_write(&buf, args, 3) < 0);
    weir_buf_deinit(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_reply_is_read),
        cmocka_unit_test(cut_anywhere_the_replies_are_the_same),
        cmocka_unit_test(what_is_not_the_protocol_is_garbage),
        cmocka_unit_test(a_reply_that_is_too_long_is_refused_before_it_is_whole),
        cmocka_unit_test(many_replies_in_one_read_are_no_long_one),
        cmocka_unit_test(a_list_of_too_many_is_refused_where_it_is_announced),
        cmocka_unit_test(a_line_without_end_is_garbage),
        cmocka_unit_test(a_counter_is_read_from_whatever_form_it_has),
        cmocka_unit_test(a_command_is_a_list_of_strings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
