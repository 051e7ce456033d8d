/*
 * Reads the limits on time of engine_kit.h, which are written alike wherever they may stand.
 */
#include "engine_kit.h"

#include "engine_words.h"

static const struct {
    const char *name;
    size_t offset;
} durations[] = {
    {"timeout", offsetof(struct weir_limits, timeout_ns)},
    {"stream_timeout", offsetof(struct weir_limits, stream_timeout_ns)},
    {"ttft", offsetof(struct weir_limits, ttft_timeout_ns)},
    {"idle", offsetof(struct weir_limits, stream_idle_timeout_ns)},
    {"deadline", offsetof(struct weir_limits, call_deadline_ns)},
};

static void parse_rate(struct weir_stream_rate *rate, char *text)
{
    char *window = cut(text, '/');
    char *grace = window == NULL ? NULL : cut(window, '/');

    rate->tokens_per_s = number(text);
    if (window != NULL)
        rate->window_ns = seconds(window);
    if (grace != NULL)
        rate->grace_ns = seconds(grace);
}

static void parse_hold(struct weir_stream_hold *hold, char *text)
{
    char *window = cut(text, '/');

    *hold = (struct weir_stream_hold){.said = true, .tokens = WEIR_UNSET, .window_ns = WEIR_UNSET_NS};
    if (strcmp(text, "all") == 0)
        return;
    if (*text != '\0')
        hold->tokens = count_of(text);
    if (window != NULL)
        hold->window_ns = seconds(window);
}

bool kit_parse_limit(struct weir_limits *limits, const char *key, char *value)
{
    for (size_t i = 0; i < sizeof(durations) / sizeof(*durations); i++) {
        if (strcmp(durations[i].name, key) == 0) {
            *(uint64_t *)(void *)((char *)limits + durations[i].offset) = seconds(value);
            return true;
        }
    }
    if (strcmp(key, "rate") == 0)
        parse_rate(&limits->min_stream_rate, value);
    else if (strcmp(key, "hold") == 0)
        parse_hold(&limits->stream_hold, value);
    else
        return false;
    return true;
}

void kit_parse_targets(weir_continue_to *targets, char *value)
{
    for (size_t i = 0; i < WEIR_CONTINUE_SOURCES; i++)
        targets[i] = WEIR_CONTINUE_NOWHERE;
    for (size_t i = 0; value != NULL; i++) {
        char *rest = cut(value, ',');

        check_room(i, WEIR_CONTINUE_SOURCES, value);
        if (strcmp(value, "fallback") == 0)
            targets[i] = WEIR_CONTINUE_FALLBACK;
        else if (strcmp(value, "group") == 0)
            targets[i] = WEIR_CONTINUE_GROUP;
        else
            refuse("source of a continuation", value);
        value = rest;
    }
}
