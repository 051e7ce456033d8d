/*
 * The provider inside the process: answers of `sim/` deployments and of `mock_response`, in OpenAI's form,
 * fed to an attempt as a provider's would be (head, body, done), at the speed and with the faults that the
 * deployment's settings say.  The same settings and calls give the same answers.
 */
#ifndef WEIR_GATEWAY_SIM_H
#define WEIR_GATEWAY_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/failure.h>
#include <weir/slice.h>

#include "base/arena.h"
#include "base/text.h"
#include "gateway/attempt/sim_text.h"
#include "net/timer.h"
#include "wire/http1_read.h"

struct weir_endpoint;
struct weir_upcall;
struct weir_upstream;

/* Whether the next call of the deployment fails, and how; it is counted as one. */
bool weir_sim_fails(const struct weir_endpoint *endpoint, struct weir_upstream *upstream,
                    struct weir_arena *arena, weir_kind *ret_kind);

/* One answer under way; embedded in its attempt. */
struct weir_sim_run {
    struct weir_upcall *upcall; /* NULL: never started */
    struct weir_timer timer;
    struct weir_sim_words words;
    struct weir_slice raw; /* a whole body instead of words; empty: none */
    double tokens_per_second;
    uint32_t break_after; /* tokens; WEIR_UNSET: never */
    bool fails;
    weir_kind error;
    bool include_usage;

    bool active;
    bool head_sent;
    bool paused;
    uint64_t first_ns; /* when the first token was sent */
    size_t at;         /* bytes of the text that were sent */
    uint32_t tokens;   /* that were sent */
    struct weir_http1_head head;
    struct weir_http1_field fields[2];
    char retry_after[WEIR_TEXT_FIXED_MAX];
    uint64_t retry_after_ns; /* 0: none */
};

/*
 * Starts the answer of the attempt's deployment: it comes from the loop, never from inside.  0 or negative.
 */
WEIR_MUST_USE int weir_sim_start(struct weir_sim_run *run, struct weir_upcall *upcall);

/* Nothing more comes.  Accepts one that was never started. */
void weir_sim_cancel(struct weir_sim_run *run);

void weir_sim_pause(struct weir_sim_run *run);
void weir_sim_resume(struct weir_sim_run *run);

#endif
