/*
 * Parameters in the query of a page: "?model=gpt-4o&kind=Retry".
 */
#ifndef WEIR_GATEWAY_PARAMETER_H
#define WEIR_GATEWAY_PARAMETER_H

#include <weir/attr.h>
#include <weir/slice.h>

#include "gateway/problem.h"

struct weir_job;

/* The query has no parameter of that name. */
#define WEIR_PARAMETER_ABSENT 2

/*
 * The value of the first parameter of that name, decoded, in the job's arena: it may be kept when the client
 * has gone and its head with it.  0, WEIR_PARAMETER_ABSENT, WEIR_REFUSED with *ret_problem, or
 * WEIR_ERR_NOMEM; the job's exchange must be there, and the name live as long as the problem.
 */
WEIR_MUST_USE int weir_parameter(struct weir_job *job, struct weir_slice name, struct weir_slice *ret_value,
                                 struct weir_problem *ret_problem);

#endif
