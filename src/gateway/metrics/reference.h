/*
 * The page docs/metrics.md, made from the tables of metrics.
 */
#ifndef WEIR_GATEWAY_METRICS_REFERENCE_H
#define WEIR_GATEWAY_METRICS_REFERENCE_H

#include <stdio.h>

#include <weir/attr.h>

/* 0, or WEIR_ERR_IO. */
WEIR_MUST_USE int weir_metrics_reference(FILE *out);

#endif
