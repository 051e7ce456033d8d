/*
 * Serving: the main thread makes everything, starts the workers, and then waits for signals and for what
 * others ask of it (gateway/process/process.h).
 */
#include "cli/command.h"

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "base/slice.h"
#include "config/config.h"
#include "gateway/crew.h"
#include "gateway/gateway.h"
#include "gateway/process/process.h"

enum { DEFAULT_PORT = 4000, WORKERS_MAX = 256 };

struct options {
    const char *config;
    const char *host;
    uint16_t port;
    size_t workers;     /* 0: by the configuration */
    const char *log;    /* NULL: by the configuration */
    const char *format; /* likewise */
};

struct serving {
    struct options options;
    struct weir_config *config;
    struct weir_gateway gateway;
    struct weir_crew crew;
    struct weir_process process;
};

static const char help_text[] =
    "usage: weir serve --config FILE [--host HOST] [--port PORT] [--workers N]\n"
    "                  [--log WHERE] [--log-format FORMAT]\n"
    "\n"
    "Runs the gateway: clients speak OpenAI's protocol to it, and it chooses for each\n"
    "request which deployment of FILE's model_list answers.\n"
    "\n"
    "  -c, --config FILE      a LiteLLM config.yaml (required; `weir check FILE` explains it)\n"
    "      --host HOST        address to listen on (127.0.0.1); others want a master_key\n"
    "  -p, --port PORT        port to listen on (4000)\n"
    "  -w, --workers N        worker threads (weir_settings.workers, else one for each core)\n"
    "      --log WHERE        access log: stdout, stderr, off, or a file\n"
    "      --log-format F     json or logfmt\n"
    "  -h, --help             this text\n"
    "\n"
    "SIGTERM ends it when the calls under way are over; a second SIGTERM ends it at once.\n"
    "SIGHUP makes it read FILE again, as do POST /weir/reload and, where\n"
    "weir_settings.reload_on_change is true, a change of FILE; no call is lost by it, and a\n"
    "file that is wrong changes nothing.\n"
    "SIGUSR2 starts the program anew, as it is on disk now, with the same options and sockets:\n"
    "when the new process serves this one ends as by SIGTERM, and otherwise it goes on.\n"
    "Under systemd it listens on the sockets of LISTEN_FDS, if there are any, and tells\n"
    "NOTIFY_SOCKET how it is.\n"
    "\n"
    "Try it without any key:  weir serve --config examples/quickstart.yaml\n";

/* A decimal number within bounds; false for anything else. */
static bool number(const char *text, uint64_t min, uint64_t max, uint64_t *ret_number)
{
    return weir_slice_u64(weir_slice_str(text), ret_number) == 0 && *ret_number >= min && *ret_number <= max;
}

enum { OPT_HOST = 256, OPT_LOG, OPT_LOG_FORMAT, OPT_HELP_SHOWN = -2 };

static int take_option(void *user, int option)
{
    struct options *options = user;
    uint64_t value;

    switch (option) {
    case 'c':
        options->config = optarg;
        return 0;
    case OPT_HOST:
        options->host = optarg;
        return 0;
    case 'p':
        if (!number(optarg, 0, UINT16_MAX, &value))
            return weir_cli_usage("serve", "--port wants a number from 0 to 65535: ", optarg);
        options->port = (uint16_t)value;
        return 0;
    case 'w':
        if (!number(optarg, 1, WORKERS_MAX, &value))
            return weir_cli_usage("serve", "--workers wants a number from 1 to 256: ", optarg);
        options->workers = (size_t)value;
        return 0;
    case OPT_LOG:
        options->log = optarg;
        return 0;
    case OPT_LOG_FORMAT:
        if (strcmp(optarg, "json") != 0 && strcmp(optarg, "logfmt") != 0)
            return weir_cli_usage("serve", "--log-format wants json or logfmt: ", optarg);
        options->format = optarg;
        return 0;
    case 'h':
        (void)fputs(help_text, stdout);
        return OPT_HELP_SHOWN;
    default:
        (void)fputs("Try `weir serve --help`.\n", stderr);
        return WEIR_EXIT_USAGE;
    }
}

static int parse(int argc, char **argv, struct options *options)
{
    static const struct option longs[] = {
        {"config", required_argument, NULL, 'c'},  {"host", required_argument, NULL, OPT_HOST},
        {"port", required_argument, NULL, 'p'},    {"workers", required_argument, NULL, 'w'},
        {"log", required_argument, NULL, OPT_LOG}, {"log-format", required_argument, NULL, OPT_LOG_FORMAT},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    int r;

    *options = (struct options){.host = "127.0.0.1", .port = DEFAULT_PORT};
    r = weir_cli_options(argc, argv, "c:p:w:h", longs, take_option, options);
    if (r != 0)
        return r;
    if (optind < argc)
        return weir_cli_usage("serve", "unexpected argument: ", argv[optind]);
    return options->config == NULL ? weir_cli_usage("serve", "--config FILE is missing", "") : 0;
}

static int refuse(const char *why)
{
    (void)fprintf(stderr, "weir: %s\n", why);
    return WEIR_EXIT_FAILED;
}

static int refuse_code(int code)
{
    struct weir_slice text = weir_error_text(code);

    (void)fprintf(stderr, "weir: cannot start: %.*s\n", (int)text.len, text.ptr);
    return WEIR_EXIT_FAILED;
}

static int load(struct serving *serving)
{
    const struct weir_config_env env = {weir_config_env_process, NULL};
    struct weir_diags diags;
    int r;

    weir_diags_init(&diags, weir_mem_libc());
    r = weir_config_load(serving->options.config, &env, weir_mem_libc(), &diags, &serving->config);
    weir_cli_print_diags(&diags);
    weir_diags_deinit(&diags);
    if (r > 0)
        return refuse("the configuration is refused; nothing is served");
    if (r < 0)
        return refuse_code(r);
    return 0;
}

static void lay_options_over(const struct options *options, struct weir_settings *settings)
{
    if (options->log != NULL)
        settings->access_log = weir_slice_str(options->log);
    if (options->format != NULL)
        settings->access_log_format = strcmp(options->format, "json") == 0 ? WEIR_LOG_JSON : WEIR_LOG_LOGFMT;
}

/*
 * No master key means loopback only, unless the configuration says otherwise in so many words (decisions 23).
 */
static bool is_exposed(const struct serving *serving, const struct weir_settings *settings)
{
    return settings->master_key.len == 0 && !settings->permit_no_master_key &&
           !weir_crew_loopback(serving->options.host, &serving->process.inherited);
}

/* What the command line has to say to a configuration. */
static int amend(void *user, struct weir_config *config, char *text, size_t text_bytes)
{
    const struct serving *serving = user;

    lay_options_over(&serving->options, &config->settings);
    if (!is_exposed(serving, &config->settings))
        return 0;
    (void)snprintf(
        text, text_bytes,
        "refusing to listen on %s without a key: everyone who reaches it could spend the providers' keys.\n"
        "Set general_settings.master_key (or LITELLM_MASTER_KEY), or say "
        "general_settings.dangerously_permit_weak_or_unset_master_key: true.",
        serving->process.inherited.count > 0 ? "sockets that others reach" : serving->options.host);
    return 1;
}

static void tell(void *user, const struct weir_diags *diags)
{
    (void)user;
    weir_cli_print_diags(diags);
}

static void raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* less is served then */
    }
}

static size_t choose_workers(const struct serving *serving)
{
    cpu_set_t set;
    size_t cores;

    if (serving->options.workers > 0)
        return serving->options.workers;
    if (serving->config->settings.workers > 0)
        return serving->config->settings.workers;
    cores = sched_getaffinity(0, sizeof(set), &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
    return cores < WORKERS_MAX ? cores : WORKERS_MAX;
}

static int make_gateway(struct serving *serving)
{
    struct weir_config *config = serving->config;
    size_t workers = choose_workers(serving);
    char text[WEIR_GATEWAY_TEXT_MAX];
    uint64_t seed;
    int r;

    if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
        return refuse("the system has no random numbers");
    serving->config = NULL; /* the gateway's from here on */
    r = weir_gateway_init(&serving->gateway, config, workers, seed, serving->process.loop, weir_mem_libc(),
                          text);
    if (r > 0)
        return refuse(text);
    return r < 0 ? refuse_code(r) : 0;
}

static int start_crew(struct serving *serving)
{
    char text[WEIR_CREW_TEXT_MAX];
    int r = weir_crew_start(&serving->crew, &serving->gateway, serving->options.host, serving->options.port,
                            &serving->process.inherited, text);

    if (r > 0)
        return refuse(text);
    return r < 0 ? refuse_code(r) : 0;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void announce(const struct serving *serving)
{
    const struct weir_config *config = serving->gateway.setup->config;
    struct weir_slice address = weir_crew_address(&serving->crew);
    size_t groups = weir_snapshot_group_count(config->snapshot);

    (void)fprintf(stderr,
                  "weir " WEIR_VERSION
                  " is ready on http://%.*s (%zu worker%s, %zu deployment%s in %zu group%s)\n",
                  (int)address.len, address.ptr, serving->gateway.workers, plural(serving->gateway.workers),
                  config->deployment_count, plural(config->deployment_count), groups, plural(groups));
    if (config->deployment_count == 0)
        (void)fputs("weir: model_list has no deployment: every call will be refused\n", stderr);
}

static int attend(struct serving *serving)
{
    const struct weir_reload_source source = {.path = serving->options.config,
                                              .env = {weir_config_env_process, NULL},
                                              .mem = weir_mem_libc(),
                                              .user = serving,
                                              .amend = amend,
                                              .tell = tell};

    weir_process_attend(&serving->process, &serving->gateway, &source);
    return start_crew(serving);
}

static void take_down(struct serving *serving)
{
    weir_crew_deinit(&serving->crew);
    weir_process_leave(&serving->process);
    weir_gateway_deinit(&serving->gateway);
    weir_process_deinit(&serving->process);
    weir_config_free(serving->config);
}

static int start(struct serving *serving)
{
    char text[WEIR_GATEWAY_TEXT_MAX];
    int r = weir_process_init(&serving->process, weir_mem_libc(), text);
    int status;

    if (r != 0)
        return r > 0 ? refuse(text) : refuse_code(r);
    raise_file_limit();
    status = load(serving);
    if (status != 0)
        return status;
    if (amend(serving, serving->config, text, sizeof(text)) != 0)
        return refuse(text);
    status = make_gateway(serving);
    return status == 0 ? attend(serving) : status;
}

int weir_cli_serve(int argc, char **argv)
{
    char name[] = "weir serve"; /* what getopt's complaints begin with */
    struct serving serving = {0};
    int status;
    int r;

    argv[0] = name;
    status = parse(argc, argv, &serving.options);

    if (status == OPT_HELP_SHOWN)
        return 0;
    if (status != 0)
        return status;
    status = start(&serving);
    if (status == 0) {
        announce(&serving);
        r = weir_process_run(&serving.process, &serving.crew);
        status = r < 0 ? refuse_code(r) : 0;
    }
    take_down(&serving);
    return status;
}
