/* A status of 499 stands for a client that left before there was one. */
#include "gateway/story/state.h"

#include "base/slice.h"
#include "gateway/log/access_log.h"

static const struct weir_slice names[] = {
    [WEIR_CALL_SUCCEEDED] = WEIR_SLICE_INIT("succeeded"),
    [WEIR_CALL_FAILED] = WEIR_SLICE_INIT("failed"),
    [WEIR_CALL_CLIENT_GONE] = WEIR_SLICE_INIT("client_gone"),
};

weir_call_state weir_call_state_of(const struct weir_access *access)
{
    if (access->status == 499)
        return WEIR_CALL_CLIENT_GONE;
    if (access->kind.len > 0 || access->status >= 400)
        return WEIR_CALL_FAILED;
    if (access->end.len == 0)
        return WEIR_CALL_SUCCEEDED;
    return weir_slice_eq(access->end, WEIR_SLICE("gone")) ? WEIR_CALL_CLIENT_GONE : WEIR_CALL_FAILED;
}

struct weir_slice weir_call_state_name(weir_call_state state)
{
    return names[state];
}
