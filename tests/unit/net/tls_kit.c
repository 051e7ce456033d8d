#include "tls_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <uv.h>

#include <cmocka.h>

enum { DAY_S = 24 * 3600 };

static void add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    X509_EXTENSION *extension;

    X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    assert_non_null(extension);
    assert_int_equal(X509_add_ext(cert, extension, -1), 1);
    X509_EXTENSION_free(extension);
}

static X509 *new_cert(EVP_PKEY *key, const char *common_name, bool expired)
{
    static long serial = 1;
    X509 *cert = X509_new();

    assert_non_null(cert);
    assert_int_equal(X509_set_version(cert, 2), 1);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), serial++);
    X509_gmtime_adj(X509_getm_notBefore(cert), -2 * DAY_S);
    X509_gmtime_adj(X509_getm_notAfter(cert), expired ? -DAY_S : DAY_S);
    X509_set_pubkey(cert, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                               (const unsigned char *)common_name, -1, -1, 0);
    return cert;
}

void tls_kit_open(struct tls_kit *kit)
{
    FILE *file;

    (void)snprintf(kit->directory, sizeof(kit->directory), "/tmp/weir-tls-XXXXXX");
    assert_non_null(mkdtemp(kit->directory));
    (void)snprintf(kit->ca_path, sizeof(kit->ca_path), "%s/ca.pem", kit->directory);
    kit->ca_key = EVP_EC_gen("P-256");
    kit->ca = new_cert(kit->ca_key, "weir test authority", false);
    X509_set_issuer_name(kit->ca, X509_get_subject_name(kit->ca));
    add_extension(kit->ca, kit->ca, NID_basic_constraints, "critical,CA:TRUE");
    assert_true(X509_sign(kit->ca, kit->ca_key, EVP_sha256()) > 0);
    file = fopen(kit->ca_path, "w");
    assert_non_null(file);
    assert_int_equal(PEM_write_X509(file, kit->ca), 1);
    assert_int_equal(fclose(file), 0);
}

void tls_kit_close(struct tls_kit *kit)
{
    (void)unlink(kit->ca_path);
    assert_int_equal(rmdir(kit->directory), 0);
    X509_free(kit->ca);
    EVP_PKEY_free(kit->ca_key);
}

static X509 *signed_cert(struct tls_kit *kit, EVP_PKEY *key, const struct tls_kit_spec *spec)
{
    X509 *cert = new_cert(key, "weir test", spec->expired);

    if (spec->name != NULL)
        add_extension(cert, kit->ca, NID_subject_alt_name, spec->name);
    X509_set_issuer_name(cert, X509_get_subject_name(spec->self_signed ? cert : kit->ca));
    assert_true(X509_sign(cert, spec->self_signed ? key : kit->ca_key, EVP_sha256()) > 0);
    return cert;
}

SSL_CTX *tls_kit_server(struct tls_kit *kit, const struct tls_kit_spec *spec)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = signed_cert(kit, key, spec);

    assert_non_null(context);
    assert_int_equal(SSL_CTX_use_certificate(context, cert), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(context, key), 1);
    assert_int_equal(X509_STORE_add_cert(SSL_CTX_get_cert_store(context), kit->ca), 1);
    assert_int_equal(SSL_CTX_set_session_id_context(context, (const unsigned char *)"weir", 4), 1);
    X509_free(cert);
    EVP_PKEY_free(key);
    return context;
}

void tls_kit_write_pair(struct tls_kit *kit, const char *path)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = signed_cert(kit, key, &(struct tls_kit_spec){0});
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(PEM_write_X509(file, cert), 1);
    assert_int_equal(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
    assert_int_equal(fclose(file), 0);
    X509_free(cert);
    EVP_PKEY_free(key);
}

static bool must_wait(SSL *ssl, int r)
{
    int error = SSL_get_error(ssl, r);

    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

SSL *tls_kit_accept(weir_loop *loop, SSL_CTX *context, int fd)
{
    uint64_t end_ns = uv_hrtime() + KIT_PATIENCE_NS;
    SSL *ssl = SSL_new(context);
    int r;

    assert_non_null(ssl);
    assert_int_equal(SSL_set_fd(ssl, fd), 1);
    while ((r = SSL_accept(ssl)) != 1) {
        assert_true(uv_hrtime() < end_ns);
        if (!must_wait(ssl, r)) {
            ERR_clear_error();
            SSL_free(ssl);
            return NULL;
        }
        kit_turn(loop);
    }
    return ssl;
}

void tls_kit_receive(weir_loop *loop, SSL *ssl, struct kit_text *text, const char *needle)
{
    uint64_t end_ns = uv_hrtime() + KIT_PATIENCE_NS;

    text->bytes[text->len] = '\0';
    while (strstr(text->bytes, needle) == NULL) {
        int r = SSL_read(ssl, text->bytes + text->len, (int)(sizeof(text->bytes) - 1 - text->len));

        assert_true(uv_hrtime() < end_ns);
        if (r > 0)
            text->len += (size_t)r;
        else
            assert_true(must_wait(ssl, r));
        text->bytes[text->len] = '\0';
        kit_turn(loop);
    }
}

void tls_kit_send_bytes(weir_loop *loop, SSL *ssl, const char *bytes, size_t len)
{
    (void)SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE);
    while (len > 0) {
        int r = SSL_write(ssl, bytes, (int)len);

        if (r > 0) {
            bytes += r;
            len -= (size_t)r;
        } else {
            assert_true(must_wait(ssl, r));
        }
        (void)uv_run(weir_loop_uv(loop), UV_RUN_NOWAIT);
    }
}

void tls_kit_send(weir_loop *loop, SSL *ssl, const char *text)
{
    tls_kit_send_bytes(loop, ssl, text, strlen(text));
}
