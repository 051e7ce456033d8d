/*
 * The clock of state/sync: it knows no time of its own.  The last second of a process is told as well, so
 * that what ran here is not counted any longer.
 */
#include "gateway/background/sharing.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <weir/error.h>
#include <weir/shared.h>

#include "base/buf.h"
#include "base/container.h"
#include "base/slice.h"
#include "base/time.h"
#include "config/config.h"
#include "gateway/background/background.h"
#include "gateway/gateway.h"
#include "gateway/metrics/count.h"
#include "state/redis.h"
#include "state/sync/sync.h"

/* Between two times of telling: longer after much, so that it takes only a part of a core. */
#define TELL_GAP_NS     (2 * WEIR_NS_PER_MS)
#define TELL_GAP_MAX_NS (20 * WEIR_NS_PER_MS)
#define CHANGE_NS       (100 * WEIR_NS_PER_US)

#define READ_EVERY_NS WEIR_NS_PER_S
#define QUIET_NS      (250 * WEIR_NS_PER_MS)
#define READ_SOON_NS  (100 * WEIR_NS_PER_MS)
#define END_LOOK_NS   (5 * WEIR_NS_PER_MS)
#define END_MAX_NS    (200 * WEIR_NS_PER_MS)

enum { WAIT_FACTOR = 3, CHANNEL_MAX = 1024, HOST_SHOWN = 36 };

struct weir_sharing {
    struct weir_background *background;
    weir_redis *redis;
    weir_sync *sync;
    struct weir_loop_task change_task; /* posted by who makes the first change ... */
    atomic_bool posted; /* ... unless it is in the queue still: changes are taken without it too */
    struct weir_timer tell_timer;
    struct weir_timer read_timer;
    struct weir_timer end_timer;
    uint64_t due_ns;  /* when it may be told next */
    uint64_t read_ns; /* when it is read next */
    uint64_t end_ns;
    uint64_t wait_ns;
    /* Who waits for the first reading. */
    pthread_mutex_t lock;
    pthread_cond_t settled;
    bool is_settled;
};

static weir_loop *loop_of(const struct weir_sharing *sharing)
{
    return sharing->background->loop;
}

/* ---- telling and reading ---- */

static void read_at(struct weir_sharing *sharing, uint64_t at_ns)
{
    sharing->read_ns = at_ns;
    weir_loop_arm(loop_of(sharing), &sharing->read_timer, at_ns);
}

/*
 * What others count in the same moment may reach the store behind what is told from here, and the answer then
 * holds nothing of it.  Where more is told, its answers bring it; what is told after a silence may be all for
 * long, so the next reading comes soon.
 */
static void read_soon(struct weir_sharing *sharing)
{
    uint64_t now = weir_loop_now(loop_of(sharing)), soon = weir_time_add(now, READ_SOON_NS);

    if (now >= weir_time_add(sharing->due_ns, QUIET_NS) && soon < sharing->read_ns)
        read_at(sharing, soon);
}

static void tell(struct weir_sharing *sharing)
{
    uint64_t gap = TELL_GAP_NS + weir_sync_tell(sharing->sync) * CHANGE_NS;

    sharing->due_ns =
        weir_time_add(weir_loop_now(loop_of(sharing)), gap < TELL_GAP_MAX_NS ? gap : TELL_GAP_MAX_NS);
}

static void on_tell_timer(struct weir_timer *timer)
{
    tell(WEIR_CONTAINER(timer, struct weir_sharing, tell_timer));
}

static void run_change(struct weir_loop_task *task)
{
    struct weir_sharing *sharing = WEIR_CONTAINER(task, struct weir_sharing, change_task);

    atomic_store_explicit(&sharing->posted, false, memory_order_release);
    read_soon(sharing);
    if (weir_loop_now(loop_of(sharing)) >= sharing->due_ns)
        tell(sharing);
    else if (!weir_timer_armed(&sharing->tell_timer))
        weir_loop_arm(loop_of(sharing), &sharing->tell_timer, sharing->due_ns);
}

static void on_read_timer(struct weir_timer *timer)
{
    struct weir_sharing *sharing = WEIR_CONTAINER(timer, struct weir_sharing, read_timer);

    read_at(sharing, weir_time_add(weir_loop_now(loop_of(sharing)), READ_EVERY_NS));
    weir_sync_read(sharing->sync);
}

void weir_sharing_notify(struct weir_sharing *sharing)
{
    if (!atomic_exchange_explicit(&sharing->posted, true, memory_order_acq_rel))
        weir_loop_post(loop_of(sharing), &sharing->change_task);
}

void weir_sharing_follow(struct weir_sharing *sharing)
{
    if (weir_sync_adopt(sharing->sync, sharing->background->seat.setup->snapshot) < 0)
        (void)fputs("weir: no memory is left to read all that is shared\n", stderr);
}

/* ---- waiting for the first reading ---- */

static void settle(struct weir_sharing *sharing)
{
    (void)pthread_mutex_lock(&sharing->lock);
    sharing->is_settled = true;
    (void)pthread_cond_broadcast(&sharing->settled);
    (void)pthread_mutex_unlock(&sharing->lock);
}

void weir_sharing_wait(struct weir_sharing *sharing)
{
    struct timespec until;
    int r = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(sharing->wait_ns / WEIR_NS_PER_S);
    until.tv_nsec += (long)(sharing->wait_ns % WEIR_NS_PER_S);
    if (until.tv_nsec >= (long)WEIR_NS_PER_S) {
        until.tv_sec++;
        until.tv_nsec -= (long)WEIR_NS_PER_S;
    }
    (void)pthread_mutex_lock(&sharing->lock);
    while (!sharing->is_settled && r != ETIMEDOUT)
        r = pthread_cond_timedwait(&sharing->settled, &sharing->lock, &until);
    if (!sharing->is_settled)
        (void)fputs("weir: Redis has not answered yet; weir starts without what is shared there\n", stderr);
    (void)pthread_mutex_unlock(&sharing->lock);
}

static int make_wait(struct weir_sharing *sharing)
{
    pthread_condattr_t attributes;
    int r = pthread_condattr_init(&attributes);

    if (r != 0)
        return WEIR_ERR_NOMEM;
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    r = pthread_cond_init(&sharing->settled, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    if (r != 0)
        return WEIR_ERR_NOMEM;
    (void)pthread_mutex_init(&sharing->lock, NULL);
    return 0;
}

/* ---- what is heard ---- */

static void on_state(void *user, const struct weir_redis_state *state)
{
    struct weir_sharing *sharing = user;

    (void)fprintf(stderr, "weir: %.*s\n", (int)state->text.len, state->text.ptr);
    atomic_store_explicit(&sharing->background->gateway->redis_up, state->up, memory_order_relaxed);
    if (state->up) {
        weir_sync_came_up(sharing->sync);
        return;
    }
    weir_sync_went_down(sharing->sync);
    settle(sharing);
}

static void on_command(void *user, uint64_t took_ns, bool answered)
{
    const struct weir_sharing *sharing = user;

    weir_count_redis(&sharing->background->gateway->metrics, took_ns, answered);
}

static void on_message(void *user, struct weir_slice payload)
{
    const struct weir_sharing *sharing = user;

    weir_sync_hear(sharing->sync, payload);
}

static void on_read(void *user)
{
    settle(user);
}

static void on_refused(void *user, struct weir_slice text)
{
    (void)user;
    (void)fprintf(stderr, "weir: Redis has refused a command: %.*s\n", (int)text.len, text.ptr);
}

int weir_sharing_send(struct weir_sharing *sharing, const struct weir_slice *args, size_t count,
                      struct weir_redis_sink sink)
{
    return weir_redis_send(sharing->redis, args, count, sink);
}

static int send_command(void *user, const struct weir_slice *args, size_t count, struct weir_redis_sink sink)
{
    return weir_sharing_send(user, args, count, sink);
}

static uint64_t now_of(void *user)
{
    return weir_loop_now(loop_of(user));
}

static uint64_t wall_of(void *user)
{
    return weir_loop_wall_ns(loop_of(user));
}

/* ---- making ---- */

struct weir_slice weir_sharing_name(char name[WEIR_SHARING_NAME_MAX])
{
    char host[256] = "";

    (void)gethostname(host, sizeof(host) - 1);
    (void)snprintf(name, WEIR_SHARING_NAME_MAX, "%.*s:%ld", HOST_SHOWN, host, (long)getpid());
    return weir_slice_str(name);
}

static int make_sync(struct weir_sharing *sharing, const struct weir_config_redis *redis)
{
    const struct weir_gateway *gateway = sharing->background->gateway;
    char name[WEIR_SHARING_NAME_MAX];
    struct weir_sync_spec spec = {.mem = gateway->mem,
                                  .router = gateway->router,
                                  .host = {.user = sharing,
                                           .send = send_command,
                                           .now_ns = now_of,
                                           .wall_ns = wall_of,
                                           .is_read = on_read,
                                           .refused = on_refused},
                                  .name_space = redis->name_space,
                                  .process = weir_sharing_name(name)};
    int r;

    if (getrandom(&spec.instance, sizeof(spec.instance), 0) != (ssize_t)sizeof(spec.instance))
        return WEIR_ERR_IO;
    r = weir_sync_new(&spec, &sharing->sync);
    return r == 0 ? weir_sync_adopt(sharing->sync, gateway->setup->snapshot) : r;
}

static int make_tls(const struct weir_gateway *gateway, char text[WEIR_TLS_TEXT_MAX],
                    weir_tls_context **ret_context)
{
    const struct weir_config *config = gateway->setup->config;
    struct weir_slice ca_file = config->redis.ca_file;
    const struct weir_tls_spec spec = {.insecure = config->redis.insecure,
                                       .ca_file = ca_file.len > 0 ? ca_file : config->settings.ca_file};

    *ret_context = NULL;
    return config->redis.tls ? weir_tls_context_new(gateway->mem, &spec, text, ret_context) : 0;
}

static void put_servers(const struct weir_config_redis *redis, struct weir_redis_spec *spec,
                        struct weir_redis_address servers[WEIR_CONFIG_SENTINELS_MAX])
{
    for (size_t i = 0; i < redis->server_count; i++)
        servers[i] = (struct weir_redis_address){redis->servers[i].host, redis->servers[i].port};
    spec->servers = servers;
    spec->server_count = redis->server_count;
    spec->service = redis->service;
    spec->login = (struct weir_redis_login){redis->username, redis->password};
    spec->sentinel_login.password = redis->sentinel_password;
    spec->database = redis->database;
    spec->timeout_ns = redis->timeout_ns;
    spec->breaker_threshold = redis->breaker_failures;
    spec->breaker_recovery_ns = redis->breaker_recovery_ns;
}

static int make_redis(struct weir_sharing *sharing, weir_tls_context *tls)
{
    const struct weir_gateway *gateway = sharing->background->gateway;
    struct weir_redis_address servers[WEIR_CONFIG_SENTINELS_MAX];
    struct weir_redis_spec spec = {.loop = loop_of(sharing),
                                   .resolver = gateway->resolver,
                                   .tls = tls,
                                   .on_message = on_message,
                                   .on_state = on_state,
                                   .on_command = on_command,
                                   .user = sharing};
    WEIR_CLEANUP(weir_buf_deinit) struct weir_buf channel;
    int r;

    weir_buf_init(&channel, gateway->mem, CHANNEL_MAX);
    put_servers(&gateway->setup->config->redis, &spec, servers);
    r = weir_sync_channel(sharing->sync, &channel);
    if (r < 0)
        return r;
    spec.channel = weir_buf_slice(&channel);
    if (getrandom(&spec.seed, sizeof(spec.seed), 0) != (ssize_t)sizeof(spec.seed))
        return WEIR_ERR_IO;
    return weir_redis_new(&spec, &sharing->redis);
}

static int make(struct weir_sharing *sharing, char text[WEIR_SHARING_TEXT_MAX])
{
    const struct weir_gateway *gateway = sharing->background->gateway;
    weir_tls_context *tls;
    int r = make_tls(gateway, text, &tls);

    if (r != 0)
        return r > 0 ? WEIR_SHARING_REFUSED : r;
    r = make_sync(sharing, &gateway->setup->config->redis);
    if (r == 0)
        r = make_redis(sharing, tls);
    weir_tls_context_unref(tls);
    return r;
}

static void on_end_timer(struct weir_timer *timer);

int weir_sharing_new(struct weir_background *background, char text[WEIR_SHARING_TEXT_MAX],
                     struct weir_sharing **ret_sharing)
{
    const struct weir_gateway *gateway = background->gateway;
    struct weir_sharing *sharing = gateway->mem->alloc(gateway->mem->user, sizeof(*sharing));
    int r;

    if (sharing == NULL)
        return WEIR_ERR_NOMEM;
    *sharing = (struct weir_sharing){.background = background,
                                     .change_task.run = run_change,
                                     .wait_ns = WAIT_FACTOR * gateway->setup->config->redis.timeout_ns};
    atomic_init(&sharing->posted, false);
    weir_timer_init(&sharing->tell_timer, on_tell_timer);
    weir_timer_init(&sharing->read_timer, on_read_timer);
    weir_timer_init(&sharing->end_timer, on_end_timer);
    r = make_wait(sharing);
    if (r < 0) {
        gateway->mem->free(gateway->mem->user, sharing, sizeof(*sharing));
        return r;
    }
    r = make(sharing, text);
    if (r != 0) {
        weir_sharing_free(sharing);
        return r;
    }
    read_at(sharing, weir_time_add(weir_loop_now(background->loop), READ_EVERY_NS));
    *ret_sharing = sharing;
    return 0;
}

/* ---- the end ---- */

static void on_end_timer(struct weir_timer *timer)
{
    struct weir_sharing *sharing = WEIR_CONTAINER(timer, struct weir_sharing, end_timer);
    uint64_t now = weir_loop_now(loop_of(sharing));

    if (!weir_redis_is_up(sharing->redis) || weir_redis_pending(sharing->redis) == 0 ||
        now >= sharing->end_ns)
        weir_background_ended(sharing->background);
    else
        weir_loop_arm(loop_of(sharing), timer, weir_time_add(now, END_LOOK_NS));
}

void weir_sharing_end(struct weir_sharing *sharing)
{
    uint64_t now = weir_loop_now(loop_of(sharing));

    weir_loop_cancel(loop_of(sharing), &sharing->read_timer);
    (void)weir_sync_tell(sharing->sync);
    sharing->end_ns = weir_time_add(now, END_MAX_NS);
    weir_loop_arm(loop_of(sharing), &sharing->end_timer, now);
}

void weir_sharing_free(struct weir_sharing *sharing)
{
    const struct weir_mem *mem;
    weir_loop *loop;

    if (sharing == NULL)
        return;
    mem = sharing->background->gateway->mem;
    loop = loop_of(sharing);
    weir_loop_cancel(loop, &sharing->tell_timer);
    weir_loop_cancel(loop, &sharing->read_timer);
    weir_loop_cancel(loop, &sharing->end_timer);
    weir_loop_unpost(loop, &sharing->change_task);
    if (sharing->sync != NULL)
        weir_sync_went_down(sharing->sync); /* what is lost now is not asked for again */
    weir_redis_free(sharing->redis);
    weir_sync_free(sharing->sync);
    (void)pthread_cond_destroy(&sharing->settled);
    (void)pthread_mutex_destroy(&sharing->lock);
    mem->free(mem->user, sharing, sizeof(*sharing));
}
