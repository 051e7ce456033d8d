/* A line that cannot be composed is lost and counted, as one that finds no room. */
#include "gateway/log/access_log.h"

void weir_access_log_write(weir_log *log, size_t worker, const struct weir_access *access, uint64_t wall_ns)
{
    struct weir_buf *room;

    if (!weir_log_is_on(log, WEIR_LOG_ACCESS))
        return;
    room = weir_log_room(log, worker);
    if (weir_access_format(access, weir_log_format_of(log, WEIR_LOG_ACCESS), wall_ns, room) < 0)
        weir_log_lose(log, WEIR_LOG_ACCESS, worker);
    else
        weir_log_put(log, WEIR_LOG_ACCESS, worker, weir_buf_slice(room));
}
