/*
 * A turn that becomes free is given on in the loop's next round, never from inside the end of another call:
 * thousands of waiting calls that fail at once would else each begin the next one on the stack of the last.
 */
#include "gateway/turns.h"

#include "base/container.h"
#include "base/slice.h"
#include "config/config.h"
#include "gateway/answer/reply.h"
#include "gateway/driver.h"
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
        weir_reply_status(job, 503, WEIR_SLICE("weir is at the limit of its memory"));
}

/* The wait is over; the path was known when it began. */
static void begin_late(struct weir_job *job)
{
    const struct weir_http1_head *head = weir_exchange_head(job->exchange);
    struct weir_path path;

    job->access.queued_ns = weir_job_now(job) - job->ticket.since_ns;
    if (weir_path_find(head->method, head->path, &path) == 0)
        begin(job, &path);
}

static void turn_away(struct weir_job *job)
{
    weir_reply_status(job, 503, WEIR_SLICE("too many requests are in hand already; try again in a moment"));
}

static void arm(struct weir_worker *worker)
{
    weir_loop_arm(worker->loop, &worker->turn_timer, weir_admission_expiry(&worker->admission));
}

/* Whose turn it is, then whose time is over: who waited to the last moment for a free turn has it. */
static void go_on(struct weir_worker *worker)
{
    uint64_t now_ns = weir_loop_now(worker->loop);
    struct weir_ticket *ticket;

    while ((ticket = weir_admission_next(&worker->admission)) != NULL) {
        struct weir_job *job = WEIR_CONTAINER(ticket, struct weir_job, ticket);

        weir_job_enter(job);
        begin_late(job);
        weir_job_leave(job);
    }
    while ((ticket = weir_admission_overdue(&worker->admission, now_ns)) != NULL) {
        struct weir_job *job = WEIR_CONTAINER(ticket, struct weir_job, ticket);

        weir_job_enter(job);
        job->access.queued_ns = now_ns - job->ticket.since_ns;
        turn_away(job);
        weir_job_leave(job);
    }
    arm(worker);
}

static void on_timer(struct weir_timer *timer)
{
    go_on(WEIR_CONTAINER(timer, struct weir_worker, turn_timer));
}

static void on_task(struct weir_loop_task *task)
{
    struct weir_worker *worker = WEIR_CONTAINER(task, struct weir_worker, turn_task);

    worker->turn_posted = false;
    go_on(worker);
}

void weir_turns_init(struct weir_worker *worker)
{
    const struct weir_settings *settings = &worker->seat.setup->config->settings;

    weir_admission_init(&worker->admission, settings->max_in_flight, settings->max_queued,
                        settings->admission_wait_ns);
    weir_timer_init(&worker->turn_timer, on_timer);
    worker->turn_task = (struct weir_loop_task){.run = on_task};
    worker->turn_posted = false;
}

void weir_turns_enter(struct weir_job *job, const struct weir_path *path)
{
    struct weir_worker *worker = job->worker;

    switch (weir_admission_enter(&worker->admission, &job->ticket, weir_job_now(job))) {
    case 0:
        begin(job, path);
        return;
    case WEIR_ADMISSION_WAIT:
        if (!weir_timer_armed(&worker->turn_timer))
            arm(worker);
        return;
    default:
        turn_away(job);
        return;
    }
}

void weir_turns_leave(struct weir_job *job)
{
    struct weir_worker *worker = job->worker;

    weir_admission_leave(&worker->admission, &job->ticket);
    if (weir_admission_expiry(&worker->admission) > 0 || worker->turn_posted)
        return;
    worker->turn_posted = true;
    weir_loop_post(worker->loop, &worker->turn_task);
}

void weir_turns_close(struct weir_worker *worker)
{
    weir_loop_cancel(worker->loop, &worker->turn_timer);
    weir_loop_unpost(worker->loop, &worker->turn_task);
    worker->turn_posted = false;
}
