/*
 * `weir top`: asks a running weir again and again, and shows what it knows until it is told to leave.
 *
 * One loop has the connection, the keys, the size of the terminal and the time.  A round asks for the state,
 * then for the calls that failed over; what was shown stays until both are there.  A weir that does not
 * answer is asked again in the next round, so that the view outlives its restarts.
 */
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/error.h>

#include "base/container.h"
#include "base/slice.h"
#include "base/time.h"
#include "cli/admin.h"
#include "cli/cells.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "cli/top_screen.h"
#include "net/fd_watch.h"
#include "net/signals.h"

static const char help_text[] =
    "usage: weir top [--url URL] [--key KEY] [--interval S] [--once]\n"
    "\n"
    "Shows what a running weir knows, and asks again every second: groups, deployments\n"
    "with their cooldowns and why, and the calls that were retried or fell back.\n"
    "\n"
    "      --url URL      where weir listens (" WEIR_ADMIN_URL ")\n"
    "      --key KEY      its master key; others see it in the list of processes, so better\n"
    "                     by the variable WEIR_KEY or LITELLM_MASTER_KEY\n"
    "      --interval S   seconds between two looks (1; from 0.1 to 3600)\n"
    "      --once         print all of it once, as plain text; so it does, too, where stdout\n"
    "                     is no terminal, and where TERM is dumb\n"
    "  -h, --help         this text\n"
    "\n"
    "Keys: q quits, d g f show deployments, groups, failovers, s and S sort by another\n"
    "column, r turns the order round, / filters, p pauses, arrows choose a row, ? helps.\n"
    "NO_COLOR is honoured.\n"
    "\n"
    "What weir knows it has learned since its start; the first line tells when that was.\n"
    "`weir explain CALL_ID` tells the story of a call.\n"
    "\n"
    "Exit status: 0 done, 1 weir did not answer, 2 wrong usage.\n";

struct options {
    struct weir_admin_place place;
    uint64_t interval_ns;
    bool once;
};

struct top {
    struct options options;
    struct weir_admin admin;
    struct weir_admin_get state;
    struct weir_admin_get calls;
    struct weir_timer timer; /* until the next round */
    weir_terminal *terminal; /* NULL: not yet, or never */
    struct weir_fd_watch keys;
    struct weir_signals signals;
    struct weir_top_screen screen;
    struct weir_top_model *model; /* NULL: not yet */
    char trouble[WEIR_ADMIN_TEXT_MAX];
    int status;
};

/* ---- options ---- */

enum { OPT_URL = 256, OPT_KEY, OPT_INTERVAL, OPT_ONCE, HELP_SHOWN = -2 };

static int take_option(void *user, int option)
{
    struct options *options = user;
    double seconds;

    switch (option) {
    case OPT_URL:
        options->place.url = optarg;
        return 0;
    case OPT_KEY:
        options->place.key = optarg;
        return 0;
    case OPT_INTERVAL:
        if (weir_slice_number(weir_slice_str(optarg), &seconds) != 0 || seconds < 0.1 || seconds > 3600)
            return weir_cli_usage("top", "--interval wants seconds, from 0.1 to 3600: ", optarg);
        options->interval_ns = weir_time_from_s(seconds);
        return 0;
    case OPT_ONCE:
        options->once = true;
        return 0;
    case 'h':
        (void)fputs(help_text, stdout);
        return HELP_SHOWN;
    default:
        (void)fputs("Try `weir top --help`.\n", stderr);
        return WEIR_EXIT_USAGE;
    }
}

static int parse(int argc, char **argv, struct options *options)
{
    static const struct option longs[] = {{"url", required_argument, NULL, OPT_URL},
                                          {"key", required_argument, NULL, OPT_KEY},
                                          {"interval", required_argument, NULL, OPT_INTERVAL},
                                          {"once", no_argument, NULL, OPT_ONCE},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int r;

    *options = (struct options){.interval_ns = WEIR_NS_PER_S};
    r = weir_cli_options(argc, argv, "h", longs, take_option, options);
    if (r != 0)
        return r;
    return optind < argc ? weir_cli_usage("top", "unexpected argument: ", argv[optind]) : 0;
}

/* ---- showing ---- */

static void draw_line(void *user, unsigned number, const struct weir_line *line)
{
    weir_terminal_line(user, number, line);
}

static void draw(struct top *top)
{
    const struct weir_line_sink sink = {.line = draw_line, .user = top->terminal};

    weir_terminal_erase(top->terminal);
    weir_top_screen_draw(&top->screen, top->model, &sink);
    weir_terminal_show(top->terminal);
}

static void print_line(void *user, unsigned number, const struct weir_line *line)
{
    struct weir_slice text = weir_slice_trim_end((struct weir_slice){line->text, line->len});

    (void)number;
    (void)fwrite(text.ptr, 1, text.len, user);
    (void)fputc('\n', user);
}

static int complain(const char *text)
{
    return weir_cli_fail("top", weir_slice_str(text));
}

static int complain_code(int code)
{
    return weir_cli_fail("top", weir_error_text(code));
}

static void print_once(struct top *top)
{
    const struct weir_line_sink sink = {.line = print_line, .user = stdout};

    weir_top_screen_print(&top->screen, top->model, &sink);
    weir_loop_stop(top->admin.loop);
}

/* ---- asking ---- */

static int open_terminal(struct top *top);

static void leave(struct top *top, int status)
{
    top->status = status;
    weir_loop_stop(top->admin.loop);
}

/* The first answer decides whether there is something to show. */
static void begin(struct top *top)
{
    int status;

    if (top->screen.trouble.len > 0) {
        leave(top, complain(top->trouble));
        return;
    }
    if (top->options.once) {
        print_once(top);
        return;
    }
    status = open_terminal(top);
    if (status != WEIR_EXIT_OK)
        leave(top, status);
}

static void finish_round(struct top *top)
{
    top->screen.trouble = weir_slice_str(top->trouble);
    if (top->terminal == NULL)
        begin(top);
    if (top->terminal == NULL)
        return;
    draw(top);
    weir_loop_arm(top->admin.loop, &top->timer,
                  weir_time_add(weir_loop_now(top->admin.loop), top->options.interval_ns));
}

static void take_model(struct top *top)
{
    struct weir_top_model *model;

    if (weir_top_model_new(weir_admin_take(&top->state), weir_admin_take(&top->calls), &model) < 0) {
        (void)snprintf(top->trouble, sizeof(top->trouble), "no memory is left");
        return;
    }
    if (top->model != NULL && !weir_slice_eq(top->model->since, model->since))
        top->screen.restarted = true;
    weir_top_model_free(top->model);
    top->model = model;
}

/* A weir that keeps no calls is shown without any. */
static void on_calls(struct weir_admin_get *get)
{
    struct top *top = get->user;

    top->trouble[0] = '\0';
    take_model(top);
    finish_round(top);
}

static void on_state(struct weir_admin_get *get)
{
    struct top *top = get->user;

    if (get->doc != NULL && yyjson_obj_get(yyjson_doc_get_root(get->doc), "groups") != NULL) {
        weir_admin_start(&top->admin, &top->calls,
                         WEIR_SLICE("/weir/calls?limit=100&kind=Retry,Fallback,Hedged,StreamContinued"));
        return;
    }
    (void)snprintf(top->trouble, sizeof(top->trouble), "%s",
                   get->doc == NULL ? get->text : WEIR_ADMIN_STRANGE);
    finish_round(top);
}

static void ask(struct top *top)
{
    weir_admin_start(&top->admin, &top->state, WEIR_SLICE("/weir/state"));
}

static void on_timer(struct weir_timer *timer)
{
    struct top *top = WEIR_CONTAINER(timer, struct top, timer);

    if (!top->screen.paused)
        ask(top);
}

/* ---- the terminal ---- */

static void on_keys(struct weir_fd_watch *watch)
{
    struct top *top = WEIR_CONTAINER(watch, struct top, keys);
    bool was_paused = top->screen.paused;
    bool stays = true;
    uint32_t key;

    while (stays && weir_terminal_key(top->terminal, &key))
        stays = weir_top_screen_key(&top->screen, key);
    if (!stays) {
        weir_loop_stop(top->admin.loop);
        return;
    }
    draw(top);
    if (was_paused && !top->screen.paused && !weir_timer_armed(&top->timer) &&
        !weir_fetch_active(&top->state.fetch) && !weir_fetch_active(&top->calls.fetch))
        ask(top);
}

static void on_signal(struct weir_signals *signals, int number)
{
    struct top *top = WEIR_CONTAINER(signals, struct top, signals);

    if (number != SIGWINCH) {
        weir_loop_stop(top->admin.loop);
        return;
    }
    if (top->terminal == NULL)
        return;
    weir_terminal_measure(top->terminal, &top->screen.lines, &top->screen.columns);
    draw(top);
}

/* A descriptor of its own for the loop, which makes it non-blocking: the shell's is shared. */
static int watch_keys(struct top *top)
{
    int fd = open("/dev/tty", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int r;

    if (fd < 0)
        return WEIR_ERR_IO;
    r = weir_fd_watch_start(top->admin.loop, &top->keys, fd, on_keys);
    if (r < 0)
        (void)close(fd);
    return r;
}

static int open_terminal(struct top *top)
{
    char text[WEIR_TERMINAL_TEXT_MAX];
    int r = weir_terminal_open(weir_cli_colour(stdout), text, &top->terminal);

    if (r > 0)
        return complain(text);
    if (r == 0)
        r = watch_keys(top);
    if (r < 0)
        return complain_code(r);
    weir_terminal_measure(top->terminal, &top->screen.lines, &top->screen.columns);
    return WEIR_EXIT_OK;
}

static void name_signals(sigset_t *ret_set)
{
    static const int numbers[] = {SIGWINCH, SIGINT, SIGTERM, SIGHUP};

    (void)sigemptyset(ret_set);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        (void)sigaddset(ret_set, numbers[i]);
}

/* Where there will be a terminal, signals come to the loop, so that it is left as it was; they are claimed
 * before there are threads that they could come to. */
static int prepare(struct top *top, char text[WEIR_ADMIN_TEXT_MAX])
{
    sigset_t set;
    int r;

    name_signals(&set);
    if (!top->options.once)
        weir_signals_claim(&set);
    r = weir_admin_init(&top->admin, &top->options.place, text);
    if (r == 0 && !top->options.once)
        r = weir_signals_start(top->admin.loop, &top->signals, &set, on_signal);
    return r;
}

static int run(struct top *top)
{
    char text[WEIR_ADMIN_TEXT_MAX];
    int r = prepare(top, text);

    if (r != 0)
        return r > 0 ? complain(text) : complain_code(r);
    weir_top_screen_init(&top->screen, top->admin.where);
    top->state = (struct weir_admin_get){.done = on_state, .user = top};
    top->calls = (struct weir_admin_get){.done = on_calls, .user = top};
    weir_timer_init(&top->timer, on_timer);
    ask(top);
    weir_loop_run(top->admin.loop);
    return top->status;
}

static void take_down(struct top *top)
{
    weir_terminal_close(top->terminal);
    weir_signals_stop(&top->signals);
    weir_fd_watch_stop(&top->keys);
    if (weir_timer_armed(&top->timer))
        weir_loop_cancel(top->admin.loop, &top->timer);
    weir_admin_clear(&top->state);
    weir_admin_clear(&top->calls);
    weir_admin_deinit(&top->admin);
    weir_top_model_free(top->model);
}

/* A terminal that calls itself dumb cannot move its cursor. */
static bool can_draw(void)
{
    const char *kind = getenv("TERM");

    return isatty(STDOUT_FILENO) == 1 && (kind == NULL || strcmp(kind, "dumb") != 0);
}

int weir_cli_top(int argc, char **argv)
{
    char name[] = "weir top"; /* what getopt's complaints begin with */
    struct top top = {0};
    int status;

    argv[0] = name;
    status = parse(argc, argv, &top.options);
    if (status != 0)
        return status == HELP_SHOWN ? WEIR_EXIT_OK : status;
    if (!can_draw())
        top.options.once = true;
    weir_cells_locale();
    status = run(&top);
    take_down(&top);
    return status;
}
