/* Which connections share a TLS context, and for how long. */
#include "unit.h"

#include <weir/mem_libc.h>

#include "gateway/attempt/trust.h"
#include "test_mem.h"

static struct test_mem mem;
static struct weir_trust trust;

static const struct weir_tls_spec usual = {0};
static const struct weir_tls_spec careless = {.insecure = true};

static weir_tls_context *get(const struct weir_tls_spec *spec)
{
    char text[WEIR_TLS_TEXT_MAX];
    weir_tls_context *context = NULL;

    assert_int_equal(weir_trust_get(&trust, spec, text, &context), 0);
    weir_tls_context_unref(context); /* the list has one of its own */
    return context;
}

static int begin(void **state)
{
    (void)state;
    test_mem_init(&mem, 0);
    weir_trust_init(&trust, &mem.mem);
    return 0;
}

static int end(void **state)
{
    (void)state;
    weir_trust_deinit(&trust);
    test_mem_assert_empty(&mem);
    return 0;
}

static void who_wants_the_same_gets_the_same(void **state)
{
    (void)state;
    assert_ptr_equal(get(&usual), get(&usual));
    assert_ptr_not_equal(get(&usual), get(&careless));
}

static void what_a_round_did_without_is_forgotten(void **state)
{
    weir_tls_context *kept = get(&usual);
    size_t live;

    (void)state;
    (void)get(&careless);
    live = mem.live_blocks;
    weir_trust_begin(&trust);
    assert_ptr_equal(get(&usual), kept);
    weir_trust_end(&trust);
    assert_true(mem.live_blocks < live);
    assert_ptr_equal(get(&usual), kept);
}

static void a_round_that_came_to_nothing_forgets_nothing(void **state)
{
    weir_tls_context *kept = get(&usual);

    (void)state;
    weir_trust_begin(&trust);
    weir_trust_begin(&trust);
    assert_ptr_equal(get(&usual), kept);
    weir_trust_end(&trust);
    assert_ptr_equal(get(&usual), kept);
}

static void a_context_in_use_outlives_the_list(void **state)
{
    char text[WEIR_TLS_TEXT_MAX];
    weir_tls_context *context;

    (void)state;
    assert_int_equal(weir_trust_get(&trust, &usual, text, &context), 0);
    weir_trust_begin(&trust);
    weir_trust_end(&trust);
    assert_ptr_not_equal(mem.live_blocks, 0);
    weir_tls_context_unref(context);
    assert_int_equal(mem.live_blocks, 0);
}

static void a_file_that_cannot_be_read_is_named(void **state)
{
    const struct weir_tls_spec spec = {.ca_file = WEIR_SLICE_INIT("/nowhere.pem")};
    char text[WEIR_TLS_TEXT_MAX];
    weir_tls_context *context;

    (void)state;
    assert_int_equal(weir_trust_get(&trust, &spec, text, &context), WEIR_TLS_UNREADABLE);
    assert_non_null(strstr(text, "/nowhere.pem"));
    assert_int_equal(mem.live_blocks, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(who_wants_the_same_gets_the_same),
        TEST(what_a_round_did_without_is_forgotten),
        TEST(a_round_that_came_to_nothing_forgets_nothing),
        TEST(a_context_in_use_outlives_the_list),
        TEST(a_file_that_cannot_be_read_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
