/*
 * A list is made by one walk over the ring, newest first, in pieces: it holds references to a few stories at
 * a time, and stops when it has enough.  What comes while it is written is not in it.
 */
#include "gateway/endpoint/calls.h"

#include <weir/error.h>
#include <weir/event.h>

#include "base/slice.h"
#include "base/text.h"
#include "gateway/answer/pieces.h"
#include "gateway/answer/reply.h"
#include "gateway/feed/feed.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/request/parameter.h"
#include "gateway/story/event_json.h"
#include "gateway/story/stories.h"
#include "gateway/worker.h"
#include "wire/json_write.h"

enum { PAGE_MAX = 12 * 1024 * 1024, BATCH = 64, BATCHES = 16, LIMIT = 100, LIMIT_MAX = 1000 };

/* What the query asks for. */
struct filter {
    uint64_t limit;
    struct weir_slice model; /* in the arena; asked, or the group that served; empty: any */
    uint64_t kinds;          /* bits of events of which one must be there; 0: any */
    bool by_state;
    weir_call_state state;
};

/* A list while it is written. */
struct page {
    struct filter filter; /* limit: of those that may still come */
    uint64_t cursor;      /* UINT64_MAX: nothing is written yet */
    bool any;
};

/* ---- what is asked ---- */

static struct weir_stories *stories_of(const struct weir_job *job)
{
    return &job->worker->gateway->stories;
}

static int refuse(struct weir_job *job, struct weir_slice name, struct weir_slice what,
                  struct weir_problem *ret_problem)
{
    return WEIR_REFUSE(ret_problem, &job->arena, 400, name, name, what);
}

/* The names of events with commas between them, as bits. */
static int read_kinds(struct weir_job *job, struct weir_slice text, uint64_t *ret_kinds,
                      struct weir_problem *ret_problem)
{
    static const char all[] = "'; there are"
#define X(event, name, prose) " " name
#include <weir/tbl/events.h>
#undef X
        ;
    const uint64_t of_calls = (UINT64_C(1) << WEIR_EVENT_KINDS) - 1;
    struct weir_slice name;
    bool done = false;

    *ret_kinds = 0;
    while (weir_slice_cut(&text, ',', &done, &name)) {
        uint64_t kinds = weir_feed_kinds_named(name) & of_calls;

        if (kinds == 0)
            return WEIR_REFUSE(ret_problem, &job->arena, 400, WEIR_SLICE("kind"),
                               WEIR_SLICE("no call has events of the kind '"), name, weir_slice_str(all));
        *ret_kinds |= kinds;
    }
    return 0;
}

static bool read_state(struct weir_slice text, struct filter *filter)
{
    for (unsigned state = WEIR_CALL_SUCCEEDED; state <= WEIR_CALL_CLIENT_GONE; state++)
        if (weir_slice_eq(weir_call_state_name(state), text)) {
            filter->by_state = true;
            filter->state = state;
            return true;
        }
    return false;
}

static bool read_limit(struct weir_slice text, uint64_t *ret_limit)
{
    return weir_slice_u64(text, ret_limit) == 0 && *ret_limit > 0 && *ret_limit <= LIMIT_MAX;
}

/* Empty where there is none; 0, WEIR_REFUSED or negative. */
static int parameter(struct weir_job *job, struct weir_slice name, struct weir_slice *ret_value,
                     struct weir_problem *ret_problem)
{
    int r = weir_parameter(job, name, ret_value, ret_problem);

    if (r != WEIR_PARAMETER_ABSENT)
        return r;
    *ret_value = WEIR_SLICE_EMPTY;
    return 0;
}

static int read_filter(struct weir_job *job, struct filter *ret_filter, struct weir_problem *ret_problem)
{
    struct weir_slice limit, kind, state;
    int r = parameter(job, WEIR_SLICE("model"), &ret_filter->model, ret_problem);

    if (r == 0)
        r = parameter(job, WEIR_SLICE("limit"), &limit, ret_problem);
    if (r == 0 && limit.len > 0 && !read_limit(limit, &ret_filter->limit))
        r = refuse(job, WEIR_SLICE("limit"), WEIR_SLICE(" must be a number from 1 to 1000"), ret_problem);
    if (r == 0)
        r = parameter(job, WEIR_SLICE("kind"), &kind, ret_problem);
    if (r == 0 && kind.len > 0)
        r = read_kinds(job, kind, &ret_filter->kinds, ret_problem);
    if (r == 0)
        r = parameter(job, WEIR_SLICE("status"), &state, ret_problem);
    if (r == 0 && state.len > 0 && !read_state(state, ret_filter))
        r = refuse(job, WEIR_SLICE("status"), WEIR_SLICE(" must be succeeded, failed or client_gone"),
                   ret_problem);
    return r;
}

/* ---- what is shown ---- */

static void put_known(struct weir_json_writer *writer, struct weir_slice key, uint64_t number)
{
    if (number > 0)
        weir_json_put_u64_member(writer, key, number);
}

static void put_cost(struct weir_json_writer *writer, uint64_t picodollars)
{
    char digits[WEIR_TEXT_FIXED_MAX];

    if (picodollars == 0)
        return;
    weir_json_put_key(writer, WEIR_SLICE("cost"));
    weir_json_put_raw(writer, weir_text_short(picodollars, 12, digits));
}

/* The members that a call has in the list and by itself. */
static void put_call(struct weir_json_writer *writer, const struct weir_story *story,
                     const struct weir_access *facts)
{
    weir_event_json_text(writer, WEIR_SLICE("call_id"), facts->call_id);
    weir_event_json_time(writer, WEIR_SLICE("time"), story->wall_ns);
    weir_event_json_text(writer, WEIR_SLICE("state"), weir_call_state_name(story->state));
    weir_event_json_text(writer, WEIR_SLICE("model"), facts->model);
    weir_event_json_text(writer, WEIR_SLICE("group"), facts->group);
    weir_event_json_text(writer, WEIR_SLICE("deployment"), facts->deployment);
    weir_event_json_text(writer, WEIR_SLICE("route"), facts->route);
    weir_json_put_bool_member(writer, WEIR_SLICE("stream"), facts->stream);
    weir_json_put_u64_member(writer, WEIR_SLICE("status"), facts->status);
    weir_event_json_text(writer, WEIR_SLICE("kind"), facts->kind);
    weir_event_json_text(writer, WEIR_SLICE("cause"), facts->cause);
    weir_event_json_text(writer, WEIR_SLICE("end"), facts->end);
    weir_event_json_text(writer, WEIR_SLICE("finish"), facts->finish);
    weir_event_json_text(writer, WEIR_SLICE("recovery"), facts->recovery);
    weir_json_put_u64_member(writer, WEIR_SLICE("attempts"), facts->attempts);
    weir_json_put_u64_member(writer, WEIR_SLICE("retries"), facts->retries);
    weir_json_put_u64_member(writer, WEIR_SLICE("fallbacks"), facts->fallbacks);
    weir_event_json_ms(writer, WEIR_SLICE("duration_ms"), facts->duration_ns);
    if (facts->queued_ns > 0)
        weir_event_json_ms(writer, WEIR_SLICE("queued_ms"), facts->queued_ns);
    if (facts->first_ns > 0)
        weir_event_json_ms(writer, WEIR_SLICE("first_ms"), facts->first_ns);
    put_known(writer, WEIR_SLICE("prompt_tokens"), facts->prompt_tokens);
    put_known(writer, WEIR_SLICE("completion_tokens"), facts->completion_tokens);
    put_cost(writer, facts->cost);
}

static void put_events(struct weir_json_writer *writer, const struct weir_story *story)
{
    const struct weir_event_place place = {
        .wall_ns = story->wall_ns, .at_ns = story->begun_ns, .in_call = true};
    struct weir_story_reader reader;
    struct weir_event event;

    weir_story_read(story, &reader);
    weir_json_put_key(writer, WEIR_SLICE("events"));
    weir_json_open(writer, '[');
    while (weir_story_next(&reader, &event))
        weir_event_json(writer, &event, &place);
    weir_json_close(writer, ']');
    weir_json_put_u64_member(writer, WEIR_SLICE("events_lost"), story->events_lost);
}

/* ---- the list ---- */

static bool fits(const struct filter *filter, const struct weir_story *story, struct weir_access *ret_facts)
{
    if ((filter->by_state && story->state != filter->state) ||
        (filter->kinds != 0 && (story->kinds & filter->kinds) == 0))
        return false;
    weir_story_facts(story, ret_facts);
    return filter->model.len == 0 || weir_slice_eq(ret_facts->model, filter->model) ||
           weir_slice_eq(ret_facts->group, filter->model);
}

static void put_fitting(struct weir_json_writer *writer, struct page *page, const struct weir_story *story)
{
    struct weir_access facts;

    if (page->filter.limit == 0 || !fits(&page->filter, story, &facts))
        return;
    weir_json_open(writer, '{');
    put_call(writer, story, &facts);
    weir_json_close(writer, '}');
    page->filter.limit--;
    page->any = true;
}

static void begin_page(struct weir_json_writer *writer, struct weir_stories *stories)
{
    struct weir_stories_view view;

    weir_stories_view(stories, &view);
    weir_json_open(writer, '{');
    weir_event_json_time(writer, WEIR_SLICE("since"), view.since_ns);
    weir_json_put_u64_member(writer, WEIR_SLICE("kept"), view.count);
    weir_json_put_u64_member(writer, WEIR_SLICE("max"), view.max);
    weir_json_put_key(writer, WEIR_SLICE("calls"));
    weir_json_open(writer, '[');
}

/* A turn of the loop looks at so many stories, or writes one piece. */
static int make_piece(struct weir_job *job, void *user, struct weir_buf *buf)
{
    struct page *page = user;
    struct weir_story *batch[BATCH];
    struct weir_json_writer writer;
    size_t count = 1;

    weir_json_writer_init(&writer, buf);
    if (page->cursor == UINT64_MAX)
        begin_page(&writer, stories_of(job));
    else
        writer.comma = page->any;
    for (size_t i = 0; i < BATCHES && count > 0 && weir_buf_len(buf) < WEIR_PIECE_BYTES; i++) {
        count =
            page->filter.limit == 0 ? 0 : weir_stories_before(stories_of(job), &page->cursor, batch, BATCH);
        for (size_t n = 0; n < count; n++) {
            put_fitting(&writer, page, batch[n]);
            weir_story_unref(batch[n]);
        }
    }
    if (count == 0) {
        weir_json_close(&writer, ']');
        weir_json_close(&writer, '}');
    }
    return weir_json_writer_end(&writer) < 0 ? weir_json_writer_end(&writer)
           : count > 0                       ? WEIR_PIECES_MORE
                                             : 0;
}

void weir_calls_list(struct weir_job *job)
{
    struct page *page = weir_arena_zalloc(&job->arena, 1, sizeof(*page));
    struct weir_problem problem;
    int r = WEIR_ERR_NOMEM;

    if (page != NULL) {
        page->filter.limit = LIMIT;
        page->cursor = UINT64_MAX;
        r = read_filter(job, &page->filter, &problem);
    }
    if (r != 0)
        weir_reply_refusal(job, r, &problem);
    else
        weir_pieces_begin(job, WEIR_SLICE("application/json"), make_piece, page);
}

/* ---- one ---- */

static void answer_unknown(struct weir_job *job)
{
    struct weir_stories_view view;
    struct weir_problem problem;
    char since[WEIR_TEXT_TIME_MAX], digits[WEIR_TEXT_U64_MAX];
    int r;

    weir_stories_view(stories_of(job), &view);
    r = WEIR_REFUSE(
        &problem, &job->arena, 404, WEIR_SLICE("call_id"),
        WEIR_SLICE("No call of this id is remembered: weir remembers those that have ended since "),
        weir_text_time(view.since_ns, since), WEIR_SLICE(", the newest "), weir_text_u64(view.max, digits),
        WEIR_SLICE(" at most (weir_settings.trace_calls, trace_max_bytes)"));
    weir_reply_refusal(job, r, &problem);
}

static void answer_story(struct weir_job *job, const struct weir_story *story)
{
    struct weir_json_writer writer;
    struct weir_access facts;
    struct weir_buf body;

    weir_story_facts(story, &facts);
    weir_buf_init(&body, weir_arena_mem(&job->arena), PAGE_MAX);
    weir_json_writer_init(&writer, &body);
    weir_json_open(&writer, '{');
    weir_event_json_time(&writer, WEIR_SLICE("since"), stories_of(job)->since_ns);
    put_call(&writer, story, &facts);
    put_events(&writer, story);
    weir_json_close(&writer, '}');
    weir_reply_written(job, &writer, &body);
}

void weir_calls_one(struct weir_job *job, struct weir_slice id)
{
    struct weir_story *story = weir_stories_find(stories_of(job), id);

    if (story == NULL)
        answer_unknown(job);
    else
        answer_story(job, story);
    weir_story_unref(story);
}
