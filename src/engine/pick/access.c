/*
 * A window is open from its first minute to the one before its last, by the clocks of its place; one that
 * ends before it starts goes over midnight.  Clocks that are put forward or back move the window with them,
 * so a minute that is left out opens nothing and one that comes twice is in the window twice.
 */
#include "engine/pick/access.h"

#include "base/slice.h"

enum { DAY_MIN = 24 * 60 };

/* How far the clocks of the zone are ahead; before its first change, as UTC. */
static int64_t ahead_of(const struct weir_zone *zone, int64_t minute)
{
    size_t low = 0, high = zone->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (zone->changes[middle].since_min <= minute)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? 0 : zone->changes[low - 1].ahead_min;
}

static bool is_open(const struct weir_access_window *window, uint64_t minute)
{
    int64_t local = ((int64_t)minute + ahead_of(&window->zone, (int64_t)minute)) % DAY_MIN;
    uint32_t now = (uint32_t)(local < 0 ? local + DAY_MIN : local);

    if (window->start_min <= window->end_min)
        return window->start_min <= now && now < window->end_min;
    return window->start_min <= now || now < window->end_min;
}

static bool lets_through(const struct weir_access_window *window, struct weir_slice team)
{
    for (size_t i = 0; team.len > 0 && i < window->team_count; i++)
        if (weir_slice_eq(window->teams[i], team))
            return true;
    return false;
}

bool weir_access_is_shut(const struct weir_deployment_spec *spec, struct weir_slice team, uint64_t minute)
{
    bool shut = false;

    for (size_t i = 0; i < spec->window_count; i++) {
        if (!is_open(&spec->windows[i], minute))
            continue;
        if (lets_through(&spec->windows[i], team))
            return false;
        shut = true;
    }
    return shut;
}
