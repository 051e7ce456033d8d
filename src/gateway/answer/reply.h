/*
 * Answers that weir writes itself: JSON bodies and errors.
 */
#ifndef WEIR_GATEWAY_REPLY_H
#define WEIR_GATEWAY_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/buf.h"
#include "gateway/answer/error_reply.h"
#include "gateway/problem.h"

struct weir_job;
struct weir_json_writer;

/*
 * The lines that every answer has: its id, and what pages of other origins need.  Without room for them they
 * are left out.
 */
void weir_reply_put_common(struct weir_buf *lines, struct weir_slice call_id, bool cors);

/* The worker's room for header lines, cleared, with the lines that every answer of the job has. */
struct weir_buf *weir_reply_lines(struct weir_job *job);

/* Answers the job's client with JSON; body lives in the job's arena or for ever. */
void weir_reply_json(struct weir_job *job, int status, struct weir_slice body);

/* Answers with what the writer has put into body, a buffer in the job's arena; 503 when that had no room. */
void weir_reply_written(struct weir_job *job, const struct weir_json_writer *writer,
                        const struct weir_buf *body);

/*
 * Begins a streamed answer of status 200, with its first bytes: as weir_exchange_begin.  type is the value of
 * Content-Type.  The job's exchange must be there.
 */
WEIR_MUST_USE int weir_reply_open(struct weir_job *job, struct weir_slice type,
                                  const struct weir_slice *parts, size_t count);

/* Answers with an error of weir's own. */
void weir_reply_problem(struct weir_job *job, const struct weir_problem *problem);

/* The same, with the header lines that stand in the worker's room already. */
void weir_reply_error(struct weir_job *job, const struct weir_error_reply *error);

/* For refusals without a message of their own. */
void weir_reply_status(struct weir_job *job, int status, struct weir_slice message);

/* 503: there is no memory for the answer. */
void weir_reply_no_memory(struct weir_job *job);

/* By the result of what could not be done: WEIR_REFUSED, with the problem; negative, as the last. */
void weir_reply_refusal(struct weir_job *job, int result, const struct weir_problem *problem);

#endif
