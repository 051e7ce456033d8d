/*
 * Settings of a deployment of the built-in provider `sim/`, which is answered from inside the gateway: for
 * trying out a configuration without a key and without a network.  Everything is deterministic.
 *
 * The keys in `litellm_params` are the rows of tbl/sim_fields.h.
 */
#ifndef WEIR_PROVIDER_SIM_H
#define WEIR_PROVIDER_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include <weir/failure.h>
#include <weir/slice.h>

struct weir_sim {
    struct weir_slice text;        /* what is answered; empty: a sentence that names the model */
    double tokens_per_second;      /* 0: at once; a token is a word with the blank before it */
    uint64_t first_token_delay_ns; /* before the first token, or before a plain answer */
    bool fails;                    /* error was set */
    weir_kind error;               /* the kind of the failures */
    double error_ratio;            /* share of calls that fail, spread evenly: 0.25 is every fourth; 1: all */
    uint64_t retry_after_ns;       /* told with a failure; 0: none */
    uint32_t break_after_tokens;   /* a stream breaks after so many; WEIR_UNSET: never */
};

/* Every field at its default. */
void weir_sim_init(struct weir_sim *sim);

#endif
