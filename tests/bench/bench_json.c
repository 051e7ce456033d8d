/*
 * What reading JSON costs on the two paths that every call takes: a walk over a request's members, and a
 * streamed chunk that is checked and looked into. Prints nanoseconds of CPU time and GB/s, the best of many
 * short runs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/slice.h"
#include "wire/json_read.h"

enum { RUNS = 200, BYTES_PER_RUN = 1 << 20 };

static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* As the gateway looks at a request. */
static size_t walk(struct weir_slice text)
{
    struct weir_json_cursor c;
    struct weir_json_item item;
    size_t found = 0;

    if (weir_json_enter(&c, text, 128) != 0)
        return 0;
    while (weir_json_next(&c, &item) == WEIR_JSON_ITEM)
        found +=
            weir_json_key_is(&item, WEIR_SLICE("model")) || weir_json_key_is(&item, WEIR_SLICE("stream"));
    return found;
}

static size_t check(struct weir_slice text)
{
    struct weir_json_value value;
    size_t bad_at;

    return weir_json_check(text, 128, &value, &bad_at) == 0 ? 2 : 0;
}

static size_t look_into_delta(struct weir_slice delta)
{
    struct weir_json_cursor c;
    struct weir_json_item item;
    size_t found = 0;

    if (weir_json_enter(&c, delta, 128) != 0)
        return 0;
    while (weir_json_next(&c, &item) == WEIR_JSON_ITEM)
        found += weir_json_key_is(&item, WEIR_SLICE("content"));
    return found;
}

static size_t look_into_choice(struct weir_slice choice)
{
    struct weir_json_cursor c;
    struct weir_json_item item;
    size_t found = 0;

    if (weir_json_enter(&c, choice, 128) != 0)
        return 0;
    while (weir_json_next(&c, &item) == WEIR_JSON_ITEM)
        if (weir_json_key_is(&item, WEIR_SLICE("delta")))
            found += look_into_delta(item.value.text);
        else
            found += weir_json_key_is(&item, WEIR_SLICE("finish_reason"));
    return found;
}

static size_t look_into_choices(struct weir_slice choices)
{
    struct weir_json_cursor c;
    struct weir_json_item item;
    size_t found = 0;

    if (weir_json_enter(&c, choices, 128) != 0)
        return 0;
    while (weir_json_next(&c, &item) == WEIR_JSON_ITEM)
        found += look_into_choice(item.value.text);
    return found;
}

/* As a dialect looks at a chunk: everything is checked by the outer walk. */
static size_t look(struct weir_slice chunk)
{
    struct weir_json_cursor c;
    struct weir_json_item item;
    size_t found = 0;

    if (weir_json_enter(&c, chunk, 128) != 0)
        return 0;
    while (weir_json_next(&c, &item) == WEIR_JSON_ITEM)
        if (weir_json_key_is(&item, WEIR_SLICE("choices")))
            found += look_into_choices(item.value.text);
    return found;
}

/* The same by paths. */
static size_t find(struct weir_slice chunk)
{
    struct weir_json_value value;

    return (weir_json_find(chunk, WEIR_SLICE("choices.0.delta.content"), &value) == 0) +
           (size_t)(weir_json_find(chunk, WEIR_SLICE("choices.0.finish_reason"), &value) == 0);
}

static void measure(const char *name, size_t (*read)(struct weir_slice), struct weir_slice text)
{
    size_t times = BYTES_PER_RUN / text.len + 1, found = 0;
    uint64_t best = UINT64_MAX;

    for (int run = 0; run < RUNS; run++) {
        uint64_t start = now_ns(), took;

        for (size_t i = 0; i < times; i++)
            found += read(text);
        took = now_ns() - start;
        best = took < best ? took : best;
    }
    if (found != times * RUNS * 2) {
        fprintf(stderr, "%s: not read\n", name);
        exit(1);
    }
    printf("%-32s %8zu bytes %10.1f ns %8.1f ns/KB %6.2f GB/s\n", name, text.len,
           (double)best / (double)times, (double)best / (double)times * 1024 / (double)text.len,
           (double)text.len * (double)times / (double)best);
}

/* A request whose prompt is the filler, over and over, up to about len bytes. */
static struct weir_slice request(size_t len, const char *filler)
{
    static const char front[] =
        "{\"model\":\"gpt-4o\",\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},"
        "{\"role\":\"user\",\"content\":\"";
    static const char back[] =
        "\"}],\"temperature\":0.7,\"max_tokens\":256,\"stream\":true,\"user\":\"u-1\"}";
    char *text = malloc(len + sizeof(front) + sizeof(back) + strlen(filler));
    size_t at = sizeof(front) - 1;

    if (text == NULL)
        exit(1);
    memcpy(text, front, at);
    while (at + sizeof(back) < len) {
        memcpy(text + at, filler, strlen(filler));
        at += strlen(filler);
    }
    memcpy(text + at, back, sizeof(back) - 1);
    return (struct weir_slice){text, at + sizeof(back) - 1};
}

static const char streamed_chunk[] =
    "{\"id\":\"chatcmpl-123\",\"object\":\"chat.completion.chunk\",\"created\":1694268190,"
    "\"model\":\"gpt-4o-mini\",\"system_fingerprint\":\"fp_44709d6fcb\",\"choices\":[{\"index\":0,"
    "\"delta\":{\"content\":\" Hello\"},\"logprobs\":null,\"finish_reason\":null}]}";

int main(void)
{
    static const struct {
        const char *name;
        const char *filler;
    } fillers[] = {
        {"walk, plain English", "The quick brown fox jumps over the lazy dog, and then it does so again. "},
        {"walk, source code", "    if (x == \\\"y\\\") {\\n        return f(a, b);\\n    }\\n\\n"},
        {"walk, Chinese", "\xe4\xb8\xad\xe6\x96\x87\xe5\xad\x97\xe7\xac\xa6\xef\xbc\x8c"},
    };

    for (size_t i = 0; i < sizeof(fillers) / sizeof(*fillers); i++)
        for (size_t len = 1024; len <= 300 * 1024; len *= 300) {
            struct weir_slice text = request(len, fillers[i].filler);

            measure(fillers[i].name, walk, text);
            free((void *)(uintptr_t)text.ptr);
        }
    measure("check, streamed chunk", check, weir_slice_str(streamed_chunk));
    measure("look, streamed chunk", look, weir_slice_str(streamed_chunk));
    measure("find, streamed chunk", find, weir_slice_str(streamed_chunk));
    return 0;
}
