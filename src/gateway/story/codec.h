/*
 * The compact form in which the events of a call and its facts are kept: numbers of variable length, each
 * text once.
 *
 * Events are written one behind the other into a block of bytes, then the facts.  A text stands where it
 * comes first, and is referred to by its place after that; so what is read back are slices of the block.
 * Texts are cut to 256 bytes.  The block never leaves the process: it is trusted.
 */
#ifndef WEIR_GATEWAY_STORY_CODEC_H
#define WEIR_GATEWAY_STORY_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/event.h>

#include "gateway/log/access_log.h"

enum { WEIR_STORY_TEXT_MAX = 256, WEIR_STORY_TEXTS_KNOWN = 24 };

/* Of more candidates of a pick the first ones are kept. */
enum { WEIR_STORY_CANDIDATES_MAX = 16 };

/* A text that stands in the block already; ptr is where it came from, and is compared, never read. */
struct weir_story_text {
    const char *ptr;
    uint32_t len;
    uint32_t at;
};

struct weir_story_pen {
    char *bytes;
    uint32_t len;
    uint32_t cap;
    bool full;
    uint32_t known_count;
    struct weir_story_text known[WEIR_STORY_TEXTS_KNOWN]; /* the first ones; zeroed by nobody */
};

/* Writes into cap bytes.  Texts that are written must stay where they are as long as the pen is used. */
void weir_story_pen_init(struct weir_story_pen *ret_pen, char *bytes, size_t cap);

/* Goes on in a larger place, to which the bytes were moved. */
void weir_story_pen_move(struct weir_story_pen *pen, char *bytes, size_t cap);

/* Condition of the two below: it does not fit, and nothing was written. */
#define WEIR_STORY_FULL 1

/* Times are kept as those since begun_ns; what is earlier becomes that. */
WEIR_MUST_USE int weir_story_put_event(struct weir_story_pen *pen, const struct weir_event *event,
                                       uint64_t begun_ns);

/* Of the call; the id is not among them. */
WEIR_MUST_USE int weir_story_put_facts(struct weir_story_pen *pen, const struct weir_access *access);

/* Reads from a place of the block. */
struct weir_story_reader {
    const char *bytes;
    size_t at;
    size_t end;
    uint64_t begun_ns;
    struct weir_candidate candidates[WEIR_STORY_CANDIDATES_MAX]; /* of the event that was read last */
};

/* The next event; false at the end.  Its candidates are the reader's, until the next one. */
bool weir_story_take_event(struct weir_story_reader *reader, struct weir_event *ret_event);

/* All members but the id. */
void weir_story_take_facts(struct weir_story_reader *reader, struct weir_access *ret_access);

#endif
