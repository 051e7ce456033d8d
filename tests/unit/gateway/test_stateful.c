/* Which requests refer to what a provider has stored (beyond 4). */
#include "unit.h"

#include <stdio.h>

#include <weir/mem_libc.h>

#include "gateway/request/stateful.h"
#include "wire/http1_read.h"

static bool refers(const char *members)
{
    const struct weir_asked_rules rules = {.max_depth = 20};
    const struct weir_http1_head head = {0};
    struct weir_arena arena;
    struct weir_asked asked;
    struct weir_problem problem;
    char body[512];
    bool result;

    (void)snprintf(body, sizeof(body), "{\"model\": \"g\", %s}", members);
    weir_arena_init(&arena, weir_mem_libc(), 4096, 1 << 20);
    assert_int_equal(
        weir_asked_read(&rules, &head, weir_slice_str(body), WEIR_SLICE_EMPTY, &arena, &asked, &problem), 0);
    result = weir_stateful(&asked);
    weir_arena_deinit(&arena);
    return result;
}

static void files_and_earlier_answers_are_stored(void **state)
{
    static const char *const members[] = {
        "\"previous_response_id\": \"resp_1\"",
        "\"conversation\": {\"id\": \"conv_1\"}",
        "\"messages\": [{\"role\": \"user\", \"content\": [{\"file\": {\"file_id\": \"f\"}}]}]",
        "\"tools\": [{\"type\": \"file_search\", \"vector_store_ids\": [\"vs\"]}]",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
        if (!refers(members[i]))
            fail_msg("%s refers to nothing", members[i]);
}

static void words_in_a_text_are_none(void **state)
{
    static const char *const members[] = {
        "\"messages\": [{\"role\": \"user\", \"content\": \"what is a file_id, a \\\"file_id\\\"?\"}]",
        "\"metadata\": {\"conversation\": \"c\", \"thread_id\": \"t\"}",
        "\"previous_response_id\": null",
        "\"messages\": [{\"role\": \"user\", \"content\": [{\"file\": {\"file_data\": \"x\"}}]}]",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
        if (refers(members[i]))
            fail_msg("%s refers to something", members[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_and_earlier_answers_are_stored),
        cmocka_unit_test(words_in_a_text_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
