/* What a deployment of the built-in provider does when its entry says nothing: answer at once, never fail. */
#include "provider/sim.h"

#include <weir/snapshot.h>

void weir_sim_init(struct weir_sim *sim)
{
    *sim = (struct weir_sim){.error = WEIR_KIND_INTERNAL, .error_ratio = 1, .break_after_tokens = WEIR_UNSET};
}
