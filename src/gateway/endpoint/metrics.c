/* With many series the page is long: it goes out in pieces. */
#include "gateway/endpoint/metrics.h"

#include <weir/router.h>
#include <weir/snapshot.h>

#include "base/slice.h"
#include "gateway/answer/pieces.h"
#include "gateway/answer/reply.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/metrics/exposition.h"
#include "gateway/setup.h"
#include "gateway/worker.h"

static int write_piece(struct weir_job *job, void *user, struct weir_buf *buf)
{
    int r = weir_exposition_write(user, WEIR_PIECE_BYTES, buf);

    (void)job;
    return r == WEIR_EXPOSITION_MORE ? WEIR_PIECES_MORE : r;
}

void weir_metrics_page(struct weir_job *job)
{
    struct weir_gateway *gateway = job->worker->gateway;
    struct weir_exposition *page = weir_arena_zalloc(&job->arena, 1, sizeof(*page));
    size_t count = weir_snapshot_deployment_count(job->setup->snapshot);
    bool *eligible = weir_arena_zalloc(&job->arena, count + 1, sizeof(*eligible));
    uint64_t now_ns = weir_job_now(job);

    if (page == NULL || eligible == NULL) {
        weir_reply_no_memory(job);
        return;
    }
    page->metrics = &gateway->metrics;
    page->source = (struct weir_reading_source){.gateway = gateway, .setup = job->setup, .now_ns = now_ns};
    weir_router_eligible(gateway->router, job->setup->snapshot, now_ns, eligible);
    page->eligible = eligible;
    weir_pieces_begin(job, WEIR_SLICE("text/plain; version=0.0.4; charset=utf-8"), write_piece, page);
}
