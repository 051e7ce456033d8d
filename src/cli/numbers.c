/* A row for each number: how it is written, where it ends up, and the settings that may have given it. */
#include "cli/numbers.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/slice.h"
#include "cli/command.h"

enum { SOURCES_MAX = 3, TEXT_MAX = 80 };

enum form { COUNT, SECONDS, RATE, HOLD, BUDGET, HEDGE, GROWTH, ON_OFF, SOURCES, STRATEGY };

/* A number of the router: what it is called, where it ends up, and the settings that may give it, the
 * strongest first. */
static const struct number {
    const char *name;
    enum form form;
    size_t offset; /* in struct weir_router_spec */
    enum weir_setting_id sources[SOURCES_MAX];
    size_t count;
} numbers[] = {
#define OF(member) offsetof(struct weir_router_spec, member)
    {"strategy", STRATEGY, OF(strategy.strategy), {WEIR_SETTING_strategy}, 1},
    {"retries",
     COUNT,
     OF(num_retries),
     {WEIR_SETTING_router_num_retries, WEIR_SETTING_litellm_num_retries},
     2},
    {"attempt limit",
     SECONDS,
     OF(limits.timeout_ns),
     {WEIR_SETTING_router_timeout_ns, WEIR_SETTING_request_timeout_ns, WEIR_SETTING_default_timeout_ns},
     3},
    {"first chunk", SECONDS, OF(limits.stream_timeout_ns), {WEIR_SETTING_router_stream_timeout_ns}, 1},
    {"first content", SECONDS, OF(limits.ttft_timeout_ns), {WEIR_SETTING_router_ttft_timeout_ns}, 1},
    {"silence", SECONDS, OF(limits.stream_idle_timeout_ns), {WEIR_SETTING_router_stream_idle_timeout_ns}, 1},
    {"least speed", RATE, OF(limits.min_stream_rate), {WEIR_SETTING_router_min_stream_rate}, 1},
    {"held back", HOLD, OF(limits.stream_hold), {WEIR_SETTING_router_stream_hold}, 1},
    {"whole call", SECONDS, OF(limits.call_deadline_ns), {WEIR_SETTING_router_call_deadline_ns}, 1},
    {"continuation", ON_OFF, OF(continuation), {WEIR_SETTING_continuation}, 1},
    {"continued by", SOURCES, OF(continue_to), {WEIR_SETTING_continue_to}, 1},
    {"cooldown",
     SECONDS,
     OF(cooldown_ns),
     {WEIR_SETTING_router_cooldown_ns, WEIR_SETTING_litellm_cooldown_ns, WEIR_SETTING_default_cooldown_ns},
     3},
    {"growing", GROWTH, OF(resilience.cooldown_growth), {WEIR_SETTING_router_cooldown_growth}, 1},
    {"coming back", SECONDS, OF(resilience.cooldown_ramp_ns), {WEIR_SETTING_router_cooldown_ramp_ns}, 1},
    {"all cooling",
     SECONDS,
     OF(resilience.all_cooling_wait_ns),
     {WEIR_SETTING_router_all_cooling_wait_ns},
     1},
    {"retry budget", BUDGET, OF(resilience.retry_budget), {WEIR_SETTING_router_retry_budget}, 1},
    {"hedge", HEDGE, OF(resilience.hedge), {WEIR_SETTING_router_hedge}, 1},
    {"allowed fails", COUNT, OF(allowed_fails), {WEIR_SETTING_router_allowed_fails}, 1},
    {"hops",
     COUNT,
     OF(max_fallbacks),
     {WEIR_SETTING_router_max_fallbacks, WEIR_SETTING_litellm_max_fallbacks,
      WEIR_SETTING_default_max_fallbacks},
     3},
#undef OF
};

static void print_source(const struct weir_config *config, enum weir_setting_id id)
{
    const struct weir_place *place = &config->sources[id];

    if (place->line > 0) {
        weir_cli_print_slice(stdout, place->file);
        printf(":%" PRIu32 "\n", place->line);
    } else {
        puts(place->file.len > 0 ? "environment" : "default");
    }
}

static void say_seconds(char text[TEXT_MAX], uint64_t ns)
{
    if (ns == WEIR_UNSET_NS)
        (void)snprintf(text, TEXT_MAX, "not set");
    else if (ns == 0)
        (void)snprintf(text, TEXT_MAX, "none");
    else
        (void)snprintf(text, TEXT_MAX, "%g s", (double)ns / 1e9);
}

static void say_rate(char text[TEXT_MAX], const struct weir_stream_rate *rate)
{
    if (rate->tokens_per_s < 0)
        (void)snprintf(text, TEXT_MAX, "not set");
    else if (rate->tokens_per_s > 0)
        (void)snprintf(text, TEXT_MAX, "%g tokens/s", rate->tokens_per_s);
    else
        (void)snprintf(text, TEXT_MAX, "none");
}

static void say_hold(char text[TEXT_MAX], const struct weir_stream_hold *hold)
{
    bool tokens = hold->tokens != WEIR_UNSET, seconds = hold->window_ns != WEIR_UNSET_NS;
    double window = (double)hold->window_ns / 1e9;

    if (!hold->said)
        (void)snprintf(text, TEXT_MAX, "not set");
    else if (hold->tokens == 0)
        (void)snprintf(text, TEXT_MAX, "none");
    else if (tokens && seconds)
        (void)snprintf(text, TEXT_MAX, "%" PRIu32 " tokens or %g s", hold->tokens, window);
    else if (tokens)
        (void)snprintf(text, TEXT_MAX, "%" PRIu32 " tokens", hold->tokens);
    else if (seconds)
        (void)snprintf(text, TEXT_MAX, "%g s", window);
    else
        (void)snprintf(text, TEXT_MAX, "all");
}

static void say_budget(char text[TEXT_MAX], const struct weir_retry_budget *budget)
{
    if (!budget->said)
        (void)snprintf(text, TEXT_MAX, "not set");
    else if (budget->ratio < 0)
        (void)snprintf(text, TEXT_MAX, "none");
    else
        (void)snprintf(text, TEXT_MAX, "%g + %g/s", budget->ratio, budget->min_per_s);
}

static void say_growth(char text[TEXT_MAX], const struct weir_cooldown_growth *growth)
{
    if (growth->factor < 0)
        (void)snprintf(text, TEXT_MAX, "not set");
    else if (growth->factor > 1)
        (void)snprintf(text, TEXT_MAX, "x %g to %g s", growth->factor, (double)growth->max_ns / 1e9);
    else
        (void)snprintf(text, TEXT_MAX, "none");
}

static void say_sources(char text[TEXT_MAX], const weir_continue_to to[WEIR_CONTINUE_SOURCES])
{
    static const char *const names[] = {
        [WEIR_CONTINUE_NOWHERE] = "",
#define X(word, source) [source] = word,
#include "config/tbl/continue_to.h"
#undef X
    };

    (void)snprintf(text, TEXT_MAX, "%s%s%s", names[to[0]], to[1] == WEIR_CONTINUE_NOWHERE ? "" : ", ",
                   names[to[1]]);
}

static const char *strategy_name(weir_strategy strategy)
{
    static const char *const names[WEIR_STRATEGY_COUNT] = {
#define X(id, name, other_name, prose) [WEIR_STRATEGY_##id] = name,
#include <weir/tbl/strategies.h>
#undef X
    };

    return names[strategy];
}

static void say(char text[TEXT_MAX], enum form form, const void *value)
{
    uint32_t count;

    switch (form) {
    case COUNT:
        count = *(const uint32_t *)value;
        (void)snprintf(text, TEXT_MAX, "%" PRIu32, count);
        if (count == WEIR_UNSET)
            (void)snprintf(text, TEXT_MAX, "not set");
        break;
    case SECONDS:
        say_seconds(text, *(const uint64_t *)value);
        break;
    case RATE:
        say_rate(text, value);
        break;
    case HOLD:
        say_hold(text, value);
        break;
    case BUDGET:
        say_budget(text, value);
        break;
    case HEDGE:
        say_seconds(text, ((const struct weir_hedge *)value)->after_ns);
        break;
    case GROWTH:
        say_growth(text, value);
        break;
    case ON_OFF:
        (void)snprintf(text, TEXT_MAX, "%s", *(const bool *)value ? "on" : "off");
        break;
    case SOURCES:
        say_sources(text, value);
        break;
    case STRATEGY:
        (void)snprintf(text, TEXT_MAX, "%s", strategy_name(*(const weir_strategy *)value));
        break;
    }
}

static void print_number(const struct weir_config *config, const struct number *number)
{
    const struct weir_router_spec *spec = weir_snapshot_router(config->snapshot);
    char text[TEXT_MAX];
    size_t source = 0;

    while (source + 1 < number->count && config->sources[number->sources[source]].file.len == 0)
        source++;
    say(text, number->form, (const char *)spec + number->offset);
    printf("  %-14s  %-11s ", number->name, text);
    print_source(config, number->sources[source]);
}

void weir_cli_print_numbers(const struct weir_config *config)
{
    puts("numbers");
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        print_number(config, &numbers[i]);
}
