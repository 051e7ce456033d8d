/* With many series the page is long: it goes out in pieces. */
#include "gateway/endpoint/metrics.h"

#include "base/slice.h"
#include "gateway/answer/pieces.h"
#include "gateway/answer/reply.h"
#include "gateway/gateway.h"
#include "gateway/job.h"
#include "gateway/metrics/exposition.h"
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

    if (page == NULL) {
        weir_reply_no_memory(job);
        return;
    }
    page->metrics = &gateway->metrics;
    page->source =
        (struct weir_reading_source){.gateway = gateway, .setup = job->setup, .now_ns = weir_job_now(job)};
    weir_pieces_begin(job, WEIR_SLICE("text/plain; version=0.0.4; charset=utf-8"), write_piece, page);
}
