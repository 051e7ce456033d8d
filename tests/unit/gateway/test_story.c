/* What is written into a story is what is read from it: each kind of event by the table of its fields. */
#include "unit.h"

#include <string.h>

#include <weir/mem_libc.h>

#include "base/arena.h"
#include "base/rand.h"
#include "base/slice.h"
#include "base/time.h"
#include "gateway/story/draft.h"
#include "gateway/story/event_fields.h"
#include "test_mem.h"

enum { BEGUN_NS = 1000000 };

static const struct weir_slice names[] = {WEIR_SLICE_INIT("gpt-4o"), WEIR_SLICE_INIT("azure-eu"),
                                          WEIR_SLICE_INIT("claude"), WEIR_SLICE_INIT("")};

static const struct weir_candidate candidates[] = {
    {WEIR_SLICE_INIT("azure-eu"), WEIR_FATE_COOLDOWN, BEGUN_NS + 5},
    {WEIR_SLICE_INIT("azure-us"), WEIR_FATE_CHOSEN, 0},
    {WEIR_SLICE_INIT("openai"), WEIR_FATE_NOT_CHOSEN, BEGUN_NS},
};

static struct weir_access facts(void)
{
    return (struct weir_access){.call_id = WEIR_SLICE("01234567-89ab-4def-8123-456789abcdef"),
                                .model = names[0],
                                .group = names[0],
                                .deployment = names[1],
                                .status = 200,
                                .attempts = 2,
                                .duration_ns = 831 * WEIR_NS_PER_MS,
                                .stream = true};
}

/* A value that no other field of the event has, and that fits the type. */
static void fill(const struct weir_event_field *field, char *value, unsigned n)
{
    const struct weir_failure failure = {WEIR_KIND_RATE_LIMIT, 400 + (int)n, n * WEIR_NS_PER_S,
                                         WEIR_ORIGIN_CALLER_LIMIT};
    const struct weir_stream_facts stream = {n, 2 * n, UINT64_MAX - n, n, 1};
    const uint64_t number = UINT64_MAX / (n + 1);
    const uint32_t small = UINT32_MAX / (n + 1);
    const uint64_t time_ns = BEGUN_NS + n;
    const int32_t order = n % 2 == 0 ? INT32_MAX : -(int32_t)n;
    const bool flag = true;
    const weir_hop_kind hop = WEIR_HOP_SIBLING;
    const weir_refused what = WEIR_REFUSED_HEDGE;
    const weir_cooldown_rule rule = WEIR_COOLDOWN_FAILURE_SHARE;
    const weir_pick_purpose purpose = WEIR_PICK_PURPOSES - 1;
    const struct weir_candidate *list = candidates;

#define FILL(type, with)                                                                                     \
    case WEIR_FIELD_##type:                                                                                  \
        memcpy(value, &(with), sizeof(with));                                                                \
        return;
    switch (field->type) {
        FILL(U32, small)
        FILL(U64, number)
        FILL(MS, number)
        FILL(S, number)
        FILL(TIME, time_ns)
        FILL(FLAG, flag)
        FILL(TEXT, names[n % 3])
        FILL(ORDER, order)
        FILL(FAILURE, failure)
        FILL(STREAM, stream)
        FILL(HOP, hop)
        FILL(REFUSED, what)
        FILL(RULE, rule)
        FILL(PURPOSE, purpose)
        FILL(CANDIDATES, list)
    case WEIR_FIELD_END:
        return;
    }
#undef FILL
}

static struct weir_event event_of(weir_event_kind kind)
{
    struct weir_event event;
    unsigned n = 1;

    memset(&event, 0, sizeof(event)); /* what lies between members too */
    event.kind = kind;
    event.time_ns = BEGUN_NS + 17 * (uint64_t)kind;
    event.attempt = (uint32_t)kind;
    event.group = names[kind % 3];
    event.deployment = names[kind % 4];
    for (const struct weir_event_field *f = weir_event_fields(kind); f->type != WEIR_FIELD_END; f++)
        fill(f, (char *)&event + f->offset, n++);
    if (kind == WEIR_EVENT_PICKED) {
        event.u.picked.count = sizeof(candidates) / sizeof(candidates[0]);
        event.u.picked.omitted = 3;
    }
    return event;
}

static void assert_failure_eq(const struct weir_failure *a, const struct weir_failure *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->retry_after_ns, b->retry_after_ns);
    assert_int_equal(a->origin, b->origin);
}

static void assert_stream_eq(const struct weir_stream_facts *a, const struct weir_stream_facts *b)
{
    assert_int_equal(a->first_chunk_ns, b->first_chunk_ns);
    assert_int_equal(a->first_content_ns, b->first_content_ns);
    assert_int_equal(a->longest_silence_ns, b->longest_silence_ns);
    assert_int_equal(a->chunks, b->chunks);
    assert_int_equal(a->deltas, b->deltas);
}

static void assert_candidates_eq(const struct weir_event *a, const struct weir_event *b)
{
    assert_int_equal(a->u.picked.count, b->u.picked.count);
    assert_int_equal(a->u.picked.omitted, b->u.picked.omitted);
    for (uint32_t i = 0; i < a->u.picked.count; i++) {
        assert_true(
            weir_slice_eq(a->u.picked.candidates[i].deployment, b->u.picked.candidates[i].deployment));
        assert_int_equal(a->u.picked.candidates[i].fate, b->u.picked.candidates[i].fate);
        assert_int_equal(a->u.picked.candidates[i].until_ns, b->u.picked.candidates[i].until_ns);
    }
}

static void assert_field_eq(enum weir_field_type type, const void *a, const void *b)
{
    static const size_t sizes[] = {[WEIR_FIELD_U32] = sizeof(uint32_t),
                                   [WEIR_FIELD_U64] = sizeof(uint64_t),
                                   [WEIR_FIELD_MS] = sizeof(uint64_t),
                                   [WEIR_FIELD_S] = sizeof(uint64_t),
                                   [WEIR_FIELD_TIME] = sizeof(uint64_t),
                                   [WEIR_FIELD_FLAG] = sizeof(bool),
                                   [WEIR_FIELD_ORDER] = sizeof(int32_t),
                                   [WEIR_FIELD_HOP] = sizeof(weir_hop_kind),
                                   [WEIR_FIELD_REFUSED] = sizeof(weir_refused),
                                   [WEIR_FIELD_RULE] = sizeof(weir_cooldown_rule),
                                   [WEIR_FIELD_PURPOSE] = sizeof(weir_pick_purpose)};

    if (type == WEIR_FIELD_TEXT)
        assert_true(weir_slice_eq(*(const struct weir_slice *)a, *(const struct weir_slice *)b));
    else if (type == WEIR_FIELD_FAILURE)
        assert_failure_eq(a, b);
    else if (type == WEIR_FIELD_STREAM)
        assert_stream_eq(a, b);
    else
        assert_memory_equal(a, b, sizes[type]);
}

static void assert_event_eq(const struct weir_event *a, const struct weir_event *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->time_ns, b->time_ns);
    assert_int_equal(a->attempt, b->attempt);
    assert_true(weir_slice_eq(a->group, b->group));
    assert_true(weir_slice_eq(a->deployment, b->deployment));
    for (const struct weir_event_field *f = weir_event_fields(a->kind); f->type != WEIR_FIELD_END; f++)
        if (f->type == WEIR_FIELD_CANDIDATES)
            assert_candidates_eq(a, b);
        else
            assert_field_eq(f->type, (const char *)a + f->offset, (const char *)b + f->offset);
}

static int begin(void **state)
{
    static struct weir_arena arena;

    weir_arena_init(&arena, weir_mem_libc(), 4096, 1024 * 1024);
    *state = &arena;
    return 0;
}

static int end(void **state)
{
    weir_arena_deinit(*state);
    return 0;
}

static struct weir_story *story_of(struct weir_draft *draft, const struct weir_access *access)
{
    struct weir_story *story =
        weir_draft_end(draft, access, BEGUN_NS + 5, 1000 * WEIR_NS_PER_S + 5, weir_mem_libc());

    assert_non_null(story);
    return story;
}

static void every_kind_of_event_is_read_as_it_was_written(void **state)
{
    struct weir_draft *draft = weir_draft_new(*state, BEGUN_NS);
    struct weir_access access = facts();
    struct weir_story_reader reader;
    struct weir_story *story;
    struct weir_event event;

    for (unsigned kind = 0; kind < WEIR_EVENT_KINDS; kind++) {
        event = event_of(kind);
        weir_draft_add(draft, &event);
    }
    story = story_of(draft, &access);
    weir_story_read(story, &reader);
    for (unsigned kind = 0; kind < WEIR_EVENT_KINDS; kind++) {
        struct weir_event wanted = event_of(kind);

        assert_true(weir_story_next(&reader, &event));
        assert_event_eq(&event, &wanted);
    }
    assert_false(weir_story_next(&reader, &event));
    assert_int_equal(story->kinds, (UINT64_C(1) << WEIR_EVENT_KINDS) - 1);
    assert_int_equal(story->events_lost, 0);
    weir_story_unref(story);
}

static void the_facts_are_those_of_the_log(void **state)
{
    struct weir_draft *draft = weir_draft_new(*state, BEGUN_NS);
    struct weir_access access = facts(), read;
    struct weir_story *story = story_of(draft, &access);

    weir_story_facts(story, &read);
    assert_slice_is(read.call_id, "01234567-89ab-4def-8123-456789abcdef");
    assert_slice_is(read.model, "gpt-4o");
    assert_slice_is(read.deployment, "azure-eu");
    assert_slice_is(read.kind, "");
    assert_int_equal(read.status, 200);
    assert_int_equal(read.attempts, 2);
    assert_int_equal(read.duration_ns, 831 * WEIR_NS_PER_MS);
    assert_true(read.stream);
    assert_false(read.tokens_counted);
    assert_int_equal(story->wall_ns, 1000 * WEIR_NS_PER_S);
    assert_int_equal(weir_story_wall(story, BEGUN_NS + 7), 1000 * WEIR_NS_PER_S + 7);
    weir_story_unref(story);
}

static void a_text_stands_in_a_story_once(void **state)
{
    struct weir_draft *draft = weir_draft_new(*state, BEGUN_NS);
    const struct weir_event event = {
        .kind = WEIR_EVENT_ATTEMPT_STARTED, .time_ns = BEGUN_NS, .group = names[0], .deployment = names[1]};
    const struct weir_event turned = {
        .kind = WEIR_EVENT_ATTEMPT_STARTED, .time_ns = BEGUN_NS, .group = names[1], .deployment = names[0]};

    weir_draft_add(draft, &event);
    weir_draft_add(draft, &event);
    weir_draft_add(draft, &turned);
    /* Kind, time, attempt, two texts with a number before each; nothing for what is as before; two numbers
     * for what is known. */
    assert_int_equal(draft->pen.len, (3 + 1 + 6 + 1 + 8) + 3 + (3 + 2));
}

static void numbers_of_every_length_are_read_as_they_were_written(void **state)
{
    for (unsigned bit = 0; bit <= 64; bit++)
        for (uint64_t less = 0; less < 3; less++) {
            uint64_t number = (bit == 64 ? 0 : UINT64_C(1) << bit) - less;
            struct weir_draft *draft = weir_draft_new(*state, BEGUN_NS);
            struct weir_event event = {
                .kind = WEIR_EVENT_HEDGED, .time_ns = BEGUN_NS, .u.hedged = {.waited_ns = number}};
            struct weir_story_reader reader;

            weir_draft_add(draft, &event);
            reader = weir_draft_read(draft);
            assert_true(weir_story_next(&reader, &event));
            assert_true(event.u.hedged.waited_ns == number);
            assert_false(weir_story_next(&reader, &event));
        }
}

static void of_too_many_candidates_the_first_are_kept(void **state)
{
    struct weir_draft *draft = weir_draft_new(*state, BEGUN_NS);
    static const struct weir_candidate many[WEIR_STORY_CANDIDATES_MAX + 4] = {
        {WEIR_SLICE_INIT("azure-eu"), WEIR_FATE_CHOSEN, 0}};
    struct weir_event event = {
        .kind = WEIR_EVENT_PICKED,
        .time_ns = BEGUN_NS,
        .u.picked = {.candidates = many, .count = WEIR_STORY_CANDIDATES_MAX + 4, .omitted = 2}};
    struct weir_story_reader reader;

    weir_draft_add(draft, &event);
    reader = weir_draft_read(draft);
    assert_true(weir_story_next(&reader, &event));
    assert_int_equal(event.u.picked.count, WEIR_STORY_CANDIDATES_MAX);
    assert_int_equal(event.u.picked.omitted, 6);
    assert_slice_is(event.u.picked.candidates[0].deployment, "azure-eu");
    assert_false(weir_story_next(&reader, &event));
}

static void an_event_before_the_call_began_stands_at_its_beginning(void **state)
{
    struct weir_draft *draft = weir_draft_new(*state, BEGUN_NS);
    struct weir_event event = {.kind = WEIR_EVENT_RETRY, .time_ns = BEGUN_NS - 1};
    struct weir_story_reader reader;

    weir_draft_add(draft, &event);
    reader = weir_draft_read(draft);
    assert_true(weir_story_next(&reader, &event));
    assert_int_equal(event.time_ns, BEGUN_NS);
}

static void a_long_text_is_cut(void **state)
{
    static const char text[WEIR_STORY_TEXT_MAX + 100] = {'x'};
    struct weir_draft *draft = weir_draft_new(*state, BEGUN_NS);
    struct weir_event event = {.kind = WEIR_EVENT_RETRY,
                               .time_ns = BEGUN_NS,
                               .group = {text, sizeof(text)},
                               .deployment = {text, 3}};
    struct weir_story_reader reader;

    weir_draft_add(draft, &event);
    reader = weir_draft_read(draft);
    assert_true(weir_story_next(&reader, &event));
    assert_int_equal(event.group.len, WEIR_STORY_TEXT_MAX);
    assert_int_equal(event.deployment.len, 3);
}

static void a_story_that_overflows_keeps_what_came_first_and_counts_the_rest(void **state)
{
    static char texts[4096][8];
    struct weir_draft *draft = weir_draft_new(*state, BEGUN_NS);
    struct weir_access access = facts();
    struct weir_story_reader reader;
    struct weir_story *story;
    struct weir_event event = {.kind = WEIR_EVENT_ATTEMPT_STARTED, .time_ns = BEGUN_NS};
    uint32_t kept = 0;

    for (uint32_t i = 0; i < 4096; i++) {
        event.attempt = i;
        event.group = (struct weir_slice){texts[i], sizeof(texts[i])};
        weir_draft_add(draft, &event);
    }
    event.kind = WEIR_EVENT_FAILED;
    weir_draft_add(draft, &event);
    story = story_of(draft, &access);
    weir_story_read(story, &reader);
    for (; weir_story_next(&reader, &event); kept++)
        assert_int_equal(event.attempt, kept);
    assert_in_range(kept, 100, 4095);
    assert_int_equal(kept + story->events_lost, 4097);
    assert_in_range(story->facts_at, WEIR_STORY_EVENTS_MAX - 128, WEIR_STORY_EVENTS_MAX);
    assert_int_equal(story->kinds, 1 << WEIR_EVENT_ATTEMPT_STARTED);
    weir_story_facts(story, &access);
    assert_slice_is(access.model, "gpt-4o");
    weir_story_unref(story);
}

enum { RANDOM_EVENTS = 400, RANDOM_TEXTS = 40 };

/* Some event with texts of any length, the longest longer than what is kept. */
static struct weir_event random_event(struct weir_rand *rand, char texts[RANDOM_TEXTS][400],
                                      struct weir_candidate list[WEIR_STORY_CANDIDATES_MAX])
{
    struct weir_event event = event_of((weir_event_kind)weir_rand_below(rand, WEIR_EVENT_KINDS));
    struct weir_slice text[4 + WEIR_STORY_CANDIDATES_MAX];

    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
        text[i] =
            (struct weir_slice){texts[weir_rand_below(rand, RANDOM_TEXTS)],
                                (size_t)weir_rand_below(rand, weir_rand_below(rand, 2) == 0 ? 20 : 400)};
    event.group = text[0];
    event.deployment = text[1];
    event.time_ns = BEGUN_NS + (weir_rand_u64(rand) >> weir_rand_below(rand, 64)) / 2;
    event.attempt = (uint32_t)(weir_rand_u64(rand) >> weir_rand_below(rand, 64));
    if (event.kind == WEIR_EVENT_FALLBACK) {
        event.u.fallback.source = text[2];
        event.u.fallback.target = text[3];
    } else if (event.kind == WEIR_EVENT_PICKED) {
        event.u.picked.candidates = list;
        event.u.picked.count = (uint32_t)weir_rand_below(rand, WEIR_STORY_CANDIDATES_MAX + 1);
        for (uint32_t i = 0; i < event.u.picked.count; i++)
            list[i] = (struct weir_candidate){text[4 + i], WEIR_FATE_COOLDOWN, event.time_ns};
    }
    return event;
}

static struct weir_slice cut(struct weir_slice text)
{
    return weir_slice_sub(text, 0, WEIR_STORY_TEXT_MAX);
}

/* The event as it is kept. */
static void cut_texts(struct weir_event *event, struct weir_candidate list[WEIR_STORY_CANDIDATES_MAX])
{
    event->group = cut(event->group);
    event->deployment = cut(event->deployment);
    if (event->kind == WEIR_EVENT_FALLBACK) {
        event->u.fallback.source = cut(event->u.fallback.source);
        event->u.fallback.target = cut(event->u.fallback.target);
    } else if (event->kind == WEIR_EVENT_PICKED) {
        event->u.picked.candidates = list;
        for (uint32_t i = 0; i < event->u.picked.count; i++)
            list[i].deployment = cut(list[i].deployment);
    }
}

static void random_events_are_read_as_they_were_written(void **state)
{
    static struct weir_candidate lists[RANDOM_EVENTS][WEIR_STORY_CANDIDATES_MAX];
    static struct weir_event kept[RANDOM_EVENTS];
    static char texts[RANDOM_TEXTS][400];
    struct weir_rand rand;
    struct weir_event event;

    weir_rand_init(&rand, 7);
    for (size_t i = 0; i < RANDOM_TEXTS; i++)
        memset(texts[i], (int)('a' + i), sizeof(texts[i]));
    for (unsigned round = 0; round < 50; round++) {
        struct weir_draft *draft = weir_draft_new(*state, BEGUN_NS);
        struct weir_story_reader reader;
        uint32_t count = 0;

        for (unsigned i = 0; i < RANDOM_EVENTS; i++) {
            uint32_t lost = draft->events_lost;

            kept[count] = random_event(&rand, texts, lists[count]);
            weir_draft_add(draft, &kept[count]);
            count += draft->events_lost == lost;
        }
        assert_true(draft->pen.len <= WEIR_STORY_EVENTS_MAX && count < RANDOM_EVENTS);
        reader = weir_draft_read(draft);
        for (uint32_t i = 0; i < count; i++) {
            cut_texts(&kept[i], lists[i]);
            assert_true(weir_story_next(&reader, &event));
            assert_event_eq(&event, &kept[i]);
        }
        assert_false(weir_story_next(&reader, &event));
        weir_arena_reset(*state);
    }
}

static void a_story_without_memory_is_none(void **state)
{
    struct weir_draft *draft = weir_draft_new(*state, BEGUN_NS);
    struct weir_access access = facts();
    struct test_mem mem;

    test_mem_init(&mem, 1);
    assert_null(weir_draft_end(draft, &access, BEGUN_NS, BEGUN_NS, &mem.mem));
    test_mem_assert_empty(&mem);
}

static void a_call_ends_in_one_state(void **state)
{
    static const struct {
        struct weir_access access;
        const char *name;
    } rows[] = {
        {{.status = 200}, "succeeded"},
        {{.status = 429, .kind = WEIR_SLICE_INIT("rate_limit")}, "failed"},
        {{.status = 400}, "failed"},
        {{.status = 200, .end = WEIR_SLICE_INIT("cut"), .kind = WEIR_SLICE_INIT("internal")}, "failed"},
        {{.status = 200, .end = WEIR_SLICE_INIT("late")}, "failed"},
        {{.status = 200, .end = WEIR_SLICE_INIT("gone")}, "client_gone"},
        {{.status = 499, .end = WEIR_SLICE_INIT("gone")}, "client_gone"},
        {{.status = 500, .end = WEIR_SLICE_INIT("gone"), .kind = WEIR_SLICE_INIT("internal")}, "failed"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_slice_is(weir_call_state_name(weir_call_state_of(&rows[i].access)), rows[i].name);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(every_kind_of_event_is_read_as_it_was_written),
        TEST(the_facts_are_those_of_the_log),
        TEST(a_text_stands_in_a_story_once),
        TEST(an_event_before_the_call_began_stands_at_its_beginning),
        TEST(numbers_of_every_length_are_read_as_they_were_written),
        TEST(of_too_many_candidates_the_first_are_kept),
        TEST(a_long_text_is_cut),
        TEST(a_story_that_overflows_keeps_what_came_first_and_counts_the_rest),
        TEST(random_events_are_read_as_they_were_written),
        TEST(a_story_without_memory_is_none),
        TEST(a_call_ends_in_one_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
