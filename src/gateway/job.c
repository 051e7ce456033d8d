/*
 * Jobs are pooled: a worker keeps some of them with one block of their arena, so that a request of the usual
 * size allocates nothing but its body.
 *
 * The pool follows the load.  From rest to rest, spare_unused is the fewest spare jobs that there were: so
 * many were not needed in all that time, and they go back to the system.
 */
#include "gateway/job.h"

#include <malloc.h>
#include <string.h>

#include "base/container.h"
#include "base/time.h"
#include "config/config.h"
#include "gateway/answer/pieces.h"
#include "gateway/attempt/upcall.h"
#include "gateway/driver.h"
#include "gateway/endpoint/events.h"
#include "gateway/endpoint/reload.h"
#include "gateway/gateway.h"
#include "gateway/health/checkup.h"
#include "gateway/keepalive.h"
#include "gateway/observe.h"
#include "gateway/setup.h"
#include "gateway/turns.h"
#include "gateway/worker.h"

enum { ARENA_BLOCK_BYTES = 8 * 1024, ARENA_MAX_BYTES = 16 * 1024 * 1024 };

enum { SPARE_JOBS_MIN = 8, SPARE_JOBS_MAX = 256 };

#define REST_EVERY_NS (2 * WEIR_NS_PER_S)

/* While there is something to give back one day. */
static void rest_later(struct weir_worker *worker)
{
    if (worker->spare_count > SPARE_JOBS_MIN && !weir_timer_armed(&worker->rest_timer))
        weir_loop_arm(worker->loop, &worker->rest_timer,
                      weir_time_add(weir_loop_now(worker->loop), REST_EVERY_NS));
}

static void drop_spare(struct weir_worker *worker)
{
    struct weir_job *job = worker->spare_jobs;

    worker->spare_jobs = job->next;
    worker->spare_count--;
    weir_job_free(job);
}

void weir_job_on_rest(struct weir_timer *timer)
{
    struct weir_worker *worker = WEIR_CONTAINER(timer, struct weir_worker, rest_timer);
    bool any = false;

    for (; worker->spare_unused > 0 && worker->spare_count > SPARE_JOBS_MIN; worker->spare_unused--) {
        drop_spare(worker);
        any = true;
    }
    /* The C library keeps free pages between blocks in use until it is told. */
    if (any)
        (void)malloc_trim(0);
    worker->spare_unused = worker->spare_count;
    rest_later(worker);
}

static struct weir_job *take(struct weir_worker *worker)
{
    const struct weir_mem *mem = worker->gateway->mem;
    struct weir_job *job = worker->spare_jobs;

    if (job != NULL) {
        worker->spare_jobs = job->next;
        worker->spare_count--;
        if (worker->spare_count < worker->spare_unused)
            worker->spare_unused = worker->spare_count;
        return job;
    }
    job = mem->alloc(mem->user, sizeof(*job));
    if (job != NULL)
        weir_arena_init(&job->arena, mem, ARENA_BLOCK_BYTES, ARENA_MAX_BYTES);
    return job;
}

static void link_in(struct weir_worker *worker, struct weir_job *job)
{
    job->prev = NULL;
    job->next = worker->jobs;
    if (job->next != NULL)
        job->next->prev = job;
    worker->jobs = job;
}

static void unlink_from(struct weir_worker *worker, struct weir_job *job)
{
    if (job->prev != NULL)
        job->prev->next = job->next;
    else
        worker->jobs = job->next;
    if (job->next != NULL)
        job->next->prev = job->prev;
}

struct weir_slice weir_job_call_id(struct weir_worker *worker, char room[WEIR_CALL_ID_LEN])
{
    uint64_t high = weir_rand_u64(&worker->rand);

    return weir_call_id(high, weir_rand_u64(&worker->rand), room);
}

struct weir_job *weir_job_new(struct weir_worker *worker, weir_exchange *exchange)
{
    struct weir_job *job = take(worker);

    if (job == NULL)
        return NULL;
    memset(job, 0, offsetof(struct weir_job, arena));
    job->worker = worker;
    job->exchange = exchange;
    job->setup = weir_seat_hold(&worker->seat);
    job->access.call_id = weir_job_call_id(worker, job->call_id_room);
    job->begun_ns = weir_exchange_begun_ns(exchange);
    weir_buf_init(&job->body, weir_budget_mem(&worker->gateway->budget),
                  (size_t)job->setup->config->settings.max_body_bytes);
    weir_so_far_init(&job->so_far, weir_budget_mem(&worker->gateway->budget));
    weir_timer_init(&job->timer, weir_driver_on_timer);
    job->timer_ns = UINT64_MAX;
    weir_timer_init(&job->turn_timer, weir_turns_on_timer);
    weir_timer_init(&job->ping_timer, weir_keepalive_on_timer);
    link_in(worker, job);
    return job;
}

/* Frees the list, which has no running attempt. */
static void release_attempts(struct weir_upcall *list)
{
    while (list != NULL) {
        struct weir_upcall *next = list->next;

        weir_upcall_release(list);
        list = next;
    }
}

static void give_back(struct weir_job *job)
{
    struct weir_worker *worker = job->worker;

    weir_observe_end(job);
    weir_turns_leave(job);
    weir_reload_leave(job);
    weir_checkup_leave(job);
    weir_events_leave(job);
    weir_pieces_leave(job);
    weir_loop_cancel(worker->loop, &job->timer);
    weir_loop_cancel(worker->loop, &job->ping_timer);
    release_attempts(job->attempts);
    weir_call_free(job->call);
    weir_buf_deinit(&job->body);
    weir_so_far_deinit(&job->so_far);
    weir_arena_reset(&job->arena);
    weir_seat_release(&worker->seat, job->setup);
    unlink_from(worker, job);
    if (worker->spare_count < SPARE_JOBS_MAX) {
        job->next = worker->spare_jobs;
        worker->spare_jobs = job;
        worker->spare_count++;
        rest_later(worker);
    } else {
        weir_job_free(job);
    }
    weir_worker_job_ended(worker);
}

static bool attempts_quiet(const struct weir_job *job)
{
    for (const struct weir_upcall *a = job->attempts; a != NULL; a = a->next)
        if (!weir_upcall_quiet(a))
            return false;
    return true;
}

uint64_t weir_job_now(const struct weir_job *job)
{
    return weir_loop_now(job->worker->loop);
}

void weir_job_leave(struct weir_job *job)
{
    if (--job->depth > 0 || job->exchange != NULL)
        return;
    if ((job->call == NULL || job->over) && attempts_quiet(job))
        give_back(job);
}

void weir_job_kill(struct weir_job *job)
{
    for (struct weir_upcall *a = job->attempts; a != NULL; a = a->next)
        weir_upcall_cancel(a, WEIR_MISHAP_CUT_OFF);
    give_back(job);
}

void weir_job_free(struct weir_job *job)
{
    const struct weir_mem *mem = job->arena.mem;

    weir_arena_deinit(&job->arena);
    mem->free(mem->user, job, sizeof(*job));
}
