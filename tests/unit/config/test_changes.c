/* What differs from one configuration to the next, and what must wait for a restart. */
#include "kit.h"

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "config/changes.h"
#include "config/schema.h"
#include "test_mem.h"

static struct kit before;
static struct kit now;
static struct weir_arena arena;
static struct weir_config_changes changes;

static void compare(const char *old, const char *new)
{
    kit_load(&before, NULL, old);
    kit_load(&now, NULL, new);
    assert_int_equal(before.rv, 0);
    assert_int_equal(now.rv, 0);
    assert_int_equal(weir_config_hold(now.config, before.config, &arena, &changes), 0);
    assert_int_equal(weir_config_compare(before.config, now.config, &arena, &changes), 0);
}

static int begin(void **state)
{
    (void)state;
    weir_arena_init(&arena, weir_mem_libc(), 4096, 1 << 20);
    changes = (struct weir_config_changes){0};
    before = now = (struct kit){0};
    return 0;
}

static int end(void **state)
{
    (void)state;
    kit_free(&before);
    kit_free(&now);
    weir_arena_deinit(&arena);
    return 0;
}

/* The names, with commas. */
static void expect(const struct weir_change_list *list, const char *names)
{
    struct weir_slice parts[2 * WEIR_CHANGES_NAMES_MAX];
    size_t count = 0;

    for (size_t i = 0; i < list->count && i < WEIR_CHANGES_NAMES_MAX; i++) {
        parts[count++] = i == 0 ? WEIR_SLICE_EMPTY : WEIR_SLICE(", ");
        parts[count++] = list->names[i];
    }
    assert_slice_is(weir_arena_join(&arena, parts, count), names);
}

#define ENTRY(id, more)                                                                                      \
    "- {model_name: g, litellm_params: {model: openai/m" more "}, model_info: {id: " id "}}\n"

static void the_same_file_differs_in_nothing(void **state)
{
    static const char file[] = "model_list:\n" ENTRY(
        "a", "") "router_settings: {fallbacks: [{g: [h]}], retry_policy: {TimeoutErrorRetries: 1}}\n"
                 "weir_settings: {workers: 2, groups: {g: {timeout: 3}}}\n";

    (void)state;
    compare(file, file);
    expect(&changes.added, "");
    expect(&changes.removed, "");
    expect(&changes.changed, "");
    expect(&changes.settings, "");
    expect(&changes.held, "");
}

static void deployments_come_go_and_change(void **state)
{
    (void)state;
    compare("model_list:\n" ENTRY("stays", ", api_key: k") ENTRY("goes", "")
                ENTRY("hotter", ", temperature: 1") ENTRY("rekeyed", ", api_key: k1"),
            "model_list:\n" ENTRY("comes", "") ENTRY("rekeyed", ", api_key: k2")
                ENTRY("stays", ", api_key: k") ENTRY("hotter", ", temperature: 2"));
    expect(&changes.added, "comes");
    expect(&changes.removed, "goes");
    expect(&changes.changed, "rekeyed, hotter");
    expect(&changes.settings, "");
}

static void settings_are_named_by_their_section(void **state)
{
    (void)state;
    compare("model_list: []\nrouter_settings: {num_retries: 1, timeout: 3, fallbacks: [{a: [b]}]}\n"
            "litellm_settings: {drop_params: true}\nx-mine: 1\n",
            "model_list: []\nrouter_settings: {num_retries: 2, timeout: 3, fallbacks: [{a: [c]}]}\n"
            "general_settings: {cancel_on_disconnect: true}\nx-mine: 2\n");
    expect(&changes.settings,
           "router_settings.num_retries, router_settings.fallbacks, general_settings.cancel_on_disconnect, "
           "x-mine, litellm_settings.drop_params");
}

static void null_is_as_nothing(void **state)
{
    (void)state;
    compare("model_list: []\nrouter_settings: {num_retries: null}\n", "model_list: []\nlitellm_settings:\n");
    expect(&changes.settings, "");
}

static void what_needs_a_restart_is_brought_back_and_named(void **state)
{
    (void)state;
    compare("model_list: []\nweir_settings: {workers: 2, access_log: /tmp/a, dns_ttl: 1}\n",
            "model_list: []\nweir_settings: {workers: 3, access_log_format: logfmt, dns_ttl: 2}\n");
    expect(&changes.held, "weir_settings.workers, weir_settings.access_log, weir_settings.access_log_format");
    expect(&changes.settings, "weir_settings.dns_ttl");
    assert_int_equal(now.config->settings.workers, 2);
    assert_int_equal(now.config->settings.dns_ttl_ns, 2000000000);
    assert_int_equal(now.config->settings.access_log_format, WEIR_LOG_JSON);
    kit_free(&before);
    before = (struct kit){0};
    assert_slice_is(now.config->settings.access_log, "/tmp/a"); /* a copy */
}

static void names_beyond_the_maximum_are_counted(void **state)
{
    struct weir_change_list list = {0};

    (void)state;
    for (size_t i = 0; i < WEIR_CHANGES_NAMES_MAX + 5; i++)
        weir_changes_note(&list, WEIR_SLICE("x"), &arena);
    assert_int_equal(list.count, WEIR_CHANGES_NAMES_MAX + 5);
}

static void where_memory_runs_out_that_is_told(void **state)
{
    static const char old[] = "model_list: []\nweir_settings: {workers: 2}\n";
    static const char new[] = "model_list: []\nweir_settings: {workers: 3}\n";
    struct test_mem none;
    struct weir_arena empty;

    (void)state;
    test_mem_init(&none, 1);
    weir_arena_init(&empty, &none.mem, 4096, 1 << 20);
    kit_load(&before, NULL, old);
    kit_load(&now, NULL, new);
    assert_int_equal(weir_config_hold(now.config, before.config, &empty, &changes), WEIR_ERR_NOMEM);
    assert_int_equal(weir_config_compare(before.config, now.config, &empty, &changes), WEIR_ERR_NOMEM);
    weir_arena_deinit(&empty);
}

/* Values that are compared and copied as plain bytes, or as text. */
static void every_setting_that_waits_for_a_restart_can_be_held(void **state)
{
    (void)state;
    for (size_t i = 0; i < weir_schema_count(); i++) {
        const struct weir_setting_row *row = weir_schema_row(i);

        if (!row->at_start)
            continue;
        switch ((int)row->type) {
        case WEIR_VALUE_BOOL:
        case WEIR_VALUE_U32:
        case WEIR_VALUE_BYTES:
        case WEIR_VALUE_SECONDS:
        case WEIR_VALUE_TEXT:
        case WEIR_VALUE_SECRET:
        case WEIR_VALUE_PLACE:
        case WEIR_VALUE_LOG_FORMAT:
        case WEIR_VALUE_YES_NO:
            break;
        default:
            fail_msg("%.*s has a type that cannot be held", (int)row->key.len, row->key.ptr);
        }
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(the_same_file_differs_in_nothing),
        TEST(deployments_come_go_and_change),
        TEST(settings_are_named_by_their_section),
        TEST(null_is_as_nothing),
        TEST(what_needs_a_restart_is_brought_back_and_named),
        TEST(names_beyond_the_maximum_are_counted),
        TEST(where_memory_runs_out_that_is_told),
        TEST(every_setting_that_waits_for_a_restart_can_be_held),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
