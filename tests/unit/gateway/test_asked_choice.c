/* What a request says of the deployments that may serve it. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "asked_kit.h"
#include "base/slice.h"
#include "gateway/request/asked_choice.h"
#include "provider/parameter.h"

/* "a, &b, !c" in the order in which they were met. */
static void assert_tags(const struct weir_request *request, const char *expected)
{
    static const char marks[] = {[WEIR_TAG_PLAIN] = 0, [WEIR_TAG_REQUIRED] = '&', [WEIR_TAG_EXCLUDED] = '!'};
    char text[512] = "";
    size_t len = 0;

    for (size_t i = 0; i < request->tag_count; i++) {
        const struct weir_tag *tag = &request->tags[i];
        const char mark[] = {marks[tag->kind], '\0'};

        assert_false(tag->inherited);
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%.*s", i == 0 ? "" : ", ", mark,
                                (int)tag->name.len, tag->name.ptr);
    }
    assert_string_equal(text, expected);
}

static void tags_are_gathered_from_everywhere(void **state)
{
    struct asked_kit *kit = *state;

    asked_kit_header(kit, "X-LiteLLM-Tags", " one , &two,,!three ");
    assert_tags(asked_kit_accept(kit, "{\"model\": \"g\", \"tags\": [\"f\\u006fur\", \"!five\"],"
                                      " \"metadata\": {\"tags\": [\"six\"], \"x\": 1},"
                                      " \"litellm_metadata\": {\"tags\": [\"&seven\"]}}"),
                "four, !five, six, &seven, one, &two, !three");
}

static void what_is_no_list_of_text_has_no_tags(void **state)
{
    static const char *const bodies[] = {
        "{\"model\": \"g\"}",
        "{\"model\": \"g\", \"tags\": null, \"metadata\": null}",
        "{\"model\": \"g\", \"tags\": \"a\", \"metadata\": \"b\"}",
        "{\"model\": \"g\", \"tags\": {\"a\": \"b\"}, \"metadata\": {\"tags\": 3}}",
        "{\"model\": \"g\", \"tags\": [1, null, [\"a\"], {}, \"\", \"!\", \"&\"], \"metadata\": [\"tags\"]}",
    };
    struct asked_kit *kit = *state;

    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        assert_tags(asked_kit_accept(kit, bodies[i]), "");
}

static void a_prefix_is_taken_off_before_the_mark_is_read(void **state)
{
    struct asked_kit *kit = *state;

    kit->rules.tag_prefix = WEIR_SLICE("route:");
    assert_tags(asked_kit_accept(kit, "{\"model\": \"g\", \"tags\": [\"route:a\", \"b\", \"route:!c\","
                                      " \"!route:d\", \"route:\"]}"),
                "a, b, !c, !route:d");
}

static void tags_have_a_most(void **state)
{
    static char body[WEIR_ASKED_TAGS_MAX * 8 + 64];
    struct asked_kit *kit = *state;
    size_t len = (size_t)snprintf(body, sizeof(body), "{\"model\":\"g\",\"tags\":[\"a\"");

    for (int i = 1; i < WEIR_ASKED_TAGS_MAX; i++)
        len += (size_t)snprintf(body + len, sizeof(body) - len, ",\"a\"");
    (void)snprintf(body + len, sizeof(body) - len, "]}");
    assert_int_equal(asked_kit_accept(kit, body)->tag_count, WEIR_ASKED_TAGS_MAX);
    (void)snprintf(body + len, sizeof(body) - len, ",\"b\"]}");
    asked_kit_refuse(kit, body, "tags", "too many");
}

static void a_request_may_switch_tags_on_and_off(void **state)
{
    struct asked_kit *kit = *state;

    assert_int_equal(asked_kit_accept(kit, "{\"model\": \"g\"}")->tag_filtering, WEIR_FLAG_UNSAID);
    assert_int_equal(
        asked_kit_accept(kit, "{\"model\": \"g\", \"enable_tag_filtering\": true}")->tag_filtering,
        WEIR_FLAG_ON);
    assert_int_equal(
        asked_kit_accept(kit, "{\"model\": \"g\", \"enable_tag_filtering\": false}")->tag_filtering,
        WEIR_FLAG_OFF);
    asked_kit_refuse(kit, "{\"model\": \"g\", \"enable_tag_filtering\": 2}", "enable_tag_filtering",
                     "true or false");
}

/* ---- evidence ---- */

static void evidence_is_read_from_the_metadata(void **state)
{
    struct asked_kit *kit = *state;
    const struct weir_request *request = asked_kit_accept(
        kit, "{\"model\": \"g\", \"metadata\": {\"lar1\": {\"confidence\": 0.25, \"evidence\": "
             "[\"SYNTH\", \"UNVERIFIED\"], \"time\": \"MEM\", \"act\": \"x\", \"mind\": 3}}}");

    assert_true(request->lar1.confidence > 0.24 && request->lar1.confidence < 0.26);
    assert_true(request->lar1.is_unverified);
    assert_true(request->lar1.is_memory);
    assert_false(kit->asked.bad_lar1);
    request = asked_kit_accept(kit, "{\"model\": \"g\", \"metadata\": {\"lar1\": {\"confidence\": 1}}}");
    assert_true(request->lar1.confidence > 0.99);
    assert_false(request->lar1.is_unverified || request->lar1.is_memory);
}

static void one_wrong_value_makes_the_whole_evidence_wrong(void **state)
{
    static const char *const wrong[] = {
        "3",
        "[]",
        "{\"confidence\": 1.1}",
        "{\"confidence\": -0.1}",
        "{\"confidence\": \"high\"}",
        "{\"evidence\": [\"UNVERIFIED\"], \"time\": \"LATER\"}",
        "{\"time\": \"MEM\", \"evidence\": [\"GUESSED\"]}",
        "{\"time\": \"MEM\", \"evidence\": \"SYNTH\"}",
        "{\"confidence\": 0.1, \"time\": 7}",
    };
    struct asked_kit *kit = *state;
    char body[256];

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct weir_request *request;

        (void)snprintf(body, sizeof(body), "{\"model\": \"g\", \"metadata\": {\"lar1\": %s}}", wrong[i]);
        request = asked_kit_accept(kit, body);
        assert_true(kit->asked.bad_lar1);
        assert_true(request->lar1.confidence > 0.49 && request->lar1.confidence < 0.51);
        assert_false(request->lar1.is_unverified || request->lar1.is_memory);
    }
    (void)asked_kit_accept(kit, "{\"model\": \"g\", \"metadata\": {\"lar1\": null}}");
    assert_false(kit->asked.bad_lar1);
}

/* ---- weights ---- */

static void weights_are_of_groups_and_ids(void **state)
{
    struct asked_kit *kit = *state;
    const struct weir_request *request =
        asked_kit_accept(kit, "{\"model\": \"g\", \"_router_weights\": {\"g\": {\"d1\": 2, \"d2\": 0.5}, "
                              "\"h\": {}, \"i\": {\"d\": 0}}}");

    assert_int_equal(request->weight_count, 3);
    assert_slice_is(request->weights[0].group, "g");
    assert_slice_is(request->weights[1].id, "d2");
    assert_true(request->weights[1].weight > 0.4 && request->weights[1].weight < 0.6);
    assert_slice_is(request->weights[2].group, "i");
    assert_int_equal(asked_kit_accept(kit, "{\"model\": \"g\", \"_router_weights\": null}")->weight_count, 0);
    asked_kit_refuse(kit, "{\"model\": \"g\", \"_router_weights\": []}", "_router_weights", "must map");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"_router_weights\": {\"g\": 1}}", "_router_weights",
                     "must map");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"_router_weights\": {\"g\": {\"d\": \"2\"}}}",
                     "_router_weights", "must be numbers");
}

/* ---- what a model must be able to do ---- */

static void parameters_are_looked_at_where_somebody_asks(void **state)
{
    static const char body[] =
        "{\"model\": \"g\", \"temperature\": 0.5, \"top_p\": 1, \"max_tokens\": 7,"
        " \"max_completion_tokens\": 9, \"tools\": [{\"type\": \"web_search_preview\"}]}";
    struct asked_kit *kit = *state;
    const struct weir_request *request = asked_kit_accept(kit, body);

    assert_int_equal(request->parameters, 0);
    assert_false(request->web_search);
    assert_int_equal(request->max_output_tokens, 9);
    kit->rules.parameters = true;
    kit->rules.web_search = true;
    request = asked_kit_accept(kit, body);
    assert_int_equal(request->parameters,
                     weir_parameter_set(WEIR_SLICE("temperature max_tokens max_completion_tokens tools")));
    assert_true(request->web_search);
}

static void a_tool_or_an_option_searches_the_web(void **state)
{
    struct asked_kit *kit = *state;

    kit->rules.web_search = true;
    assert_true(asked_kit_accept(kit, "{\"model\": \"g\", \"web_search_options\": {}}")->web_search);
    assert_true(asked_kit_accept(kit, "{\"model\": \"g\", \"tools\": [{\"type\": \"function\"}, 3,"
                                      " {\"type\": \"web_search\"}]}")
                    ->web_search);
    assert_false(asked_kit_accept(kit,
                                  "{\"model\": \"g\", \"web_search_options\": null, \"tools\": "
                                  "[{\"type\": \"function\", \"function\": {\"name\": \"web_search\"}}]}")
                     ->web_search);
    assert_false(
        asked_kit_accept(kit, "{\"model\": \"g\", \"tools\": {\"type\": \"web_search\"}}")->web_search);
}

static void a_region_may_be_asked_for(void **state)
{
    struct asked_kit *kit = *state;

    assert_slice_is(asked_kit_accept(kit, "{\"model\": \"g\", \"allowed_model_region\": \"eu\"}")->region,
                    "eu");
    assert_slice_is(asked_kit_accept(kit, "{\"model\": \"g\", \"allowed_model_region\": null}")->region, "");
    asked_kit_refuse(kit, "{\"model\": \"g\", \"allowed_model_region\": 3}", "allowed_model_region",
                     "string");
}

static void the_client_is_known_by_its_name_where_patterns_want_it(void **state)
{
    struct asked_kit *kit = *state;

    asked_kit_header(kit, "user-agent", "claude-code/1.2");
    (void)asked_kit_accept(kit, "{\"model\": \"g\"}");
    assert_slice_is(kit->asked.user_agent, "");
    kit->rules.user_agent = true;
    (void)asked_kit_accept(kit, "{\"model\": \"g\"}");
    assert_slice_is(kit->asked.user_agent, "User-Agent: claude-code/1.2");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, asked_kit_begin, asked_kit_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(tags_are_gathered_from_everywhere),
        CASE(what_is_no_list_of_text_has_no_tags),
        CASE(a_prefix_is_taken_off_before_the_mark_is_read),
        CASE(tags_have_a_most),
        CASE(a_request_may_switch_tags_on_and_off),
        CASE(evidence_is_read_from_the_metadata),
        CASE(one_wrong_value_makes_the_whole_evidence_wrong),
        CASE(weights_are_of_groups_and_ids),
        CASE(parameters_are_looked_at_where_somebody_asks),
        CASE(a_tool_or_an_option_searches_the_web),
        CASE(a_region_may_be_asked_for),
        CASE(the_client_is_known_by_its_name_where_patterns_want_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
