/*
 * Reads how the load of failure is shared, of engine_kit.h, for a group or for the router.
 */
#include "engine_kit.h"

#include "engine_words.h"

/* A number and, behind the stroke, another; NULL: there is none. */
static double parse_pair(char *text, char **ret_second)
{
    *ret_second = cut(text, '/');
    return number(text);
}

bool kit_parse_resilience(struct weir_resilience *resilience, const char *key, char *value)
{
    char *second;

    if (strcmp(key, "budget") == 0) {
        resilience->retry_budget = (struct weir_retry_budget){.said = true};
        resilience->retry_budget.ratio = parse_pair(value, &second);
        resilience->retry_budget.min_per_s = second == NULL ? 0 : number(second);
    } else if (strcmp(key, "hedge") == 0) {
        resilience->hedge.after_ns = weir_time_from_s(parse_pair(value, &second));
        resilience->hedge.max = second == NULL ? 1 : count_of(second);
    } else if (strcmp(key, "cool_wait") == 0) {
        resilience->all_cooling_wait_ns = seconds(value);
    } else if (strcmp(key, "growth") == 0) {
        resilience->cooldown_growth.factor = parse_pair(value, &second);
        resilience->cooldown_growth.max_ns = second == NULL ? WEIR_UNSET_NS : seconds(second);
    } else if (strcmp(key, "ramp") == 0) {
        resilience->cooldown_ramp_ns = seconds(value);
    } else {
        return false;
    }
    return true;
}
