/*
 * Certificates made on the spot, and the server's side of TLS on a plain socket, for the tests of the client.
 */
#ifndef WEIR_TESTS_TLS_KIT_H
#define WEIR_TESTS_TLS_KIT_H

#include <stdbool.h>

#include "net_kit.h"

#include <openssl/ssl.h>

/* What a certificate is to be. */
struct tls_kit_spec {
    const char *name; /* "DNS:localhost", "IP:127.0.0.1" */
    bool expired;
    bool self_signed; /* else signed by the kit's authority */
};

/* An authority, whose certificate is in the file ca_path. */
struct tls_kit {
    EVP_PKEY *ca_key;
    X509 *ca;
    char directory[64];
    char ca_path[96];
};

void tls_kit_open(struct tls_kit *kit);
void tls_kit_close(struct tls_kit *kit);

/* A server's context with such a certificate. */
SSL_CTX *tls_kit_server(struct tls_kit *kit, const struct tls_kit_spec *spec);

/* Writes a client's certificate and key, signed by the authority, to path. */
void tls_kit_write_pair(struct tls_kit *kit, const char *path);

/* The handshake with a client on fd; NULL when it fails. */
SSL *tls_kit_accept(weir_loop *loop, SSL_CTX *context, int fd);

/* Receives deciphered bytes until needle is there. */
void tls_kit_receive(weir_loop *loop, SSL *ssl, struct kit_text *text, const char *needle);

void tls_kit_send(weir_loop *loop, SSL *ssl, const char *text);
void tls_kit_send_bytes(weir_loop *loop, SSL *ssl, const char *bytes, size_t len);

#endif
