/* The list of calls, and what a request would do. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "kit.h"

static void a_call_is_a_line(void **state)
{
    (void)state;
    kit_expect(
        weir_explain_calls,
        "{'since':'2026-11-30T08:00:00.000Z','kept':2,'max':10000,'calls':["
        "{'time':'2026-11-30T09:12:03.120Z','call_id':'0b0e7f3c-21c9-4b6a-9d5e-8a1b2c3d4e5f','model':"
        "'gpt-4o','deployment':'azure-us','status':200,'state':'succeeded','attempts':3,'retries':1,"
        "'fallbacks':2,'duration_ms':843},"
        "{'time':'2026-11-30T09:12:02.120Z','call_id':'0b0e7f3c-21c9-4b6a-9d5e-8a1b2c3d4e5e','model':"
        "'gpt-4o','status':429,'kind':'rate_limit','state':'failed','attempts':1,'duration_ms':12}]}",
        "09:12:03  0b0e7f3c-21c9-4b6a-9d5e-8a1b2c3d4e5f  gpt-4o                200  succeeded        "
        "azure-us              843 ms    3 attempts, 1 retry, 2 fallbacks\n"
        "09:12:02  0b0e7f3c-21c9-4b6a-9d5e-8a1b2c3d4e5e  gpt-4o                429  rate_limit       "
        "-                     12 ms     1 attempt\n"
        "weir remembers 2 calls (at most 10000), since 2026-11-30T08:00:00.000Z. `weir explain CALL_ID` "
        "tells the story of one.\n");
}

static void no_call_is_said(void **state)
{
    (void)state;
    kit_expect(
        weir_explain_calls, "{'since':'2026-11-30T08:00:00.000Z','kept':0,'max':10000,'calls':[]}",
        "There is no such call.\n"
        "weir remembers 0 calls (at most 10000), since 2026-11-30T08:00:00.000Z. `weir explain CALL_ID` "
        "tells the story of one.\n");
}

static void a_request_for_a_group_says_its_odds_and_chains(void **state)
{
    (void)state;
    kit_expect(
        weir_explain_model,
        "{'asked':'gpt','resolution':{'how':'alias','group':'gpt-4o'},'strategy':'simple-shuffle',"
        "'candidates':[{'deployment':'a','model':'azure/gpt-4o','order':1,'fate':'eligible','odds':0.75},"
        "{'deployment':'b','fate':'cooling_down','odds':0,'until':'2026-11-30T09:12:40.132Z'}],"
        "'omitted':2,'retries':{'rate_limit':3,'timeout':1,'internal':3},'chains':{'fallbacks':['h','i'],"
        "'context_window_fallbacks':['long'],'content_policy_fallbacks':[]},'sentence':'So it is.'}",
        "gpt is an alias of the group gpt-4o; the strategy simple-shuffle chooses\n"
        "   75.0 %  a (azure/gpt-4o), order 1, may be chosen\n"
        "        -  b is cooling down until 09:12:40\n"
        "           (2 more candidates are not told)\n"
        "up to 3 retries after rate_limit, internal\n"
        "up to 1 retry after timeout\n"
        "when all of that fails: h, then i\n"
        "when the prompt is too long: long\n"
        "when a content policy forbids the answer: nowhere to go\n"
        "\n"
        "So it is.\n");
}

static void an_unknown_name_is_said(void **state)
{
    (void)state;
    kit_expect(weir_explain_model, "{'asked':'nix','resolution':{'how':'unknown'},'candidates':[]}",
               "nix is unknown: a request for it is refused\n");
}

static void what_is_no_text_in_a_chain_has_no_name(void **state)
{
    (void)state;
    kit_expect(weir_explain_model,
               "{'asked':'g','candidates':[],"
               "'chains':{'fallbacks':[['a','b'],{'c':1},7,null,'h']}}",
               "g is \n"
               "when all of that fails: , then , then , then , then h\n");
}

static void more_retries_than_there_are_kinds_are_not_compared(void **state)
{
    char *json;
    size_t len;
    FILE *out = open_memstream(&json, &len);

    (void)state;
    assert_non_null(out);
    (void)fputs("{'asked':'g','retries':{", out);
    for (int i = 0; i < 200000; i++)
        (void)fprintf(out, "%s'%d':%d", i == 0 ? "" : ",", i, i);
    (void)fputs("}}", out);
    assert_int_equal(fclose(out), 0);
    kit_expect(weir_explain_model, json, "g is \n");
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_a_line),
        cmocka_unit_test(no_call_is_said),
        cmocka_unit_test(a_request_for_a_group_says_its_odds_and_chains),
        cmocka_unit_test(an_unknown_name_is_said),
        cmocka_unit_test(what_is_no_text_in_a_chain_has_no_name),
        cmocka_unit_test(more_retries_than_there_are_kinds_are_not_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
