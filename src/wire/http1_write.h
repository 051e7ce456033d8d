/*
 * Writing HTTP/1.1 messages into a buffer.
 *
 * Everything that comes from outside is checked on its way: a name or value that could end a line early (CR,
 * LF, NUL and other controls, blanks in a name) is refused with WEIR_ERR_MALFORMED and not a byte of it is
 * written.  Each function appends all or nothing; WEIR_ERR_LIMIT and WEIR_ERR_NOMEM are those of the buffer.
 *
 * Bodies are never copied: a chunk is the head made by weir_http1_chunk_head, the caller's slices, and
 * WEIR_HTTP1_CHUNK_END, sent in one vectored write.
 */
#ifndef WEIR_WIRE_HTTP1_WRITE_H
#define WEIR_WIRE_HTTP1_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/buf.h"

/*
 * "POST /v1/x?y HTTP/1.1".  The method is a token, the target printable ASCII without blanks, neither empty.
 */
WEIR_MUST_USE int weir_http1_write_request(struct weir_buf *buf, struct weir_slice method,
                                           struct weir_slice target);

/* "HTTP/1.1 200 OK".  status is 100 to 999, else WEIR_ERR_INVALID. */
WEIR_MUST_USE int weir_http1_write_status(struct weir_buf *buf, unsigned status);

/* The reason phrase of a status; "Unknown" for one that has none.  Lives for ever. */
struct weir_slice weir_http1_reason(unsigned status);

WEIR_MUST_USE int weir_http1_write_field(struct weir_buf *buf, struct weir_slice name,
                                         struct weir_slice value);
/* "Content-Length: bytes". */
WEIR_MUST_USE int weir_http1_write_length(struct weir_buf *buf, uint64_t bytes);

/* The empty line that ends the fields. */
WEIR_MUST_USE int weir_http1_write_head_end(struct weir_buf *buf);

#define WEIR_HTTP1_CHUNK_HEAD_MAX 18
#define WEIR_HTTP1_CHUNK_END      WEIR_SLICE("\r\n")
#define WEIR_HTTP1_LAST_CHUNK     WEIR_SLICE("0\r\n\r\n")

/* The size line of a chunk of len bytes (len > 0: a chunk of 0 would end the body), written into room. */
struct weir_slice weir_http1_chunk_head(size_t len, char room[WEIR_HTTP1_CHUNK_HEAD_MAX]);

#endif
