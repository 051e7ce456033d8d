/*
 * All sockets are bound before the first worker exists, so that a port in use is told before anything runs.
 */
#include "gateway/crew.h"

#include <stdio.h>

#include <weir/error.h>

#include "base/slice.h"
#include "gateway/gateway.h"
#include "gateway/worker.h"
#include "net/resolve.h"

bool weir_crew_loopback(const char *host, const struct weir_inherited *inherited)
{
    struct weir_addresses addresses;

    if (inherited->count > 0)
        return weir_inherited_loopback(inherited);
    if (weir_resolve_literal(weir_slice_str(host), &addresses) != 0)
        return false;
    for (size_t i = 0; i < addresses.count; i++)
        if (!weir_address_loopback(&addresses.list[i].sa))
            return false;
    return addresses.count > 0;
}

/* Before the first request is served, so that what other processes know is known here too. */
static int start_background(struct weir_crew *crew, char text[WEIR_CREW_TEXT_MAX])
{
    char reason[WEIR_BACKGROUND_TEXT_MAX];
    int r = weir_background_start(&crew->gateway->background, crew->gateway, reason);

    if (r > 0)
        (void)snprintf(text, WEIR_CREW_TEXT_MAX, "%s", reason);
    return r > 0 ? WEIR_CREW_REFUSED : r;
}

static int make_workers(struct weir_crew *crew)
{
    struct weir_gateway *gateway = crew->gateway;
    int r = 0;

    crew->workers = gateway->mem->alloc(gateway->mem->user, gateway->workers * sizeof(*crew->workers));
    if (crew->workers == NULL)
        return WEIR_ERR_NOMEM;
    while (crew->count < gateway->workers && r == 0) {
        r = weir_worker_init(&crew->workers[crew->count], gateway, crew->count, crew->listener);
        crew->count++;
    }
    for (size_t i = 0; i < crew->count && r == 0; i++)
        r = weir_worker_start(&crew->workers[i]);
    return r;
}

int weir_crew_start(struct weir_crew *ret_crew, struct weir_gateway *gateway, const char *host, uint16_t port,
                    const struct weir_inherited *inherited, char text[WEIR_CREW_TEXT_MAX])
{
    const struct weir_listener_config config = {
        .host = weir_slice_str(host), .port = port, .workers = gateway->workers, .inherited = inherited};
    int r;

    *ret_crew = (struct weir_crew){.gateway = gateway};
    r = weir_listener_new(gateway->mem, &config, text, &ret_crew->listener);
    if (r != 0)
        return r > 0 ? WEIR_CREW_REFUSED : r;
    r = start_background(ret_crew, text);
    return r == 0 ? make_workers(ret_crew) : r;
}

struct weir_slice weir_crew_address(const struct weir_crew *crew)
{
    return weir_listener_address(crew->listener, 0);
}

void weir_crew_drain(struct weir_crew *crew)
{
    atomic_store_explicit(&crew->gateway->draining, true, memory_order_relaxed);
    weir_listener_close(crew->listener);
    for (size_t i = 0; i < crew->count; i++)
        weir_worker_drain(&crew->workers[i]);
}

void weir_crew_hand_over(struct weir_crew *crew)
{
    weir_listener_close(crew->listener);
    for (size_t i = 0; i < crew->count; i++)
        weir_worker_hand_over(&crew->workers[i]);
}

bool weir_crew_beat(struct weir_crew *crew)
{
    bool all = true;

    for (size_t i = 0; i < crew->count; i++)
        all &= weir_worker_beat(&crew->workers[i]);
    return all;
}

void weir_crew_stop(struct weir_crew *crew)
{
    for (size_t i = 0; i < crew->count; i++)
        weir_worker_stop(&crew->workers[i]);
}

bool weir_crew_ended(const struct weir_crew *crew)
{
    for (size_t i = 0; i < crew->count; i++)
        if (!atomic_load_explicit(&crew->workers[i].ended, memory_order_acquire))
            return false;
    return true;
}

void weir_crew_deinit(struct weir_crew *crew)
{
    weir_crew_stop(crew);
    for (size_t i = 0; i < crew->count; i++)
        weir_worker_join(&crew->workers[i]);
    if (crew->gateway != NULL)
        weir_background_deinit(&crew->gateway->background);
    for (size_t i = 0; i < crew->count; i++)
        weir_worker_deinit(&crew->workers[i]);
    if (crew->workers != NULL)
        crew->gateway->mem->free(crew->gateway->mem->user, crew->workers,
                                 crew->gateway->workers * sizeof(*crew->workers));
    weir_listener_free(crew->listener);
    *crew = (struct weir_crew){0};
}
