/*
 * How picks are shared, by chi-square tests with fixed seeds; see engine_kit.h.
 *
 * The bound for k cells is the 99.9 % point of the chi-square distribution with k - 1 degrees of freedom by
 * the Wilson-Hilferty formula; since the seeds are fixed, a test that passes once passes always.
 */
#include "engine_kit.h"

#include <math.h>

#include <weir/mem_libc.h>

#include "base/slice.h"

double kit_chi_square_bound(size_t cells)
{
    double freedom = (double)cells - 1;
    double part = 2 / (9 * freedom);

    return freedom * pow(1 - part + 3.0902 * sqrt(part), 3);
}

const weir_deployment *kit_pick(weir_router *router, weir_snapshot *snapshot,
                                const struct weir_request *request, uint64_t now_ns)
{
    struct weir_step step;
    weir_call *call = NULL;

    assert_int_equal(weir_call_begin(router, snapshot, request, weir_mem_libc(), now_ns, &call), 0);
    assert_int_equal(weir_call_next(call, now_ns, &step), 0);
    weir_call_free(call);
    return step.kind == WEIR_STEP_START ? step.u.start.deployment : NULL;
}

void kit_expect_shares(struct kit *kit, const char *request, const double *shares, size_t count)
{
    struct kit_request parsed;
    const weir_deployment *picked;
    size_t picks[KIT_DEPLOYMENTS_MAX] = {0};
    double chi = 0, total = 0;
    size_t cells = 0;

    kit_parse_request(&parsed, request);
    for (size_t i = 0; i < count; i++)
        total += shares[i];
    for (size_t i = 0; i < KIT_PICKS; i++) {
        picked = kit_pick(kit->router, kit->snapshot, &parsed.request, kit->now_ns);
        if (picked == NULL)
            kit_die(kit, "nobody was picked");
        picks[(uintptr_t)weir_deployment_user(picked) - 1]++;
    }
    kit_request_deinit(&parsed);
    for (size_t i = 0; i < count; i++) {
        double expected = KIT_PICKS * shares[i] / total;
        double seen = (double)picks[i];

        if (shares[i] <= 0) {
            assert_int_equal(picks[i], 0);
            continue;
        }
        chi += (seen - expected) * (seen - expected) / expected;
        cells++;
    }
    if (cells > 1 && chi > kit_chi_square_bound(cells))
        kit_die(kit, "chi-square %g over %zu cells", chi, cells);
}
