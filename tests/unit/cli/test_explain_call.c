/* The story of a call, a sentence for each event. */
#include "unit.h"

#include <stdlib.h>

#include <weir/event.h>

#include "kit.h"

#define CALL                                                                                                 \
    "'call_id':'id-1','time':'2026-11-30T09:12:03.120Z','model':'gpt-4o','group':'gpt-4o','deployment':"     \
    "'azure-us','route':'chat','stream':false,'status':200,'kind':null,'attempts':2,'retries':1,"            \
    "'fallbacks':0,'duration_ms':843,'prompt_tokens':120,'completion_tokens':34,'cost':0.0012,"              \
    "'state':'succeeded'"
#define HEAD                                                                                                 \
    "call id-1 asked for gpt-4o (chat) at 2026-11-30 09:12:03.120 UTC\n"                                     \
    "succeeded with 200 by azure-us of gpt-4o after 843 ms, 2 attempts, 1 retry, 0 fallbacks, 120 tokens "   \
    "in, "                                                                                                   \
    "34 tokens out, $0.0012\n\n"

static void tell(const char *event, const char *sentence)
{
    char json[4096], text[4096];

    (void)snprintf(json, sizeof(json),
                   "{" CALL ",'events':[{'time':'2026-11-30T09:12:03.132Z','ms':12.3,%s}]}", event);
    (void)snprintf(text, sizeof(text), HEAD "       12 ms  %s\n", sentence);
    kit_expect(weir_explain_call, json, text);
}

static void a_pick_says_who_and_why_not_the_others(void **state)
{
    (void)state;
    tell("'kind':'Picked','group':'gpt-4o','deployment':'a','for':'attempt','strategy':'simple-shuffle',"
         "'candidates':[{'deployment':'a','fate':'chosen'},{'deployment':'b','fate':'cooling_down','until':"
         "'2026-11-30T09:12:40.132Z'},{'deployment':'c','fate':'not_chosen'},{'deployment':'d','fate':"
         "'out_of_tags'},{'deployment':'e','fate':'not_chosen'},{'deployment':'f','fate':'not_chosen'}],'"
         "omitted':3",
         "a is chosen in gpt-4o, by simple-shuffle\n"
         "                b is cooling down until 09:12:40 (37 s more)\n"
         "                c, e and f: each was passed over: the strategy took another one\n"
         "                d is not among those that the tags leave\n"
         "                (3 more candidates are not told)");
}

static void a_cooldown_that_did_not_matter_is_told_beside_what_did(void **state)
{
    (void)state;
    tell("'kind':'Picked','group':'g','deployment':'a','candidates':[{'deployment':'a','fate':'chosen','"
         "until':"
         "'2026-11-30T09:12:40.132Z'},{'deployment':'b','fate':'not_chosen','until':'2026-11-30T09:12:40."
         "132Z'}]",
         "a is chosen in g\n"
         "                a was chosen, and cools down until 09:12:40 (37 s more)\n"
         "                b was passed over: the strategy took another one, and cools down until 09:12:40 "
         "(37 s more)");
}

static void a_pick_of_nobody_says_why(void **state)
{
    (void)state;
    tell("'kind':'Picked','group':'g','for':'retry','candidates':[{'deployment':'b','fate':'cooling_down',"
         "'until':'2026-11-30T09:12:40.132Z'},{'deployment':'c','fate':'cooling_down','until':"
         "'2026-11-30T09:12:05.132Z'}]",
         "nobody can be chosen in g\n"
         "                b is cooling down until 09:12:40 (37 s more)\n"
         "                c is cooling down until 09:12:05 (2 s more)");
}

static void a_pick_says_what_it_is_for_where_that_is_not_plain(void **state)
{
    (void)state;
    tell("'kind':'Picked','group':'g','deployment':'b','for':'hedge','candidates':[]",
         "b is chosen in g as a second attempt beside one that has given nothing for too long");
    tell("'kind':'Picked','group':'g','deployment':'b','for':'continuation','candidates':[]",
         "b is chosen in g to carry on a stream that broke after content");
}

static void a_made_id_is_shortened(void **state)
{
    (void)state;
    tell("'kind':'AttemptStarted','attempt':1,'deployment':"
         "'859e0ed729aac35727d09b7805715a191e81110988e547545ce920e9e57c50c0'",
         "attempt 1 on 859e0ed729aa... begins");
    tell("'kind':'AttemptStarted','attempt':1,'deployment':"
         "'a-name-of-sixty-four-letters-that-somebody-has-chosen-by-himself'",
         "attempt 1 on a-name-of-sixty-four-letters-that-somebody-has-chosen-by-himself begins");
}

static void an_attempt_says_how_it_ended_and_what_follows(void **state)
{
    (void)state;
    tell("'kind':'AttemptStarted','attempt':1,'deployment':'a'", "attempt 1 on a begins");
    tell("'kind':'AttemptFailed','attempt':1,'deployment':'a','failure':{'kind':'rate_limit','status':429,"
         "'retry_after_s':20},'will_retry':true,'wait_ms':0,'duration_ms':11.9",
         "attempt 1 on a failed after 12 ms: rate_limit (429, retry after 20 s); a retry follows at once");
    tell("'kind':'AttemptFailed','attempt':2,'deployment':'a','failure':{'kind':'timeout','status':408},"
         "'will_retry':true,'wait_ms':1500,'duration_ms':2000",
         "attempt 2 on a failed after 2 s: timeout (408); a retry follows after a wait of 1.5 s");
    tell("'kind':'AttemptFailed','attempt':2,'deployment':'a','failure':{'kind':'auth','status':401},"
         "'will_retry':false,'duration_ms':2",
         "attempt 2 on a failed after 2 ms: auth (401); no retry follows");
    tell("'kind':'AttemptRefused','deployment':'a','failure':{'kind':'rate_limit','status':429},'will_retry':"
         "true,'wait_ms':0",
         "a is not asked: a limit of its is used up; a retry follows at once");
}

static void a_retry_counts(void **state)
{
    (void)state;
    tell("'kind':'Retry','group':'g','number':1,'max':2,'waited_ms':0", "retry 1 of at most 2 in g");
    tell("'kind':'Retry','group':'g','number':2,'max':2,'waited_ms':502",
         "retry 2 of at most 2 in g, after a wait of 502 ms");
    tell("'kind':'RetryRefused','group':'g','what':'retry','requests':100,'spent':20",
         "no retry: the retry budget of g is spent (20 retries and hedges for 100 requests in ten seconds)");
    tell("'kind':'RetryRefused','group':'g','what':'hedge','requests':100,'spent':20",
         "no second attempt: the retry budget of g is spent (20 retries and hedges for 100 requests in ten "
         "seconds)");
}

static void a_hedge_says_what_became_of_both(void **state)
{
    (void)state;
    tell("'kind':'Hedged','attempt':1,'deployment':'a','waited_ms':2000",
         "attempt 1 on a has given nothing for 2 s: another one begins beside it");
    tell("'kind':'HedgeLost','attempt':1,'deployment':'a','winner':2",
         "attempt 1 on a is stopped: attempt 2 has answered first");
}

static void a_hop_says_where_to(void **state)
{
    (void)state;
    tell("'kind':'Fallback','hop':'group','source':'g','target':'h','depth':1",
         "g is given up: fallback to h");
    tell("'kind':'Fallback','hop':'order','source':'g','target':'g','order':2",
         "g is given up: on to its deployments of order 2");
    tell("'kind':'Fallback','hop':'sibling','source':'g','target':'g'",
         "g is given up: on to those that have not failed yet in g");
    tell("'kind':'Fallback','hop':'group','source':'g','target':'h','cause':{'kind':'timeout','status':408}",
         "g is given up after timeout (408): fallback to h");
}

static void a_cooldown_says_how_long_and_by_which_rule(void **state)
{
    (void)state;
    tell("'kind':'CooldownSet','deployment':'a','failure':{'kind':'rate_limit','status':429},'rule':"
         "'rate_limited','length_s':5,'until':'2026-11-30T09:12:08.132Z','capped':false,'number':1",
         "a is taken out of every pick for 5 s, until 09:12:08: a 429 in a group with siblings");
    tell("'kind':'CooldownSet','deployment':'a','rule':'of_tomorrow','length_s':60,'until':"
         "'2026-11-30T09:13:03.132Z','capped':true,'number':3",
         "a is taken out of every pick for 1 min, until 09:13:03: of_tomorrow; its cooldown number 3 in a "
         "row; "
         "the provider had asked for longer than the cap");
    tell("'kind':'CoolingWait','wait_ms':1200",
         "everyone cools down and no fallback is left: waits 1.2 s for the first to be back");
}

static void a_stream_says_what_the_caller_has(void **state)
{
    (void)state;
    tell("'kind':'StreamBroken','attempt':1,'deployment':'a','failure':{'kind':'connection','status':500},"
         "'committed':true",
         "the stream of attempt 1 on a broke: connection (500); the caller has a part of it");
    tell("'kind':'StreamBroken','attempt':1,'deployment':'a','failure':{'kind':'connection','status':500},"
         "'committed':false",
         "the stream of attempt 1 on a broke: connection (500); the caller has nothing of it");
    tell("'kind':'StreamRecovered','attempt':2,'deployment':'b'",
         "the stream that broke is served after all, by attempt 2 on b");
    tell("'kind':'StreamContinued','attempt':2,'deployment':'b','broken':1,'text_bytes':512",
         "attempt 2 on b carries on the text of attempt 1, of which the caller has 512 bytes");
}

static void the_end_is_told(void **state)
{
    (void)state;
    tell("'kind':'Succeeded','attempt':2,'deployment':'b','prompt_tokens':3,'completion_tokens':4",
         "the answer is complete, by b");
    tell("'kind':'Failed','failure':{'kind':'rate_limit','status':429,'origin':'provider'}",
         "the call fails: rate_limit (429)");
    tell("'kind':'Failed','failure':{'kind':'rate_limit','status':429,'retry_after_s':5,'origin':'router'}",
         "the call fails: rate_limit (429, retry after 5 s) by weir itself");
    tell("'kind':'Failed','failure':{'kind':'timeout','status':408,'origin':'caller_limit'}",
         "the call fails: timeout (408) by the caller's own limit");
    tell("'kind':'Failed'", "the call fails: a failure");
}

static void an_event_of_tomorrow_is_named(void **state)
{
    (void)state;
    tell("'kind':'Levitated','height':3", "Levitated");
}

static void a_call_that_failed_says_so_in_its_second_line(void **state)
{
    (void)state;
    kit_expect(
        weir_explain_call,
        "{'call_id':'id-2','time':'2026-11-30T09:12:03.120Z','route':'chat',"
        "'stream':true,'status':400,'kind':'bad_request','state':'failed','attempts':0,"
        "'duration_ms':0.1,'events':[]}",
        "call id-2 asked for no model that could be read (a stream, chat) at 2026-11-30 09:12:03.120 UTC\n"
        "failed with 400 bad_request after 0 ms, 0 attempts, 0 retries, 0 fallbacks\n"
        "\n"
        "It never came to a deployment: nothing happened that could be told.\n");
}

static void lost_events_are_counted(void **state)
{
    (void)state;
    kit_expect(weir_explain_call, "{" CALL ",'events':[{'ms':1500,'kind':'Succeeded'}],'events_lost':3}",
               HEAD "       1.5 s  the answer is complete\n"
                    "              (3 events are lost: there was no room for them)\n");
}

static void names_cannot_steer_the_terminal(void **state)
{
    (void)state;
    tell("'kind':'AttemptStarted','attempt':1,'deployment':'a\\u001b[2J\\nb'", "attempt 1 on a?[2J?b begins");
}

/* An answer of another shape is told as far as it goes, without harm. */
static void an_answer_of_any_shape_is_survived(void **state)
{
    static const char *const shapes[] = {
        "{}",
        "{'events':7}",
        "{'events':[7,null,{}]}",
        "{'events':[{'kind':'Picked','candidates':{}}]}",
        "{'events':[{'kind':'Picked','candidates':[null,7,{'until':3}]}]}",
        "{'time':'','events':[{'ms':'x'}]}",
        "{'events':[{'kind':'CooldownSet','until':'soon','length_s':-1,'number':-1}]}"};

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        free(kit_printed(weir_explain_call, shapes[i]));
}

static void more_candidates_than_weir_notes_are_only_counted(void **state)
{
    char *json, *text;
    size_t len;
    FILE *out = open_memstream(&json, &len);

    (void)state;
    assert_non_null(out);
    (void)fputs("{'events':[{'kind':'Picked','deployment':'a','group':'g','omitted':2,'candidates':[", out);
    for (int i = 0; i < 200000; i++)
        (void)fprintf(out, "%s{'fate':'%d'}", i == 0 ? "" : ",", i);
    (void)fputs("]}]}", out);
    assert_int_equal(fclose(out), 0);
    text = kit_printed(weir_explain_call, json);
    assert_non_null(strstr(text, "a is chosen in g\n"));
    assert_non_null(strstr(text, "(200002 more candidates are not told)\n"));
    free(text);
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pick_says_who_and_why_not_the_others),
        cmocka_unit_test(a_cooldown_that_did_not_matter_is_told_beside_what_did),
        cmocka_unit_test(a_pick_of_nobody_says_why),
        cmocka_unit_test(a_pick_says_what_it_is_for_where_that_is_not_plain),
        cmocka_unit_test(a_made_id_is_shortened),
        cmocka_unit_test(an_attempt_says_how_it_ended_and_what_follows),
        cmocka_unit_test(a_retry_counts),
        cmocka_unit_test(a_hedge_says_what_became_of_both),
        cmocka_unit_test(a_hop_says_where_to),
        cmocka_unit_test(a_cooldown_says_how_long_and_by_which_rule),
        cmocka_unit_test(a_stream_says_what_the_caller_has),
        cmocka_unit_test(the_end_is_told),
        cmocka_unit_test(an_event_of_tomorrow_is_named),
        cmocka_unit_test(a_call_that_failed_says_so_in_its_second_line),
        cmocka_unit_test(lost_events_are_counted),
        cmocka_unit_test(names_cannot_steer_the_terminal),
        cmocka_unit_test(an_answer_of_any_shape_is_survived),
        cmocka_unit_test(more_candidates_than_weir_notes_are_only_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
