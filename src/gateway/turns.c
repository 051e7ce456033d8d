/*
 * A call whose turn has come begins from a task of its worker's loop, never from inside the end of another
 * call: that one may be another thread's, and of thousands of waiting calls that fail at once each would
 * begin the next one on its stack.
 *
 * A wait that ends in the moment in which its turn comes has the turn: the timer leaves it to the task.
 */
#include "gateway/turns.h"

#include "base/container.h"
#include "base/slice.h"
#include "base/time.h"
#include "config/config.h"
#include "gateway/answer/reply.h"
#include "gateway/driver.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/request/paths.h"
#include "gateway/setup.h"
#include "gateway/worker.h"
#include "wire/http1_read.h"

static void begin(struct weir_job *job, const struct weir_path *path)
{
    struct weir_problem problem;
    int r = weir_driver_begin(job, path, &problem);

    if (r == WEIR_REFUSED)
        weir_reply_problem(job, &problem);
    else if (r < 0)
        weir_reply_no_memory(job);
}

static void note_wait(struct weir_job *job)
{
    job->access.queued_ns = weir_job_now(job) - job->queued_at_ns;
}

/* The wait is over; the path was known when it began. */
static void begin_late(struct weir_job *job)
{
    const struct weir_http1_head *head = weir_exchange_head(job->exchange);
    struct weir_path path;

    weir_loop_cancel(job->worker->loop, &job->turn_timer);
    note_wait(job);
    if (weir_path_find(head->method, head->path, &path) == 0)
        begin(job, &path);
}

static void turn_away(struct weir_job *job)
{
    weir_reply_status(job, 503, WEIR_SLICE("too many requests are in hand already; try again in a moment"));
}

static void wait_for_turn(struct weir_job *job)
{
    const struct weir_worker *worker = job->worker;
    uint64_t longest_ns = worker->seat.setup->config->settings.admission_wait_ns;

    job->queued_at_ns = weir_job_now(job);
    weir_loop_arm(worker->loop, &job->turn_timer, weir_time_add(job->queued_at_ns, longest_ns));
}

static void on_task(struct weir_loop_task *task)
{
    struct weir_worker *worker = WEIR_CONTAINER(task, struct weir_worker, turn_task);
    struct weir_ticket *ticket;

    while ((ticket = weir_admission_called(&worker->gateway->admission, &worker->waiters)) != NULL) {
        struct weir_job *job = WEIR_CONTAINER(ticket, struct weir_job, ticket);

        weir_job_enter(job);
        begin_late(job);
        weir_job_leave(job);
    }
}

/* From any thread. */
static void wake(struct weir_waiters *waiters)
{
    struct weir_worker *worker = WEIR_CONTAINER(waiters, struct weir_worker, waiters);

    weir_loop_post(worker->loop, &worker->turn_task);
}

void weir_turns_init(struct weir_worker *worker)
{
    weir_waiters_init(&worker->waiters, wake);
    worker->turn_task = (struct weir_loop_task){.run = on_task};
}

void weir_turns_enter(struct weir_job *job, const struct weir_path *path)
{
    struct weir_worker *worker = job->worker;

    weir_driver_note_route(job, path);
    switch (weir_admission_enter(&worker->gateway->admission, &worker->waiters, &job->ticket)) {
    case 0:
        begin(job, path);
        return;
    case WEIR_ADMISSION_WAIT:
        wait_for_turn(job);
        return;
    default:
        turn_away(job);
        return;
    }
}

void weir_turns_on_timer(struct weir_timer *timer)
{
    struct weir_job *job = WEIR_CONTAINER(timer, struct weir_job, turn_timer);

    if (!weir_admission_give_up(&job->worker->gateway->admission, &job->ticket))
        return;
    weir_job_enter(job);
    note_wait(job);
    turn_away(job);
    weir_job_leave(job);
}

void weir_turns_leave(struct weir_job *job)
{
    weir_loop_cancel(job->worker->loop, &job->turn_timer);
    weir_admission_leave(&job->worker->gateway->admission, &job->ticket);
}

void weir_turns_close(struct weir_worker *worker)
{
    weir_loop_unpost(worker->loop, &worker->turn_task);
}
