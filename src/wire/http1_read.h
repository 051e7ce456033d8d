/*
 * Reading HTTP/1.1 messages: requests on the server's side, responses on the client's, without I/O.
 *
 * The reader is fed bytes as they come and is asked for what they mean:
 *
 *     while ((r = weir_http1_read(&reader, &input, &body)) > 0)
 *         switch (r) {
 *         case WEIR_HTTP1_HEAD: ...  reader.head may be read, until weir_http1_reader_next
 *         case WEIR_HTTP1_BODY: ...  body is a part of input: no byte is copied
 *         case WEIR_HTTP1_DONE: ...  input holds what follows the message; weir_http1_reader_next, or stop
 *         case WEIR_HTTP1_BAD:  ...  reader.refusal says why; the connection must be closed after the answer
 *         }
 *
 * The head is gathered in a bounded buffer, is checked there, and is then parsed by llhttp in its strict
 * mode; the body goes through llhttp where it lies.  What could be understood in two ways is refused, on both
 * sides (docs/architecture.md, RFC 9112 sections 2.2, 5.1, 6 and 11.2): two lengths, a Transfer-Encoding that
 * is not exactly "chunked", folded lines, bare CR or LF, blanks before a colon, control characters, odd chunk
 * sizes. Trailers are checked and dropped, 1xx responses are skipped, and no message switches the protocol.
 *
 * Memory: the head's buffer and field table, kept for the next message of the connection, given back by
 * weir_http1_reader_release while a connection is idle.  One reader belongs to one thread.
 */
#ifndef WEIR_WIRE_HTTP1_READ_H
#define WEIR_WIRE_HTTP1_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/mem.h>
#include <weir/slice.h>

#include "base/buf.h"

#include <llhttp.h>

#define WEIR_HTTP1_MAX_HEAD_BYTES   (64 * 1024)
#define WEIR_HTTP1_MAX_TARGET_BYTES (16 * 1024)
#define WEIR_HTTP1_MAX_FIELDS       128

struct weir_http1_limits {
    size_t max_head_bytes;   /* start line and fields together; also all trailers together */
    size_t max_target_bytes; /* of a request */
    size_t max_fields;
};

/* The three defaults above. */
#define WEIR_HTTP1_LIMITS                                                                                    \
    ((struct weir_http1_limits){WEIR_HTTP1_MAX_HEAD_BYTES, WEIR_HTTP1_MAX_TARGET_BYTES,                      \
                                WEIR_HTTP1_MAX_FIELDS})

/* What the reader expects next; decides how an absent length is read. */
enum weir_http1_kind {
    WEIR_HTTP1_REQUEST,
    WEIR_HTTP1_RESPONSE,
    WEIR_HTTP1_RESPONSE_TO_HEAD,   /* never has a body */
    WEIR_HTTP1_RESPONSE_TO_CONNECT /* a 2xx ends with its head; what follows belongs to the tunnel */
};

/* Why a message is refused: name, status for a server to answer, text.  The rows are in wire/tbl. */
enum weir_http1_refusal {
    WEIR_HTTP1_REFUSED_NONE,
#define X(name, status, text) WEIR_HTTP1_REFUSED_##name,
#include "wire/tbl/http1_refusals.h"
#undef X
};

struct weir_http1_field {
    struct weir_slice name;  /* as it was sent; compare with weir_slice_eq_ci */
    struct weir_slice value; /* without blanks at both ends */
};

/* How the end of the body is known. */
enum weir_http1_framing {
    WEIR_HTTP1_FRAMED_NONE, /* no body */
    WEIR_HTTP1_FRAMED_LENGTH,
    WEIR_HTTP1_FRAMED_CHUNKED,
    WEIR_HTTP1_FRAMED_EOF /* responses only */
};

/* Every slice is a part of the reader's buffer and lives until weir_http1_reader_next, release or deinit. */
struct weir_http1_head {
    /* Requests.  target is as sent; path and query are its parts (absolute form: without scheme and host),
     * still percent-encoded; "*" is a path.  query is without its '?'. */
    struct weir_slice method;
    struct weir_slice target;
    struct weir_slice path;
    struct weir_slice query;
    bool expects_continue; /* Expect: 100-continue, HTTP/1.1, and a body is to come */

    /* Responses. */
    unsigned status;
    struct weir_slice reason;

    unsigned minor; /* 0 or 1 of HTTP/1.x */
    enum weir_http1_framing framing;
    uint64_t content_length; /* framing LENGTH; also of a response to HEAD, when it was said */
    bool keep_alive;         /* after this message the connection may carry another */

    const struct weir_http1_field *fields;
    size_t field_count;
};

struct weir_http1_reader {
    const struct weir_mem *mem;
    struct weir_http1_limits limits;
    struct weir_http1_head head;
    enum weir_http1_refusal refusal; /* after WEIR_HTTP1_BAD */

    /* The rest is the reader's own. */
    struct weir_buf bytes; /* the head as it came */
    struct weir_http1_field *fields;
    size_t field_cap;
    size_t line_bytes;    /* of the line that is being gathered, without its end */
    size_t line_count;    /* whole lines of the head */
    size_t framing_bytes; /* of the current chunk's line, or of the trailers */
    struct weir_slice body;
    enum weir_http1_kind kind;
    unsigned char phase;
    unsigned char skipped; /* empty lines before a request, 1xx responses before the final one */
    char line_first;       /* its first byte */
    bool after_cr;         /* the last byte gathered was a CR */
    bool in_name;          /* llhttp is inside a field's name */
    bool whole;            /* llhttp saw the end of the message */
    bool at_chunk;         /* llhttp stopped behind a chunk's line */
    bool in_data;          /* within a chunk, its end included */
    bool in_trailers;
    llhttp_t parser;
};

/* Allocates nothing yet.  limits are copied; each must be at least 1. */
void weir_http1_reader_init(struct weir_http1_reader *reader, enum weir_http1_kind kind,
                            const struct weir_mem *mem, struct weir_http1_limits limits);

/* Gives all memory back.  Accepts a zeroed reader. */
void weir_http1_reader_deinit(struct weir_http1_reader *reader);

/* After DONE: ready for the next message of the connection, of this kind.  Ends the loan of the head. */
void weir_http1_reader_next(struct weir_http1_reader *reader, enum weir_http1_kind kind);

/* Between messages: gives the memory back and stays usable.  Ends the loan of the head. */
void weir_http1_reader_release(struct weir_http1_reader *reader);

/* Conditions of weir_http1_read and weir_http1_finish. */
#define WEIR_HTTP1_HEAD 1
#define WEIR_HTTP1_BODY 2
#define WEIR_HTTP1_DONE 3
#define WEIR_HTTP1_BAD  4

/*
 * Takes bytes off the front of *input up to the next thing to tell.  0: all was taken and more is needed.
 * BODY sets *ret_body to at least one byte of what *input was.  After DONE or BAD the same is answered again
 * and nothing is taken, until weir_http1_reader_next (not after BAD).  Negative: WEIR_ERR_NOMEM.
 */
WEIR_MUST_USE int weir_http1_read(struct weir_http1_reader *reader, struct weir_slice *input,
                                  struct weir_slice *ret_body);

/*
 * The peer will send nothing more.  0: it stopped between messages, where it may.  DONE: the end completes a
 * response without a length (or the message was done before).  BAD: the message is cut off
 * (WEIR_HTTP1_REFUSED_TRUNCATED), or was refused before.
 */
WEIR_MUST_USE int weir_http1_finish(struct weir_http1_reader *reader);

/* No byte of a message has come yet (an idle connection); empty lines before a request are none. */
bool weir_http1_reader_idle(const struct weir_http1_reader *reader);

/* The status a server answers a refused request with, and one clause of prose about either message; for ever.
 * A gateway whose upstream is refused answers 502, whatever the refusal. */
unsigned weir_http1_refusal_status(enum weir_http1_refusal refusal);
struct weir_slice weir_http1_refusal_text(enum weir_http1_refusal refusal);

/* The first field of that name, in any case, or NULL.  The loan is that of the head. */
const struct weir_http1_field *weir_http1_find(const struct weir_http1_head *head, struct weir_slice name);

/* The value of the first field of that name; empty when there is none. */
struct weir_slice weir_http1_value(const struct weir_http1_head *head, struct weir_slice name);

#endif
