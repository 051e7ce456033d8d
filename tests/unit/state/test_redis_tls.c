/* The client of Redis under TLS (rediss://). */
#include <string.h>
#include <unistd.h>

#include <weir/mem_libc.h>

#include "base/time.h"
#include "redis_kit.h"
#include "tls_kit.h"
#include "unit.h"

struct secure {
    struct tls_kit certs;
    SSL_CTX *server;
    weir_tls_context *context;
    struct redis_kit *kit;
};

static void open_secure(struct secure *s, const char *name)
{
    struct tls_kit_spec cert = {.name = name};
    struct weir_tls_spec spec = {0};
    char text[WEIR_TLS_TEXT_MAX];

    tls_kit_open(&s->certs);
    spec.ca_file = weir_slice_str(s->certs.ca_path);
    s->server = tls_kit_server(&s->certs, &cert);
    assert_int_equal(weir_tls_context_new(weir_mem_libc(), &spec, text, &s->context), 0);
    s->kit = redis_kit_open();
    s->kit->spec.tls = s->context;
}

static void close_secure(struct secure *s)
{
    redis_kit_close(s->kit);
    weir_tls_context_unref(s->context);
    SSL_CTX_free(s->server);
    tls_kit_close(&s->certs);
}

static void commands_go_both_ways_enciphered(void **state)
{
    static char large[100001];
    struct secure s;
    SSL *ssl;
    int fd;

    (void)state;
    open_secure(&s, "IP:127.0.0.1");
    redis_kit_start(s.kit);
    fd = kit_accept(s.kit->loop, s.kit->listening);
    ssl = tls_kit_accept(s.kit->loop, s.server, fd);
    assert_non_null(ssl);
    tls_kit_receive(s.kit->loop, ssl, &s.kit->text, "PING\r\n");
    tls_kit_send(s.kit->loop, ssl, redis_kit_master);
    tls_kit_send(s.kit->loop, ssl, "+PONG\r\n");
    assert_true(redis_kit_state(s.kit, 1)->up);
    memset(large, 'x', sizeof(large) - 1);
    assert_int_equal(redis_kit_send(s.kit, 7, "SET", "k", large), 0);
    assert_int_equal(redis_kit_send(s.kit, 8, "GET", "last", NULL), 0);
    tls_kit_receive(s.kit->loop, ssl, &s.kit->text, "last\r\n");
    tls_kit_send(s.kit->loop, ssl, "+OK\r\n$2\r\nok\r\n");
    redis_kit_answers(s.kit, 2);
    assert_string_equal(s.kit->answers[1].text, "ok");
    SSL_free(ssl);
    (void)close(fd);
    assert_int_equal(redis_kit_state(s.kit, 2)->cause, WEIR_REDIS_CLOSED);
    close_secure(&s);
}

static void a_certificate_of_another_name_is_refused(void **state)
{
    struct secure s;
    int fd;

    (void)state;
    open_secure(&s, "DNS:elsewhere.example");
    redis_kit_start(s.kit);
    fd = kit_accept(s.kit->loop, s.kit->listening);
    assert_null(tls_kit_accept(s.kit->loop, s.server, fd));
    assert_int_equal(redis_kit_state(s.kit, 1)->cause, WEIR_REDIS_TLS);
    assert_non_null(strstr(s.kit->states[0].text, "certificate refused"));
    (void)close(fd);
    close_secure(&s);
}

static void a_server_without_tls_is_told_from_one_that_is_away(void **state)
{
    struct secure s;
    int fd;

    (void)state;
    open_secure(&s, "IP:127.0.0.1");
    redis_kit_start(s.kit);
    fd = kit_accept(s.kit->loop, s.kit->listening);
    kit_send(s.kit->loop, fd, "-ERR unknown command\r\n");
    assert_int_equal(redis_kit_state(s.kit, 1)->cause, WEIR_REDIS_TLS);
    (void)close(fd);
    close_secure(&s);
}

static void a_handshake_that_hangs_is_given_up(void **state)
{
    struct secure s;
    int fd;

    (void)state;
    open_secure(&s, "IP:127.0.0.1");
    s.kit->spec.connect_timeout_ns = 30 * WEIR_NS_PER_MS;
    redis_kit_start(s.kit);
    fd = kit_accept(s.kit->loop, s.kit->listening);
    assert_int_equal(redis_kit_state(s.kit, 1)->cause, WEIR_REDIS_SLOW);
    (void)close(fd);
    close_secure(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_go_both_ways_enciphered),
        cmocka_unit_test(a_certificate_of_another_name_is_refused),
        cmocka_unit_test(a_server_without_tls_is_told_from_one_that_is_away),
        cmocka_unit_test(a_handshake_that_hangs_is_given_up),
    };

    return cmocka_run_group_tests(tests, kit_setup, NULL);
}
