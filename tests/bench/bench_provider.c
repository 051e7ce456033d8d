/*
 * What provider costs on the paths of a call: building a request from a body of 1 KB, reading a chunk and an
 * answer, estimating a prompt, and judging a failure.  Prints nanoseconds, the best of several runs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "provider/classify.h"
#include "provider/dialect.h"
#include "provider/prompt.h"
#include "provider/prompt_scale.h"

enum { RUNS = 7, ROUNDS = 50000, MEMBERS_MAX = 32 };

struct bench {
    struct weir_endpoint endpoint;
    struct weir_arena arena;
    struct weir_build build;
    struct weir_json_item members[MEMBERS_MAX];
    struct weir_sse_event event;
    struct weir_slice answer;
    struct weir_mishap_report report;
    struct weir_prompt_scale scale;
};

static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static size_t build_once(struct bench *b)
{
    struct weir_upstream_request request;

    return weir_build_request(&b->build, &b->arena, &request) == 0 ? request.part_count : 0;
}

static size_t chunk_once(struct bench *b)
{
    struct weir_chunk chunk;

    weir_read_chunk(&b->endpoint, WEIR_ROUTE_CHAT, &b->event, &chunk);
    return chunk.chunk_class == WEIR_CHUNK_TEXT;
}

static size_t answer_once(struct bench *b)
{
    struct weir_plain_answer answer;

    return weir_read_answer(&b->endpoint, WEIR_ROUTE_CHAT, b->answer, &answer) == 0;
}

static size_t classify_once(struct bench *b)
{
    struct weir_verdict verdict;

    return weir_classify(&b->report, &b->arena, &verdict) == 0;
}

static size_t prompt_once(struct bench *b)
{
    struct weir_prompt prompt;

    weir_prompt_read(b->members, b->build.member_count, &prompt);
    return (size_t)weir_prompt_tokens(&prompt, &b->scale);
}

static void measure(const char *name, struct bench *b, size_t (*once)(struct bench *b))
{
    uint64_t best = UINT64_MAX;

    for (int run = 0; run < RUNS; run++) {
        uint64_t started = now_ns(), taken;

        for (int i = 0; i < ROUNDS; i++) {
            if (once(b) == 0)
                abort();
            weir_arena_reset(&b->arena);
        }
        taken = now_ns() - started;
        best = taken < best ? taken : best;
    }
    printf("%-40s %7" PRIu64 " ns\n", name, best / ROUNDS);
}

static void prepare(struct bench *b, struct weir_arena *kept, struct weir_slice body)
{
    struct weir_json_cursor cursor;

    weir_endpoint_init(&b->endpoint);
    b->endpoint.provider = weir_provider_named(WEIR_SLICE("openai"));
    b->endpoint.model = WEIR_SLICE("openai/gpt-4o");
    b->endpoint.api_key = WEIR_SLICE("k");
    if (weir_endpoint_prepare(&b->endpoint, kept) != 0)
        abort();
    b->build = (struct weir_build){
        .endpoint = &b->endpoint, .model = b->endpoint.model, .body = body, .members = b->members};
    if (weir_json_enter(&cursor, body, 100) != 0)
        abort();
    while (weir_json_next(&cursor, &b->members[b->build.member_count]) == WEIR_JSON_ITEM)
        b->build.member_count++;
}

int main(void)
{
    static struct bench b;
    static char body[1200], answer[1200];
    struct weir_arena kept;
    char content[801];

    for (size_t i = 0; i < sizeof(content) - 1; i++)
        content[i] = "Some words, and 12 more. "[i % 25];
    content[sizeof(content) - 1] = '\0';
    (void)snprintf(
        body, sizeof(body),
        "{\"model\":\"g\",\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}],\"temperature\":0.7,"
        "\"max_tokens\":100,\"stream\":false,\"num_retries\":2,\"user\":\"u\"}",
        content);
    (void)snprintf(
        answer, sizeof(answer),
        "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"created\":1700000000,\"model\":\"gpt-4o\","
        "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"%s\"},"
        "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,"
        "\"total_tokens\":15}}",
        content);
    weir_arena_init(&kept, weir_mem_libc(), 16384, 1 << 20);
    weir_arena_init(&b.arena, weir_mem_libc(), 65536, 1 << 20);
    prepare(&b, &kept, weir_slice_str(body));
    b.answer = weir_slice_str(answer);
    b.event.has_data = true;
    b.event.data =
        WEIR_SLICE("{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
                   "\"model\":\"gpt-4o\","
                   "\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"finish_reason\":null}]}");
    b.report = (struct weir_mishap_report){
        .provider = b.endpoint.provider,
        .status = 400,
        .body = WEIR_SLICE(
            "{\"error\":{\"message\":\"Invalid value for 'temperature'\",\"type\":\"invalid_request_error\","
            "\"param\":null,\"code\":\"invalid_value\"}}")};
    measure("build a request of 1 KB", &b, build_once);
    measure("read a chunk of a stream", &b, chunk_once);
    measure("read an answer of 1 KB", &b, answer_once);
    weir_prompt_scale_init(&b.scale);
    measure("estimate a prompt of 1 KB", &b, prompt_once);
    measure("judge a failure", &b, classify_once);
    weir_arena_deinit(&b.arena);
    weir_arena_deinit(&kept);
    return 0;
}
