/*
 * Labels as /metrics writes them: name="value" with commas between them.
 */
#ifndef WEIR_GATEWAY_METRICS_LABEL_TEXT_H
#define WEIR_GATEWAY_METRICS_LABEL_TEXT_H

#include <stdint.h>

#include <weir/attr.h>

#include "base/buf.h"
#include "gateway/metrics/table.h"

/* Longer values are cut; what all labels of one metric take at most. */
enum { WEIR_LABEL_VALUE_MAX = 200, WEIR_LABEL_TEXT_MAX = 8 * 1024 };

/*
 * Appends the labels that are listed, up to WEIR_LABELS, with their values.  A backslash, a quote and a line
 * feed are escaped; a byte that is no UTF-8 becomes a question mark.  0 or the buffer's failure.
 */
WEIR_MUST_USE int weir_label_text(const uint8_t *labels, const struct weir_label_values *values,
                                  struct weir_buf *buf);

#endif
