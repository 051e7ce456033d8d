/*
 * Three routers and a store: whatever the order of attempts, takes, answers, readings, broken connections and
 * minutes that turn, in the end everybody counts what all of them together have counted.
 *
 * A connection carries commands in their order and loses, when it breaks, those that the store has not seen
 * yet and the answers of those that it has.  In the exact plays the host knows which is which, so nothing may
 * be lost and nothing counted twice.  In the others it does not, or the store forgets everything at times:
 * then nobody may count less than his own, nor more than there was, save for what was given back and is
 * still counted because that was lost on its way.
 */
#include <stdlib.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "base/rand.h"
#include "base/slice.h"
#include "base/time.h"
#include "engine/live/cooldown.h"
#include "engine/live/latency.h"
#include "engine/live/quota.h"
#include "engine/live/usage.h"
#include "engine/router.h"
#include "engine/snapshot/snapshot.h"

#include "unit.h"

enum { ROUTERS = 3, DEPLOYMENTS = 3, MINUTES = 64, RUNS_MAX = 40, PIPE = 512, PLAYS = 300, EVENTS = 1500 };

#define START_NS (1000 * 60 * WEIR_NS_PER_S)

/* A command on its way: a change, or a reading of everything where reading is set. */
struct command {
    struct weir_change change;
    bool reading;
    bool seen; /* by the store */
    uint64_t count;
    uint64_t usage[DEPLOYMENTS][WEIR_USAGES];
    uint64_t running[DEPLOYMENTS];
    uint64_t minute;
};

struct process {
    weir_router *router;
    weir_snapshot *snapshot;
    struct command pipe[PIPE];
    size_t first, count;
    size_t notified;
    struct weir_quota runs[DEPLOYMENTS][RUNS_MAX];
    size_t run_count[DEPLOYMENTS];
    uint64_t own[DEPLOYMENTS][WEIR_USAGES][MINUTES];
    float next_sample;
    float told_sample[DEPLOYMENTS];
    uint64_t fails_told[DEPLOYMENTS]; /* of the counter that ends then */
    uint64_t fails_end_ms[DEPLOYMENTS];
};

struct play {
    struct process processes[ROUTERS];
    int64_t usage[DEPLOYMENTS][WEIR_USAGES][MINUTES]; /* the store's */
    int64_t running[DEPLOYMENTS];
    uint64_t now_ns;
    struct weir_rand rand;
    bool exact;
};

static void note(void *user)
{
    struct process *process = user;

    process->notified++;
}

static weir_snapshot *make_snapshot(weir_router *router)
{
    static const char *const ids[DEPLOYMENTS] = {"d0", "d1", "d2"};
    struct weir_router_spec spec;
    weir_snapshot_builder *builder = NULL;
    weir_snapshot *snapshot = NULL;

    assert_int_equal(weir_snapshot_builder_new(weir_mem_libc(), &builder), 0);
    for (size_t i = 0; i < DEPLOYMENTS; i++) {
        struct weir_deployment_spec deployment;

        weir_deployment_spec_init(&deployment);
        deployment.id = weir_slice_str(ids[i]);
        deployment.group = WEIR_SLICE("g");
        deployment.model = WEIR_SLICE("openai/m");
        deployment.minute.requests = UINT32_MAX;
        deployment.minute.input_tokens = UINT32_MAX;
        assert_int_equal(weir_snapshot_add_deployment(builder, &deployment), 0);
    }
    weir_router_spec_init(&spec);
    weir_strategy_spec_init(&spec.strategy, WEIR_STRATEGY_LATENCY);
    spec.allowed_fails = 1000000;
    spec.cooldown_ns = 3 * WEIR_NS_PER_S;
    weir_snapshot_set_router(builder, &spec);
    assert_int_equal(weir_snapshot_build(builder, &snapshot), 0);
    weir_snapshot_builder_free(builder);
    /* No configuration shares all of it for one deployment. */
    for (size_t i = 0; i < DEPLOYMENTS; i++)
        snapshot->deployments[i]->shares = UINT8_MAX;
    assert_int_equal(weir_router_adopt(router, snapshot), 0);
    return snapshot;
}

static void open_play(struct play *play, uint64_t seed, bool exact)
{
    memset((void *)play, 0, sizeof(*play));
    play->exact = exact;
    play->now_ns = START_NS;
    weir_rand_init(&play->rand, seed);
    for (size_t i = 0; i < ROUTERS; i++) {
        struct process *process = &play->processes[i];

        assert_int_equal(weir_router_new(weir_mem_libc(), i, &process->router), 0);
        assert_int_equal(weir_router_share(process->router, note, process), 0);
        process->snapshot = make_snapshot(process->router);
        process->next_sample = 1;
    }
}

static void close_play(struct play *play)
{
    for (size_t i = 0; i < ROUTERS; i++) {
        weir_snapshot_unref(play->processes[i].snapshot);
        weir_router_free(play->processes[i].router);
    }
}

static uint64_t minute_of(const struct play *play)
{
    return play->now_ns / (60 * WEIR_NS_PER_S);
}

static uint32_t dice(struct play *play, uint32_t sides)
{
    return (uint32_t)weir_rand_below(&play->rand, sides);
}

/* An attempt begins, and reserves a number of tokens. */
static void begin(struct play *play, struct process *process, size_t d)
{
    const struct weir_quota_ask ask = {
        .rule = WEIR_QUOTA_ALL, .input = 1 + dice(play, 50), .now_ns = play->now_ns};
    struct weir_refusal refusal;

    if (process->run_count[d] == RUNS_MAX)
        return;
    assert_int_equal(weir_quota_take(&process->router->live, process->snapshot->deployments[d], &ask,
                                     &process->runs[d][process->run_count[d]++], &refusal),
                     0);
    process->own[d][WEIR_USAGE_REQUESTS][minute_of(play) % MINUTES]++;
    process->own[d][WEIR_USAGE_INPUT][minute_of(play) % MINUTES] += ask.input;
}

static void end(struct play *play, struct process *process, size_t d)
{
    uint64_t input = dice(play, 60), output = dice(play, 60), now = minute_of(play);
    uint32_t slot = process->snapshot->deployments[d]->slot;
    struct weir_quota *run;

    if (process->run_count[d] == 0)
        return;
    run = &process->runs[d][--process->run_count[d]];
    /* What was reserved two minutes ago is no longer on anybody's books. */
    if (run->minute + 1 >= now) {
        process->own[d][WEIR_USAGE_INPUT][run->minute % MINUTES] -= run->input;
        process->own[d][WEIR_USAGE_INPUT][run->minute % MINUTES] += input;
    }
    process->own[d][WEIR_USAGE_OUTPUT][now % MINUTES] += output;
    process->own[d][WEIR_USAGE_TOKENS][now % MINUTES] += input + output;
    weir_quota_end(&process->router->live, slot, run);
    weir_quota_settle(&process->router->live, slot, run, input, output, play->now_ns);
}

static void sample(struct play *play, struct process *process, size_t d)
{
    const weir_deployment *deployment = process->snapshot->deployments[d];

    weir_latency_sample(&process->router->live, deployment->slot, WEIR_PACE_WHOLE,
                        (double)process->next_sample++, deployment->group->strategy, play->now_ns);
}

static void fail_once(struct play *play, struct process *process, size_t d)
{
    const struct weir_failure failure = {
        .kind = WEIR_KIND_INTERNAL, .status = 500, .origin = WEIR_ORIGIN_PROVIDER};
    struct weir_cooldown cooldown;

    (void)weir_cooldown_count(&process->router->live, process->snapshot, process->snapshot->deployments[d],
                              &failure, play->now_ns, &cooldown);
}

static struct command *push(struct process *process)
{
    struct command *command = &process->pipe[(process->first + process->count++) % PIPE];

    memset((void *)command, 0, sizeof(*command));
    return command;
}

static void take(struct play *play, struct process *process)
{
    struct weir_change changes[WEIR_CHANGES_MAX];
    size_t count;

    while (process->count + WEIR_CHANGES_MAX < PIPE) {
        count = weir_router_take_changes(process->router, play->now_ns, changes, WEIR_CHANGES_MAX);
        for (size_t i = 0; i < count; i++)
            push(process)->change = changes[i];
        if (count == 0)
            return;
    }
}

static void read_all(struct process *process)
{
    if (process->count < PIPE)
        push(process)->reading = true;
}

static size_t place_of(const struct process *process, const struct weir_change *change)
{
    size_t d = 0;

    while (process->snapshot->deployments[d]->slot != change->slot)
        d++;
    return d;
}

/* No sample comes twice, nor after one that was entered later. */
static void check_samples(struct process *process, const struct weir_change *change)
{
    float *last = &process->told_sample[place_of(process, change)];

    for (uint32_t i = 0; i < change->u.latency.count; i++) {
        assert_true(change->u.latency.samples[i] > *last);
        *last = change->u.latency.samples[i];
    }
}

static void check_fails(struct process *process, const struct weir_change *change)
{
    size_t d = place_of(process, change);

    if (process->fails_end_ms[d] != change->u.fails.end_ms)
        process->fails_told[d] = 0;
    process->fails_end_ms[d] = change->u.fails.end_ms;
    process->fails_told[d] += change->u.fails.amount;
}

static void carry_out(struct play *play, struct process *process, struct command *command)
{
    const struct weir_change *change = &command->change;
    size_t d = place_of(process, change);
    int64_t *count;

    if (change->kind == WEIR_SHARED_LATENCY) {
        check_samples(process, change);
    } else if (change->kind == WEIR_SHARED_FAILS) {
        check_fails(process, change);
    } else if (change->kind == WEIR_SHARED_RUNNING) {
        play->running[d] += change->u.running.amount;
        play->running[d] = play->running[d] > 0 ? play->running[d] : 0;
        command->count = (uint64_t)play->running[d];
    } else if (change->kind == WEIR_SHARED_USAGE) {
        count = &play->usage[d][change->u.usage.usage][change->u.usage.minute % MINUTES];
        *count += change->u.usage.amount;
        command->count = *count > 0 ? (uint64_t)*count : 0;
    }
}

static void read_store(const struct play *play, struct command *command)
{
    command->minute = minute_of(play);
    for (size_t d = 0; d < DEPLOYMENTS; d++) {
        command->running[d] = (uint64_t)play->running[d];
        for (size_t u = 0; u < WEIR_USAGES; u++) {
            int64_t count = play->usage[d][u][command->minute % MINUTES];

            command->usage[d][u] = count > 0 ? (uint64_t)count : 0;
        }
    }
}

/* The store sees the next command of the process. */
static void see(struct play *play, struct process *process)
{
    for (size_t i = 0; i < process->count; i++) {
        struct command *command = &process->pipe[(process->first + i) % PIPE];

        if (command->seen)
            continue;
        command->seen = true;
        if (command->reading)
            read_store(play, command);
        else
            carry_out(play, process, command);
        return;
    }
}

static void learn_all(struct process *process, const struct command *command)
{
    for (size_t d = 0; d < DEPLOYMENTS; d++) {
        const weir_deployment *deployment = process->snapshot->deployments[d];

        weir_router_learn_running(process->router, deployment, command->running[d]);
        for (size_t u = 0; u < WEIR_USAGES; u++)
            weir_router_learn_usage(process->router, deployment, (weir_usage_kind)u, command->minute,
                                    command->usage[d][u]);
    }
}

/* The next answer comes to the process. */
static void answer(struct play *play, struct process *process)
{
    struct command *command = &process->pipe[process->first];

    if (process->count == 0 || !command->seen)
        return;
    process->first = (process->first + 1) % PIPE;
    process->count--;
    if (command->reading)
        learn_all(process, command);
    else
        weir_router_change_done(process->router, process->snapshot, &command->change, command->count,
                                play->now_ns);
}

static void cut_off(struct play *play, struct process *process)
{
    for (; process->count > 0; process->count--) {
        const struct command *command = &process->pipe[process->first];

        process->first = (process->first + 1) % PIPE;
        if (command->reading)
            continue;
        if (play->exact && !command->seen)
            weir_router_change_undone(process->router, &command->change);
        else
            weir_router_change_unknown(process->router, &command->change);
    }
}

static void forget(struct play *play)
{
    memset(play->usage, 0, sizeof(play->usage));
    memset(play->running, 0, sizeof(play->running));
}

/* Time goes on, mostly by little; what is used of a minute long ago is used again. */
static void move_on(struct play *play)
{
    uint64_t before = minute_of(play), minute;

    play->now_ns += (1 + dice(play, dice(play, 20) == 0 ? 70000 : 300)) * WEIR_NS_PER_MS;
    for (minute = before + 1; minute <= minute_of(play); minute++)
        for (size_t d = 0; d < DEPLOYMENTS; d++)
            for (size_t u = 0; u < WEIR_USAGES; u++) {
                play->usage[d][u][(minute + 8) % MINUTES] = 0;
                for (size_t i = 0; i < ROUTERS; i++)
                    play->processes[i].own[d][u][(minute + 8) % MINUTES] = 0;
            }
}

static void step(struct play *play)
{
    struct process *process = &play->processes[dice(play, ROUTERS)];
    size_t d = dice(play, DEPLOYMENTS);

    switch (dice(play, 14)) {
    case 0:
    case 1:
    case 2:
        begin(play, process, d);
        break;
    case 3:
    case 4:
        end(play, process, d);
        break;
    case 5:
        fail_once(play, process, d);
        break;
    case 6:
        sample(play, process, d);
        break;
    case 7:
        take(play, process);
        break;
    case 8:
        read_all(process);
        break;
    case 9:
    case 10:
        for (uint32_t n = dice(play, 30); n > 0; n--)
            see(play, process);
        break;
    case 11:
        for (uint32_t n = dice(play, 30); n > 0; n--)
            answer(play, process);
        break;
    case 12:
        move_on(play);
        break;
    default:
        if (dice(play, 8) == 0)
            cut_off(play, process);
        if (!play->exact && dice(play, 40) == 0)
            forget(play);
        break;
    }
}

/* Everything on its way arrives. */
static void flow(struct play *play, struct process *process)
{
    while (process->count > 0) {
        see(play, process);
        answer(play, process);
    }
}

static void settle(struct play *play)
{
    for (int round = 0; round < 4; round++)
        for (size_t i = 0; i < ROUTERS; i++) {
            flow(play, &play->processes[i]);
            take(play, &play->processes[i]);
            read_all(&play->processes[i]);
            flow(play, &play->processes[i]);
        }
}

/* What one process counts, between its own and what all of them have done; exactly that in exact plays. */
static void check_counts(const struct play *play, const struct process *process, size_t d)
{
    const struct weir_live *live = &process->router->live;
    uint64_t minute = minute_of(play), all, here, runs = 0;
    uint32_t slot = process->snapshot->deployments[d]->slot;

    for (size_t u = 0; u < WEIR_USAGES; u++) {
        all = 0;
        for (size_t i = 0; i < ROUTERS; i++)
            all += play->processes[i].own[d][u][minute % MINUTES];
        here = weir_usage_of(live, slot, (weir_usage_kind)u, minute);
        assert_true(here >= process->own[d][u][minute % MINUTES]);
        if (u != WEIR_USAGE_INPUT)
            assert_true(here <= all);
        if (play->exact)
            assert_int_equal(here, all);
    }
    for (size_t i = 0; i < ROUTERS; i++)
        runs += play->processes[i].run_count[d];
    assert_int_equal(weir_usage_running(live, slot), process->run_count[d]);
    assert_true(weir_usage_running_all(live, slot) >= process->run_count[d]);
    if (play->exact)
        assert_int_equal(weir_usage_running_all(live, slot), runs);
}

/* All failures of a counter that lives were told, if it is known of all that they came. */
static void check_counter(const struct play *play, const struct process *process, size_t d)
{
    uint64_t word = weir_live_counter(&process->router->live, process->snapshot->deployments[d]->slot,
                                      WEIR_LIVE_COUNTER_ROUTER);

    if (weir_live_counter_end_ms(word) <= play->now_ns / WEIR_NS_PER_MS || !play->exact)
        return;
    assert_int_equal(process->fails_end_ms[d], weir_live_counter_end_ms(word));
    assert_int_equal(process->fails_told[d], weir_live_counter_count(word));
}

static void check(const struct play *play)
{
    for (size_t i = 0; i < ROUTERS; i++)
        for (size_t d = 0; d < DEPLOYMENTS; d++) {
            check_counts(play, &play->processes[i], d);
            check_counter(play, &play->processes[i], d);
        }
}

static void end_all(struct play *play)
{
    for (size_t i = 0; i < ROUTERS; i++)
        for (size_t d = 0; d < DEPLOYMENTS; d++)
            while (play->processes[i].run_count[d] > 0)
                end(play, &play->processes[i], d);
}

static void run_plays(bool exact)
{
    struct play *play = malloc(sizeof(*play));

    assert_non_null(play);
    for (uint64_t seed = 1; seed <= PLAYS; seed++) {
        open_play(play, seed, exact);
        for (int i = 0; i < EVENTS; i++) {
            step(play);
            if (i % 300 == 299) {
                settle(play);
                check(play);
            }
        }
        end_all(play);
        settle(play);
        check(play);
        for (size_t d = 0; d < DEPLOYMENTS && exact; d++)
            assert_int_equal(play->running[d], 0);
        close_play(play);
    }
    free(play);
}

static void in_the_end_all_count_the_same(void **state)
{
    (void)state;
    run_plays(true);
}

static void nobody_counts_less_than_his_own_nor_more_than_there_was(void **state)
{
    (void)state;
    run_plays(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_the_end_all_count_the_same),
        cmocka_unit_test(nobody_counts_less_than_his_own_nor_more_than_there_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
