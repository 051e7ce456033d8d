/*
 * Random configurations, random failures, and what must hold whatever happens (rules.h).
 *
 * Each seed makes a configuration and plays some calls on it, one after another and at once.  The host checks
 * what call.h promises of the order of steps, of memory and of waking up, the rules all else.  The same seed
 * played again gives the same trace, byte for byte.
 *
 * WEIR_SEED=n plays that seed alone and prints its configuration; WEIR_SEEDS=n sets how many are played.
 */
#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "base/slice.h"
#include "base/time.h"

#include "engine_kit.h"
#include "generate.h"
#include "rules.h"

#define SEEDS        1500
#define NOMEM_SEEDS  40
#define REPLAY_EVERY 4 /* of so many seeds one is played twice */

static void play_some(struct kit *kit, struct weir_rand *rand)
{
    char request[GENERATE_REQUEST_MAX];
    uint64_t count = 1 + weir_rand_below(rand, RULES_CALLS_MAX);

    for (uint64_t i = 0; i < count; i++) {
        generate_request(rand, request);
        (void)kit_begin(kit, request);
    }
    kit_run_all(kit);
    for (struct kit_call *call = kit->calls; call != NULL; call = call->next)
        rules_check_end(call);
    kit_forget(kit);
    kit_advance(
        kit, weir_time_to_s(weir_rand_below(rand, weir_rand_below(rand, 3) == 0 ? 70000 : 3000) * 1000000));
}

/* Plays a seed and returns its trace. */
static char *play_seed(uint64_t seed, bool verbose)
{
    struct weir_rand rand;
    struct rules *rules = calloc(1, sizeof(*rules));
    char config[GENERATE_CONFIG_MAX];
    uint64_t rounds;
    char *trace;

    assert_non_null(rules);
    weir_rand_init(&rand, seed);
    generate_config(&rand, config);
    if (verbose)
        print_message("%s", config);
    WEIR_CLEANUP(kit_close) struct kit *kit = kit_new(seed, config);
    rules_watch(rules, kit);
    rounds = 1 + weir_rand_below(&rand, 6);
    for (uint64_t i = 0; i < rounds; i++) {
        play_some(kit, &rand);
        rules_check_live(kit);
    }
    trace = strdup(kit->trace);
    free(rules);
    return trace;
}

static uint64_t number_from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    uint64_t value = otherwise;

    if (text != NULL && weir_slice_u64(weir_slice_str(text), &value) != 0)
        fail_msg("%s is no number", name);
    return value;
}

static void engine_keeps_its_rules_whatever_happens(void **state)
{
    uint64_t only = number_from_environment("WEIR_SEED", 0);
    uint64_t last = number_from_environment("WEIR_SEEDS", SEEDS);
    (void)state;

    for (uint64_t seed = only != 0 ? only : 1; seed <= (only != 0 ? only : last); seed++) {
        char *trace = play_seed(seed, only != 0);

        if (seed % REPLAY_EVERY == 0) {
            char *again = play_seed(seed, false);

            assert_string_equal(trace, again);
            free(again);
        }
        free(trace);
    }
}

/* One call of a seed's configuration whose memory is used up from the n-th allocation on. */
static bool play_without_memory(uint64_t seed, size_t fail_from)
{
    struct weir_rand rand;
    char config[GENERATE_CONFIG_MAX];
    char request[GENERATE_REQUEST_MAX];
    const struct kit_call *call;

    weir_rand_init(&rand, seed);
    generate_config(&rand, config);
    generate_request(&rand, request);
    WEIR_CLEANUP(kit_close) struct kit *kit = kit_new(seed, config);
    kit->calls_fail_from = fail_from;
    call = kit_call(kit, request);
    if (call == NULL)
        return true;
    assert_int_not_equal(call->end, KIT_RUNNING);
    if (call->mem.failed && call->end == KIT_FAILED && call->fail.reason == WEIR_REASON_NOMEM)
        assert_int_equal(call->fail.failure.status, 500);
    return call->mem.failed;
}

static void a_call_without_memory_ends_with_an_error(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= NOMEM_SEEDS; seed++) {
        size_t fail_from = 1;

        while (play_without_memory(seed, fail_from))
            fail_from++;
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(engine_keeps_its_rules_whatever_happens),
        cmocka_unit_test(a_call_without_memory_ends_with_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
