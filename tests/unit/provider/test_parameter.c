/* Which members of a request ask something of the model. */
#include "unit.h"

#include "base/slice.h"
#include "provider/parameter.h"

static uint64_t asked(const char *body)
{
    struct weir_json_cursor cursor;
    struct weir_json_item item;
    uint64_t set = 0;

    assert_int_equal(weir_json_enter(&cursor, weir_slice_str(body), WEIR_JSON_DEPTH_MAX), 0);
    while (weir_json_next(&cursor, &item) == WEIR_JSON_ITEM)
        set |= weir_parameter_asked(&item);
    return set;
}

static uint64_t set(const char *names)
{
    return weir_parameter_set(weir_slice_str(names));
}

static void names_have_bits_of_their_own(void **state)
{
    (void)state;
    assert_int_equal(set(""), 0);
    assert_int_equal(weir_parameter_bit(WEIR_SLICE("messages")), 0);
    assert_int_equal(__builtin_popcountll(set("temperature top_p tools")), 3);
    assert_slice_is(weir_parameter_first(set("tools")), "tools");
    assert_slice_is(weir_parameter_first(0), "");
}

static void values_that_ask_nothing_are_not_counted(void **state)
{
    (void)state;
    assert_int_equal(asked("{\"temperature\": 1, \"top_p\": 1.0, \"n\": 1, \"presence_penalty\": 0,"
                           " \"logprobs\": false, \"tools\": [ ], \"logit_bias\": {}, \"stop\": null,"
                           " \"tool_choice\": \"none\", \"response_format\": {\"type\": \"json_object\"},"
                           " \"messages\": []}"),
                     0);
    assert_int_equal(asked("{\"temperature\": 0.2}"), set("temperature"));
    assert_int_equal(asked("{\"temp\\u0065rature\": 0.2}"), set("temperature"));
    assert_int_equal(asked("{\"tools\": [{}], \"tool_choice\": \"auto\"}"), set("tools tool_choice"));
    assert_int_equal(asked("{\"tools\": \"x\"}"), set("tools"));
    assert_int_equal(asked("{\"response_format\": {\"type\": \"json_schema\"}}"), set("response_format"));
    assert_int_equal(asked("{\"logprobs\": true, \"stop\": [\"a\"]}"), set("logprobs stop"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_bits_of_their_own),
        cmocka_unit_test(values_that_ask_nothing_are_not_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
