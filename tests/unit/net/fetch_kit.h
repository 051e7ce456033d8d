/*
 * A client with one fetch at a time that remembers what it was told, for the tests of the client.
 */
#ifndef WEIR_TESTS_FETCH_KIT_H
#define WEIR_TESTS_FETCH_KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/client.h"
#include "net_kit.h"

struct fetch_kit {
    weir_loop *loop;
    weir_resolver *resolver;
    weir_client *client;
    struct weir_fetch fetch;
    struct weir_fetch_request request;
    struct weir_slice body[2];
    unsigned status;
    size_t heads;
    size_t dones;
    size_t errors;
    enum weir_fetch_failure_kind kind;
    bool sent;
    bool pause_on_body; /* pauses at each piece */
    bool cancel_on_head;
    bool cancel_on_body;
    bool keep_body; /* else only counted */
    size_t body_bytes;
    size_t pieces;
    size_t flushes;
    struct kit_text text;  /* the answer's body, or the failure's text */
    struct kit_text heard; /* what the upstream received */
};

/* proxies may be NULL; config may be NULL for the defaults. */
struct fetch_kit *fetch_kit_open(const struct weir_client_config *config);
void fetch_kit_close(struct fetch_kit *kit);

/* Makes kit->request a POST of "hello" (two parts) to 127.0.0.1:port. */
void fetch_kit_prepare(struct fetch_kit *kit, uint16_t port);

/* The same, and starts it. */
void fetch_kit_post(struct fetch_kit *kit, uint16_t port);

/* Starts what kit->request says. */
void fetch_kit_start(struct fetch_kit *kit);

/* Turns until the fetch is over. */
void fetch_kit_wait(struct fetch_kit *kit);

/* Waits for failure of that kind. */
void fetch_kit_expect_error(struct fetch_kit *kit, enum weir_fetch_failure_kind kind);

/* Waits for a whole answer of that body. */
void fetch_kit_expect_body(struct fetch_kit *kit, const char *body);

/* Receives one request of fetch_kit_post at the upstream's side. */
void fetch_kit_hear(struct fetch_kit *kit, int fd);

#endif
