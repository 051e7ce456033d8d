/* A value without escapes is a part of the head still when it is decoded, so it is copied in any case. */
#include "gateway/request/parameter.h"

#include <weir/error.h>

#include "base/slice.h"
#include "gateway/job.h"
#include "wire/http1_read.h"
#include "wire/http_field.h"

int weir_parameter(struct weir_job *job, struct weir_slice name, struct weir_slice *ret_value,
                   struct weir_problem *ret_problem)
{
    const struct weir_http1_head *head = weir_exchange_head(job->exchange);
    struct weir_slice value;
    int r;

    if (!weir_http_query_find(head->query, name, &value))
        return WEIR_PARAMETER_ABSENT;
    r = weir_http_unescape(value, &job->arena, &value);
    if (r > 0)
        return WEIR_REFUSE(ret_problem, &job->arena, 400, name, name,
                           WEIR_SLICE(" is not validly percent-encoded"));
    if (r < 0)
        return r;
    value = weir_arena_copy(&job->arena, value);
    if (weir_arena_failed(&job->arena))
        return WEIR_ERR_NOMEM;
    *ret_value = value;
    return 0;
}
