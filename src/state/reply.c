/*
 * hiredis' reader asks for each value through a table of functions; ours put it into an arena.  A list's
 * items lie in one array, and a value that belongs to a list is put into its place there.
 *
 * hiredis bounds neither the length of a reply nor the number of its items, and its newer versions not the
 * depth.  All are bounded here: the first by what is buffered without making a whole reply, the others where
 * a list is made.  hiredis knows only one reason for a value that was not made, so the real one is kept
 * beside it.
 *
 * A line (which is what everything but bytes and what is in them begins with) is searched for its end
 * anew with each feed; so it has a limit of its own.
 *
 * The functions' table changed its shape after hiredis 0.14: lists are counted by size_t, and types of RESP3
 * came, which are garbage here, since nobody asked for them.
 */
#include "state/reply.h"

#include <stdbool.h>
#include <string.h>

#include <weir/error.h>

#include "base/arena.h"
#include "base/slice.h"

#include <hiredis/read.h>

enum { ARENA_BLOCK_BYTES = 4096, LINE_MAX_BYTES = 64 * 1024, DEPTH_MAX = 7 };

#ifdef REDIS_REPLY_DOUBLE
typedef size_t list_count;
#else
typedef int list_count;
#endif

struct weir_reply_reader {
    const struct weir_mem *mem;
    struct weir_reply_limits limits;
    redisReader *parser;
    redisReplyObjectFunctions makers;
    struct weir_arena arena;
    size_t items;    /* of the reply that is being read */
    size_t consumed; /* bytes fed since the last whole reply */
    bool too_large;
    bool out_of_memory;
    bool whole; /* the arena holds a reply that was given out */
};

/* ---- the makers ---- */

static weir_reply_reader *reader_of(const redisReadTask *task)
{
    return task->privdata;
}

/* The place for the value of a task: its item of the list, or one of its own. */
static struct weir_reply *place(const redisReadTask *task, enum weir_reply_kind kind)
{
    weir_reply_reader *reader = reader_of(task);
    struct weir_reply *reply;

    if (task->parent != NULL) {
        struct weir_reply *list = task->parent->obj;

        reply = &list->items[task->idx];
    } else {
        reply = weir_arena_alloc(&reader->arena, sizeof(*reply));
        reader->out_of_memory = reader->out_of_memory || reply == NULL;
    }
    if (reply != NULL)
        *reply = (struct weir_reply){.kind = kind};
    return reply;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the signature is that of hiredis */
static void *make_text(const redisReadTask *task, char *bytes, size_t count)
{
    enum weir_reply_kind kind = WEIR_REPLY_BYTES;
    struct weir_reply *reply;

    if (task->type == REDIS_REPLY_STATUS)
        kind = WEIR_REPLY_STATUS;
    else if (task->type == REDIS_REPLY_ERROR)
        kind = WEIR_REPLY_ERROR;
    else if (task->type != REDIS_REPLY_STRING)
        return NULL;
    reply = place(task, kind);
    if (reply == NULL)
        return NULL;
    reply->text = weir_arena_copy(&reader_of(task)->arena, (struct weir_slice){bytes, count});
    if (count > 0 && reply->text.len == 0) {
        reader_of(task)->out_of_memory = true;
        return NULL;
    }
    return reply;
}

static bool is_too_deep(const redisReadTask *task)
{
    unsigned depth = 1;

    while ((task = task->parent) != NULL && depth <= DEPTH_MAX)
        depth++;
    return depth > DEPTH_MAX;
}

static void *make_list(const redisReadTask *task, list_count count)
{
    weir_reply_reader *reader = reader_of(task);
    struct weir_reply *items = NULL;
    struct weir_reply *reply;

    if (task->type != REDIS_REPLY_ARRAY || is_too_deep(task))
        return NULL;
    if ((size_t)count > reader->limits.max_items - reader->items) {
        reader->too_large = true;
        return NULL;
    }
    reader->items += (size_t)count;
    reply = place(task, WEIR_REPLY_LIST);
    if (reply == NULL || count == 0)
        return reply;
    items = weir_arena_zalloc(&reader->arena, (size_t)count, sizeof(*items));
    if (items == NULL) {
        reader->out_of_memory = true;
        return NULL;
    }
    reply->items = items;
    reply->count = (size_t)count;
    return reply;
}

static void *make_integer(const redisReadTask *task, long long number)
{
    struct weir_reply *reply = place(task, WEIR_REPLY_INTEGER);

    if (reply != NULL)
        reply->number = number;
    return reply;
}

static void *make_nil(const redisReadTask *task)
{
    return place(task, WEIR_REPLY_NIL);
}

/* The arena gives all back at once. */
static void forget(void *reply)
{
    (void)reply;
}

#ifdef REDIS_REPLY_DOUBLE
static void *refuse_double(const redisReadTask *task, double number, char *bytes, size_t count)
{
    (void)task;
    (void)number;
    (void)bytes;
    (void)count;
    return NULL;
}

static void *refuse_bool(const redisReadTask *task, int truth)
{
    (void)task;
    (void)truth;
    return NULL;
}
#endif

static void fill_makers(redisReplyObjectFunctions *makers)
{
    memset(makers, 0, sizeof(*makers));
    makers->createString = make_text;
    makers->createArray = make_list;
    makers->createInteger = make_integer;
    makers->createNil = make_nil;
    makers->freeObject = forget;
#ifdef REDIS_REPLY_DOUBLE
    makers->createDouble = refuse_double;
    makers->createBool = refuse_bool;
#endif
}

/* ---- the reader ---- */

int weir_reply_reader_new(const struct weir_mem *mem, struct weir_reply_limits limits,
                          weir_reply_reader **ret_reader)
{
    weir_reply_reader *reader = mem->alloc(mem->user, sizeof(*reader));

    if (reader == NULL)
        return WEIR_ERR_NOMEM;
    memset(reader, 0, sizeof(*reader));
    reader->mem = mem;
    reader->limits = limits;
    fill_makers(&reader->makers);
    /* What a reply of that many bytes and items can need, and a block of slack. */
    weir_arena_init(&reader->arena, mem, ARENA_BLOCK_BYTES,
                    limits.max_bytes * 2 + limits.max_items * 2 * sizeof(struct weir_reply) +
                        (size_t)2 * ARENA_BLOCK_BYTES);
    reader->parser = redisReaderCreateWithFunctions(&reader->makers);
    if (reader->parser == NULL) {
        weir_reply_reader_free(reader);
        return WEIR_ERR_NOMEM;
    }
    reader->parser->privdata = reader;
    *ret_reader = reader;
    return 0;
}

void weir_reply_reader_free(weir_reply_reader *reader)
{
    if (reader == NULL)
        return;
    if (reader->parser != NULL)
        redisReaderFree(reader->parser);
    weir_arena_deinit(&reader->arena);
    reader->mem->free(reader->mem->user, reader, sizeof(*reader));
}

static size_t buffered(const weir_reply_reader *reader)
{
    return reader->parser->len - reader->parser->pos;
}

int weir_reply_reader_feed(weir_reply_reader *reader, struct weir_slice bytes)
{
    if (bytes.len == 0)
        return 0;
    if (reader->parser->err != 0 || redisReaderFeed(reader->parser, bytes.ptr, bytes.len) != REDIS_OK)
        return WEIR_ERR_NOMEM;
    reader->consumed += bytes.len;
    return 0;
}

/* hiredis goes on looking for the end of a line however long it is.  What is not whole and has one near its
 * front is no line, but bytes behind their length. */
static bool line_is_too_long(const weir_reply_reader *reader)
{
    struct weir_slice rest = {reader->parser->buf + reader->parser->pos, buffered(reader)};

    return rest.len > LINE_MAX_BYTES && !weir_slice_has(weir_slice_sub(rest, 0, 32), WEIR_SLICE("\r\n"));
}

static int why_not(const weir_reply_reader *reader)
{
    if (reader->too_large)
        return WEIR_REPLY_LARGE;
    if (reader->out_of_memory)
        return WEIR_ERR_NOMEM;
    return WEIR_REPLY_GARBAGE;
}

int weir_reply_reader_next(weir_reply_reader *reader, const struct weir_reply **ret_reply)
{
    void *reply = NULL;

    if (reader->whole) {
        weir_arena_reset(&reader->arena);
        reader->whole = false;
        reader->items = 0;
    }
    if (redisReaderGetReply(reader->parser, &reply) != REDIS_OK)
        return why_not(reader);
    if (reply != NULL) {
        reader->whole = true;
        reader->consumed = buffered(reader);
        *ret_reply = reply;
        return 0;
    }
    if (reader->consumed > reader->limits.max_bytes)
        return WEIR_REPLY_LARGE;
    return line_is_too_long(reader) ? WEIR_REPLY_GARBAGE : WEIR_REPLY_MORE;
}

int weir_reply_number(const struct weir_reply *reply, int64_t *ret_number)
{
    double number;

    if (reply->kind == WEIR_REPLY_INTEGER) {
        *ret_number = reply->number;
        return 0;
    }
    if (reply->kind != WEIR_REPLY_BYTES || weir_slice_number(reply->text, &number) != 0 || number >= 9e18 ||
        number <= -9e18)
        return WEIR_REPLY_NOT_A_NUMBER;
    *ret_number = (int64_t)number;
    return 0;
}
