/*
 * What a Redis server answers, as values, and the reader that makes them.
 *
 * The protocol (RESP2) is read by hiredis; the values are ours and lie in an arena of the reader, so that
 * what a server can make this process hold is bounded: the bytes of one reply, its elements and its depth.
 * A reply lives until the next one is asked for.
 */
#ifndef WEIR_STATE_REPLY_H
#define WEIR_STATE_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

enum weir_reply_kind {
    WEIR_REPLY_NIL,
    WEIR_REPLY_STATUS,  /* text: "OK" */
    WEIR_REPLY_ERROR,   /* text: "WRONGTYPE Operation against ..." */
    WEIR_REPLY_INTEGER, /* number; text is empty */
    WEIR_REPLY_BYTES,   /* text */
    WEIR_REPLY_LIST     /* count items; an item may be nil or an error */
};

struct weir_reply {
    enum weir_reply_kind kind;
    int64_t number;
    struct weir_slice text;
    size_t count;
    struct weir_reply *items;
};

/* The whole number that the reply is, as an integer or as decimal text (GET of a counter, also one that was
 * written with decimals by INCRBYFLOAT, which are cut off). */
#define WEIR_REPLY_NOT_A_NUMBER 1
WEIR_MUST_USE int weir_reply_number(const struct weir_reply *reply, int64_t *ret_number);

struct weir_reply_limits {
    size_t max_bytes; /* of one reply as it comes over the wire */
    size_t max_items; /* of all its lists together */
};

typedef struct weir_reply_reader weir_reply_reader;

/* 0 or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_reply_reader_new(const struct weir_mem *mem, struct weir_reply_limits limits,
                                        weir_reply_reader **ret_reader);
void weir_reply_reader_free(weir_reply_reader *reader); /* accepts NULL */

/* Conditions of the two below.  After the last two the reader is of no more use. */
#define WEIR_REPLY_MORE    1 /* no whole reply has come yet */
#define WEIR_REPLY_GARBAGE 2 /* that is not the protocol */
#define WEIR_REPLY_LARGE   3 /* a limit is reached */

/* Takes bytes of the server, which are copied.  0 or negative.  Ask for replies until there is none before
 * the next bytes. */
WEIR_MUST_USE int weir_reply_reader_feed(weir_reply_reader *reader, struct weir_slice bytes);

/* The next whole reply, alive until the next call: 0, or a condition, or negative. */
WEIR_MUST_USE int weir_reply_reader_next(weir_reply_reader *reader, const struct weir_reply **ret_reply);

#endif
