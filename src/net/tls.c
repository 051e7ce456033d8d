/*
 * OpenSSL reads and writes through a BIO of our own: reading takes from the slice that was fed, where it
 * lies; writing appends to the output buffer.  Nothing is copied on the way in, and what one call produces
 * goes out in one write.
 *
 * Sessions: OpenSSL's own cache is off.  A new session (in TLS 1.3 it comes after the handshake) replaces the
 * one in the upstream's cell.  A connection takes a TLS 1.3 session out of the cell, since its ticket is to
 * be used once and the server sends a fresh one; one of TLS 1.2 stays.
 */
#include "net/tls.h"

#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <weir/error.h>

#include "base/slice.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

enum { HOST_MAX = 253, PATH_MAX_BYTES = 4096, OUTPUT_MAX_BYTES = 1024 * 1024 };

struct weir_tls_context {
    const struct weir_mem *mem;
    atomic_size_t refs;
    SSL_CTX *ssl;
    BIO_METHOD *method;
};

struct weir_tls {
    weir_tls_context *context;
    const struct weir_mem *mem;
    SSL *ssl;
    struct weir_slice input;
    struct weir_buf output;
    struct weir_tls_session *cell;
    bool out_of_memory;
    char reason[WEIR_TLS_TEXT_MAX];
};

/* ---- the BIO ---- */

static int bio_read(BIO *bio, char *room, size_t room_bytes, size_t *ret_bytes)
{
    struct weir_tls *tls = BIO_get_data(bio);
    size_t count = tls->input.len < room_bytes ? tls->input.len : room_bytes;

    BIO_clear_retry_flags(bio);
    if (count == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    memcpy(room, tls->input.ptr, count);
    tls->input = weir_slice_sub(tls->input, count, tls->input.len);
    *ret_bytes = count;
    return 1;
}

static int bio_write(BIO *bio, const char *bytes, size_t count, size_t *ret_bytes)
{
    struct weir_tls *tls = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    if (weir_buf_append(&tls->output, (struct weir_slice){bytes, count}) < 0) {
        tls->out_of_memory = true;
        return 0;
    }
    *ret_bytes = count;
    return 1;
}

static long bio_ctrl(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static int bio_create(BIO *bio)
{
    BIO_set_init(bio, 1);
    return 1;
}

static BIO_METHOD *new_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "weir");

    if (method == NULL)
        return NULL;
    (void)BIO_meth_set_read_ex(method, bio_read);
    (void)BIO_meth_set_write_ex(method, bio_write);
    (void)BIO_meth_set_ctrl(method, bio_ctrl);
    (void)BIO_meth_set_create(method, bio_create);
    return method;
}

/* ---- contexts ---- */

static int on_session(SSL *ssl, SSL_SESSION *session)
{
    struct weir_tls *tls = SSL_get_app_data(ssl);

    if (tls->cell == NULL)
        return 0;
    weir_tls_session_deinit(tls->cell);
    tls->cell->session = session;
    return 1;
}

/* Room for a slice as the NUL-terminated text that OpenSSL wants. */
static bool to_text(struct weir_slice slice, char *text, size_t text_bytes)
{
    if (slice.len >= text_bytes || (slice.len > 0 && memchr(slice.ptr, '\0', slice.len) != NULL))
        return false;
    if (slice.len > 0)
        memcpy(text, slice.ptr, slice.len);
    text[slice.len] = '\0';
    return true;
}

static int unreadable(const char *what, struct weir_slice file, char text[WEIR_TLS_TEXT_MAX])
{
    unsigned long error = ERR_peek_last_error();
    const char *reason = error == 0 ? "unusable" : ERR_reason_error_string(error);

    (void)snprintf(text, WEIR_TLS_TEXT_MAX, "%s %.*s: %s", what, (int)file.len, file.ptr,
                   reason == NULL ? "unreadable" : reason);
    ERR_clear_error();
    return WEIR_TLS_UNREADABLE;
}

static int load_anchors(SSL_CTX *ssl, const struct weir_tls_spec *spec, char text[WEIR_TLS_TEXT_MAX])
{
    char path[PATH_MAX_BYTES];

    if (spec->ca_file.len == 0) {
        /* Reads SSL_CERT_FILE and SSL_CERT_DIR itself. */
        (void)SSL_CTX_set_default_verify_paths(ssl);
        ERR_clear_error();
        return 0;
    }
    if (!to_text(spec->ca_file, path, sizeof(path)) || SSL_CTX_load_verify_file(ssl, path) != 1)
        return unreadable("CA file", spec->ca_file, text);
    return 0;
}

static int load_own(SSL_CTX *ssl, const struct weir_tls_spec *spec, char text[WEIR_TLS_TEXT_MAX])
{
    struct weir_slice key_file = spec->key_file.len > 0 ? spec->key_file : spec->cert_file;
    char path[PATH_MAX_BYTES];

    if (spec->cert_file.len == 0)
        return 0;
    if (!to_text(spec->cert_file, path, sizeof(path)) || SSL_CTX_use_certificate_chain_file(ssl, path) != 1)
        return unreadable("certificate", spec->cert_file, text);
    if (!to_text(key_file, path, sizeof(path)) ||
        SSL_CTX_use_PrivateKey_file(ssl, path, SSL_FILETYPE_PEM) != 1 || SSL_CTX_check_private_key(ssl) != 1)
        return unreadable("private key", key_file, text);
    return 0;
}

static void set_behaviour(SSL_CTX *ssl, bool insecure)
{
    static const unsigned char http1[] = "\x08http/1.1";

    (void)SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION);
    (void)SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE);
    SSL_CTX_set_verify(ssl, insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    (void)SSL_CTX_set_alpn_protos(ssl, http1, sizeof(http1) - 1);
    (void)SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(ssl, on_session);
}

int weir_tls_context_new(const struct weir_mem *mem, const struct weir_tls_spec *spec,
                         char text[WEIR_TLS_TEXT_MAX], weir_tls_context **ret_context)
{
    weir_tls_context *context = mem->alloc(mem->user, sizeof(*context));
    int r = WEIR_ERR_NOMEM;

    (void)snprintf(text, WEIR_TLS_TEXT_MAX, "out of memory");
    if (context == NULL)
        return r;
    *context =
        (weir_tls_context){.mem = mem, .ssl = SSL_CTX_new(TLS_client_method()), .method = new_method()};
    atomic_init(&context->refs, 1);
    if (context->ssl != NULL && context->method != NULL) {
        set_behaviour(context->ssl, spec->insecure);
        r = load_anchors(context->ssl, spec, text);
        if (r == 0)
            r = load_own(context->ssl, spec, text);
    }
    if (r != 0) {
        weir_tls_context_unref(context);
        return r;
    }
    *ret_context = context;
    return 0;
}

weir_tls_context *weir_tls_context_ref(weir_tls_context *context)
{
    (void)atomic_fetch_add_explicit(&context->refs, 1, memory_order_relaxed);
    return context;
}

void weir_tls_context_unref(weir_tls_context *context)
{
    if (context == NULL || atomic_fetch_sub_explicit(&context->refs, 1, memory_order_acq_rel) != 1)
        return;
    SSL_CTX_free(context->ssl);
    BIO_meth_free(context->method);
    context->mem->free(context->mem->user, context, sizeof(*context));
}

void weir_tls_session_deinit(struct weir_tls_session *session)
{
    SSL_SESSION_free(session->session);
    session->session = NULL;
}

/* ---- connections ---- */

static bool is_ip(const char *host)
{
    unsigned char bytes[16];

    return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

/* Whom the certificate must name, and, for names, SNI. */
static bool set_host(SSL *ssl, struct weir_slice host)
{
    char text[HOST_MAX + 2];

    if (!to_text(host, text, sizeof(text)))
        return false;
    /* A final dot says that the name is complete; certificates do not have it. */
    if (host.len > 1 && text[host.len - 1] == '.')
        text[host.len - 1] = '\0';
    if (is_ip(text))
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), text) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, text) == 1 && SSL_set_tlsext_host_name(ssl, text) == 1;
}

static void offer_session(struct weir_tls *tls)
{
    struct weir_tls_session *cell = tls->cell;

    if (cell == NULL || cell->session == NULL)
        return;
    (void)SSL_set_session(tls->ssl, cell->session);
    if (SSL_SESSION_get_protocol_version(cell->session) >= TLS1_3_VERSION)
        weir_tls_session_deinit(cell);
}

static bool set_up(struct weir_tls *tls, struct weir_slice host)
{
    BIO *bio;

    tls->ssl = SSL_new(tls->context->ssl);
    if (tls->ssl == NULL || SSL_set_app_data(tls->ssl, tls) != 1 || !set_host(tls->ssl, host))
        return false;
    bio = BIO_new(tls->context->method);
    if (bio == NULL)
        return false;
    BIO_set_data(bio, tls);
    SSL_set_bio(tls->ssl, bio, bio);
    SSL_set_connect_state(tls->ssl);
    offer_session(tls);
    return true;
}

int weir_tls_new(weir_tls_context *context, const struct weir_mem *mem, struct weir_slice host,
                 struct weir_tls_session *cell, weir_tls **ret_tls)
{
    weir_tls *tls = mem->alloc(mem->user, sizeof(*tls));

    if (tls == NULL)
        return WEIR_ERR_NOMEM;
    *tls = (weir_tls){.context = weir_tls_context_ref(context), .mem = mem, .cell = cell};
    weir_buf_init(&tls->output, mem, OUTPUT_MAX_BYTES);
    if (!set_up(tls, host)) {
        ERR_clear_error();
        weir_tls_free(tls);
        return WEIR_ERR_NOMEM;
    }
    *ret_tls = tls;
    return 0;
}

void weir_tls_free(weir_tls *tls)
{
    if (tls == NULL)
        return;
    /* Freed without a word to the peer, the session would be marked as bad. */
    if (tls->ssl != NULL)
        SSL_set_shutdown(tls->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(tls->ssl);
    weir_buf_deinit(&tls->output);
    weir_tls_context_unref(tls->context);
    tls->mem->free(tls->mem->user, tls, sizeof(*tls));
}

void weir_tls_feed(weir_tls *tls, struct weir_slice ciphertext)
{
    tls->input = ciphertext;
}

static int broken(struct weir_tls *tls)
{
    long verified = SSL_get_verify_result(tls->ssl);
    unsigned long error = ERR_peek_last_error();
    const char *reason = ERR_reason_error_string(error);

    ERR_clear_error();
    if (tls->out_of_memory)
        return WEIR_ERR_NOMEM;
    if (verified != X509_V_OK && SSL_get_verify_mode(tls->ssl) != SSL_VERIFY_NONE) {
        (void)snprintf(tls->reason, sizeof(tls->reason), "certificate refused: %s",
                       X509_verify_cert_error_string(verified));
        return WEIR_TLS_UNVERIFIED;
    }
    (void)snprintf(tls->reason, sizeof(tls->reason), "TLS failed: %s",
                   reason == NULL ? "protocol error" : reason);
    return WEIR_TLS_BROKEN;
}

static int condition_of(struct weir_tls *tls, int r)
{
    switch (SSL_get_error(tls->ssl, r)) {
    case SSL_ERROR_WANT_READ:
        return WEIR_TLS_WANT;
    case SSL_ERROR_ZERO_RETURN:
        return WEIR_TLS_CLOSED;
    default:
        return broken(tls);
    }
}

int weir_tls_shake(weir_tls *tls)
{
    int r;

    ERR_clear_error();
    r = SSL_do_handshake(tls->ssl);
    return r == 1 ? 0 : condition_of(tls, r);
}

int weir_tls_read(weir_tls *tls, char *room, size_t room_bytes, size_t *ret_bytes)
{
    int r;

    ERR_clear_error();
    r = SSL_read_ex(tls->ssl, room, room_bytes, ret_bytes);
    return r == 1 ? 0 : condition_of(tls, r);
}

int weir_tls_write(weir_tls *tls, struct weir_slice bytes)
{
    while (bytes.len > 0) {
        size_t written;
        int r;

        ERR_clear_error();
        r = SSL_write_ex(tls->ssl, bytes.ptr, bytes.len, &written);
        if (r != 1)
            return broken(tls);
        bytes = weir_slice_sub(bytes, written, bytes.len);
    }
    return 0;
}

struct weir_buf *weir_tls_output(weir_tls *tls)
{
    return &tls->output;
}

struct weir_slice weir_tls_reason(const weir_tls *tls)
{
    return weir_slice_str(tls->reason);
}
