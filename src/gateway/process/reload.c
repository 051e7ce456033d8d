/*
 * One reload is one run of a task on the main loop, from reading the file to offering the setup; so two never
 * run at once.  Wishes only see to it that the task is posted.
 *
 * What a configuration must pass before it is served by, in this order: it loads; the command line agrees;
 * its proxies can be read; its setup can be made.  Until the last of it nothing that serves is touched.
 */
#include "gateway/process/reload.h"

#include <stdio.h>
#include <string.h>

#include <weir/error.h>

#include "base/container.h"
#include "base/slice.h"
#include "config/changes.h"
#include "gateway/gateway.h"
#include "gateway/log/log.h"
#include "gateway/process/reload_report.h"

enum { TEXT_MAX = 64 * 1024, REPORT_BLOCK_BYTES = 4096, REPORT_MAX_BYTES = 1024 * 1024 };

/* One reload. */
struct outcome {
    int status;
    struct weir_buf text;
};

static void say(struct outcome *outcome, int status, struct weir_slice text)
{
    outcome->status = status;
    weir_buf_clear(&outcome->text);
    (void)!weir_buf_append(&outcome->text, text); /* the status tells enough */
}

static void refuse(struct weir_reload *reload, struct outcome *outcome, struct weir_slice why)
{
    outcome->status = 400;
    (void)atomic_fetch_add_explicit(&reload->counts.refused, 1, memory_order_relaxed);
    (void)fprintf(stderr, "weir: not reloaded, nothing is changed: %.*s\n", (int)why.len, why.ptr);
}

static void free_config(struct weir_config **config)
{
    weir_config_free(*config);
}

/* Everything before the setup is made.  0, 1 with a text, or negative. */
static int examine(struct weir_reload *reload, struct weir_config *config, struct weir_arena *arena,
                   struct weir_config_changes *changes, char text[WEIR_GATEWAY_TEXT_MAX])
{
    const struct weir_config *running = reload->gateway->setup->config;
    bool same_proxies = true;
    int r = reload->source.amend(reload->source.user, config, text, WEIR_GATEWAY_TEXT_MAX);

    if (r == 0)
        r = weir_gateway_same_proxies(reload->gateway, config, &same_proxies, text);
    if (r != 0)
        return r;
    if (!same_proxies)
        weir_changes_note(&changes->held, WEIR_SLICE("HTTP_PROXY, HTTPS_PROXY, ALL_PROXY or NO_PROXY"),
                          arena);
    r = weir_config_hold(config, running, arena, changes);
    return r == 0 ? weir_config_compare(running, config, arena, changes) : r;
}

static void watch_files(struct weir_reload *reload)
{
    const struct weir_config *config = reload->gateway->setup->config;
    size_t count = config->settings.reload_on_change ? config->file_count : 0;

    if (weir_file_watch_set(&reload->files, config->files, count) < 0)
        (void)fputs(
            "weir: the system cannot watch the configuration's files: reload_on_change does nothing\n",
            stderr);
}

static void tell_done(const struct weir_reload *reload, const struct weir_config_changes *changes)
{
    (void)fprintf(stderr, "weir: reloaded %s: ", reload->source.path);
    weir_reload_report_line(changes, stderr);
}

/* Takes the configuration over. */
static int put_in_place(struct weir_reload *reload, struct weir_config *loaded,
                        const struct weir_diags *diags, struct outcome *outcome,
                        char text[WEIR_GATEWAY_TEXT_MAX])
{
    WEIR_CLEANUP(free_config) struct weir_config *config = loaded;
    WEIR_CLEANUP(weir_arena_deinit) struct weir_arena arena;
    struct weir_config_changes changes = {0};
    int r;

    weir_arena_init(&arena, reload->source.mem, REPORT_BLOCK_BYTES, REPORT_MAX_BYTES);
    r = examine(reload, config, &arena, &changes, text);
    if (r != 0)
        return r;
    config = NULL;
    r = weir_gateway_adopt(reload->gateway, loaded, text);
    if (r != 0)
        return r;
    watch_files(reload);
    (void)atomic_fetch_add_explicit(&reload->counts.done, 1, memory_order_relaxed);
    tell_done(reload, &changes);
    outcome->status = 200;
    if (weir_reload_report_json(loaded, &changes, diags, &outcome->text) < 0)
        say(outcome, 200, WEIR_SLICE("{\"status\":\"ok\"}"));
    return 0;
}

static void load(struct weir_reload *reload, struct outcome *outcome)
{
    WEIR_CLEANUP(weir_diags_deinit) struct weir_diags diags;
    char text[WEIR_GATEWAY_TEXT_MAX];
    struct weir_config *config;
    int r;

    weir_diags_init(&diags, reload->source.mem);
    weir_file_watch_note(&reload->files);
    r = weir_config_load(reload->source.path, &reload->source.env, reload->source.mem, &diags, &config);
    if (reload->source.tell != NULL)
        reload->source.tell(reload->source.user, &diags);
    if (r == WEIR_CONFIG_REFUSED) {
        if (weir_reload_report_refusal(&diags, &outcome->text) < 0)
            say(outcome, 400, WEIR_SLICE("the configuration is refused"));
        refuse(reload, outcome, WEIR_SLICE("the configuration is refused"));
        return;
    }
    if (r == 0)
        r = put_in_place(reload, config, &diags, outcome, text);
    if (r == 0)
        return;
    say(outcome, 400, r > 0 ? weir_slice_str(text) : weir_error_text(r));
    refuse(reload, outcome, weir_buf_slice(&outcome->text));
}

/* Who has moved the logs away asks for a reload, whatever the configuration says by then. */
static void perform(struct weir_reload *reload, struct outcome *outcome)
{
    weir_log_reopen(reload->gateway->log);
    if (reload->phase != NULL)
        reload->phase(reload, true);
    load(reload, outcome);
    if (reload->phase != NULL)
        reload->phase(reload, false);
}

/* ---- who asks ---- */

static void answer(struct weir_reload_ask *ask, const struct outcome *outcome)
{
    ask->status = outcome->status;
    (void)!weir_buf_append(&ask->text, weir_buf_slice(&outcome->text));
    weir_loop_post(ask->loop, &ask->task); /* it is the asker's from here on */
}

static void run(struct weir_loop_task *task)
{
    struct weir_reload *reload = WEIR_CONTAINER(task, struct weir_reload, task);
    struct weir_reload_ask *asks = reload->asks;
    struct outcome outcome;

    reload->posted = false;
    reload->asks = NULL;
    weir_buf_init(&outcome.text, reload->source.mem, TEXT_MAX);
    if (reload->closed)
        say(&outcome, 503, WEIR_SLICE("weir is ending; its configuration stays as it is"));
    else
        perform(reload, &outcome);
    while (asks != NULL) {
        struct weir_reload_ask *next = asks->next;

        answer(asks, &outcome);
        asks = next;
    }
    weir_buf_deinit(&outcome.text);
}

static void want(struct weir_reload *reload)
{
    if (reload->posted)
        return;
    reload->posted = true;
    weir_loop_post(reload->loop, &reload->task);
}

static void on_file(struct weir_file_watch *files)
{
    weir_reload_request(WEIR_CONTAINER(files, struct weir_reload, files), WEIR_RELOAD_BY_FILE);
}

void weir_reload_init(struct weir_reload *ret_reload, weir_loop *loop, struct weir_gateway *gateway,
                      const struct weir_reload_source *source)
{
    struct weir_reload *reload = ret_reload;

    *reload = (struct weir_reload){.loop = loop, .gateway = gateway, .source = *source, .task = {.run = run}};
    weir_file_watch_init(&reload->files, loop, on_file);
    gateway->reload = reload;
    watch_files(reload);
}

void weir_reload_close(struct weir_reload *reload)
{
    reload->closed = true;
    weir_file_watch_close(&reload->files);
}

void weir_reload_request(struct weir_reload *reload, enum weir_reload_cause cause)
{
    static const char *const words[] = {
        [WEIR_RELOAD_BY_SIGNAL] = "SIGHUP", [WEIR_RELOAD_BY_FILE] = "a file has changed"};

    if (reload->closed) {
        (void)fprintf(stderr, "weir: %s: not reloaded, weir is ending\n", words[cause]);
        return;
    }
    want(reload);
}

/* On the asker's loop. */
static void run_done(struct weir_loop_task *task)
{
    struct weir_reload_ask *ask = WEIR_CONTAINER(task, struct weir_reload_ask, task);

    ask->done(ask);
}

/* On the main loop. */
static void run_ask(struct weir_loop_task *task)
{
    struct weir_reload_ask *ask = WEIR_CONTAINER(task, struct weir_reload_ask, task);
    struct weir_reload *reload = ask->reload;

    ask->task.run = run_done;
    ask->next = reload->asks;
    reload->asks = ask;
    want(reload);
}

void weir_reload_ask(struct weir_reload *reload, struct weir_reload_ask *ask)
{
    ask->reload = reload;
    weir_buf_init(&ask->text, reload->source.mem, TEXT_MAX);
    ask->task = (struct weir_loop_task){.run = run_ask};
    weir_loop_post(reload->loop, &ask->task);
}
