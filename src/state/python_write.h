/*
 * Writes what state/python_text.h reads, as Python's str() or json.dumps() would, so that programs in Python
 * read it, and entries that are none of our business survive a change of their neighbours.
 *
 * All append to buf and return 0 or negative; after a failure what was appended is a torso.  Text is UTF-8; a
 * byte that is not becomes U+FFFD.
 */
#ifndef WEIR_STATE_PYTHON_WRITE_H
#define WEIR_STATE_PYTHON_WRITE_H

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/buf.h"
#include "state/python_text.h"

/* The value and all that is in it; a number in its own spelling. */
WEIR_MUST_USE int weir_literal_write(struct weir_buf *buf, enum weir_literal_form form,
                                     const struct weir_literal *value);

WEIR_MUST_USE int weir_literal_write_text(struct weir_buf *buf, enum weir_literal_form form,
                                          struct weir_slice text);
WEIR_MUST_USE int weir_literal_write_bool(struct weir_buf *buf, enum weir_literal_form form, bool truth);

/* The shortest text that reads back as the same number, a whole one without a point.  For finite ones. */
WEIR_MUST_USE int weir_literal_write_number(struct weir_buf *buf, double number);

#endif
