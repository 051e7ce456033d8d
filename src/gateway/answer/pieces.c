/* A posted task makes the next piece; while the client is slow there is none, until it has drained. */
#include "gateway/answer/pieces.h"

#include "base/container.h"
#include "base/slice.h"
#include "gateway/answer/reply.h"
#include "gateway/job.h"
#include "gateway/worker.h"
#include "wire/http1_read.h"

struct weir_pieces {
    struct weir_job *job;
    weir_piece_fn *make;
    void *user;
    struct weir_loop_task task;
    bool full; /* the client does not take what there is */
};

/* The exchange ends here, one way or the other, or the next piece will be made. */
static void write_next(struct weir_pieces *pieces)
{
    struct weir_job *job = pieces->job;
    struct weir_buf *buf = &job->worker->scratch;
    struct weir_slice bytes;
    int made;
    int r;

    weir_buf_clear(buf);
    made = pieces->make(job, pieces->user, buf);
    bytes = weir_buf_slice(buf);
    if (made == 0) {
        weir_exchange_end(job->exchange, &bytes, 1);
        return;
    }
    r = made < 0 ? made : weir_exchange_write(job->exchange, &bytes, 1);
    pieces->full = r == WEIR_EXCHANGE_FULL;
    if (r < 0)
        weir_exchange_abort(job->exchange);
    else if (r == 0)
        weir_loop_post(job->worker->loop, &pieces->task);
}

static void run(struct weir_loop_task *task)
{
    struct weir_pieces *pieces = WEIR_CONTAINER(task, struct weir_pieces, task);
    struct weir_job *job = pieces->job;

    weir_job_enter(job);
    if (job->exchange != NULL)
        write_next(pieces);
    weir_job_leave(job);
}

void weir_pieces_begin(struct weir_job *job, struct weir_slice type, weir_piece_fn *make, void *user)
{
    struct weir_pieces *pieces = weir_arena_zalloc(&job->arena, 1, sizeof(*pieces));
    const struct weir_http1_head *head = weir_exchange_head(job->exchange);

    if (pieces == NULL) {
        weir_reply_no_memory(job);
        return;
    }
    if (weir_reply_open(job, type, NULL, 0) < 0) {
        weir_exchange_abort(job->exchange);
        return;
    }
    if (weir_slice_eq(head->method, WEIR_SLICE("HEAD"))) {
        weir_exchange_end(job->exchange, NULL, 0);
        return;
    }
    *pieces = (struct weir_pieces){.job = job, .make = make, .user = user, .task.run = run};
    job->pieces = pieces;
    write_next(pieces);
}

void weir_pieces_resume(struct weir_job *job)
{
    if (job->pieces == NULL || !job->pieces->full)
        return;
    job->pieces->full = false;
    weir_loop_post(job->worker->loop, &job->pieces->task);
}

void weir_pieces_leave(struct weir_job *job)
{
    if (job->pieces == NULL)
        return;
    weir_loop_unpost(job->worker->loop, &job->pieces->task);
    job->pieces = NULL;
}
