/*
 * Pages of weir's own that may be long: made and sent piece by piece, one in a turn of the loop, so that they
 * neither hold up the worker nor need more memory than a piece and what the client has not taken yet.
 */
#ifndef WEIR_GATEWAY_PIECES_H
#define WEIR_GATEWAY_PIECES_H

#include <weir/slice.h>

#include "base/buf.h"

struct weir_job;

/* A piece should have about so many bytes. */
enum { WEIR_PIECE_BYTES = 64 * 1024 };

#define WEIR_PIECES_MORE 1

/*
 * Appends the next piece to buf, which is empty and the worker's.  0: it was the last; WEIR_PIECES_MORE; or
 * negative: the answer is cut off.
 */
typedef int weir_piece_fn(struct weir_job *job, void *user, struct weir_buf *buf);

/*
 * Answers the job's client with status 200 and what make writes, for as long as the client stays; HEAD gets
 * no piece.  user lives as long as the job; type is the value of Content-Type.  From between weir_job_enter
 * and weir_job_leave, as the next.
 */
void weir_pieces_begin(struct weir_job *job, struct weir_slice type, weir_piece_fn *make, void *user);

/* The client has taken what was written.  Does nothing to a job without pieces, as the next. */
void weir_pieces_resume(struct weir_job *job);

/* The job goes back. */
void weir_pieces_leave(struct weir_job *job);

#endif
