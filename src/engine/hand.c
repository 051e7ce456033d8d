/*
 * Cooldowns by an administrator's hand (beyond.md 7; decisions 7).
 *
 * What other processes have been told of the deployment's cooldown does not hold any more, though it may end
 * later: so each of these is told as a lift first, and as a cooldown then, if there is one.
 */
#include <weir/router.h>

#include <weir/error.h>

#include "base/time.h"
#include "engine/live/name.h"
#include "engine/live/shared.h"
#include "engine/router.h"
#include "engine/snapshot/snapshot.h"

static void tell(weir_router *router, weir_router_event_kind kind, const weir_deployment *deployment,
                 uint64_t length_ns, const struct weir_process_name *by, uint64_t now_ns)
{
    struct weir_router_event event = weir_router_event_about(kind, deployment, now_ns);
    struct weir_failure cause = weir_live_cause(&router->live, deployment->slot);

    weir_shared_mark(&router->live, deployment->slot, WEIR_SHARED_BIT(LIFT));
    event.by = *by;
    if (kind == WEIR_ROUTER_EVENT_COOLDOWN_SET) {
        event.failure = cause.kind;
        event.status = cause.status;
        event.rule = WEIR_COOLDOWN_BY_HAND;
        event.length_ns = length_ns;
    }
    weir_router_tell(router, &event);
}

int weir_router_cool(weir_router *router, const weir_deployment *deployment, uint64_t length_ns,
                     struct weir_slice by, uint64_t now_ns)
{
    const struct weir_process_name name = weir_process_name_of(by);

    if (length_ns == 0 || length_ns > WEIR_COOL_MAX_NS)
        return WEIR_ERR_INVALID;
    weir_spin_lock(&router->lock);
    weir_live_name_write(weir_live_by_hand(&router->live, deployment->slot), &name);
    weir_spin_unlock(&router->lock);
    weir_shared_begin_lift(&router->live, deployment->slot);
    weir_live_cool_by_hand(&router->live, deployment->slot, weir_time_add(now_ns, length_ns), now_ns);
    tell(router, WEIR_ROUTER_EVENT_COOLDOWN_SET, deployment, length_ns, &name, now_ns);
    return 0;
}

bool weir_router_lift(weir_router *router, const weir_deployment *deployment, struct weir_slice by,
                      uint64_t now_ns)
{
    const struct weir_process_name name = weir_process_name_of(by);
    uint64_t until_ns;

    weir_shared_begin_lift(&router->live, deployment->slot);
    do {
        until_ns = weir_live_until(&router->live, deployment->slot);
        if (until_ns <= now_ns) {
            weir_shared_mark(&router->live, deployment->slot, WEIR_SHARED_BIT(LIFT));
            return false;
        }
    } while (!weir_live_lift(&router->live, deployment->slot, until_ns, now_ns));
    tell(router, WEIR_ROUTER_EVENT_COOLDOWN_LIFTED, deployment, 0, &name, now_ns);
    return true;
}
