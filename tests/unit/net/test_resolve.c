/* Names to addresses, with a look-up of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "base/time.h"
#include "net/resolve.h"
#include "net_kit.h"

#include <arpa/inet.h>

#include <cmocka.h>

struct names {
    atomic_uint lookups;
    atomic_bool held; /* look-ups wait until it is false */
    atomic_bool failing;
};

struct asking {
    struct weir_resolve_query query;
    size_t done;
    const char *failure;
    struct weir_addresses addresses;
};

struct bench {
    weir_loop *loop;
    weir_resolver *resolver;
    struct names names;
};

static const char *look_up(void *user, const char *host, struct weir_addresses *ret_addresses)
{
    struct names *names = user;
    const struct timespec nap = {.tv_nsec = 1000000};

    (void)atomic_fetch_add(&names->lookups, 1);
    while (atomic_load(&names->held))
        (void)nanosleep(&nap, NULL);
    if (atomic_load(&names->failing) || strncmp(host, "bad", 3) == 0)
        return "no such host";
    ret_addresses->count = 1;
    ret_addresses->list[0].in = (struct sockaddr_in){.sin_family = AF_INET};
    ret_addresses->list[0].in.sin_addr.s_addr = htonl(atomic_load(&names->lookups));
    return NULL;
}

static void on_done(struct weir_resolve_query *query, const struct weir_addresses *addresses,
                    const char *failure)
{
    struct asking *asking = (struct asking *)(void *)query;

    asking->done++;
    asking->failure = failure;
    asking->addresses = *addresses;
}

static void open_bench(struct bench *b, uint64_t ttl_ns, uint64_t stale_ns, size_t max_hosts)
{
    const struct weir_resolver_config config = {.threads = 2,
                                                .max_hosts = max_hosts,
                                                .ttl_ns = ttl_ns,
                                                .stale_ns = stale_ns,
                                                .negative_ns = 50 * WEIR_NS_PER_MS,
                                                .lookup = look_up,
                                                .lookup_user = &b->names};

    memset(b, 0, sizeof(*b));
    assert_int_equal(weir_loop_new(weir_mem_libc(), &b->loop), 0);
    assert_int_equal(weir_resolver_new(weir_mem_libc(), &config, &b->resolver), 0);
}

static void close_bench(struct bench *b)
{
    atomic_store(&b->names.held, false);
    weir_resolver_free(b->resolver);
    weir_loop_free(b->loop);
}

static int ask(struct bench *b, struct asking *asking, const char *host)
{
    *asking = (struct asking){.query = {.loop = b->loop, .done = on_done}};
    return weir_resolver_ask(b->resolver, weir_slice_str(host), &asking->query, &asking->addresses,
                             &asking->failure);
}

static bool is_done(void *user)
{
    return ((struct asking *)user)->done > 0;
}

static uint32_t first_of(const struct asking *asking)
{
    return ntohl(asking->addresses.list[0].in.sin_addr.s_addr);
}

static void literals_and_localhost_need_no_look_up(void **state)
{
    struct bench b;
    struct asking asking;
    char text[WEIR_ADDRESS_TEXT_MAX];

    (void)state;
    open_bench(&b, 0, 0, 0);
    assert_int_equal(ask(&b, &asking, "192.0.2.7"), 0);
    assert_int_equal(asking.addresses.count, 1);
    assert_true(
        weir_slice_eq(weir_address_text(&asking.addresses.list[0].sa, text), WEIR_SLICE("192.0.2.7:0")));
    assert_int_equal(ask(&b, &asking, "2001:db8::7"), 0);
    assert_true(
        weir_slice_eq(weir_address_text(&asking.addresses.list[0].sa, text), WEIR_SLICE("[2001:db8::7]:0")));
    assert_int_equal(ask(&b, &asking, "LocalHost"), 0);
    assert_int_equal(asking.addresses.count, 2);
    assert_int_equal(ask(&b, &asking, ""), WEIR_RESOLVE_FAILED);
    assert_non_null(asking.failure);
    assert_int_equal(atomic_load(&b.names.lookups), 0);
    close_bench(&b);
}

static void waiters_for_one_name_share_one_look_up(void **state)
{
    struct bench b;
    struct asking asking[3];

    (void)state;
    open_bench(&b, 0, 0, 0);
    atomic_store(&b.names.held, true);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ask(&b, &asking[i], "one.test"), WEIR_RESOLVE_PENDING);
    weir_resolver_cancel(&asking[1].query);
    atomic_store(&b.names.held, false);
    kit_until(b.loop, is_done, &asking[0]);
    kit_until(b.loop, is_done, &asking[2]);
    assert_int_equal(asking[1].done, 0);
    assert_null(asking[0].failure);
    assert_int_equal(atomic_load(&b.names.lookups), 1);
    assert_int_equal(ask(&b, &asking[1], "one.test"), 0);
    assert_int_equal(first_of(&asking[1]), 1);
    close_bench(&b);
}

static void a_stale_answer_serves_while_it_is_refreshed(void **state)
{
    struct bench b;
    struct asking asking;

    (void)state;
    open_bench(&b, 10 * WEIR_NS_PER_MS, 60 * WEIR_NS_PER_S, 0);
    assert_int_equal(ask(&b, &asking, "one.test"), WEIR_RESOLVE_PENDING);
    kit_until(b.loop, is_done, &asking);
    kit_for(b.loop, 20 * WEIR_NS_PER_MS);
    atomic_store(&b.names.held, true);
    assert_int_equal(ask(&b, &asking, "one.test"), 0);
    assert_int_equal(first_of(&asking), 1);
    assert_int_equal(ask(&b, &asking, "one.test"), 0);
    atomic_store(&b.names.held, false);
    kit_for(b.loop, 5 * WEIR_NS_PER_MS);
    assert_int_equal(ask(&b, &asking, "one.test"), 0);
    assert_int_equal(first_of(&asking), 2);
    close_bench(&b);
}

static void a_failed_refresh_leaves_the_stale_answer(void **state)
{
    struct bench b;
    struct asking asking;

    (void)state;
    open_bench(&b, 5 * WEIR_NS_PER_MS, 60 * WEIR_NS_PER_S, 0);
    assert_int_equal(ask(&b, &asking, "one.test"), WEIR_RESOLVE_PENDING);
    kit_until(b.loop, is_done, &asking);
    atomic_store(&b.names.failing, true);
    kit_for(b.loop, 10 * WEIR_NS_PER_MS);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ask(&b, &asking, "one.test"), 0);
        kit_for(b.loop, 5 * WEIR_NS_PER_MS);
    }
    assert_int_equal(atomic_load(&b.names.lookups), 2);
    close_bench(&b);
}

static void a_failure_is_remembered_for_its_time(void **state)
{
    struct bench b;
    struct asking asking;

    (void)state;
    open_bench(&b, 0, 0, 0);
    assert_int_equal(ask(&b, &asking, "bad.test"), WEIR_RESOLVE_PENDING);
    kit_until(b.loop, is_done, &asking);
    assert_string_equal(asking.failure, "no such host");
    assert_int_equal(ask(&b, &asking, "bad.test"), WEIR_RESOLVE_FAILED);
    assert_string_equal(asking.failure, "no such host");
    assert_int_equal(atomic_load(&b.names.lookups), 1);
    kit_for(b.loop, 60 * WEIR_NS_PER_MS);
    assert_int_equal(ask(&b, &asking, "bad.test"), WEIR_RESOLVE_PENDING);
    kit_until(b.loop, is_done, &asking);
    assert_int_equal(atomic_load(&b.names.lookups), 2);
    close_bench(&b);
}

static void the_longest_unused_name_is_forgotten(void **state)
{
    struct bench b;
    struct asking asking;
    static const char *const hosts[] = {"a.test", "b.test", "a.test", "c.test"};

    (void)state;
    open_bench(&b, 0, 0, 2);
    for (size_t i = 0; i < 4; i++) {
        if (ask(&b, &asking, hosts[i]) == WEIR_RESOLVE_PENDING)
            kit_until(b.loop, is_done, &asking);
    }
    assert_int_equal(ask(&b, &asking, "a.test"), 0);
    assert_int_equal(ask(&b, &asking, "b.test"), WEIR_RESOLVE_PENDING);
    kit_until(b.loop, is_done, &asking);
    atomic_store(&b.names.held, true);
    assert_int_equal(ask(&b, &asking, "d.test"), WEIR_RESOLVE_PENDING);
    {
        struct asking other;
        struct asking third;

        assert_int_equal(ask(&b, &other, "e.test"), WEIR_RESOLVE_PENDING);
        assert_true(ask(&b, &third, "f.test") < 0);
        weir_resolver_cancel(&other.query);
    }
    weir_resolver_cancel(&asking.query);
    close_bench(&b);
}

static void an_answer_on_its_way_may_be_cancelled(void **state)
{
    struct bench b;
    struct asking asking;
    struct asking second;

    (void)state;
    open_bench(&b, 0, 0, 0);
    assert_int_equal(ask(&b, &asking, "one.test"), WEIR_RESOLVE_PENDING);
    /* Answered, but the loop has not been turned. */
    while (ask(&b, &second, "one.test") != 0)
        weir_resolver_cancel(&second.query);
    weir_resolver_cancel(&asking.query);
    kit_for(b.loop, 5 * WEIR_NS_PER_MS);
    assert_int_equal(asking.done, 0);
    close_bench(&b);
}

static void the_systems_resolver_is_asked_by_default(void **state)
{
    struct bench b;
    struct asking asking;

    (void)state;
    memset(&b, 0, sizeof(b));
    assert_int_equal(weir_loop_new(weir_mem_libc(), &b.loop), 0);
    assert_int_equal(weir_resolver_new(weir_mem_libc(), &(struct weir_resolver_config){0}, &b.resolver), 0);
    /* RFC 6761: nobody has a name under .invalid. */
    if (ask(&b, &asking, "weir.invalid") == WEIR_RESOLVE_PENDING)
        kit_until(b.loop, is_done, &asking);
    assert_non_null(asking.failure);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_and_localhost_need_no_look_up),
        cmocka_unit_test(waiters_for_one_name_share_one_look_up),
        cmocka_unit_test(a_stale_answer_serves_while_it_is_refreshed),
        cmocka_unit_test(a_failed_refresh_leaves_the_stale_answer),
        cmocka_unit_test(a_failure_is_remembered_for_its_time),
        cmocka_unit_test(the_longest_unused_name_is_forgotten),
        cmocka_unit_test(an_answer_on_its_way_may_be_cancelled),
        cmocka_unit_test(the_systems_resolver_is_asked_by_default),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
