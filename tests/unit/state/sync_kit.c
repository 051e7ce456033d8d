#include "sync_kit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"

/* ---- the store ---- */

void store_init(struct store *store)
{
    memset(store, 0, sizeof(*store));
}

static struct store_key *find(struct store *store, const char *key)
{
    for (size_t i = 0; i < store->count; i++) {
        struct store_key *found = &store->keys[i];

        if (strcmp(found->key, key) != 0)
            continue;
        if (found->ends_ms == 0 || found->ends_ms > store->now_ms)
            return found;
        *found = store->keys[--store->count];
        return NULL;
    }
    return NULL;
}

static struct store_key *make(struct store *store, const char *key)
{
    struct store_key *found = find(store, key);

    if (found == NULL) {
        assert(store->count < STORE_KEYS_MAX);
        found = &store->keys[store->count++];
    }
    memset(found, 0, sizeof(*found));
    snprintf(found->key, sizeof(found->key), "%s", key);
    return found;
}

void store_set(struct store *store, const char *key, const char *text, double life_s)
{
    struct store_key *made = make(store, key);

    snprintf(made->text, sizeof(made->text), "%s", text);
    made->ends_ms = life_s > 0 ? store->now_ms + (uint64_t)(life_s * 1000) : 0;
}

void store_make_list(struct store *store, const char *key)
{
    make(store, key)->is_list = true;
}

void store_drop(struct store *store, const char *key)
{
    struct store_key *found = find(store, key);

    if (found != NULL)
        *found = store->keys[--store->count];
}

void store_flush(struct store *store)
{
    store->count = 0;
}

const char *store_get(struct store *store, const char *key)
{
    const struct store_key *found = find(store, key);

    return found == NULL ? NULL : found->text;
}

double store_life(struct store *store, const char *key)
{
    const struct store_key *found = find(store, key);

    if (found == NULL)
        return -2;
    return found->ends_ms == 0 ? -1 : (double)(found->ends_ms - store->now_ms) / 1000;
}

/* ---- commands ---- */

static struct weir_reply error_reply(const char *text)
{
    return (struct weir_reply){.kind = WEIR_REPLY_ERROR, .text = weir_slice_str(text)};
}

static struct weir_reply bytes_reply(const char *text)
{
    return text == NULL ? (struct weir_reply){.kind = WEIR_REPLY_NIL}
                        : (struct weir_reply){.kind = WEIR_REPLY_BYTES, .text = weir_slice_str(text)};
}

static struct weir_reply do_set(struct store *store, char **args, size_t count)
{
    uint64_t life_ms = 0;
    bool absent_only = false;

    for (size_t i = 3; i < count; i++) {
        if (strcmp(args[i], "EX") == 0)
            life_ms = strtoull(args[i + 1], NULL, 10) * 1000;
        if (strcmp(args[i], "PX") == 0)
            life_ms = strtoull(args[i + 1], NULL, 10);
        absent_only = absent_only || strcmp(args[i], "NX") == 0;
    }
    if (absent_only && find(store, args[1]) != NULL)
        return (struct weir_reply){.kind = WEIR_REPLY_NIL};
    if (count > 3 && life_ms == 0)
        return error_reply("ERR invalid expire time in 'set' command");
    store_set(store, args[1], args[2], (double)life_ms / 1000);
    return (struct weir_reply){.kind = WEIR_REPLY_STATUS, .text = WEIR_SLICE("OK")};
}

static struct weir_reply do_incr(struct store *store, char **args)
{
    struct store_key *key = find(store, args[1]);
    long long value;
    char *end;

    if (key != NULL && key->is_list)
        return error_reply("WRONGTYPE Operation against a key holding the wrong kind of value");
    if (key == NULL)
        key = make(store, args[1]);
    value = strtoll(key->text, &end, 10);
    if (*end != '\0')
        return error_reply("ERR value is not an integer or out of range");
    value += strtoll(args[2], NULL, 10);
    snprintf(key->text, sizeof(key->text), "%lld", value);
    if (strcmp(args[0], "INCRBYFLOAT") == 0)
        return bytes_reply(key->text);
    return (struct weir_reply){.kind = WEIR_REPLY_INTEGER, .number = value};
}

static struct weir_reply do_mget(struct store *store, char **args, size_t count, struct weir_reply *items)
{
    assert(count <= 128);
    for (size_t i = 1; i < count; i++) {
        const struct store_key *key = find(store, args[i]);

        items[i - 1] = bytes_reply(key == NULL || key->is_list ? NULL : key->text);
    }
    return (struct weir_reply){.kind = WEIR_REPLY_LIST, .count = count - 1, .items = items};
}

static struct weir_reply do_publish(struct store *store, char **args)
{
    for (size_t i = 0; i < store->process_count; i++) {
        struct process *process = store->processes[i];

        assert(process->heard_count < 16);
        snprintf(process->heard[process->heard_count++], sizeof(process->heard[0]), "%s", args[2]);
    }
    return (struct weir_reply){.kind = WEIR_REPLY_INTEGER, .number = (int64_t)store->process_count};
}

static struct weir_reply perform(struct store *store, char **args, size_t count, struct weir_reply *items)
{
    double life;

    if (store->refuses != NULL)
        return error_reply(store->refuses);
    if (strcmp(args[0], "SET") == 0)
        return do_set(store, args, count);
    if (strncmp(args[0], "INCRBY", 6) == 0)
        return do_incr(store, args);
    if (strcmp(args[0], "MGET") == 0)
        return do_mget(store, args, count, items);
    if (strcmp(args[0], "PUBLISH") == 0)
        return do_publish(store, args);
    if (strcmp(args[0], "GETRANGE") == 0) {
        const char *text = store_get(store, args[1]);

        return bytes_reply(text == NULL ? "" : text);
    }
    if (strcmp(args[0], "PEXPIRE") == 0) {
        struct store_key *key = find(store, args[1]);

        if (key != NULL)
            key->ends_ms = store->now_ms + strtoull(args[2], NULL, 10);
        return (struct weir_reply){.kind = WEIR_REPLY_INTEGER, .number = key != NULL};
    }
    if (strcmp(args[0], "DEL") == 0) {
        bool was = store_get(store, args[1]) != NULL;

        if (was)
            store_drop(store, args[1]);
        return (struct weir_reply){.kind = WEIR_REPLY_INTEGER, .number = was};
    }
    assert(strcmp(args[0], "PTTL") == 0);
    life = store_life(store, args[1]);
    return (struct weir_reply){.kind = WEIR_REPLY_INTEGER,
                               .number = life < 0 ? (int64_t)life : (int64_t)(life * 1000 + 0.5)};
}

static void log_command(struct store *store, char **args, size_t count)
{
    for (size_t i = 0; i < count; i++)
        store->log_len += (size_t)snprintf(store->log + store->log_len, STORE_LOG_MAX - store->log_len,
                                           "%s%s", args[i], i + 1 == count ? "\n" : " ");
    if (store->log_len >= STORE_LOG_MAX)
        store->log_len = STORE_LOG_MAX - 1;
}

/* What is in the store may change before the answer is given. */
static void keep_text(struct answer *answer)
{
    size_t total = answer->reply.text.len, at = 0;

    for (size_t i = 0; i < answer->reply.count; i++)
        total += answer->items[i].text.len;
    answer->text = malloc(total + 1);
    assert_non_null(answer->text);
    for (size_t i = 0; i <= answer->reply.count; i++) {
        struct weir_slice *text = i == 0 ? &answer->reply.text : &answer->items[i - 1].text;

        if (text->len > 0)
            memcpy(answer->text + at, text->ptr, text->len);
        text->ptr = answer->text + at;
        at += text->len;
    }
}

static char *copy_of(struct weir_slice text)
{
    char *copy = malloc(text.len + 1);

    assert(copy != NULL);
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

static int send_command(void *user, const struct weir_slice *args, size_t count, struct weir_redis_sink sink)
{
    struct process *process = user;
    struct answer *answer = &process->answers[process->answer_count];
    char *texts[128];

    if (process->away)
        return WEIR_REDIS_AWAY;
    assert(count <= 128 && process->answer_count < ANSWERS_MAX);
    for (size_t i = 0; i < count; i++)
        texts[i] = copy_of(args[i]);
    process->store->commands++;
    if (count > process->store->most_args)
        process->store->most_args = count;
    log_command(process->store, texts, count);
    *answer = (struct answer){.sink = sink};
    answer->reply = perform(process->store, texts, count, answer->items);
    keep_text(answer);
    process->answer_count++;
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    return 0;
}

/* ---- processes ---- */

static uint64_t now_of(void *user)
{
    const struct process *process = user;

    return process->kit->now_ns;
}

static uint64_t wall_at(const struct process *process)
{
    return (STORE_EPOCH_S + (uint64_t)process->clock_s) * WEIR_NS_PER_S + process->kit->now_ns - KIT_EPOCH_NS;
}

static uint64_t wall_of(void *user)
{
    return wall_at(user);
}

static void on_read(void *user)
{
    struct process *process = user;

    process->reads++;
}

static void on_refused(void *user, struct weir_slice text)
{
    struct process *process = user;

    assert_true(text.len > 0);
    process->refusals++;
}

static int open_with(struct process *process, struct store *store, const char *config,
                     struct weir_sync_spec spec)
{
    int r;

    process->store = store;
    process->kit = kit_new(1, config);
    process->answers = malloc(ANSWERS_MAX * sizeof(*process->answers));
    assert_non_null(process->answers);
    process->kit->now_ns += store->now_ms * WEIR_NS_PER_MS;
    weir_router_set_wall(process->kit->router, wall_at(process), process->kit->now_ns);
    store->processes[store->process_count++] = process;
    spec.mem = &process->mem.mem;
    spec.router = process->kit->router;
    spec.host = (struct weir_sync_host){process, send_command, now_of, wall_of, on_read, on_refused};
    spec.instance = store->process_count;
    r = weir_sync_new(&spec, &process->sync);
    if (r == 0)
        r = weir_sync_adopt(process->sync, process->kit->snapshot);
    if (process->sync != NULL) {
        weir_sync_came_up(process->sync);
        process_go_on(process);
    }
    return r;
}

void process_open(struct process *process, struct store *store, const char *name, const char *name_space,
                  const char *config)
{
    const struct weir_sync_spec spec = {.name_space = weir_slice_str(name_space),
                                        .process = weir_slice_str(name)};

    *process = (struct process){.store = store};
    test_mem_init(&process->mem, 0);
    assert_int_equal(open_with(process, store, config, spec), 0);
}

int process_open_poor(struct process *process, struct store *store, size_t fail_from, const char *config)
{
    const struct weir_sync_spec spec = {.name_space = WEIR_SLICE("n"), .process = WEIR_SLICE("poor:1")};

    *process = (struct process){.store = store};
    test_mem_init(&process->mem, fail_from);
    return open_with(process, store, config, spec);
}

void process_reload(struct process *process, const char *config)
{
    kit_reload(process->kit, config);
    assert_int_equal(weir_sync_adopt(process->sync, process->kit->snapshot), 0);
}

static void give(struct process *process, bool lost)
{
    for (size_t i = 0; i < process->answer_count; i++) {
        struct answer answer = process->answers[i];

        if (answer.reply.kind == WEIR_REPLY_LIST)
            answer.reply.items = answer.items;
        if (answer.sink.done != NULL)
            answer.sink.done(answer.sink.user, answer.sink.tag, lost ? NULL : &answer.reply);
        free(answer.text);
    }
    process->answer_count = 0;
}

void process_go_on(struct process *process)
{
    for (size_t i = 0; i < process->heard_count; i++)
        weir_sync_hear(process->sync, weir_slice_str(process->heard[i]));
    process->heard_count = 0;
    give(process, false);
}

void process_lose(struct process *process)
{
    process->away = true;
    weir_sync_went_down(process->sync);
    give(process, true);
    process->heard_count = 0;
}

void process_come_back(struct process *process)
{
    process->away = false;
    weir_sync_came_up(process->sync);
    process_go_on(process);
}

void process_close(struct process *process)
{
    give(process, true);
    weir_sync_free(process->sync);
    test_mem_assert_empty(&process->mem);
    kit_close(&process->kit);
    free(process->answers);
}

void process_tell(struct process *process)
{
    (void)weir_sync_tell(process->sync);
    process_go_on(process);
}

void process_read(struct process *process)
{
    weir_sync_read(process->sync);
    process_go_on(process);
}

void store_advance(struct store *store, double seconds)
{
    store->now_ms += (uint64_t)(seconds * 1000 + 0.5);
    for (size_t i = 0; i < store->process_count; i++)
        kit_advance(store->processes[i]->kit, seconds);
}
