/* A POST from the background thread: what comes of it, and that it ends in time whatever the other side does.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "base/time.h"
#include "config/settings.h"
#include "gateway/attempt/trust.h"
#include "gateway/background/post.h"
#include "net_kit.h"

static const struct weir_settings settings = {.ssl_verify = true};
static weir_loop *loop;
static weir_resolver *resolver;
static weir_client *client;
static struct weir_trust trust;
static struct weir_post_place place;
static struct weir_post post;
static struct kit_text heard;
static int listening;
static int fd;

static size_t told;
static unsigned status;
static uint64_t retry_after_ns;
static char reason[64];
static char body[WEIR_POST_ANSWER_MAX + 1];

static void on_done(struct weir_post *over, const struct weir_post_outcome *outcome)
{
    assert_false(weir_post_active(over));
    told++;
    status = outcome->status;
    retry_after_ns = outcome->retry_after_ns;
    memcpy(reason, outcome->reason.ptr == NULL ? "" : outcome->reason.ptr, outcome->reason.len);
    reason[outcome->reason.len] = '\0';
    memcpy(body, outcome->body.ptr == NULL ? "" : outcome->body.ptr, outcome->body.len);
    body[outcome->body.len] = '\0';
}

static bool is_told(void *user)
{
    (void)user;
    return told > 0;
}

static int make_place(const char *url, char text[WEIR_POST_TEXT_MAX])
{
    return weir_post_place_init(&place, weir_slice_str(url), &settings, &trust, weir_mem_libc(), text);
}

static int begin(void **state)
{
    const struct weir_resolver_config config = {.threads = 1};
    struct weir_client_config client_config = {0};
    char url[64], text[WEIR_POST_TEXT_MAX];
    uint16_t port;

    (void)state;
    told = 0;
    fd = -1;
    heard = (struct kit_text){0};
    weir_trust_init(&trust, weir_mem_libc());
    assert_int_equal(weir_loop_new(weir_mem_libc(), &loop), 0);
    assert_int_equal(weir_resolver_new(weir_mem_libc(), &config, &resolver), 0);
    client_config.resolver = resolver;
    assert_int_equal(weir_client_new(loop, &client_config, &client), 0);
    listening = kit_listen(&port);
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/hook?to=me", (unsigned)port);
    assert_int_equal(make_place(url, text), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_post_cancel(&post);
    weir_post_place_deinit(&place);
    weir_client_close(client);
    weir_loop_free(loop);
    weir_resolver_free(resolver);
    weir_trust_deinit(&trust);
    if (listening >= 0)
        (void)close(listening);
    if (fd >= 0)
        (void)close(fd);
    return 0;
}

static void start(uint64_t limit_ns)
{
    const struct weir_post_spec spec = {.loop = loop,
                                        .client = client,
                                        .mem = weir_mem_libc(),
                                        .place = &place,
                                        .fields = WEIR_SLICE("Content-Type: text/plain\r\n"),
                                        .body = WEIR_SLICE("hello"),
                                        .limit_ns = limit_ns,
                                        .done = on_done};

    weir_post_start(&post, &spec);
}

/* Starts it and lets the other side answer. */
static void answer(const char *text)
{
    start(5 * WEIR_NS_PER_S);
    fd = kit_accept(loop, listening);
    kit_receive(loop, fd, &heard, "\r\n\r\nhello");
    kit_send(loop, fd, text);
    kit_until(loop, is_told, NULL);
    assert_int_equal(told, 1);
}

static void test_the_answer_comes_whole(void **state)
{
    (void)state;
    answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    assert_int_equal(status, 200);
    assert_string_equal(body, "ok");
    assert_string_equal(reason, "");
    assert_int_equal(retry_after_ns, 0);
    assert_non_null(strstr(heard.bytes, "POST /hook?to=me HTTP/1.1\r\n"));
    assert_non_null(strstr(heard.bytes, "Content-Type: text/plain\r\n"));
    assert_non_null(strstr(heard.bytes, "Content-Length: 5\r\n"));
}

static void test_a_body_may_come_from_two_places(void **state)
{
    const struct weir_post_spec spec = {.loop = loop,
                                        .client = client,
                                        .mem = weir_mem_libc(),
                                        .place = &place,
                                        .fields = WEIR_SLICE("Content-Type: text/plain\r\n"),
                                        .lead = WEIR_SLICE("well, "),
                                        .body = WEIR_SLICE("hello"),
                                        .limit_ns = 5 * WEIR_NS_PER_S,
                                        .done = on_done};

    (void)state;
    weir_post_start(&post, &spec);
    fd = kit_accept(loop, listening);
    kit_receive(loop, fd, &heard, "\r\n\r\nwell, hello");
    assert_non_null(strstr(heard.bytes, "Content-Length: 11\r\n"));
    weir_post_cancel(&post);
}

static void test_a_refusal_says_when_to_come_again(void **state)
{
    (void)state;
    answer("HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(status, 429);
    assert_true(retry_after_ns == 7 * WEIR_NS_PER_S);
}

static void test_a_redirect_is_an_answer_and_not_followed(void **state)
{
    (void)state;
    answer("HTTP/1.1 307 Away\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(status, 307);
}

static void test_an_answer_that_breaks_off_is_none(void **state)
{
    (void)state;
    start(5 * WEIR_NS_PER_S);
    fd = kit_accept(loop, listening);
    kit_receive(loop, fd, &heard, "\r\n\r\nhello");
    kit_send(loop, fd, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok");
    (void)close(fd);
    fd = -1;
    kit_until(loop, is_told, NULL);
    assert_int_equal(status, 0);
    assert_string_equal(reason, "truncated");
    assert_string_equal(body, "");
}

static void test_an_endless_answer_ends_at_its_maximum(void **state)
{
    static char text[WEIR_POST_ANSWER_MAX + 4096];
    int head = snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n");

    (void)state;
    memset(text + head, 'x', sizeof(text) - (size_t)head - 1);
    answer(text);
    assert_int_equal(status, 200);
    assert_int_equal(strlen(body), WEIR_POST_ANSWER_MAX);
}

static void test_a_silent_place_is_given_up_in_time(void **state)
{
    (void)state;
    start(50 * WEIR_NS_PER_MS);
    fd = kit_accept(loop, listening);
    kit_until(loop, is_told, NULL);
    assert_int_equal(status, 0);
    assert_string_equal(reason, "timed_out");
}

static void test_nobody_there_is_told(void **state)
{
    (void)state;
    (void)close(listening);
    listening = -1;
    start(5 * WEIR_NS_PER_S);
    kit_until(loop, is_told, NULL);
    assert_int_equal(status, 0);
    assert_string_equal(reason, "refused");
}

static void test_a_cancelled_post_says_nothing(void **state)
{
    (void)state;
    start(50 * WEIR_NS_PER_MS);
    fd = kit_accept(loop, listening);
    weir_post_cancel(&post);
    kit_for(loop, 100 * WEIR_NS_PER_MS);
    assert_int_equal(told, 0);
    weir_post_cancel(&post);
}

static void test_a_place_is_made_of_a_url(void **state)
{
    char text[WEIR_POST_TEXT_MAX] = "";

    (void)state;
    weir_post_place_deinit(&place);
    assert_int_equal(make_place("https://collector.example", text), 0);
    assert_true(place.secure);
    assert_non_null(place.tls);
    assert_int_equal(place.port, 443);
    assert_true(weir_slice_eq(place.host, WEIR_SLICE("collector.example")));
    assert_true(weir_slice_eq(place.target, WEIR_SLICE("/")));
    weir_post_place_deinit(&place);
    assert_int_equal(make_place("http://[::1]:4318/v1/traces?x=1", text), 0);
    assert_false(place.secure);
    assert_null(place.tls);
    assert_int_equal(place.port, 4318);
    assert_true(weir_slice_eq(place.host, WEIR_SLICE("::1")));
    assert_true(weir_slice_eq(place.target, WEIR_SLICE("/v1/traces?x=1")));
}

static void test_a_place_that_is_none_is_refused_without_its_secrets(void **state)
{
    static const char *const bad[] = {
        "", "ftp://h/", "http://", "http://h:0/", "http://h/ secret", "https://user:secret@h/"};

    (void)state;
    weir_post_place_deinit(&place);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[WEIR_POST_TEXT_MAX] = "";

        assert_int_equal(make_place(bad[i], text), WEIR_POST_REFUSED);
        assert_true(strlen(text) > 0);
        assert_null(strstr(text, "secret"));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_answer_comes_whole),
        TEST(test_a_body_may_come_from_two_places),
        TEST(test_a_refusal_says_when_to_come_again),
        TEST(test_a_redirect_is_an_answer_and_not_followed),
        TEST(test_an_answer_that_breaks_off_is_none),
        TEST(test_an_endless_answer_ends_at_its_maximum),
        TEST(test_a_silent_place_is_given_up_in_time),
        TEST(test_nobody_there_is_told),
        TEST(test_a_cancelled_post_says_nothing),
        TEST(test_a_place_is_made_of_a_url),
        TEST(test_a_place_that_is_none_is_refused_without_its_secrets),
    };

    return cmocka_run_group_tests(tests, kit_setup, NULL);
}
