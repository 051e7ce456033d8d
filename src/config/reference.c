/*
 * The reference page and the dump of defaults: one walk over the rows each.  What values may name
 * (strategies, providers, kinds of failures, what the simulated provider does) is printed from the tables of
 * their owners.
 */
#include "config/reference.h"

#include <weir/error.h>
#include <weir/failure.h>

#include "base/slice.h"
#include "config/schema.h"
#include "config/settings.h"
#include "provider/provider.h"

#include <stdbool.h>

static const char *const head =
    "# Configuration\n"
    "\n"
    "<!-- Made from src/config/tbl by `weir check --reference`; edit the tables, not this page. -->\n"
    "\n"
    "weir reads LiteLLM's `config.yaml` as it is, when it starts and when it is told to read it again (see\n"
    "[operations.md](operations.md#reload)). `weir check FILE` says what a file means and what is wrong with "
    "it;\n"
    "`weir check --defaults` prints every setting with its default.\n"
    "\n"
    "- YAML 1.1, as PyYAML reads it: `yes` and `on` are true, `010` is eight, `1e6` is text. Anchors, "
    "aliases\n"
    "  and merge keys (`<<`) work; keys at the top level that start with `x-` are yours.\n"
    "- `os.environ/NAME` as the whole value of a key is that environment variable. Inside a longer text, or "
    "as\n"
    "  an item of a list, it is not replaced; `weir check` warns of it. A variable that is not set counts as "
    "a\n"
    "  key that is not there, except for `master_key` and the address and password of Redis (weir does not\n"
    "  start) and for `model` and `model_name` (the entry is left out).\n"
    "- Numbers and booleans may be in quotes. Durations are seconds, fractions allowed.\n"
    "- A key that is written twice holds the last value, with a warning.\n"
    "- A wrong entry of `model_list` is left out with an error and weir starts without it. A wrong value of "
    "a\n"
    "  setting, or a fallback chain of the wrong shape, refuses the start.\n"
    "- `router_settings` beats the same key of `litellm_settings`.\n"
    "- A reload takes up every deployment and every setting, for the requests that come from then on, but "
    "for "
    "those\n"
    "  that are marked *Needs a restart*: they hold as they were when weir started.\n";

static const char *const intros[WEIR_SECTIONS] = {
    [WEIR_SECTION_TOP] = "The sections of a file.",
    [WEIR_SECTION_ENTRY] = "`model_list` is a list of deployments; these are the keys of one.",
    [WEIR_SECTION_PARAMS] =
        "`model_list[].litellm_params`. Every key that is not here is a provider argument: a "
        "member of the body of each request, which the request's own member of that name beats.",
    [WEIR_SECTION_INFO] = "`model_list[].model_info`. Other keys are shown in `/v1/model/info`.",
    [WEIR_SECTION_ROUTER] = "Strategies, retries, fallbacks, cooldowns.",
    [WEIR_SECTION_LITELLM] = "Defaults for the whole process.",
    [WEIR_SECTION_CACHE] = "`litellm_settings.cache_params`. The Redis of LiteLLM's cache serves for what "
                           "processes share, where "
                           "`cache` is on and\n`router_settings` names no Redis of its own.",
    [WEIR_SECTION_GENERAL] = "Who may call, and what requests may ask for.",
    [WEIR_SECTION_ALERTS] = "`general_settings.alerting_args`; see [alerts.md](alerts.md).",
    [WEIR_SECTION_WEIR] =
        "Limits and logs of weir itself. LiteLLM ignores this section, so one file serves both.",
    [WEIR_SECTION_OTLP] =
        "`weir_settings.otlp`; an empty map (`{}`) sends traces to where the variables say. Without it, and "
        "without `otel` in\nthe callbacks of `litellm_settings`, none are sent, whatever the variables are.",
    [WEIR_SECTION_GROUP] =
        "`weir_settings.groups.NAME`: settings of one group. A limit (`timeout` to `stream_hold`) is what "
        "the "
        "target of the hop says, else the request, the\ndeployment, its group, the router, each limit by "
        "itself. A target in a configured chain may have these limits\nas keys (`{model: NAME, ttft_timeout: "
        "2}`); a request may have those that `allow_request_overrides` lists in its\nfield `weir`, and "
        "`hedge` and `all_cooling_wait` with them.",
    [WEIR_SECTION_RATE] = "The keys of `min_stream_rate`, wherever it stands; `tokens_per_s` is needed.",
    [WEIR_SECTION_HOLD] =
        "The keys of `stream_hold`, wherever it stands; one of them is needed, the first that is reached "
        "ends the window.",
    [WEIR_SECTION_BUDGET] = "The keys of `retry_budget`; `ratio` is needed.",
    [WEIR_SECTION_HEDGE] = "The keys of `hedge`; `after` is needed.",
    [WEIR_SECTION_GROWTH] = "The keys of `cooldown_growth`; `factor` is needed.",
    [WEIR_SECTION_ARGS] =
        "`routing_strategy_args`, of the router and of routing groups. Each strategy looks at its "
        "own.",
    [WEIR_SECTION_RGROUP] =
        "An item of `router_settings.routing_groups`. Groups that are in none have the router's "
        "strategy.",
    [WEIR_SECTION_VARIABLE] =
        "Constants that are set by environment variables (or in `environment_variables`). "
        "Providers' keys (`OPENAI_API_KEY` and its kin), `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and "
        "`NO_PROXY` are read too.",
};

/* NULL: told with another section. */
static const char *const titles[WEIR_SECTIONS] = {
    [WEIR_SECTION_TOP] = "Top level",
    [WEIR_SECTION_ENTRY] = "model_list",
    [WEIR_SECTION_PARAMS] = "litellm_params",
    [WEIR_SECTION_INFO] = "model_info",
    [WEIR_SECTION_ROUTER] = "router_settings",
    [WEIR_SECTION_LITELLM] = "litellm_settings",
    [WEIR_SECTION_CACHE] = "cache_params",
    [WEIR_SECTION_GENERAL] = "general_settings",
    [WEIR_SECTION_ALERTS] = "alerting_args",
    [WEIR_SECTION_WEIR] = "weir_settings",
    [WEIR_SECTION_OTLP] = "otlp",
    [WEIR_SECTION_GROUP] = "weir_settings.groups",
    [WEIR_SECTION_RATE] = "min_stream_rate",
    [WEIR_SECTION_HOLD] = "stream_hold",
    [WEIR_SECTION_BUDGET] = "retry_budget",
    [WEIR_SECTION_HEDGE] = "hedge",
    [WEIR_SECTION_GROWTH] = "cooldown_growth",
    [WEIR_SECTION_ARGS] = "routing_strategy_args",
    [WEIR_SECTION_RGROUP] = "routing_groups",
    [WEIR_SECTION_VARIABLE] = "Environment variables",
};

static void put(FILE *out, struct weir_slice text)
{
    (void)fwrite(text.ptr, 1, text.len, out);
}

/* " (s, 0.001 to 2592000)" */
static void put_limits(FILE *out, const struct weir_setting_row *row)
{
    bool limited = row->min < 0 || row->min > 0 || row->max < 0 || row->max > 0;

    if (limited && row->max <= 1e11)
        fprintf(out, ", %.10g to %.10g", row->min, row->max);
    else if (limited)
        fprintf(out, ", at least %.10g", row->min);
}

static void put_row(FILE *out, const struct weir_setting_row *row)
{
    fputs("| `", out);
    put(out, row->key);
    fputs("` | ", out);
    put(out, weir_schema_expected(row));
    if (row->type != WEIR_VALUE_SECONDS && row->type != WEIR_VALUE_KEEPALIVE &&
        row->type != WEIR_VALUE_BYTES && row->unit.len > 0) {
        fputc(' ', out);
        put(out, row->unit);
    }
    put_limits(out, row);
    fputs(" | ", out);
    if (row->fallback.len > 0) {
        fputc('`', out);
        put(out, row->fallback);
        fputc('`', out);
    }
    fputs(" | ", out);
    put(out, row->prose);
    fputs(row->at_start ? " *Needs a restart.* |\n" : " |\n", out);
}

static void put_read_rows(FILE *out, enum weir_section section)
{
    fprintf(out, "\n## %s\n\n%s\n\n| key | value | default | what it does |\n|---|---|---|---|\n",
            titles[section], intros[section]);
    for (size_t i = 0; i < weir_schema_count(); i++)
        if (weir_schema_row(i)->section == section && weir_schema_row(i)->status == WEIR_ROW_READ)
            put_row(out, weir_schema_row(i));
}

static bool is_alike(const struct weir_setting_row *a, const struct weir_setting_row *b)
{
    return a->section == b->section && a->status == b->status && weir_slice_eq(a->prose, b->prose);
}

/* Whether a row before this one is about the same thing. */
static bool is_told(size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (is_alike(weir_schema_row(i), weir_schema_row(index)))
            return true;
    return false;
}

static void put_known_keys(FILE *out, size_t first)
{
    const char *separator = ": `";

    fputs("- ", out);
    put(out, weir_schema_row(first)->prose);
    for (size_t i = first; i < weir_schema_count(); i++) {
        if (!is_alike(weir_schema_row(i), weir_schema_row(first)))
            continue;
        fputs(separator, out);
        put(out, weir_schema_row(i)->key);
        fputs(weir_schema_row(i)->family ? "*`" : "`", out);
        separator = ", `";
    }
    fputc('\n', out);
}

/* Keys of a section with one status, those about the same thing together. */
static void put_known_rows(FILE *out, enum weir_section section, enum weir_row_status status,
                           const char *intro)
{
    bool first = true;

    for (size_t i = 0; i < weir_schema_count(); i++) {
        const struct weir_setting_row *row = weir_schema_row(i);

        if (row->section != section || row->status != status || is_told(i))
            continue;
        if (first)
            fprintf(out, "\n%s\n\n", intro);
        first = false;
        put_known_keys(out, i);
    }
}

/* ---- what values may say: strategies, providers, kinds of failures ---- */

static void put_strategies(FILE *out)
{
    fputs("\n## Strategies\n\n"
          "What `routing_strategy` may name.\n\n"
          "| name | another name | which deployment is chosen |\n|---|---|---|\n",
          out);
#define NAME_OR_NOTHING(name) ((const char *)(name) == NULL ? "" : (name))
#define X(strategy, name, other_name, prose)                                                                 \
    fprintf(out, "| `%s` | %s | %s |\n", name, NAME_OR_NOTHING(other_name), prose);
#include <weir/tbl/strategies.h>
#undef X
#undef NAME_OR_NOTHING
}

static void put_variables(FILE *out, const struct weir_slice names[WEIR_PROVIDER_VARS])
{
    for (size_t i = 0; i < WEIR_PROVIDER_VARS && names[i].len > 0; i++) {
        fputs(i == 0 ? "`" : ", `", out);
        put(out, names[i]);
        fputc('`', out);
    }
}

static void put_provider(FILE *out, const struct weir_provider *provider)
{
    fputs("| `", out);
    put(out, provider->name);
    fputs("/` | ", out);
    put(out, provider->api_base.len > 0 ? provider->api_base : WEIR_SLICE("`api_base` is needed"));
    fputs(" | ", out);
    put_variables(out, provider->key_vars);
    fputs(" | ", out);
    put_variables(out, provider->base_vars);
    fputs(" |\n", out);
}

static void put_providers(FILE *out)
{
    const char *separator = "\nKnown, and not served yet; `weir check` says so of an entry: `";

    fputs("\n## Providers\n\n"
          "The part of `model` in front of the first slash, or `custom_llm_provider`. Where an entry has no "
          "`api_base` or\n`api_key` of its own, the first of the variables that is set has it.\n\n"
          "| prefix | address | variables of the key | variables of the address |\n|---|---|---|---|\n",
          out);
    for (size_t i = 0; i < weir_provider_count(); i++) {
        weir_dialect_id dialect = weir_provider_at(i)->dialect;

        if (dialect != WEIR_DIALECT_NONE && dialect != WEIR_DIALECT_SIM)
            put_provider(out, weir_provider_at(i));
    }
    for (size_t i = 0; i < weir_provider_count(); i++) {
        if (weir_provider_at(i)->dialect != WEIR_DIALECT_NONE)
            continue;
        fputs(separator, out);
        put(out, weir_provider_at(i)->name);
        fputc('`', out);
        separator = ", `";
    }
    fputs(".\n", out);
}

static void put_sim(FILE *out)
{
    fputs("\n## The provider sim\n\n"
          "`sim/NAME` is answered from inside weir, for trying a configuration without key and network. Its "
          "entries may\nhave these in `litellm_params`. It takes a prefill: when the request ends in the "
          "assistant's own words, and `sim_text`\nbegins with them, it goes on behind them.\n\n"
          "| key | value | what it does |\n|---|---|---|\n",
          out);
#define SIM_TEXT                    "text"
#define SIM_NUMBER                  "a number, at least 0"
#define SIM_RATIO                   "a number, 0 to 1"
#define SIM_SECONDS                 "a number of seconds, 0 to 86400"
#define SIM_COUNT                   "a whole number, at least 0"
#define SIM_KIND                    "the name of a failure"
#define X(key, type, member, prose) fputs("| `" key "` | " SIM_##type " | " prose " |\n", out);
#include "provider/tbl/sim_fields.h"
#undef X
}

static void put_policy_key(FILE *out, const weir_policy_field fields[2], bool retries)
{
    fputs(" | ", out);
    for (size_t i = 0; i < 2; i++) {
        struct weir_slice key = weir_policy_field_key(fields[i], retries);

        if (key.len == 0)
            continue;
        fputs(i == 0 ? "`" : ", else `", out);
        put(out, key);
        fputc('`', out);
    }
}

static void put_failures(FILE *out)
{
    fputs("\n## Failures\n\n"
          "The kinds that weir tells apart, with the class that error messages name, the status where the "
          "provider gave none,\nand the fields of `retry_policy` and `allowed_fails_policy` that speak for "
          "them. A retry policy may also have\n`DefaultRetries`, for the kinds whose field it does not "
          "set.\n\n"
          "| failure | class | status | in retry_policy | in allowed_fails_policy |\n|---|---|---|---|---|\n",
          out);
    for (int kind = 0; kind < WEIR_KIND_COUNT; kind++) {
        const struct weir_kind_row *row = weir_kind_row((weir_kind)kind);

        fputs("| ", out);
        put(out, row->name);
        fputs(" | ", out);
        put(out, row->class_name);
        fprintf(out, " | %d", row->status);
        put_policy_key(out, row->retry_fields, true);
        put_policy_key(out, row->fails_fields, false);
        fputs(" |\n", out);
    }
}

static int finish(FILE *out)
{
    return fflush(out) == 0 && ferror(out) == 0 ? 0 : WEIR_ERR_IO;
}

int weir_reference_page(FILE *out)
{
    fputs(head, out);
    for (int section = 0; section < WEIR_SECTIONS; section++) {
        if (titles[section] == NULL)
            continue;
        put_read_rows(out, (enum weir_section)section);
        put_known_rows(out, (enum weir_section)section, WEIR_ROW_LATER,
                       "Known and not supported; a warning says so:");
        put_known_rows(out, (enum weir_section)section, WEIR_ROW_IDLE,
                       "Known, with nothing to do here; a warning says so:");
        put_known_rows(out, (enum weir_section)section, WEIR_ROW_SDK,
                       "Arguments of LiteLLM's Python library; a warning says so:");
    }
    put_strategies(out);
    put_providers(out);
    put_sim(out);
    put_failures(out);
    return finish(out);
}

static void put_default(FILE *out, const struct weir_setting_row *row)
{
    bool text = row->type == WEIR_VALUE_TEXT || row->type == WEIR_VALUE_PLACE ||
                row->type == WEIR_VALUE_STRATEGY || row->type == WEIR_VALUE_LOG_FORMAT ||
                row->type == WEIR_VALUE_BYTES || row->type == WEIR_VALUE_EMPTY ||
                row->type == WEIR_VALUE_ALERT_FORM;

    fputs(row->fallback.len > 0 ? "  " : "  # ", out);
    put(out, row->key);
    fputs(":", out);
    if (row->fallback.len > 0) {
        fputs(text ? " \"" : " ", out);
        put(out, row->fallback);
        fputs(text ? "\"" : "", out);
    }
    fputs("  # ", out);
    put(out, row->prose);
    fputc('\n', out);
}

int weir_reference_defaults(FILE *out)
{
    static const enum weir_section sections[] = {WEIR_SECTION_ROUTER, WEIR_SECTION_LITELLM,
                                                 WEIR_SECTION_GENERAL, WEIR_SECTION_WEIR,
                                                 WEIR_SECTION_VARIABLE};

    for (size_t s = 0; s < sizeof(sections) / sizeof(*sections); s++) {
        if (sections[s] == WEIR_SECTION_VARIABLE)
            fputs("environment_variables:\n", out);
        else
            fprintf(out, "%.*s:\n", (int)weir_section_key(sections[s]).len,
                    weir_section_key(sections[s]).ptr);
        for (size_t i = 0; i < weir_schema_count(); i++)
            if (weir_schema_row(i)->section == sections[s] && weir_schema_row(i)->status == WEIR_ROW_READ)
                put_default(out, weir_schema_row(i));
    }
    return finish(out);
}
