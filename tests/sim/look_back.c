/* Plain searches through the events of a call, which are few. */
#include "look_back.h"

#include "base/slice.h"

#include "race_model.h"

size_t look_back_loop_start(const struct kit_call *call)
{
    size_t start = 0;

    for (size_t i = 0; i < call->event_count; i++) {
        if (call->events[i].kind == WEIR_EVENT_FALLBACK)
            start = i + 1;
    }
    return start;
}

size_t look_back_count(const struct kit_call *call, size_t start, weir_event_kind kind)
{
    size_t count = 0;

    for (size_t i = start; i < call->event_count; i++)
        count += call->events[i].kind == kind;
    return count;
}

const struct weir_event *look_back_hop(const struct kit_call *call)
{
    size_t start = look_back_loop_start(call);

    return start == 0 ? NULL : &call->events[start - 1];
}

uint64_t look_back_bit(const struct kit_call *call, const struct kit_deployment *deployment)
{
    return UINT64_C(1) << (deployment - call->config->deployments);
}

uint64_t look_back_failed(const struct kit_call *call, uint32_t attempt)
{
    uint64_t set = 0;

    for (uint32_t i = 1; i < attempt; i++) {
        if (!race_was_lost(call, i))
            set |= look_back_bit(call, call->attempts[i].deployment);
    }
    return set;
}

uint64_t look_back_usable(const struct kit_call *call, uint64_t set, bool even_cooling)
{
    for (size_t i = 0; i < call->config->deployment_count; i++) {
        struct weir_live_view view;

        weir_router_view(call->kit->router, weir_snapshot_deployment(call->kit->snapshot, i),
                         call->kit->now_ns, &view);
        if (call->config->deployments[i].spec.blocked ||
            (!even_cooling && view.cooldown_until_ns > call->kit->now_ns))
            set &= ~(UINT64_C(1) << i);
    }
    return set;
}

uint64_t look_back_of_order(const struct kit_call *call, uint64_t set, int32_t order)
{
    for (size_t i = 0; i < call->config->deployment_count; i++) {
        if (call->config->deployments[i].spec.order != order)
            set &= ~(UINT64_C(1) << i);
    }
    return set;
}

int32_t look_back_lowest_order(const struct kit_call *call, uint64_t set)
{
    int32_t lowest = WEIR_UNSET_ORDER;

    for (size_t i = 0; i < call->config->deployment_count; i++) {
        if ((set >> i & 1) != 0 && call->config->deployments[i].spec.order < lowest)
            lowest = call->config->deployments[i].spec.order;
    }
    return lowest;
}

const struct kit_deployment *look_back_deployment(const struct kit_call *call, const struct weir_event *event)
{
    return call->attempts[event->attempt].deployment;
}

const struct weir_event *look_back_failure(const struct kit_call *call)
{
    const struct weir_event *last = NULL;

    for (size_t i = 0; i < call->event_count; i++) {
        if (call->events[i].kind == WEIR_EVENT_ATTEMPT_FAILED)
            last = &call->events[i];
    }
    return last;
}
