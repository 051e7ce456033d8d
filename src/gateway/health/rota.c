/*
 * The ring is in the order in which targets are due: whoever is taken from its front goes to its end, due an
 * interval from now, and nobody was put there for a later time.
 */
#include "gateway/health/rota.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <weir/error.h>

#include "base/time.h"

int weir_rota_init(struct weir_rota *ret_rota, const struct weir_mem *mem, size_t count, uint64_t interval_ns,
                   size_t most)
{
    *ret_rota = (struct weir_rota){.mem = mem, .count = count, .interval_ns = interval_ns, .most = most};
    if (count == 0)
        return 0;
    ret_rota->turns = mem->alloc(mem->user, count * sizeof(*ret_rota->turns));
    ret_rota->asked = mem->alloc(mem->user, count * sizeof(*ret_rota->asked));
    if (ret_rota->turns == NULL || ret_rota->asked == NULL)
        return WEIR_ERR_NOMEM;
    memset(ret_rota->asked, 0, count * sizeof(*ret_rota->asked));
    for (size_t i = 0; i < count; i++)
        ret_rota->turns[i] = (struct weir_rota_turn){0, i};
    return 0;
}

void weir_rota_deinit(struct weir_rota *rota)
{
    if (rota->turns != NULL)
        rota->mem->free(rota->mem->user, rota->turns, rota->count * sizeof(*rota->turns));
    if (rota->asked != NULL)
        rota->mem->free(rota->mem->user, rota->asked, rota->count * sizeof(*rota->asked));
    *rota = (struct weir_rota){0};
}

void weir_rota_expect(struct weir_rota *rota, size_t target, uint64_t due_ns, uint64_t now_ns)
{
    uint64_t latest = weir_time_add(now_ns, rota->interval_ns);

    rota->turns[target].due_ns = due_ns < latest ? due_ns : latest;
}

void weir_rota_resume(struct weir_rota *rota, size_t target)
{
    rota->asked[target] = true;
    rota->busy++;
}

void weir_rota_add_stranger(struct weir_rota *rota)
{
    rota->busy++;
}

static int compare(const void *a, const void *b)
{
    const struct weir_rota_turn *left = a;
    const struct weir_rota_turn *right = b;

    if (left->due_ns != right->due_ns)
        return left->due_ns < right->due_ns ? -1 : 1;
    return left->target < right->target ? -1 : 1;
}

void weir_rota_begin(struct weir_rota *rota)
{
    if (rota->count > 0)
        qsort(rota->turns, rota->count, sizeof(*rota->turns), compare);
    rota->first = 0;
}

/* Takes the one that is due first, which goes to the end. */
static size_t take(struct weir_rota *rota, uint64_t now_ns)
{
    struct weir_rota_turn *turn = &rota->turns[rota->first];

    turn->due_ns = weir_time_add(now_ns, rota->interval_ns);
    rota->first = (rota->first + 1) % rota->count;
    return turn->target;
}

bool weir_rota_next(struct weir_rota *rota, uint64_t now_ns, size_t *ret_target)
{
    while (rota->count > 0 && rota->busy < rota->most && rota->turns[rota->first].due_ns <= now_ns) {
        size_t target = take(rota, now_ns);

        if (rota->asked[target])
            continue;
        rota->asked[target] = true;
        rota->busy++;
        *ret_target = target;
        return true;
    }
    return false;
}

void weir_rota_end(struct weir_rota *rota, size_t target)
{
    assert(rota->asked[target]);
    rota->asked[target] = false;
    rota->busy--;
}

void weir_rota_end_stranger(struct weir_rota *rota)
{
    rota->busy--;
}

uint64_t weir_rota_due(const struct weir_rota *rota)
{
    if (rota->count == 0 || rota->busy >= rota->most)
        return WEIR_TIME_NEVER;
    return rota->turns[rota->first].due_ns;
}

struct weir_rota_turn weir_rota_turn_at(const struct weir_rota *rota, size_t index)
{
    return rota->turns[(rota->first + index) % rota->count];
}
