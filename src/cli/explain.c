/*
 * `weir explain`: asks a running weir what it remembers of a call, or would do with a request, and prints the
 * answer in sentences.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "base/slice.h"
#include "cli/admin.h"
#include "cli/cells.h"
#include "cli/command.h"
#include "cli/explain_text.h"
#include "cli/facts.h"

enum { PATH_MAX_BYTES = 8192, LIST_MAX = 1000, LIST_USUAL = 20 };

static const char help_text[] =
    "usage: weir explain [OPTIONS] CALL_ID       the story of a call\n"
    "       weir explain [OPTIONS] --last        the story of the newest call\n"
    "       weir explain [OPTIONS]               the newest calls\n"
    "       weir explain [OPTIONS] --model NAME  what a request for NAME would do now\n"
    "\n"
    "Asks a running weir. Each answer of weir carries its call's id in the header\n"
    "x-litellm-call-id, failures too. The story says for each step when it was, which\n"
    "deployment was chosen and why the others were not, how each attempt ended, which\n"
    "waits, retries, fallbacks and cooldowns followed, and what the caller got.\n"
    "\n"
    "      --url URL      where weir listens (" WEIR_ADMIN_URL ")\n"
    "      --key KEY      its master key; others see it in the list of processes, so better\n"
    "                     by the variable WEIR_KEY or LITELLM_MASTER_KEY\n"
    "      --failed       calls that failed, no others\n"
    "      --kind KINDS   calls with such an event, no others: Fallback,Retry,CooldownSet\n"
    "      --limit N      so many calls (20; at most 1000)\n"
    "      --json         what weir answers, as it is\n"
    "  -h, --help         this text\n"
    "\n"
    "weir remembers the newest calls (weir_settings.trace_calls), from its start on.\n"
    "\n"
    "  weir explain --last --failed\n"
    "  weir explain --kind Fallback --limit 5\n"
    "  weir explain --model gpt-4o --url http://10.0.0.7:4000\n"
    "\n"
    "Exit status: 0 told, 1 not told, 2 wrong usage.\n";

struct options {
    struct weir_admin_place place;
    const char *call; /* NULL: none */
    bool last;
    const char *model; /* NULL: none */
    const char *kinds;
    bool failed;
    bool json;
    uint64_t limit;
};

enum {
    OPT_URL = 256,
    OPT_KEY,
    OPT_LAST,
    OPT_MODEL,
    OPT_FAILED,
    OPT_KIND,
    OPT_LIMIT,
    OPT_JSON,
    HELP_SHOWN = -2
};

static int take_option(void *user, int option)
{
    struct options *options = user;

    switch (option) {
    case OPT_URL:
        options->place.url = optarg;
        return 0;
    case OPT_KEY:
        options->place.key = optarg;
        return 0;
    case OPT_LAST:
        options->last = true;
        return 0;
    case OPT_MODEL:
        options->model = optarg;
        return 0;
    case OPT_FAILED:
        options->failed = true;
        return 0;
    case OPT_KIND:
        options->kinds = optarg;
        return 0;
    case OPT_LIMIT:
        if (weir_slice_u64(weir_slice_str(optarg), &options->limit) == 0 && options->limit >= 1 &&
            options->limit <= LIST_MAX)
            return 0;
        return weir_cli_usage("explain", "--limit wants a number from 1 to 1000: ", optarg);
    case OPT_JSON:
        options->json = true;
        return 0;
    case 'h':
        (void)fputs(help_text, stdout);
        return HELP_SHOWN;
    default:
        (void)fputs("Try `weir explain --help`.\n", stderr);
        return WEIR_EXIT_USAGE;
    }
}

static int check_options(int argc, char **argv, struct options *options)
{
    bool is_filtered = options->failed || options->kinds != NULL;

    if (optind < argc)
        options->call = argv[optind++];
    if (optind < argc)
        return weir_cli_usage("explain", "one call at a time: ", argv[optind]);
    if ((options->call != NULL) + (options->model != NULL) + options->last > 1)
        return weir_cli_usage("explain", "either a call, or --last, or --model", "");
    if (options->call != NULL && *options->call == '\0')
        return weir_cli_usage("explain", "the call's id is empty", "");
    if ((options->call != NULL || options->model != NULL) && is_filtered)
        return weir_cli_usage("explain", "--failed and --kind choose among calls, and there is one", "");
    if ((options->call != NULL || options->model != NULL || options->last) && options->limit > 0)
        return weir_cli_usage("explain", "--limit is for the list of calls", "");
    if (options->limit == 0)
        options->limit = options->last ? 1 : LIST_USUAL;
    return 0;
}

static int parse(int argc, char **argv, struct options *options)
{
    static const struct option longs[] = {{"url", required_argument, NULL, OPT_URL},
                                          {"key", required_argument, NULL, OPT_KEY},
                                          {"model", required_argument, NULL, OPT_MODEL},
                                          {"failed", no_argument, NULL, OPT_FAILED},
                                          {"last", no_argument, NULL, OPT_LAST},
                                          {"kind", required_argument, NULL, OPT_KIND},
                                          {"limit", required_argument, NULL, OPT_LIMIT},
                                          {"json", no_argument, NULL, OPT_JSON},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int r;

    *options = (struct options){0};
    r = weir_cli_options(argc, argv, "h", longs, take_option, options);
    if (r != 0)
        return r;
    return check_options(argc, argv, options);
}

static int write_list_path(const struct options *options, struct weir_buf *path)
{
    char limit[32];
    int len = snprintf(limit, sizeof(limit), "?limit=%llu", (unsigned long long)options->limit);
    int r = WEIR_BUF_APPEND(path, WEIR_SLICE("/weir/calls"), (struct weir_slice){limit, (size_t)len},
                            options->failed ? WEIR_SLICE("&status=failed") : WEIR_SLICE_EMPTY);

    if (r == 0 && options->kinds != NULL) {
        r = weir_buf_append(path, WEIR_SLICE("&kind="));
        if (r == 0)
            r = weir_admin_escape(path, weir_slice_str(options->kinds));
    }
    return r;
}

static int write_path(const struct options *options, struct weir_slice call, struct weir_buf *path)
{
    int r;

    if (call.len == 0 && options->model == NULL)
        return write_list_path(options, path);
    r = weir_buf_append(path, call.len > 0 ? WEIR_SLICE("/weir/calls/") : WEIR_SLICE("/weir/explain?model="));
    return r == 0 ? weir_admin_escape(path, call.len > 0 ? call : weir_slice_str(options->model)) : r;
}

static int complain(const char *text)
{
    return weir_cli_fail("explain", weir_slice_str(text));
}

static int print_json(yyjson_doc *doc)
{
    size_t len;
    char *text = yyjson_write(doc, YYJSON_WRITE_PRETTY | YYJSON_WRITE_ESCAPE_UNICODE, &len);

    if (text == NULL)
        return complain("no memory is left");
    (void)fwrite(text, 1, len, stdout);
    (void)fputc('\n', stdout);
    free(text);
    return WEIR_EXIT_OK;
}

/* A page of the answer, which must have the member that makes it one. */
static int print(const struct options *options, yyjson_doc *doc, const char *needed,
                 void (*page)(const struct weir_explain_out *to, yyjson_val *answer))
{
    const struct weir_explain_out to = {.out = stdout, .colour = weir_cli_colour(stdout)};
    yyjson_val *root = yyjson_doc_get_root(doc);

    if (yyjson_obj_get(root, needed) == NULL)
        return complain(WEIR_ADMIN_STRANGE);
    if (options->json)
        return print_json(doc);
    page(&to, root);
    return WEIR_EXIT_OK;
}

/* The answer for a call, or for what the options say where it is empty; 0, or an exit status. */
static int ask(const struct options *options, struct weir_slice call, struct weir_admin *admin,
               struct weir_admin_get *get)
{
    WEIR_CLEANUP(weir_buf_deinit) struct weir_buf path;

    weir_buf_init(&path, weir_mem_libc(), PATH_MAX_BYTES);
    if (write_path(options, call, &path) < 0)
        return complain("that is too long to be asked for");
    weir_admin_wait(admin, get, weir_buf_slice(&path));
    return get->doc == NULL ? complain(get->text) : 0;
}

static int tell_call(const struct options *options, struct weir_slice call, struct weir_admin *admin)
{
    struct weir_admin_get get = {0};
    int status = ask(options, call, admin, &get);

    if (status == 0)
        status = print(options, get.doc, "events", weir_explain_call);
    weir_admin_clear(&get);
    return status;
}

/* The newest of the list's calls. */
static int tell_last(const struct options *options, yyjson_doc *list, struct weir_admin *admin)
{
    yyjson_val *newest = yyjson_arr_get_first(yyjson_obj_get(yyjson_doc_get_root(list), "calls"));
    struct weir_slice call = weir_fact_text(newest, "call_id");

    return call.len == 0 ? complain("there is no such call yet") : tell_call(options, call, admin);
}

static int tell(const struct options *options, struct weir_admin *admin)
{
    struct weir_admin_get get = {0};
    int status;

    if (options->call != NULL)
        return tell_call(options, weir_slice_str(options->call), admin);
    status = ask(options, WEIR_SLICE_EMPTY, admin, &get);
    if (status == 0 && options->last)
        status = tell_last(options, get.doc, admin);
    else if (status == 0 && options->model != NULL)
        status = print(options, get.doc, "candidates", weir_explain_model);
    else if (status == 0)
        status = print(options, get.doc, "calls", weir_explain_calls);
    weir_admin_clear(&get);
    return status;
}

static int explain(const struct options *options)
{
    WEIR_CLEANUP(weir_admin_deinit) struct weir_admin admin = {0};
    char text[WEIR_ADMIN_TEXT_MAX];
    int r = weir_admin_init(&admin, &options->place, text);

    if (r > 0)
        return complain(text);
    return r < 0 ? weir_cli_fail("explain", weir_error_text(r)) : tell(options, &admin);
}

int weir_cli_explain(int argc, char **argv)
{
    char name[] = "weir explain"; /* what getopt's complaints begin with */
    struct options options;
    int r;

    argv[0] = name;
    r = parse(argc, argv, &options);
    if (r != 0)
        return r == HELP_SHOWN ? WEIR_EXIT_OK : r;
    weir_cells_locale();
    return explain(&options);
}
