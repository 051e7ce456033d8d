/*
 * What the provider inside the process says: answers, chunks and errors in OpenAI's form, as text.
 */
#ifndef WEIR_GATEWAY_SIM_TEXT_H
#define WEIR_GATEWAY_SIM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/failure.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "base/buf.h"
#include "provider/route.h"

/* What an answer is made of. */
struct weir_sim_words {
    weir_route route;
    uint64_t number;         /* of the answer, for its id */
    uint64_t created_s;      /* the wall clock */
    struct weir_slice model; /* a JSON string */
    struct weir_slice text;  /* what is said */
    uint64_t prompt_tokens;
    uint64_t inputs; /* of an embeddings request */
};

/* The token of text at position at: a word with the blanks before it; empty at the end. */
struct weir_slice weir_sim_token(struct weir_slice text, size_t at);

/* How many of them there are. */
uint64_t weir_sim_tokens(struct weir_slice text);

/* A plain answer to any route.  0 or the buffer's failure, as below. */
WEIR_MUST_USE int weir_sim_body(const struct weir_sim_words *words, struct weir_buf *buf);

/* A stream: the role (of a chat), one chunk a token, and the end: finish reason, usage, marker. */
WEIR_MUST_USE int weir_sim_first_chunk(const struct weir_sim_words *words, struct weir_buf *buf);
WEIR_MUST_USE int weir_sim_chunk(const struct weir_sim_words *words, struct weir_slice token,
                                 struct weir_buf *buf);
WEIR_MUST_USE int weir_sim_last_chunks(const struct weir_sim_words *words, bool usage, uint64_t tokens,
                                       struct weir_buf *buf);

/* An error as OpenAI would word it, so that it is classified like a real one.  Lives for ever. */
struct weir_slice weir_sim_error(weir_kind kind);

#endif
