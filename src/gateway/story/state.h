/*
 * How a call ended: each has exactly one of these, and logs, metrics and traces say the same one.
 */
#ifndef WEIR_GATEWAY_CALL_STATE_H
#define WEIR_GATEWAY_CALL_STATE_H

#include <weir/slice.h>

struct weir_access;

typedef enum weir_call_state {
    WEIR_CALL_SUCCEEDED,  /* the client had the whole answer, as far as it was sent */
    WEIR_CALL_FAILED,     /* it was told a failure, or its stream was cut */
    WEIR_CALL_CLIENT_GONE /* it left before that */
} weir_call_state;

/*
 * By what the access log tells of the call when it is over.  A plain call whose client has left and that ran
 * on to a failure has failed.
 */
weir_call_state weir_call_state_of(const struct weir_access *access);

/* "succeeded", "failed", "client_gone".  Lives for ever. */
struct weir_slice weir_call_state_name(weir_call_state state);

#endif
