/* The client over TLS: who is trusted, what is resumed, how it fails, tunnels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "base/time.h"
#include "fetch_kit.h"
#include "tls_kit.h"

#include <cmocka.h>

#define OK_HELLO "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

struct secure {
    struct tls_kit certs;
    SSL_CTX *server;
    weir_tls_context *context;
    struct fetch_kit *kit;
    uint16_t port;
    int listening;
};

static const struct tls_kit_spec localhost = {.name = "DNS:localhost"};

static weir_tls_context *context_for(const struct weir_tls_spec *spec)
{
    char text[WEIR_TLS_TEXT_MAX];
    weir_tls_context *context = NULL;

    assert_int_equal(weir_tls_context_new(weir_mem_libc(), spec, text, &context), 0);
    return context;
}

static void open_secure(struct secure *s, const struct tls_kit_spec *cert, bool insecure,
                        const struct weir_client_config *config)
{
    struct weir_tls_spec spec = {.insecure = insecure};

    tls_kit_open(&s->certs);
    spec.ca_file = weir_slice_str(s->certs.ca_path);
    s->server = tls_kit_server(&s->certs, cert);
    s->context = context_for(&spec);
    s->kit = fetch_kit_open(config);
    s->listening = kit_listen(&s->port);
    fetch_kit_prepare(s->kit, s->port);
    s->kit->request.host = WEIR_SLICE("localhost");
    s->kit->request.tls = true;
    s->kit->request.tls_context = s->context;
}

static void close_secure(struct secure *s)
{
    (void)close(s->listening);
    fetch_kit_close(s->kit);
    weir_tls_context_unref(s->context);
    SSL_CTX_free(s->server);
    tls_kit_close(&s->certs);
}

/* Starts the fetch and shakes hands on the accepted connection. */
static SSL *begin(struct secure *s, int *ret_fd)
{
    fetch_kit_start(s->kit);
    *ret_fd = kit_accept(s->kit->loop, s->listening);
    return tls_kit_accept(s->kit->loop, s->server, *ret_fd);
}

static void hear(struct secure *s, SSL *ssl)
{
    s->kit->heard = (struct kit_text){0};
    tls_kit_receive(s->kit->loop, ssl, &s->kit->heard, "\r\n\r\nhello");
}

static void a_trusted_upstream_is_talked_to_and_kept(void **state)
{
    struct secure s;
    SSL *ssl;
    int fd;

    (void)state;
    open_secure(&s, &localhost, false, NULL);
    ssl = begin(&s, &fd);
    assert_non_null(ssl);
    assert_string_equal(SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name), "localhost");
    for (int i = 0; i < 3; i++) {
        hear(&s, ssl);
        tls_kit_send(s.kit->loop, ssl, OK_HELLO);
        fetch_kit_expect_body(s.kit, "hello");
        assert_int_equal(weir_client_idle(s.kit->client), 1);
        kit_for(s.kit->loop, 2 * WEIR_NS_PER_MS);
        fetch_kit_start(s.kit);
        assert_true(weir_fetch_reused(&s.kit->fetch));
    }
    weir_fetch_cancel(&s.kit->fetch);
    SSL_free(ssl);
    (void)close(fd);
    close_secure(&s);
}

static void a_session_is_resumed(void **state)
{
    struct secure s;
    SSL *ssl;
    int fd;

    (void)state;
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        open_secure(&s, &localhost, false, NULL);
        assert_int_equal(SSL_CTX_set_max_proto_version(s.server, version), 1);
        for (int i = 0; i < 3; i++) {
            ssl = begin(&s, &fd);
            assert_non_null(ssl);
            hear(&s, ssl);
            assert_int_equal(SSL_session_reused(ssl), i > 0);
            tls_kit_send(s.kit->loop, ssl,
                         "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello");
            fetch_kit_expect_body(s.kit, "hello");
            SSL_free(ssl);
            (void)close(fd);
        }
        close_secure(&s);
    }
}

struct distrusted {
    struct tls_kit_spec cert;
    const char *host;
    const char *why;
};

static const struct distrusted distrusted[] = {
    {{.name = "DNS:other.test"}, "localhost", "hostname mismatch"},
    {{.name = "DNS:127.0.0.1"}, "127.0.0.1", "IP address mismatch"},
    {{.name = "DNS:localhost", .expired = true}, "localhost", "expired"},
    {{.name = "DNS:localhost", .self_signed = true}, "localhost", "self-signed"},
};

static void an_upstream_that_is_not_who_it_should_be_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(distrusted) / sizeof(distrusted[0]); i++) {
        struct secure s;
        int fd;

        open_secure(&s, &distrusted[i].cert, false, NULL);
        s.kit->request.host = weir_slice_str(distrusted[i].host);
        assert_null(begin(&s, &fd));
        fetch_kit_expect_error(s.kit, WEIR_FETCH_TLS_UNVERIFIED);
        assert_non_null(strstr(s.kit->text.bytes, distrusted[i].why));
        assert_false(s.kit->sent);
        (void)close(fd);
        close_secure(&s);
    }
}

static void verification_may_be_turned_off(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(distrusted) / sizeof(distrusted[0]); i++) {
        struct secure s;
        SSL *ssl;
        int fd;

        open_secure(&s, &distrusted[i].cert, true, NULL);
        s.kit->request.host = weir_slice_str(distrusted[i].host);
        ssl = begin(&s, &fd);
        assert_non_null(ssl);
        hear(&s, ssl);
        tls_kit_send(s.kit->loop, ssl, OK_HELLO);
        fetch_kit_expect_body(s.kit, "hello");
        SSL_free(ssl);
        (void)close(fd);
        close_secure(&s);
    }
}

static void addresses_are_verified_as_addresses(void **state)
{
    const struct tls_kit_spec cert = {.name = "IP:127.0.0.1"};
    struct secure s;
    SSL *ssl;
    int fd;

    (void)state;
    open_secure(&s, &cert, false, NULL);
    s.kit->request.host = WEIR_SLICE("127.0.0.1");
    ssl = begin(&s, &fd);
    assert_non_null(ssl);
    assert_null(SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name));
    hear(&s, ssl);
    tls_kit_send(s.kit->loop, ssl, OK_HELLO);
    fetch_kit_expect_body(s.kit, "hello");
    SSL_free(ssl);
    (void)close(fd);
    close_secure(&s);
}

static void the_variable_names_the_authorities(void **state)
{
    struct secure s;
    weir_tls_context *context;
    SSL *ssl;
    int fd;

    (void)state;
    open_secure(&s, &localhost, false, NULL);
    assert_int_equal(setenv("SSL_CERT_FILE", s.certs.ca_path, 1), 0);
    context = context_for(&(struct weir_tls_spec){0});
    assert_int_equal(unsetenv("SSL_CERT_FILE"), 0);
    s.kit->request.tls_context = context;
    ssl = begin(&s, &fd);
    assert_non_null(ssl);
    hear(&s, ssl);
    tls_kit_send(s.kit->loop, ssl, OK_HELLO);
    fetch_kit_expect_body(s.kit, "hello");
    SSL_free(ssl);
    (void)close(fd);
    weir_tls_context_unref(context);
    close_secure(&s);
}

static void a_clients_certificate_is_shown(void **state)
{
    struct secure s;
    struct weir_tls_spec spec = {0};
    weir_tls_context *context;
    char path[128];
    X509 *seen;
    SSL *ssl;
    int fd;

    (void)state;
    open_secure(&s, &localhost, false, NULL);
    (void)snprintf(path, sizeof(path), "%s/pair.pem", s.certs.directory);
    tls_kit_write_pair(&s.certs, path);
    spec.ca_file = weir_slice_str(s.certs.ca_path);
    spec.cert_file = weir_slice_str(path);
    context = context_for(&spec);
    s.kit->request.tls_context = context;
    SSL_CTX_set_verify(s.server, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    ssl = begin(&s, &fd);
    assert_non_null(ssl);
    seen = SSL_get1_peer_certificate(ssl);
    assert_non_null(seen);
    X509_free(seen);
    weir_fetch_cancel(&s.kit->fetch);
    SSL_free(ssl);
    (void)close(fd);
    (void)unlink(path);
    weir_tls_context_unref(context);
    close_secure(&s);
}

static void files_that_cannot_be_read_are_named(void **state)
{
    char text[WEIR_TLS_TEXT_MAX];
    weir_tls_context *context;
    struct weir_tls_spec spec = {.ca_file = WEIR_SLICE("/nowhere/ca.pem")};

    (void)state;
    assert_int_equal(weir_tls_context_new(weir_mem_libc(), &spec, text, &context), WEIR_TLS_UNREADABLE);
    assert_non_null(strstr(text, "/nowhere/ca.pem"));
    spec = (struct weir_tls_spec){.cert_file = WEIR_SLICE("/nowhere/cert.pem")};
    assert_int_equal(weir_tls_context_new(weir_mem_libc(), &spec, text, &context), WEIR_TLS_UNREADABLE);
    assert_non_null(strstr(text, "/nowhere/cert.pem"));
}

static void what_is_no_tls_breaks(void **state)
{
    struct secure s;
    int fd;

    (void)state;
    open_secure(&s, &localhost, false, NULL);
    fetch_kit_start(s.kit);
    fd = kit_accept(s.kit->loop, s.listening);
    kit_send(s.kit->loop, fd, "HTTP/1.1 400 Bad Request\r\n\r\n");
    fetch_kit_expect_error(s.kit, WEIR_FETCH_TLS_BROKEN);
    (void)close(fd);
    fetch_kit_start(s.kit);
    fd = kit_accept(s.kit->loop, s.listening);
    (void)close(fd);
    fetch_kit_expect_error(s.kit, WEIR_FETCH_TLS_BROKEN);
    close_secure(&s);
}

static void a_silent_handshake_ends_in_time(void **state)
{
    struct secure s;
    int fd;

    (void)state;
    open_secure(&s, &localhost, false, NULL);
    s.kit->request.connect_timeout_ns = 30 * WEIR_NS_PER_MS;
    fetch_kit_start(s.kit);
    fd = kit_accept(s.kit->loop, s.listening);
    fetch_kit_expect_error(s.kit, WEIR_FETCH_CONNECT_TIMEOUT);
    (void)close(fd);
    close_secure(&s);
}

static void only_a_closing_alert_ends_a_body_without_length(void **state)
{
    (void)state;
    for (int orderly = 0; orderly < 2; orderly++) {
        struct secure s;
        SSL *ssl;
        int fd;

        open_secure(&s, &localhost, false, NULL);
        ssl = begin(&s, &fd);
        hear(&s, ssl);
        tls_kit_send(s.kit->loop, ssl, "HTTP/1.1 200 OK\r\n\r\nhello");
        if (orderly)
            (void)SSL_shutdown(ssl);
        assert_int_equal(shutdown(fd, SHUT_WR), 0);
        if (orderly)
            fetch_kit_expect_body(s.kit, "hello");
        else
            fetch_kit_expect_error(s.kit, WEIR_FETCH_TRUNCATED);
        SSL_free(ssl);
        (void)close(fd);
        close_secure(&s);
    }
}

static bool none_is_idle(void *user)
{
    return weir_client_idle(user) == 0;
}

static void an_idle_connection_is_dropped_at_the_closing_alert(void **state)
{
    struct secure s;
    SSL *ssl;
    int fd;

    (void)state;
    open_secure(&s, &localhost, false, NULL);
    ssl = begin(&s, &fd);
    hear(&s, ssl);
    tls_kit_send(s.kit->loop, ssl, OK_HELLO);
    fetch_kit_expect_body(s.kit, "hello");
    assert_int_equal(weir_client_idle(s.kit->client), 1);
    (void)SSL_shutdown(ssl);
    kit_until(s.kit->loop, none_is_idle, s.kit->client);
    SSL_free(ssl);
    (void)close(fd);
    close_secure(&s);
}

static void large_bodies_pass_in_both_directions(void **state)
{
    const size_t size = 8u * 1024 * 1024;
    char *body = malloc(size);
    struct secure s;
    size_t received = 0;
    char *start;
    SSL *ssl;
    int fd;

    (void)state;
    assert_non_null(body);
    for (size_t i = 0; i < size; i++)
        body[i] = (char)('a' + i % 23);
    open_secure(&s, &localhost, false, NULL);
    s.kit->keep_body = false;
    s.kit->body[0] = (struct weir_slice){body, 3};
    s.kit->body[1] = (struct weir_slice){body + 3, size - 3};
    ssl = begin(&s, &fd);
    tls_kit_receive(s.kit->loop, ssl, &s.kit->heard, "\r\n\r\n");
    start = strstr(s.kit->heard.bytes, "\r\n\r\n") + 4;
    received = s.kit->heard.len - (size_t)(start - s.kit->heard.bytes);
    assert_memory_equal(start, body, received);
    while (received < size) {
        int r = SSL_read(ssl, s.kit->heard.bytes, sizeof(s.kit->heard.bytes));

        if (r > 0) {
            assert_memory_equal(s.kit->heard.bytes, body + received, (size_t)r);
            received += (size_t)r;
        }
        kit_turn(s.kit->loop);
    }
    s.kit->pause_on_body = true;
    tls_kit_send(s.kit->loop, ssl, "HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n");
    tls_kit_send_bytes(s.kit->loop, ssl, body, 100000);
    kit_for(s.kit->loop, 5 * WEIR_NS_PER_MS);
    assert_int_equal(s.kit->pieces, 1);
    s.kit->pause_on_body = false;
    weir_fetch_resume(&s.kit->fetch);
    tls_kit_send_bytes(s.kit->loop, ssl, body + 100000, 300000);
    fetch_kit_wait(s.kit);
    assert_int_equal(s.kit->body_bytes, 400000);
    assert_int_equal(weir_client_idle(s.kit->client), 1);
    free(body);
    SSL_free(ssl);
    (void)close(fd);
    close_secure(&s);
}

/* ---- tunnels ---- */

static void a_proxy_is_asked_for_a_tunnel(void **state)
{
    struct weir_proxies proxies;
    const struct weir_client_config config = {.proxies = &proxies};
    uint16_t port;
    int listening = kit_listen(&port);
    struct secure s;
    char url[64];
    SSL *ssl;
    int fd;

    (void)state;
    (void)snprintf(url, sizeof(url), "http://user:pass@127.0.0.1:%u", (unsigned)port);
    assert_int_equal(weir_proxies_init(&proxies, weir_mem_libc(),
                                       &(struct weir_proxies_values){.https = weir_slice_str(url)}),
                     0);
    open_secure(&s, &localhost, false, &config);
    fetch_kit_start(s.kit);
    fd = kit_accept(s.kit->loop, listening);
    kit_receive(s.kit->loop, fd, &s.kit->heard, "\r\n\r\n");
    (void)snprintf(url, sizeof(url), "CONNECT localhost:%u HTTP/1.1\r\n", (unsigned)s.port);
    assert_memory_equal(s.kit->heard.bytes, url, strlen(url));
    assert_non_null(strstr(s.kit->heard.bytes, "\r\nProxy-Authorization: Basic dXNlcjpwYXNz\r\n"));
    kit_send(s.kit->loop, fd, "HTTP/1.1 200 Connection established\r\n\r\n");
    ssl = tls_kit_accept(s.kit->loop, s.server, fd);
    assert_non_null(ssl);
    hear(&s, ssl);
    assert_memory_equal(s.kit->heard.bytes, "POST /v1/x?y=1 HTTP/1.1\r\n", 25);
    assert_null(strstr(s.kit->heard.bytes, "Proxy-"));
    tls_kit_send(s.kit->loop, ssl, OK_HELLO);
    fetch_kit_expect_body(s.kit, "hello");
    assert_int_equal(weir_client_idle(s.kit->client), 1);
    SSL_free(ssl);
    (void)close(fd);
    (void)close(listening);
    close_secure(&s);
    weir_proxies_deinit(&proxies);
}

static void a_proxy_that_refuses_is_told_from_the_upstream(void **state)
{
    static const char *const answers[] = {
        "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", "nonsense\r\n\r\n", ""};
    struct weir_proxies proxies;
    const struct weir_client_config config = {.proxies = &proxies};
    uint16_t port;
    int listening = kit_listen(&port);
    struct secure s;
    char url[64];

    (void)state;
    (void)snprintf(url, sizeof(url), "127.0.0.1:%u", (unsigned)port);
    assert_int_equal(weir_proxies_init(&proxies, weir_mem_libc(),
                                       &(struct weir_proxies_values){.all = weir_slice_str(url)}),
                     0);
    open_secure(&s, &localhost, false, &config);
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        int fd;

        fetch_kit_start(s.kit);
        fd = kit_accept(s.kit->loop, listening);
        kit_receive(s.kit->loop, fd, &s.kit->heard, "\r\n\r\n");
        kit_send(s.kit->loop, fd, answers[i]);
        (void)shutdown(fd, SHUT_WR);
        fetch_kit_expect_error(s.kit, WEIR_FETCH_PROXY);
        assert_false(s.kit->sent);
        (void)close(fd);
    }
    (void)close(listening);
    close_secure(&s);
    weir_proxies_deinit(&proxies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trusted_upstream_is_talked_to_and_kept),
        cmocka_unit_test(a_session_is_resumed),
        cmocka_unit_test(an_upstream_that_is_not_who_it_should_be_is_refused),
        cmocka_unit_test(verification_may_be_turned_off),
        cmocka_unit_test(addresses_are_verified_as_addresses),
        cmocka_unit_test(the_variable_names_the_authorities),
        cmocka_unit_test(a_clients_certificate_is_shown),
        cmocka_unit_test(files_that_cannot_be_read_are_named),
        cmocka_unit_test(what_is_no_tls_breaks),
        cmocka_unit_test(a_silent_handshake_ends_in_time),
        cmocka_unit_test(only_a_closing_alert_ends_a_body_without_length),
        cmocka_unit_test(an_idle_connection_is_dropped_at_the_closing_alert),
        cmocka_unit_test(large_bodies_pass_in_both_directions),
        cmocka_unit_test(a_proxy_is_asked_for_a_tunnel),
        cmocka_unit_test(a_proxy_that_refuses_is_told_from_the_upstream),
    };

    return cmocka_run_group_tests(tests, kit_setup, NULL);
}
