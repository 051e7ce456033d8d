/*
 * The compact form in which the events of a call and its facts are kept: numbers in as many bytes as they
 * need, each text once.
 *
 * Events are written one behind the other into a block of bytes, then the facts.  A text stands where it
 * comes first, and is mostly referred to by its place after that; so what is read back are slices of the
 * block. Texts are cut to 256 bytes.  The block never leaves the process: it is trusted.
 */
#ifndef WEIR_GATEWAY_STORY_CODEC_H
#define WEIR_GATEWAY_STORY_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/event.h>

#include "gateway/log/access_log.h"

enum { WEIR_STORY_TEXT_MAX = 256, WEIR_STORY_TEXTS_KNOWN = 16 };

/* Of more candidates of a pick the first ones are kept. */
enum { WEIR_STORY_CANDIDATES_MAX = 16 };

/* A text that stands in the block; ptr is where it came from, and is compared, never read. */
struct weir_story_text {
    const char *ptr;
    uint32_t len;
    uint32_t at;
};

struct weir_story_pen {
    char *bytes;
    uint32_t len;
    uint32_t cap;
    struct weir_slice group; /* of the last event, as the next */
    struct weir_slice deployment;
    struct weir_story_text known[WEIR_STORY_TEXTS_KNOWN]; /* each at the place that its ptr gives */
};

/* Writes into cap bytes.  Texts that are written must stay where they are as long as the pen is used. */
void weir_story_pen_init(struct weir_story_pen *ret_pen, char *bytes, size_t cap);

/* Goes on in a larger place, to which the bytes were moved. */
void weir_story_pen_move(struct weir_story_pen *pen, char *bytes, size_t cap);

/* Condition of the two below: it might not fit, and nothing was written. */
#define WEIR_STORY_FULL 1

/* Times are kept as those since begun_ns; what is earlier becomes that. */
WEIR_MUST_USE int weir_story_put_event(struct weir_story_pen *pen, const struct weir_event *event,
                                       uint64_t begun_ns);

/* Of the call; its id and the client's address are not among them. */
WEIR_MUST_USE int weir_story_put_facts(struct weir_story_pen *pen, const struct weir_access *access);

/* Reads from a place of the block. */
struct weir_story_reader {
    const char *bytes;
    size_t at;
    size_t end;
    uint64_t begun_ns;
    struct weir_slice group; /* of the event that was read last, as the next two */
    struct weir_slice deployment;
    struct weir_candidate candidates[WEIR_STORY_CANDIDATES_MAX];
};

/* Reads the bytes from begin to end; candidates are written before they are read. */
void weir_story_reader_init(struct weir_story_reader *ret_reader, const char *bytes, size_t begin, size_t end,
                            uint64_t begun_ns);

/* The next event; false at the end.  Its candidates are the reader's, until the next one. */
bool weir_story_take_event(struct weir_story_reader *reader, struct weir_event *ret_event);

/* All members but those that are not kept. */
void weir_story_take_facts(struct weir_story_reader *reader, struct weir_access *ret_access);

#endif
