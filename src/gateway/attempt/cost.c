/* The sums are of picodollars, so that adding makes no error. */
#include "gateway/attempt/cost.h"

#include "config/config.h"
#include "gateway/attempt/upcall.h"
#include "gateway/job.h"
#include "gateway/setup.h"
#include "gateway/worker.h"
#include "provider/price.h"

struct weir_cost weir_cost_of(const struct weir_upcall *upcall, const struct weir_usage *usage)
{
    struct weir_worker *worker = upcall->job->worker;
    struct weir_cost cost = {false, 0};
    struct weir_model_facts room;

    if (usage->told)
        cost.known = weir_price(weir_model_memo_facts(&worker->models, upcall->job->setup->config,
                                                      upcall->deployment, upcall->model, &room),
                                usage, &cost.picodollars);
    return cost;
}

struct weir_cost weir_cost_add(struct weir_cost a, struct weir_cost b)
{
    return (struct weir_cost){a.known && b.known, a.picodollars + b.picodollars};
}
