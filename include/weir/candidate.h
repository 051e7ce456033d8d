/*
 * What a pick made of a candidate: why each deployment of a name was, or was not, taken.
 */
#ifndef WEIR_CANDIDATE_H
#define WEIR_CANDIDATE_H

#include <stdint.h>

#include <weir/attr.h>
#include <weir/slice.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_fate {
#define X(fate, name, prose) WEIR_FATE_##fate,
#include <weir/tbl/fates.h>
#undef X
    WEIR_FATES
} weir_fate;

typedef enum weir_pick_purpose {
#define X(purpose, name, prose) WEIR_PICK_FOR_##purpose,
#include <weir/tbl/pick_purposes.h>
#undef X
    WEIR_PICK_PURPOSES
} weir_pick_purpose;

/* More candidates than these are never noted for one pick. */
enum { WEIR_CANDIDATES_MAX = 64 };

struct weir_candidate {
    struct weir_slice deployment; /* id */
    /* The first thing that kept it from being chosen; of one of another order than the one that was tried,
       that alone. */
    weir_fate fate;
    uint64_t until_ns; /* the end of its cooldown, whatever its fate; 0: it does not cool down */
};

/* "cooling_down", ...  Lives for ever; thread-safe, as the next. */
WEIR_EXPORT struct weir_slice weir_fate_name(weir_fate fate);
/* "attempt", "retry", ... */
WEIR_EXPORT struct weir_slice weir_pick_purpose_name(weir_pick_purpose purpose);

#ifdef __cplusplus
}
#endif

#endif
