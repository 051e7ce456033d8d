/* What alerts say, in each form. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "base/time.h"
#include "gateway/alert/write.h"
#include "test_mem.h"

#define S WEIR_NS_PER_S

/* 2024-02-29T12:34:56.789Z at the monotonic 1000 s. */
static const struct weir_alert_scene scene = {.now_ns = 1000 * S,
                                              .wall_ns = UINT64_C(1709210096789000000),
                                              .threshold_ns = 300 * S,
                                              .process = WEIR_SLICE_INIT("host:42")};
static struct weir_alert alert;
static struct weir_buf out;

static int begin(void **state)
{
    (void)state;
    weir_buf_init(&out, weir_mem_libc(), WEIR_ALERT_TEXT_MAX);
    alert = (struct weir_alert){.about = {.time_ns = 998 * S,
                                          .length_ns = 312400 * WEIR_NS_PER_MS,
                                          .failure = WEIR_KIND_RATE_LIMIT,
                                          .status = 429,
                                          .rule = WEIR_COOLDOWN_RATE_LIMITED}};
    weir_alert_name_set(&alert.about.group, WEIR_SLICE("gpt-4o"));
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_buf_deinit(&out);
    return 0;
}

static void of_kind(weir_alert_kind kind, const char *other, const char *call_id)
{
    alert.kind = alert.about.kind = kind;
    weir_alert_name_set(&alert.about.other, weir_slice_str(other));
    weir_alert_name_set(&alert.about.call_id, weir_slice_str(call_id));
}

static void assert_sentence(const char *expected)
{
    weir_buf_clear(&out);
    assert_int_equal(weir_alert_sentence(&alert, &scene, &out), 0);
    assert_slice_is(weir_buf_slice(&out), expected);
}

static void assert_message(enum weir_alert_form form, const char *expected)
{
    weir_buf_clear(&out);
    assert_int_equal(weir_alert_message(&alert, &scene, form, &out), 0);
    assert_slice_is(weir_buf_slice(&out), expected);
}

static void each_kind_has_its_sentence(void **state)
{
    (void)state;
    of_kind(WEIR_ALERT_COOLDOWN, "azure-eu", "");
    assert_sentence("Deployment azure-eu of gpt-4o cools down for 312.4 s: rate_limit (429).");
    of_kind(WEIR_ALERT_OUTAGE, "", "");
    alert.members = 3;
    alert.back_ns = 18 * S;
    assert_sentence("Group gpt-4o is out: every deployment of it cools down (3), the first is back in 18 s.");
    of_kind(WEIR_ALERT_RECOVERED, "", "");
    assert_sentence("Group gpt-4o is back; it was out for 312.4 s.");
    of_kind(WEIR_ALERT_STORM, "gpt-mini", "");
    alert.fallbacks = 25;
    alert.window_ns = 60 * S;
    assert_sentence("Group gpt-4o falls back: 25 times in 60 s, the last time to gpt-mini.");
    of_kind(WEIR_ALERT_SLOW, "azure-eu", "c1");
    assert_sentence(
        "A call that ended in gpt-4o took 312.4 s; the threshold is 300 s. Deployment: azure-eu. Call: c1.");
    of_kind(WEIR_ALERT_HANGING, "azure-eu", "c1");
    assert_sentence("A call to gpt-4o is not over after 312.4 s; the threshold is 300 s. Deployment: "
                    "azure-eu. Call: c1.");
    of_kind(WEIR_ALERT_FAILED, "", "c1");
    assert_sentence("A call to gpt-4o failed: rate_limit (429). Call: c1.");
}

static void what_was_not_told_is_told_behind_it(void **state)
{
    (void)state;
    of_kind(WEIR_ALERT_FAILED, "", "c1");
    alert.repeated = 12;
    alert.repeated_since_ns = 940 * S;
    alert.held_back = 3;
    assert_sentence("A call to gpt-4o failed: rate_limit (429). Call: c1. And 12 more since "
                    "2024-02-29T12:33:56.789Z. Alerts that were too many and not sent: 3.");
}

static void json_has_the_parts_as_fields(void **state)
{
    (void)state;
    of_kind(WEIR_ALERT_COOLDOWN, "azure-eu", "");
    alert.about.length_ns = 20 * S;
    alert.repeated = 2;
    alert.repeated_since_ns = 940 * S;
    assert_message(
        WEIR_ALERT_JSON,
        "{\"event\":\"cooldown_deployment\",\"event_group\":\"deployment\",\"event_message\":\"Deployment "
        "azure-eu of gpt-4o cools down for 20 s: rate_limit (429). And 2 more since "
        "2024-02-29T12:33:56.789Z.\",\"alert\":\"cooldown\",\"level\":\"Medium\",\"time\":\"2024-02-29T12:34:"
        "54.789Z\",\"process\":\"host:42\",\"group\":\"gpt-4o\",\"deployment\":\"azure-eu\",\"failure\":{"
        "\"kind\":\"rate_limit\",\"status\":429},\"rule\":\"rate_limited\",\"length_s\":20,\"until\":"
        "\"2024-02-29T12:35:14.789Z\",\"repeated\":2,\"repeated_since\":\"2024-02-29T12:33:56.789Z\",\"held_"
        "back\":0}");
}

static void a_cooldown_by_hand_had_no_failure(void **state)
{
    (void)state;
    of_kind(WEIR_ALERT_COOLDOWN, "azure-eu", "");
    alert.about.length_ns = 20 * S;
    alert.about.rule = WEIR_COOLDOWN_BY_HAND;
    assert_message(
        WEIR_ALERT_JSON,
        "{\"event\":\"cooldown_deployment\",\"event_group\":\"deployment\",\"event_message\":\"Deployment "
        "azure-eu of gpt-4o cools down for 20 s: set by hand.\",\"alert\":\"cooldown\",\"level\":\"Medium\","
        "\"time\":\"2024-02-29T12:34:54.789Z\",\"process\":\"host:42\",\"group\":\"gpt-4o\",\"deployment\":"
        "\"azure-eu\",\"rule\":\"by_hand\",\"length_s\":20,\"until\":\"2024-02-29T12:35:14.789Z\","
        "\"repeated\":0,\"held_back\":0}");
}

/* The name is what somebody has said of himself. */
static void a_cooldown_by_hand_says_by_whom(void **state)
{
    (void)state;
    of_kind(WEIR_ALERT_COOLDOWN, "azure-eu", "");
    alert.about.rule = WEIR_COOLDOWN_BY_HAND;
    alert.about.by = (struct weir_process_name){.len = 5, .text = "<a>\n\xff"};
    assert_sentence("Deployment azure-eu of gpt-4o cools down for 312.4 s: set by hand by <a> ?.");
    assert_message(WEIR_ALERT_SLACK,
                   "{\"text\":\"Alert type: `cooldown_deployment`\\nLevel: `Medium`\\nTimestamp: "
                   "`2024-02-29T12:34:54.789Z`\\nProcess: `host:42`\\n\\nMessage: Deployment azure-eu of "
                   "gpt-4o cools down for 312.4 s: set by hand by &lt;a&gt; ?.\"}");
}

static void json_of_a_storm_has_its_target(void **state)
{
    (void)state;
    of_kind(WEIR_ALERT_STORM, "gpt-mini", "");
    alert.fallbacks = 25;
    alert.window_ns = 60 * S;
    assert_message(WEIR_ALERT_JSON,
                   "{\"event\":\"fallback_reports\",\"event_group\":\"group\",\"event_message\":\"Group "
                   "gpt-4o falls back: 25 times in 60 s, the last time to "
                   "gpt-mini.\",\"alert\":\"fallback_storm\",\"level\":\"Medium\",\"time\":\"2024-02-29T12:"
                   "34:54.789Z\",\"process\":\"host:42\",\"group\":\"gpt-4o\",\"target\":\"gpt-mini\","
                   "\"fallbacks\":25,\"window_s\":60,\"repeated\":0,\"held_back\":0}");
}

static void slack_gets_lines_of_text(void **state)
{
    (void)state;
    of_kind(WEIR_ALERT_OUTAGE, "", "");
    alert.members = 1;
    alert.back_ns = 5 * S;
    assert_message(WEIR_ALERT_SLACK,
                   "{\"text\":\"Alert type: `outage_alerts`\\nLevel: `High`\\nTimestamp: "
                   "`2024-02-29T12:34:54.789Z`\\nProcess: `host:42`\\n\\nMessage: Group gpt-4o is out: every "
                   "deployment of it cools down (1), the first is back in 5 s.\"}");
}

/* "<!channel>" wakes everybody, "<http://...|text>" is a link. */
static void slack_finds_no_markup_in_names(void **state)
{
    (void)state;
    of_kind(WEIR_ALERT_FAILED, "", "c1");
    weir_alert_name_set(&alert.about.group, WEIR_SLICE("<!channel>&\"\\\n"));
    assert_message(WEIR_ALERT_SLACK,
                   "{\"text\":\"Alert type: `llm_exceptions`\\nLevel: `High`\\nTimestamp: "
                   "`2024-02-29T12:34:54.789Z`\\nProcess: `host:42`\\n\\nMessage: A call to "
                   "&lt;!channel&gt;&amp;\\\"\\\\  failed: rate_limit (429). Call: c1.\"}");
}

static void the_longest_names_fit(void **state)
{
    char name[WEIR_ALERT_NAME_MAX + 1];

    (void)state;
    memset(name, '&', sizeof(name));
    name[WEIR_ALERT_NAME_MAX] = '\0';
    alert.repeated = alert.held_back = alert.fallbacks = UINT64_MAX;
    alert.about.length_ns = alert.window_ns = alert.back_ns = UINT64_MAX;
    weir_alert_name_set(&alert.about.group, weir_slice_str(name));
    for (int kind = 0; kind < WEIR_ALERT_KINDS; kind++) {
        of_kind((weir_alert_kind)kind, name, name);
        for (int form = WEIR_ALERT_JSON; form <= WEIR_ALERT_SLACK; form++) {
            weir_buf_clear(&out);
            assert_int_equal(weir_alert_message(&alert, &scene, (enum weir_alert_form)form, &out), 0);
        }
    }
}

static void no_memory_is_told(void **state)
{
    (void)state;
    of_kind(WEIR_ALERT_COOLDOWN, "d", "");
    for (int form = WEIR_ALERT_JSON; form <= WEIR_ALERT_SLACK; form++) {
        for (size_t n = 1;; n++) {
            struct test_mem mem;
            struct weir_buf buf;
            int r;

            test_mem_init(&mem, n);
            weir_buf_init(&buf, &mem.mem, WEIR_ALERT_TEXT_MAX);
            r = weir_alert_message(&alert, &scene, (enum weir_alert_form)form, &buf);
            weir_buf_deinit(&buf);
            test_mem_assert_empty(&mem);
            assert_int_equal(r, mem.failed ? WEIR_ERR_NOMEM : 0);
            if (!mem.failed)
                break;
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_kind_has_its_sentence),      TEST(what_was_not_told_is_told_behind_it),
        TEST(json_has_the_parts_as_fields),    TEST(a_cooldown_by_hand_had_no_failure),
        TEST(a_cooldown_by_hand_says_by_whom), TEST(json_of_a_storm_has_its_target),
        TEST(slack_gets_lines_of_text),        TEST(slack_finds_no_markup_in_names),
        TEST(the_longest_names_fit),           TEST(no_memory_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
