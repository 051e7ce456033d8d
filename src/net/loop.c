/*
 * The wheel of timers hangs on a single libuv timer, which is moved only when a timer is armed for an earlier
 * time than it stands at.  A cancelled timer leaves it where it is: waking once for nothing is cheaper than
 * moving it with each request.
 *
 * The clock: now_ns is 0 when it has to be read again, which a prepare handle sees to before each wait.  How
 * far the wall clock is from it is looked up once a second.
 */
#include "net/loop.h"

#include <time.h>

#include <weir/error.h>

#include "base/buf.h"
#include "base/time.h"
#include "wire/http_date.h"

#include <uv.h>

enum { HEAD_MAX_BYTES = 256 * 1024 };

enum { WALL_LOOKS = 4, WALL_LOOK_GOOD_NS = 2000 };
#define WALL_EVERY_NS WEIR_NS_PER_S

struct weir_loop {
    const struct weir_mem *mem;
    uv_loop_t uv;
    uv_timer_t waker;
    uv_prepare_t turn;
    uv_async_t knock;
    uint64_t now_ns;         /* 0: to be read */
    uint64_t wall_offset_ns; /* of the wall clock, from the loop's; to be looked at again ... */
    uint64_t wall_due_ns;    /* ... from then on */
    uint64_t wake_ns;        /* where the waker stands */
    struct weir_timer_wheel wheel;
    uv_mutex_t lock;             /* guards tasks */
    struct weir_loop_task tasks; /* the head of a circular list */
    struct weir_buf head;
    time_t date_s; /* of date */
    char date[WEIR_HTTP_DATE_LEN];
    char plain[WEIR_LOOP_PLAIN_BYTES];
    char decoded[WEIR_LOOP_DECODED_BYTES];
    char read[WEIR_LOOP_READ_BYTES];
};

static void on_waker(uv_timer_t *waker);

static void move_waker(weir_loop *loop, uint64_t at_ns)
{
    uint64_t now_ns = weir_loop_now(loop);
    uint64_t wait_ns = at_ns > now_ns ? at_ns - now_ns : 0;

    loop->wake_ns = at_ns;
    /* Cannot fail: it needs a callback and a handle that is not closing. */
    (void)uv_timer_start(&loop->waker, on_waker, (wait_ns + WEIR_NS_PER_MS - 1) / WEIR_NS_PER_MS, 0);
}

static void on_waker(uv_timer_t *waker)
{
    weir_loop *loop = waker->data;
    uint64_t next;

    loop->wake_ns = WEIR_TIME_NEVER;
    loop->now_ns = 0;
    weir_timer_wheel_run(&loop->wheel, weir_loop_now(loop));
    next = weir_timer_wheel_next(&loop->wheel);
    if (next != WEIR_TIME_NEVER && next < loop->wake_ns)
        move_waker(loop, next);
}

static void on_turn(uv_prepare_t *turn)
{
    ((weir_loop *)turn->data)->now_ns = 0;
}

static struct weir_loop_task *next_task(weir_loop *loop)
{
    struct weir_loop_task *task;

    uv_mutex_lock(&loop->lock);
    task = loop->tasks.next;
    if (task == &loop->tasks) {
        task = NULL;
    } else {
        loop->tasks.next = task->next;
        task->next->prev = &loop->tasks;
        task->next = NULL;
    }
    uv_mutex_unlock(&loop->lock);
    return task;
}

static void on_knock(uv_async_t *knock)
{
    struct weir_loop_task *task;

    while ((task = next_task(knock->data)) != NULL)
        task->run(task);
}

void weir_loop_post(weir_loop *loop, struct weir_loop_task *task)
{
    uv_mutex_lock(&loop->lock);
    task->next = &loop->tasks;
    task->prev = loop->tasks.prev;
    loop->tasks.prev->next = task;
    loop->tasks.prev = task;
    /* Under the lock, so that the loop cannot run the task and end before the knock. */
    (void)uv_async_send(&loop->knock);
    uv_mutex_unlock(&loop->lock);
}

void weir_loop_unpost(weir_loop *loop, struct weir_loop_task *task)
{
    uv_mutex_lock(&loop->lock);
    if (task->next != NULL) {
        task->prev->next = task->next;
        task->next->prev = task->prev;
        task->next = NULL;
    }
    uv_mutex_unlock(&loop->lock);
}

static void init_handles(weir_loop *loop)
{
    loop->waker.data = loop;
    loop->turn.data = loop;
    loop->knock.data = loop;
    (void)uv_timer_init(&loop->uv, &loop->waker);
    (void)uv_prepare_init(&loop->uv, &loop->turn);
    (void)uv_prepare_start(&loop->turn, on_turn);
}

int weir_loop_new(const struct weir_mem *mem, weir_loop **ret_loop)
{
    weir_loop *loop = mem->alloc(mem->user, sizeof(*loop));

    if (loop == NULL)
        return WEIR_ERR_NOMEM;
    loop->mem = mem;
    loop->now_ns = 0;
    loop->wall_due_ns = 0;
    loop->wake_ns = WEIR_TIME_NEVER;
    loop->date_s = -1;
    loop->tasks = (struct weir_loop_task){.next = &loop->tasks, .prev = &loop->tasks};
    weir_buf_init(&loop->head, mem, HEAD_MAX_BYTES);
    if (uv_mutex_init(&loop->lock) != 0)
        goto fail_lock;
    if (uv_loop_init(&loop->uv) != 0)
        goto fail_uv;
    if (uv_async_init(&loop->uv, &loop->knock, on_knock) != 0)
        goto fail_async;
    init_handles(loop);
    weir_timer_wheel_init(&loop->wheel, weir_loop_now(loop));
    *ret_loop = loop;
    return 0;

fail_async:
    (void)uv_loop_close(&loop->uv);
fail_uv:
    uv_mutex_destroy(&loop->lock);
fail_lock:
    mem->free(mem->user, loop, sizeof(*loop));
    return WEIR_ERR_IO;
}

void weir_loop_free(weir_loop *loop)
{
    if (loop == NULL)
        return;
    uv_close((uv_handle_t *)&loop->waker, NULL);
    uv_close((uv_handle_t *)&loop->turn, NULL);
    uv_close((uv_handle_t *)&loop->knock, NULL);
    /* A weir_loop_stop() after the last run ends the first of these at once. */
    while (uv_run(&loop->uv, UV_RUN_DEFAULT) != 0)
        continue;
    (void)uv_loop_close(&loop->uv);
    uv_mutex_destroy(&loop->lock);
    weir_buf_deinit(&loop->head);
    loop->mem->free(loop->mem->user, loop, sizeof(*loop));
}

void weir_loop_run(weir_loop *loop)
{
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
}

void weir_loop_stop(weir_loop *loop)
{
    uv_stop(&loop->uv);
}

uint64_t weir_loop_now(weir_loop *loop)
{
    if (loop->now_ns == 0)
        loop->now_ns = uv_hrtime();
    return loop->now_ns;
}

uint64_t weir_loop_wall_s(weir_loop *loop)
{
    (void)loop;
    return (uint64_t)time(NULL);
}

/* What has to be added to the loop's clock; of some looks at both the one that took the shortest time. */
static uint64_t look_at_wall(void)
{
    uint64_t shortest_ns = UINT64_MAX, offset_ns = 0;

    for (unsigned i = 0; i < WALL_LOOKS && shortest_ns > WALL_LOOK_GOOD_NS; i++) {
        uint64_t before_ns = uv_hrtime(), took_ns;
        struct timespec wall;

        (void)clock_gettime(CLOCK_REALTIME, &wall);
        took_ns = uv_hrtime() - before_ns;
        if (took_ns >= shortest_ns)
            continue;
        shortest_ns = took_ns;
        offset_ns = (uint64_t)wall.tv_sec * WEIR_NS_PER_S + (uint64_t)wall.tv_nsec - before_ns;
    }
    return offset_ns;
}

uint64_t weir_loop_wall_ns(weir_loop *loop)
{
    uint64_t now_ns = weir_loop_now(loop);

    if (now_ns >= loop->wall_due_ns) {
        loop->wall_offset_ns = look_at_wall();
        loop->wall_due_ns = now_ns + WALL_EVERY_NS;
    }
    return now_ns + loop->wall_offset_ns;
}

struct uv_loop_s *weir_loop_uv(weir_loop *loop)
{
    return &loop->uv;
}

const struct weir_mem *weir_loop_mem(const weir_loop *loop)
{
    return loop->mem;
}

void weir_loop_arm(weir_loop *loop, struct weir_timer *timer, uint64_t at_ns)
{
    weir_timer_wheel_remove(&loop->wheel, timer);
    if (at_ns == WEIR_TIME_NEVER)
        return;
    weir_timer_wheel_add(&loop->wheel, timer, at_ns);
    /* Within its tick nothing is due before the end, so waking earlier would be in vain. */
    at_ns = weir_time_add(at_ns, WEIR_TIMER_TICK_NS - 1) / WEIR_TIMER_TICK_NS * WEIR_TIMER_TICK_NS;
    if (at_ns < loop->wake_ns)
        move_waker(loop, at_ns);
}

void weir_loop_cancel(weir_loop *loop, struct weir_timer *timer)
{
    weir_timer_wheel_remove(&loop->wheel, timer);
}

char *weir_loop_read_room(weir_loop *loop)
{
    return loop->read;
}

char *weir_loop_plain_room(weir_loop *loop)
{
    return loop->plain;
}

char *weir_loop_decoded_room(weir_loop *loop)
{
    return loop->decoded;
}

struct weir_buf *weir_loop_head_room(weir_loop *loop)
{
    weir_buf_clear(&loop->head);
    return &loop->head;
}

struct weir_slice weir_loop_http_date(weir_loop *loop)
{
    time_t now_s = time(NULL);

    if (now_s != loop->date_s) {
        (void)weir_http_date_write(now_s, loop->date);
        loop->date_s = now_s;
    }
    return (struct weir_slice){loop->date, WEIR_HTTP_DATE_LEN};
}
