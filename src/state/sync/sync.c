/*
 * The frame: who is told what, and the round of a reading.  What the keys mean is in the other files here.
 *
 * A reading goes through its passes, and each pass through the deployments, a piece at a time with a few
 * under way, so that neither Redis nor this thread is held up by ten thousand of them.  Then come the maps,
 * one after the other.
 */
#include "state/sync/sync.h"

#include <string.h>

#include <weir/error.h>

#include "base/slice.h"
#include "base/time.h"
#include "state/sync/parts.h"

enum { KEYS_MAX = 1024 * 1024, TEXTS_MAX = 4096, BLOCK_BYTES = 4096, ARGS_MAX = 8 };

#define PAUSE_NS    WEIR_NS_PER_S
#define COMPLAIN_NS (60 * WEIR_NS_PER_S)

/* ---- what is told ---- */

struct weir_sync_told *weir_sync_keep(weir_sync *sync, const struct weir_change *change)
{
    struct weir_sync_told *told = sync->free;

    if (told == NULL && sync->told_count < WEIR_SYNC_TOLD_MAX)
        told = sync->mem->alloc(sync->mem->user, sizeof(*told));
    else if (told != NULL)
        sync->free = told->next;
    if (told == NULL)
        return NULL;
    sync->told_count++;
    *told = (struct weir_sync_told){.sync = sync, .change = *change};
    return told;
}

void weir_sync_drop(struct weir_sync_told *told)
{
    weir_sync *sync = told->sync;

    sync->told_count--;
    told->next = sync->free;
    sync->free = told;
}

static void free_told(weir_sync *sync)
{
    while (sync->free != NULL) {
        struct weir_sync_told *told = sync->free;

        sync->free = told->next;
        sync->mem->free(sync->mem->user, told, sizeof(*told));
    }
}

static void pause_telling(weir_sync *sync)
{
    sync->paused_till_ns = weir_time_add(weir_sync_now(sync), PAUSE_NS);
}

void weir_sync_undo(struct weir_sync_told *told)
{
    weir_router_change_undone(told->sync->router, &told->change);
    pause_telling(told->sync);
    weir_sync_drop(told);
}

void weir_sync_complain(weir_sync *sync, const struct weir_reply *reply)
{
    uint64_t now = weir_sync_now(sync);

    if (now < sync->complain_from_ns)
        return;
    sync->complain_from_ns = weir_time_add(now, COMPLAIN_NS);
    sync->host.refused(sync->host.user, reply->text);
}

/* Redis took the command and could not do it with that key: a value of somebody else's. */
static bool is_about_the_key(struct weir_slice text)
{
    return weir_slice_starts(text, WEIR_SLICE("WRONGTYPE")) || weir_slice_starts(text, WEIR_SLICE("ERR "));
}

int weir_sync_judge(struct weir_sync_told *told, const struct weir_reply *reply)
{
    if (reply != NULL && reply->kind != WEIR_REPLY_ERROR)
        return 0;
    if (reply != NULL)
        weir_sync_complain(told->sync, reply);
    if (reply != NULL && !is_about_the_key(reply->text)) {
        weir_sync_undo(told);
        return 1;
    }
    weir_router_change_unknown(told->sync->router, &told->change);
    weir_sync_drop(told);
    return 1;
}

struct weir_slice weir_sync_key(weir_sync *sync, enum weir_key key, const struct weir_key_parts *parts)
{
    weir_buf_clear(&sync->keys);
    return weir_key_write(&sync->keys, sync->name_space, key, parts) < 0 ? WEIR_SLICE_EMPTY
                                                                         : weir_buf_slice(&sync->keys);
}

int weir_sync_send(weir_sync *sync, struct weir_redis_sink sink, const struct weir_slice *args, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (args[i].len == 0)
            return WEIR_ERR_NOMEM; /* it could not be composed */
    return sync->host.send(sync->host.user, args, count, sink);
}

size_t weir_sync_tell(weir_sync *sync)
{
    static weir_sync_tell_fn *const tell[WEIR_SHARED_KINDS] = {
        [WEIR_SHARED_LIFT] = weir_sync_tell_lift,       [WEIR_SHARED_COOLDOWN] = weir_sync_tell_cooldown,
        [WEIR_SHARED_FAILS] = weir_sync_tell_fails,     [WEIR_SHARED_USAGE] = weir_sync_tell_usage,
        [WEIR_SHARED_RUNNING] = weir_sync_tell_running, [WEIR_SHARED_LATENCY] = weir_sync_tell_map,
        [WEIR_SHARED_HEALTH] = weir_sync_tell_map};
    uint64_t now = weir_sync_now(sync);
    size_t count, total = 0;

    if (!sync->up || now < sync->paused_till_ns)
        return 0;
    do {
        count = weir_router_take_changes(sync->router, now, sync->changes, WEIR_SYNC_CHANGES);
        for (size_t i = 0; i < count; i++)
            tell[sync->changes[i].kind](sync, &sync->changes[i]);
        total += count;
    } while (WEIR_SYNC_CHANGES - count < WEIR_CHANGES_MAX);
    return total;
}

/* ---- reading ---- */

static void on_piece(void *user, uint64_t tag, const struct weir_reply *reply)
{
    struct weir_sync_piece *piece = user;
    weir_sync *sync = piece->sync;
    bool fits = reply != NULL && reply->kind == WEIR_REPLY_LIST && reply->count == piece->count;

    (void)tag;
    piece->busy = false;
    if (reply != NULL && reply->kind == WEIR_REPLY_ERROR)
        weir_sync_complain(sync, reply);
    for (size_t i = 0; fits && piece->generation == sync->generation && i < piece->count; i++) {
        if (piece->pass == WEIR_SYNC_COOLDOWNS)
            weir_sync_see_cooldown(sync, piece->index[i], &reply->items[i]);
        else
            weir_sync_see_count(sync, piece, piece->index[i], &reply->items[i]);
    }
    weir_sync_go_on(sync);
}

/* Composes the keys of the next piece of the pass; ends holds where each of them ends. */
static int compose(weir_sync *sync, struct weir_sync_piece *piece, size_t ends[WEIR_SYNC_PIECE])
{
    weir_buf_clear(&sync->keys);
    while (piece->count < WEIR_SYNC_PIECE && sync->at < sync->count) {
        const weir_deployment *deployment = weir_snapshot_deployment(sync->snapshot, sync->at);
        int r = weir_sync_pass_key(sync, piece->pass, piece->minute, deployment);

        if (r < 0)
            return r;
        if (r == 0) {
            piece->index[piece->count] = sync->at;
            ends[piece->count++] = weir_buf_len(&sync->keys);
        }
        sync->at++;
    }
    return 0;
}

static int send_piece(weir_sync *sync, struct weir_sync_piece *piece)
{
    struct weir_slice args[WEIR_SYNC_PIECE + 1] = {WEIR_SLICE("MGET")};
    size_t ends[WEIR_SYNC_PIECE], from = 0;
    int r = compose(sync, piece, ends);

    if (r < 0 || piece->count == 0)
        return r;
    for (size_t i = 0; i < piece->count; i++) {
        args[i + 1] = weir_slice_sub(weir_buf_slice(&sync->keys), from, ends[i]);
        from = ends[i];
    }
    r = sync->host.send(sync->host.user, args, piece->count + 1,
                        (struct weir_redis_sink){.done = on_piece, .user = piece});
    piece->busy = r == 0;
    return r;
}

static struct weir_sync_piece *idle_piece(weir_sync *sync)
{
    for (size_t i = 0; i < WEIR_SYNC_PIECES; i++)
        if (!sync->pieces[i].busy)
            return &sync->pieces[i];
    return NULL;
}

static bool pieces_are_idle(const weir_sync *sync)
{
    for (size_t i = 0; i < WEIR_SYNC_PIECES; i++)
        if (sync->pieces[i].busy)
            return false;
    return true;
}

static void end_reading(weir_sync *sync)
{
    sync->reading = false;
    weir_sync_give_back(sync);
    if (!sync->up || !sync->first)
        return;
    sync->first = false;
    sync->host.is_read(sync->host.user);
}

/* Sends pieces while there are some, and room for them; false: the passes are over. */
static bool send_pieces(weir_sync *sync)
{
    struct weir_sync_piece *piece;

    while (sync->pass < WEIR_SYNC_PASSES && (piece = idle_piece(sync)) != NULL) {
        *piece = (struct weir_sync_piece){.sync = sync,
                                          .generation = sync->generation,
                                          .pass = sync->pass,
                                          .minute = weir_sync_wall(sync) / (60 * WEIR_NS_PER_S)};
        if (send_piece(sync, piece) != 0) {
            sync->pass = WEIR_SYNC_PASSES; /* the next reading will do */
            return false;
        }
        if (sync->at == sync->count) {
            sync->at = 0;
            sync->pass++;
        }
    }
    return sync->pass < WEIR_SYNC_PASSES;
}

void weir_sync_go_on(weir_sync *sync)
{
    if (!sync->reading)
        return;
    if (sync->up && (send_pieces(sync) || !pieces_are_idle(sync)))
        return;
    if (!pieces_are_idle(sync) || sync->lives > 0 || sync->map_busy)
        return;
    if (sync->up && weir_sync_read_map(sync))
        return;
    end_reading(sync);
}

void weir_sync_read(weir_sync *sync)
{
    if (!sync->up || sync->reading)
        return;
    sync->paused_till_ns = 0;
    sync->maps_wait = true;
    (void)weir_sync_tell(sync);
    sync->maps_wait = false;
    sync->reading = true;
    sync->pass = WEIR_SYNC_COOLDOWNS;
    sync->at = 0;
    sync->map_at = 0;
    weir_sync_go_on(sync);
}

/* ---- coming and going ---- */

void weir_sync_came_up(weir_sync *sync)
{
    sync->up = true;
    sync->first = true;
    sync->paused_till_ns = 0;
    if (sync->count > 0)
        memset(sync->seen, 0, sync->count * sizeof(*sync->seen));
    memset(sync->begun, 0, sizeof(sync->begun));
    weir_router_tell_again(sync->router);
    weir_sync_read(sync);
}

void weir_sync_went_down(weir_sync *sync)
{
    sync->up = false;
    weir_sync_go_on(sync);
}

/* ---- life ---- */

static void free_seen(weir_sync *sync)
{
    if (sync->seen != NULL)
        sync->mem->free(sync->mem->user, sync->seen, sync->count * sizeof(*sync->seen));
    sync->seen = NULL;
    sync->count = 0;
}

static int make_seen(weir_sync *sync)
{
    size_t count = weir_snapshot_deployment_count(sync->snapshot);

    free_seen(sync);
    if (count == 0)
        return 0;
    sync->seen = sync->mem->alloc(sync->mem->user, count * sizeof(*sync->seen));
    if (sync->seen == NULL)
        return WEIR_ERR_NOMEM;
    memset(sync->seen, 0, count * sizeof(*sync->seen));
    sync->count = count;
    return 0;
}

int weir_sync_adopt(weir_sync *sync, const weir_snapshot *snapshot)
{
    int r;

    weir_sync_give_back(sync);
    sync->snapshot = snapshot;
    sync->generation++;
    sync->book_only = !weir_snapshot_router(snapshot)->enforce_minute_limits &&
                      !weir_snapshot_has_strategy(snapshot, WEIR_STRATEGY_USAGE);
    sync->pass = WEIR_SYNC_PASSES; /* a reading under way ends here */
    sync->at = 0;
    r = make_seen(sync);
    return r < 0 ? r : weir_sync_list_maps(sync);
}

int weir_sync_new(const struct weir_sync_spec *spec, weir_sync **ret_sync)
{
    weir_sync *sync = spec->mem->alloc(spec->mem->user, sizeof(*sync));

    if (sync == NULL)
        return WEIR_ERR_NOMEM;
    memset(sync, 0, sizeof(*sync));
    sync->mem = spec->mem;
    sync->router = spec->router;
    sync->host = spec->host;
    sync->instance = spec->instance;
    weir_arena_init(&sync->texts, spec->mem, BLOCK_BYTES, TEXTS_MAX);
    weir_arena_init(&sync->arena, spec->mem, BLOCK_BYTES, 4 * (size_t)WEIR_SYNC_MAP_BYTES);
    weir_buf_init(&sync->keys, spec->mem, KEYS_MAX);
    weir_buf_init(&sync->text, spec->mem, WEIR_SYNC_MAP_BYTES);
    sync->name_space = weir_arena_copy(&sync->texts, spec->name_space);
    sync->process = weir_arena_copy(&sync->texts, spec->process);
    if (weir_arena_failed(&sync->texts)) {
        weir_sync_free(sync);
        return WEIR_ERR_NOMEM;
    }
    *ret_sync = sync;
    return 0;
}

void weir_sync_free(weir_sync *sync)
{
    if (sync == NULL)
        return;
    weir_sync_give_back(sync);
    free_told(sync);
    weir_map_deinit(&sync->maps_by_group);
    if (sync->maps != NULL)
        sync->mem->free(sync->mem->user, sync->maps, sync->map_cap * sizeof(*sync->maps));
    free_seen(sync);
    weir_buf_deinit(&sync->keys);
    weir_buf_deinit(&sync->text);
    weir_arena_deinit(&sync->arena);
    weir_arena_deinit(&sync->texts);
    sync->mem->free(sync->mem->user, sync, sizeof(*sync));
}

int weir_sync_channel(const weir_sync *sync, struct weir_buf *buf)
{
    const struct weir_key_parts none = {.id = WEIR_SLICE_EMPTY};

    return weir_key_write(buf, sync->name_space, WEIR_KEY_CHANNEL, &none);
}
