/*
 * The life of the thread is that of a worker without clients: its services are taken down on it, once its
 * loop was left, so that none of their callbacks finds things half gone.
 */
#include "gateway/background/background.h"

#include <signal.h>

#include <weir/error.h>

#include "base/container.h"
#include "config/config.h"
#include "gateway/gateway.h"

static void on_changed(struct weir_seat *seat)
{
    struct weir_background *background = WEIR_CONTAINER(seat, struct weir_background, seat);

    weir_prober_follow(&background->prober);
}

static void run_stop(struct weir_loop_task *task)
{
    struct weir_background *background = WEIR_CONTAINER(task, struct weir_background, stop_task);

    weir_loop_stop(background->loop);
}

static void *background_main(void *user)
{
    struct weir_background *background = user;

    weir_prober_follow(&background->prober);
    weir_loop_run(background->loop);
    weir_prober_deinit(&background->prober);
    return NULL;
}

static int start_thread(struct weir_background *background)
{
    sigset_t all;
    sigset_t before;
    int r;

    /* Signals are for the main thread. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    r = pthread_create(&background->thread, NULL, background_main, background);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    background->running = r == 0;
    return r == 0 ? 0 : WEIR_ERR_IO;
}

static bool is_wanted(const struct weir_setup *setup)
{
    return setup->config->settings.health_checks;
}

int weir_background_follow(struct weir_background *background, char text[WEIR_BACKGROUND_TEXT_MAX])
{
    struct weir_gateway *gateway = background->gateway;
    int r;

    (void)text;
    if (gateway == NULL || background->loop != NULL || !is_wanted(gateway->setup))
        return 0;
    r = weir_loop_new(gateway->mem, &background->loop);
    if (r < 0)
        return r;
    weir_gateway_join(gateway, &background->seat, background->loop, on_changed);
    r = weir_prober_init(&background->prober, gateway, &background->seat);
    return r == 0 ? start_thread(background) : r;
}

int weir_background_start(struct weir_background *background, struct weir_gateway *gateway,
                          char text[WEIR_BACKGROUND_TEXT_MAX])
{
    *background = (struct weir_background){.gateway = gateway, .stop_task.run = run_stop};
    return weir_background_follow(background, text);
}

void weir_background_deinit(struct weir_background *background)
{
    if (background->running) {
        weir_loop_post(background->loop, &background->stop_task);
        (void)pthread_join(background->thread, NULL);
    }
    weir_prober_deinit(&background->prober);
    weir_loop_free(background->loop);
    if (background->seat.setup != NULL)
        weir_gateway_leave(background->gateway, &background->seat);
    *background = (struct weir_background){0};
}
