/*
 * The page is made piece by piece, group by group.  For each group the engine explains what a request for its
 * name would find; what it says of the deployments is copied, and those are then written a few at a time.  So
 * the page needs memory for the numbers of all deployments and for the fates of one group.
 *
 * A piece is made by what is known then: the page is no picture of one moment.
 *
 * A group that no request can name, because an alias, an id or a routing group has its name, is shown all the
 * same.
 */
#include "gateway/endpoint/state.h"

#include <string.h>

#include <weir/error.h>
#include <weir/explain.h>

#include "base/map.h"
#include "base/slice.h"
#include "base/time.h"
#include "gateway/answer/pieces.h"
#include "gateway/answer/reply.h"
#include "gateway/background/sharing.h"
#include "gateway/endpoint/deployment_state.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/setup.h"
#include "gateway/story/event_json.h"
#include "gateway/worker.h"

struct fate {
    struct weir_slice why; /* empty: it may be picked */
    int32_t order;
    double odds;
};

struct page {
    struct weir_json_writer writer;
    uint32_t *starts;   /* of groups, in members; and the end of the last */
    uint32_t *members;  /* numbers of deployments, group by group */
    struct fate *fates; /* of the group that is written, in the order of its members */
    size_t group;
    size_t at; /* in members */
    bool begun;
    bool group_open;
    uint32_t eligible; /* of the group */
    uint64_t in_flight;
};

static const weir_snapshot *snapshot_of(const struct weir_job *job)
{
    return job->setup->snapshot;
}

/* ---- which deployments a group has ---- */

/* Counts those of each group behind its place in starts, to which the map leads. */
static int count_members(const weir_snapshot *snapshot, const struct weir_map *groups, uint32_t *ret_largest)
{
    uint32_t largest = 0;

    for (size_t i = 0; i < weir_snapshot_deployment_count(snapshot); i++) {
        uint32_t *start = weir_map_get(groups, weir_deployment_group(weir_snapshot_deployment(snapshot, i)));

        if (start == NULL)
            return WEIR_ERR_INVALID;
        start[1]++;
        largest = start[1] > largest ? start[1] : largest;
    }
    *ret_largest = largest;
    return 0;
}

/* Lays the numbers out group by group; starts[i + 1] moves from the start of group i to its end. */
static void sort_members(const weir_snapshot *snapshot, const struct weir_map *groups, struct page *page)
{
    size_t count = weir_snapshot_group_count(snapshot);
    uint32_t before = 0;

    for (size_t i = 1; i <= count; i++) {
        uint32_t size = page->starts[i];

        page->starts[i] = before;
        before += size;
    }
    for (size_t i = 0; i < weir_snapshot_deployment_count(snapshot); i++) {
        uint32_t *start = weir_map_get(groups, weir_deployment_group(weir_snapshot_deployment(snapshot, i)));

        page->members[start[1]++] = (uint32_t)i;
    }
}

static int map_groups(const weir_snapshot *snapshot, uint32_t *starts, struct weir_map *groups)
{
    int r = 0;

    for (size_t i = 0; i < weir_snapshot_group_count(snapshot) && r >= 0; i++)
        r = weir_map_add(groups, weir_snapshot_group_name(snapshot, i), &starts[i]);
    return r < 0 ? r : 0;
}

static int index_members(struct weir_job *job, struct page *page)
{
    const weir_snapshot *snapshot = snapshot_of(job);
    size_t group_count = weir_snapshot_group_count(snapshot),
           count = weir_snapshot_deployment_count(snapshot);
    struct weir_map groups;
    uint32_t largest = 0;
    int r;

    page->starts = weir_arena_zalloc(&job->arena, group_count + 1, sizeof(*page->starts));
    page->members = weir_arena_zalloc(&job->arena, count + 1, sizeof(*page->members));
    if (page->starts == NULL || page->members == NULL)
        return WEIR_ERR_NOMEM;
    weir_map_init(&groups, weir_arena_mem(&job->arena), group_count + 1);
    r = map_groups(snapshot, page->starts, &groups);
    if (r == 0)
        r = count_members(snapshot, &groups, &largest);
    if (r < 0)
        return r;
    sort_members(snapshot, &groups, page);
    largest = largest < WEIR_EXPLAINED_MAX ? largest : WEIR_EXPLAINED_MAX;
    page->fates = weir_arena_zalloc(&job->arena, largest + 1, sizeof(*page->fates));
    return page->fates == NULL ? WEIR_ERR_NOMEM : 0;
}

/* ---- what the engine says of a group ---- */

static uint32_t shown_of(const struct page *page)
{
    uint32_t size = page->starts[page->group + 1] - page->starts[page->group];

    return size < WEIR_EXPLAINED_MAX ? size : WEIR_EXPLAINED_MAX;
}

/* Why it may not be picked now; empty: it may, though the strategy may take another one.  What cools down
 * would not be picked if its order were tried either. */
static struct weir_slice why_not(const struct weir_explained *told)
{
    weir_fate fate = told->fate;

    if ((fate == WEIR_FATE_EARLIER_ORDER || fate == WEIR_FATE_LATER_ORDER) && told->until_ns > 0)
        return weir_fate_name(WEIR_FATE_COOLDOWN);
    return fate == WEIR_FATE_ELIGIBLE || fate == WEIR_FATE_CHOSEN || fate == WEIR_FATE_NOT_CHOSEN
               ? WEIR_SLICE_EMPTY
               : weir_fate_name(fate);
}

static void note_fates(const struct weir_job *job, struct page *page,
                       const struct weir_explanation *explanation)
{
    const uint32_t *members = page->members + page->starts[page->group];

    for (uint32_t i = 0; i < shown_of(page); i++) {
        const struct weir_explained *told = i < explanation->count ? &explanation->candidates[i] : NULL;

        if (told != NULL && told->deployment == weir_snapshot_deployment(snapshot_of(job), members[i]))
            page->fates[i] = (struct fate){why_not(told), told->order, told->odds};
        else
            page->fates[i] = (struct fate){WEIR_SLICE("shadowed"), WEIR_UNSET_ORDER, 0};
    }
}

static int open_group(struct weir_job *job, struct page *page)
{
    const struct weir_gateway *gateway = job->worker->gateway;
    struct weir_slice name = weir_snapshot_group_name(snapshot_of(job), page->group);
    uint32_t size = page->starts[page->group + 1] - page->starts[page->group];
    struct weir_explanation explanation;
    struct weir_request request;
    int r;

    weir_request_init(&request);
    request.model = name;
    request.note_candidates = shown_of(page);
    request.prompt_tokens = weir_prompts_least(&job->setup->prompts);
    r = weir_router_explain(gateway->router, job->setup->snapshot, &request, gateway->mem, weir_job_now(job),
                            &explanation);
    if (r < 0)
        return r;
    note_fates(job, page, &explanation);
    weir_explanation_deinit(&explanation, gateway->mem);
    weir_json_open(&page->writer, '{');
    weir_event_json_text(&page->writer, WEIR_SLICE("group"), name);
    weir_event_json_text(&page->writer, WEIR_SLICE("strategy"), explanation.strategy);
    weir_json_put_u64_member(&page->writer, WEIR_SLICE("omitted"), size - shown_of(page));
    weir_json_put_key(&page->writer, WEIR_SLICE("deployments"));
    weir_json_open(&page->writer, '[');
    page->at = page->starts[page->group];
    page->group_open = true;
    page->eligible = 0;
    return 0;
}

static void close_group(struct page *page)
{
    weir_json_close(&page->writer, ']');
    weir_json_put_u64_member(&page->writer, WEIR_SLICE("eligible"), page->eligible);
    weir_json_close(&page->writer, '}');
    page->group_open = false;
    page->group++;
}

/* ---- the page ---- */

static void put_member(struct weir_job *job, struct page *page)
{
    const struct fate *fate = &page->fates[page->at - page->starts[page->group]];
    const struct weir_deployment_state state = {
        .router = job->worker->gateway->router,
        .snapshot = snapshot_of(job),
        .deployment = weir_snapshot_deployment(snapshot_of(job), page->members[page->at]),
        .why = fate->why,
        .order = fate->order,
        .odds = fate->odds,
        .now_ns = weir_job_now(job),
        .wall_ns = weir_loop_wall_ns(job->worker->loop)};

    page->in_flight += weir_deployment_state_json(&page->writer, &state);
    page->eligible += fate->why.len == 0;
    page->at++;
}

static void put_head(struct weir_job *job, struct weir_json_writer *writer)
{
    uint64_t since_ns = job->worker->gateway->stories.since_ns;
    uint64_t wall_ns = weir_loop_wall_ns(job->worker->loop);
    char name[WEIR_SHARING_NAME_MAX];

    weir_json_open(writer, '{');
    weir_event_json_time(writer, WEIR_SLICE("now"), wall_ns);
    weir_event_json_time(writer, WEIR_SLICE("since"), since_ns);
    weir_event_json_s(writer, WEIR_SLICE("uptime_s"), wall_ns > since_ns ? wall_ns - since_ns : 0);
    weir_event_json_text(writer, WEIR_SLICE("version"), WEIR_SLICE(WEIR_VERSION));
    weir_event_json_text(writer, WEIR_SLICE("process"), weir_sharing_name(name));
    weir_json_put_key(writer, WEIR_SLICE("groups"));
    weir_json_open(writer, '[');
}

static void put_end(struct page *page)
{
    weir_json_close(&page->writer, ']');
    weir_json_put_u64_member(&page->writer, WEIR_SLICE("in_flight"), page->in_flight);
    weir_json_close(&page->writer, '}');
}

/* The next step of the page: a group's head, a deployment, or a group's end. */
static int step(struct weir_job *job, struct page *page)
{
    if (!page->group_open)
        return open_group(job, page);
    if (page->at < page->starts[page->group] + shown_of(page))
        put_member(job, page);
    else
        close_group(page);
    return 0;
}

static int make_piece(struct weir_job *job, void *user, struct weir_buf *buf)
{
    struct page *page = user;
    int r = 0;

    page->writer.buf = buf;
    if (!page->begun)
        put_head(job, &page->writer);
    page->begun = true;
    while (r == 0 && page->group < weir_snapshot_group_count(snapshot_of(job))) {
        if (weir_buf_len(buf) >= WEIR_PIECE_BYTES)
            return weir_json_writer_end(&page->writer) < 0 ? WEIR_ERR_LIMIT : WEIR_PIECES_MORE;
        r = step(job, page);
    }
    if (r < 0)
        return r;
    put_end(page);
    return weir_json_writer_end(&page->writer);
}

void weir_state_page(struct weir_job *job)
{
    struct page *page = weir_arena_zalloc(&job->arena, 1, sizeof(*page));

    if (page == NULL || index_members(job, page) < 0) {
        weir_reply_no_memory(job);
        return;
    }
    weir_json_writer_init(&page->writer, NULL);
    weir_pieces_begin(job, WEIR_SLICE("application/json"), make_piece, page);
}
