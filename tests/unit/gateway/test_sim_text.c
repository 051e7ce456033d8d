#include "unit.h"

#include <weir/mem_libc.h>

#include "gateway/attempt/sim_text.h"
#include "provider/dialect.h"
#include "provider/openai.h"

static struct weir_buf text;

static int begin(void **state)
{
    (void)state;
    weir_buf_init(&text, weir_mem_libc(), 64 * 1024);
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_buf_deinit(&text);
    return 0;
}

static struct weir_sim_words words(weir_route route)
{
    return (struct weir_sim_words){.route = route,
                                   .number = 7,
                                   .created_s = 1700000000,
                                   .model = WEIR_SLICE("\"g\""),
                                   .text = WEIR_SLICE("To be \"or\" not"),
                                   .prompt_tokens = 3,
                                   .inputs = 2};
}

static void a_token_is_a_word_with_the_blanks_before_it(void **state)
{
    struct weir_slice said = WEIR_SLICE("one  two ");

    (void)state;
    assert_slice_is(weir_sim_token(said, 0), "one");
    assert_slice_is(weir_sim_token(said, 3), "  two");
    assert_slice_is(weir_sim_token(said, 8), " ");
    assert_slice_is(weir_sim_token(said, 9), "");
    assert_int_equal(weir_sim_tokens(said), 3);
    assert_int_equal(weir_sim_tokens(WEIR_SLICE("")), 0);
}

static void an_answer_reads_as_one_of_openais(void **state)
{
    struct weir_plain_answer answer;
    struct weir_sim_words chat = words(WEIR_ROUTE_CHAT);
    struct weir_sim_words completion = words(WEIR_ROUTE_COMPLETIONS);
    struct weir_sim_words embeddings = words(WEIR_ROUTE_EMBEDDINGS);

    (void)state;
    assert_int_equal(weir_sim_body(&chat, &text), 0);
    assert_int_equal(weir_dialect_openai.read_answer(WEIR_ROUTE_CHAT, weir_buf_slice(&text), &answer), 0);
    assert_slice_is(answer.model.text, "\"g\"");
    assert_int_equal(answer.usage.completion_tokens, 4);
    assert_true(weir_slice_has(weir_buf_slice(&text), WEIR_SLICE("\"content\":\"To be \\\"or\\\" not\"")));
    weir_buf_clear(&text);
    assert_int_equal(weir_sim_body(&completion, &text), 0);
    assert_int_equal(weir_dialect_openai.read_answer(WEIR_ROUTE_COMPLETIONS, weir_buf_slice(&text), &answer),
                     0);
    assert_true(weir_slice_has(weir_buf_slice(&text), WEIR_SLICE("\"text\":\"To be")));
    weir_buf_clear(&text);
    assert_int_equal(weir_sim_body(&embeddings, &text), 0);
    assert_int_equal(weir_dialect_openai.read_answer(WEIR_ROUTE_EMBEDDINGS, weir_buf_slice(&text), &answer),
                     0);
    assert_true(weir_slice_has(weir_buf_slice(&text), WEIR_SLICE("\"index\":1")));
    assert_false(weir_slice_has(weir_buf_slice(&text), WEIR_SLICE("\"index\":2")));
}

/* How many events of each class the text has. */
static void count_events(weir_route route, size_t counts[WEIR_CHUNK_BAD + 1], bool *ret_finished,
                         uint64_t *ret_tokens)
{
    struct weir_slice input = weir_buf_slice(&text);
    struct weir_sse_event event;
    struct weir_chunk chunk;
    struct weir_sse sse;

    weir_sse_init(&sse, weir_mem_libc(), 4096);
    while (weir_sse_next(&sse, &input, &event) == WEIR_SSE_EVENT) {
        weir_dialect_openai.read_chunk(route, &event, &chunk);
        counts[chunk.chunk_class]++;
        *ret_finished |= chunk.ended != 0;
        if (chunk.usage.told)
            *ret_tokens = chunk.usage.completion_tokens;
    }
    weir_sse_deinit(&sse);
}

static void write_stream(const struct weir_sim_words *said)
{
    struct weir_slice token;

    assert_int_equal(weir_sim_first_chunk(said, &text), 0);
    for (size_t at = 0; (token = weir_sim_token(said->text, at)).len > 0; at += token.len)
        assert_int_equal(weir_sim_chunk(said, token, &text), 0);
    assert_int_equal(weir_sim_last_chunks(said, true, 4, &text), 0);
}

static void a_stream_reads_as_one_of_openais(void **state)
{
    const weir_route routes[] = {WEIR_ROUTE_CHAT, WEIR_ROUTE_COMPLETIONS};

    (void)state;
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        struct weir_sim_words said = words(routes[i]);
        size_t counts[WEIR_CHUNK_BAD + 1] = {0};
        bool finished = false;
        uint64_t tokens = 0;

        weir_buf_clear(&text);
        write_stream(&said);
        count_events(routes[i], counts, &finished, &tokens);
        assert_int_equal(counts[WEIR_CHUNK_TEXT], 4);
        assert_int_equal(counts[WEIR_CHUNK_EMPTY], routes[i] == WEIR_ROUTE_CHAT ? 3 : 2);
        assert_int_equal(counts[WEIR_CHUNK_DONE], 1);
        assert_int_equal(counts[WEIR_CHUNK_BAD] + counts[WEIR_CHUNK_ERROR] + counts[WEIR_CHUNK_OTHER], 0);
        assert_true(finished);
        assert_int_equal(tokens, 4);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_token_is_a_word_with_the_blanks_before_it),
        TEST(an_answer_reads_as_one_of_openais),
        TEST(a_stream_reads_as_one_of_openais),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
