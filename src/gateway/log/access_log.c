/* A line tells when it was written, by the wall clock. */
#include "gateway/log/access_log.h"

#include <time.h>

#include "base/time.h"

static uint64_t wall_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * WEIR_NS_PER_S + (uint64_t)now.tv_nsec;
}

void weir_access_log_write(weir_log *log, size_t worker, const struct weir_access *access)
{
    struct weir_buf *room;

    if (!weir_log_is_on(log, WEIR_LOG_ACCESS))
        return;
    room = weir_log_room(log, worker);
    if (weir_access_format(access, weir_log_format_of(log, WEIR_LOG_ACCESS), wall_now_ns(), room) < 0)
        weir_log_lose(log, WEIR_LOG_ACCESS, worker);
    else
        weir_log_put(log, WEIR_LOG_ACCESS, worker, weir_buf_slice(room));
}
