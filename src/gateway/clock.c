/* The clocks drift apart by little, and an administrator may set one: what was said holds for some seconds.
 */
#include "gateway/clock.h"

#include <time.h>

#include <weir/router.h>

#include "base/time.h"
#include "gateway/gateway.h"
#include "gateway/worker.h"

#define TELL_EVERY_NS (5 * WEIR_NS_PER_S)

void weir_clock_tell(struct weir_worker *worker, uint64_t now_ns)
{
    struct timespec wall;

    if (now_ns < worker->tell_time_ns)
        return;
    worker->tell_time_ns = now_ns + TELL_EVERY_NS;
    clock_gettime(CLOCK_REALTIME, &wall);
    weir_router_set_wall(worker->gateway->router,
                         (uint64_t)wall.tv_sec * WEIR_NS_PER_S + (uint64_t)wall.tv_nsec, now_ns);
}
