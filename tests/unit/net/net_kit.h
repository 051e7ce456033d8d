/*
 * What the tests of net have in common: a loop that is turned by hand, and the other side of a connection,
 * played with plain sockets in the same thread.
 *
 * Every wait turns the loop and is bounded by KIT_PATIENCE_NS; none sleeps longer than a millisecond at once.
 */
#ifndef WEIR_TESTS_NET_KIT_H
#define WEIR_TESTS_NET_KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/loop.h"
#include "net/server.h"

#define KIT_PATIENCE_NS UINT64_C(10000000000)

enum { KIT_TEXT_MAX = 256 * 1024 };

/* Group setup: no broken pipe ends the test. */
int kit_setup(void **state);

/* Runs what is ready on the loop, then waits a little if nothing was. */
void kit_turn(weir_loop *loop);

/* Turns the loop until done(user) is true; fails the test when it takes too long. */
void kit_until(weir_loop *loop, bool (*done)(void *user), void *user);

/* Turns the loop for that long. */
void kit_for(weir_loop *loop, uint64_t time_ns);

/* A listening socket of the test's own on 127.0.0.1; *ret_port tells where. */
int kit_listen(uint16_t *ret_port);

/* Waits for a connection. */
int kit_accept(weir_loop *loop, int listening);

/* A connection to 127.0.0.1:port. */
int kit_connect(uint16_t port);

/* Sends all of it, turning the loop while the socket is full. */
void kit_send(weir_loop *loop, int fd, const char *text);
void kit_send_bytes(weir_loop *loop, int fd, const char *bytes, size_t len);

/* What came from the peer. */
struct kit_text {
    size_t len;
    bool ended; /* the peer closed its side */
    bool reset; /* the connection broke */
    char bytes[KIT_TEXT_MAX];
};

/* Receives until needle is there (or the peer ended, when needle is NULL); adds to *text and ends it with
 * NUL. Fails the test when the peer ends before. */
void kit_receive(weir_loop *loop, int fd, struct kit_text *text, const char *needle);

/* Receives what is there, keeps the last of it in *text and returns how much it was; turns the loop. */
size_t kit_discard(weir_loop *loop, int fd, struct kit_text *text);

/* The descriptor was closed or reset by the peer, within patience. */
void kit_expect_end(weir_loop *loop, int fd, struct kit_text *text);

/* Closes with a reset. */
void kit_reset(int fd);

#endif
