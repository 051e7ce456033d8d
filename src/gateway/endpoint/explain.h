/*
 * GET /weir/explain?model=G: what a request for G would do now (beyond.md 7).
 */
#ifndef WEIR_GATEWAY_EXPLAIN_H
#define WEIR_GATEWAY_EXPLAIN_H

struct weir_job;

void weir_explain_page(struct weir_job *job);

#endif
