/*
 * The least speed of a stream (beyond 1) against a model that knows every token: whatever comes when, a
 * stream dies at the first end of a sixteenth, once the grace is over, whose window brought too little.
 */
#include "engine/call/rate.h"

#include "base/rand.h"
#include "base/time.h"
#include "unit.h"

#define SEEDS      3000
#define EVENTS     400
#define START_NS   (1000 * WEIR_NS_PER_S)
#define TOKENS_MAX 500

struct token {
    uint64_t time_ns;
    uint32_t count;
};

struct play {
    struct weir_rand rand;
    struct weir_stream_rate limit;
    struct weir_rate rate;
    struct token tokens[TOKENS_MAX];
    size_t token_count;
    uint64_t now_ns;
    uint64_t look_ns;
    uint64_t died_ns; /* 0: it lives */
};

static bool is_too_slow(const struct play *play, uint64_t border_ns)
{
    uint64_t window_ns = play->limit.window_ns, passed_ns = border_ns - START_NS, sum = 0;

    for (size_t i = 0; i < play->token_count; i++)
        if (play->tokens[i].time_ns <= border_ns &&
            (play->tokens[i].time_ns > border_ns - window_ns || passed_ns <= window_ns))
            sum += play->tokens[i].count;
    passed_ns = passed_ns < window_ns ? passed_ns : window_ns;
    return (double)sum < play->limit.tokens_per_s * weir_time_to_s(passed_ns);
}

/* The first border up to that time at which the stream is too slow; 0: none. */
static uint64_t model_death(const struct play *play, uint64_t until_ns)
{
    uint64_t width_ns = play->limit.window_ns / WEIR_RATE_BUCKETS;

    for (uint64_t border_ns = START_NS + width_ns; border_ns <= until_ns; border_ns += width_ns)
        if (border_ns >= START_NS + play->limit.grace_ns && is_too_slow(play, border_ns))
            return border_ns;
    return 0;
}

static void bring(struct play *play)
{
    uint32_t count = (uint32_t)weir_rand_below(&play->rand, 4);

    play->tokens[play->token_count++] = (struct token){play->now_ns, count};
    weir_rate_count(&play->rate, count, play->now_ns);
}

/* Mostly a steady step, sometimes none, rarely a long silence. */
static uint64_t next_time(struct play *play, uint64_t pace_ns)
{
    switch (weir_rand_below(&play->rand, 24)) {
    case 0:
        return play->now_ns + weir_rand_below(&play->rand, 2 * play->limit.window_ns);
    case 1:
        return play->now_ns;
    default:
        return play->now_ns + weir_rand_below(&play->rand, pace_ns);
    }
}

static void look(struct play *play)
{
    uint64_t next_ns = 0;

    play->now_ns = play->look_ns;
    if (weir_rate_look(&play->rate, play->now_ns, &next_ns)) {
        play->died_ns = play->now_ns;
        return;
    }
    assert_true(next_ns > play->now_ns);
    play->look_ns = next_ns;
}

static void play_seed(uint64_t seed)
{
    static struct play play;
    uint64_t pace_ns, next_ns;

    play = (struct play){.now_ns = START_NS};
    weir_rand_init(&play.rand, seed);
    pace_ns = WEIR_NS_PER_MS * (1 + weir_rand_below(&play.rand, 400));
    play.limit.tokens_per_s = (double)(1 + weir_rand_below(&play.rand, 40)) / 4;
    play.limit.window_ns = 16 * WEIR_NS_PER_MS * (1 + weir_rand_below(&play.rand, 600));
    play.limit.grace_ns = WEIR_NS_PER_MS * weir_rand_below(&play.rand, 12000);
    play.look_ns = weir_rate_begin(&play.rate, &play.limit, play.now_ns);
    bring(&play);
    next_ns = next_time(&play, pace_ns);
    for (size_t i = 1; i < EVENTS && play.died_ns == 0; i++) {
        if (play.look_ns < next_ns) {
            look(&play);
            continue;
        }
        play.now_ns = next_ns;
        bring(&play);
        next_ns = next_time(&play, pace_ns);
    }
    /* What a living stream has not been asked for yet is the border that is now. */
    assert_int_equal(play.died_ns, model_death(&play, play.died_ns == 0 ? play.now_ns - 1 : play.died_ns));
}

static void a_stream_dies_exactly_where_every_token_says_so(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        play_seed(seed);
}

static void no_least_speed_is_never_looked_at(void **state)
{
    const struct weir_stream_rate none = {0, WEIR_NS_PER_S, 0};
    struct weir_rate rate;
    (void)state;

    assert_int_equal(weir_rate_begin(&rate, &none, START_NS), WEIR_TIME_NEVER);
    weir_rate_count(&rate, 1, START_NS);
}

static void a_grace_for_ever_is_never_over(void **state)
{
    const struct weir_stream_rate patient = {1, WEIR_NS_PER_S, WEIR_TIME_NEVER - 1};
    struct weir_rate rate;
    (void)state;

    assert_int_equal(weir_rate_begin(&rate, &patient, START_NS), WEIR_TIME_NEVER);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_dies_exactly_where_every_token_says_so),
        cmocka_unit_test(no_least_speed_is_never_looked_at),
        cmocka_unit_test(a_grace_for_ever_is_never_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
