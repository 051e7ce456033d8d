/* Whatever the text, the wait is absent or some time; and what is written as a date is read back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "wire/http_date.h"
#include "wire/retry_after.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_waits(int r, uint64_t ns)
{
    if (r != WEIR_RETRY_AFTER_ABSENT && (r != 0 || ns == 0))
        abort();
}

static void require_round_trip(int64_t time_s, int64_t now_s)
{
    char room[WEIR_HTTP_DATE_LEN];
    int64_t back;

    if (time_s < 0 || time_s > INT64_C(253402300799))
        return;
    if (weir_http_date_parse(weir_http_date_write(time_s, room), now_s, &back) != 0 || back != time_s)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_slice text = {(const char *)data, size};
    int64_t now_s = 0, time_s;
    uint64_t ns = 0;
    int r;

    if (size > 0) {
        memcpy(&now_s, data, size < 4 ? size : 4);
        text = weir_slice_sub(text, 4, size);
    }
    r = weir_retry_after_parse(text, now_s, &ns);
    require_waits(r, ns);
    r = weir_retry_after_ms_parse(text, &ns);
    require_waits(r, ns);
    r = weir_retry_after_read(weir_slice_sub(text, 0, text.len / 2), text, now_s, &ns);
    require_waits(r, ns);
    if (weir_http_date_parse(text, now_s, &time_s) == 0)
        require_round_trip(time_s, now_s);
    return 0;
}
