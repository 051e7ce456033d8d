/* Writing one command in the protocol of Redis (RESP): a list of strings.  Pure. */
#ifndef WEIR_STATE_COMMAND_H
#define WEIR_STATE_COMMAND_H

#include <stddef.h>

#include <weir/attr.h>
#include <weir/slice.h>

#include "base/buf.h"

/* Appends it as a whole, or nothing: 0, WEIR_ERR_LIMIT or WEIR_ERR_NOMEM. */
WEIR_MUST_USE int weir_command_write(struct weir_buf *buf, const struct weir_slice *args, size_t count);

#endif
