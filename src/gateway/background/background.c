/*
 * The life of the thread is that of a worker without clients: its services are taken down on it, once its
 * loop was left, so that none of their callbacks finds things half gone.
 */
#include "gateway/background/background.h"

#include <signal.h>
#include <stdio.h>

#include <weir/error.h>

#include "base/container.h"
#include "config/config.h"
#include "gateway/alert/alerter.h"
#include "gateway/background/sharing.h"
#include "gateway/gateway.h"
#include "gateway/observe.h"

/* Before the loop waits: what its callbacks have caused. */
static void on_turn(uv_prepare_t *turn)
{
    struct weir_background *background = WEIR_CONTAINER(turn, struct weir_background, turn);

    weir_observe_router(background->gateway, background->seat.setup, background->loop);
}

static void on_changed(struct weir_seat *seat)
{
    struct weir_background *background = WEIR_CONTAINER(seat, struct weir_background, seat);

    if (background->sharing != NULL)
        weir_sharing_follow(background->sharing);
    weir_prober_follow(&background->prober);
    weir_alerter_follow(background->alerter);
    weir_exporter_follow(&background->exporter);
}

void weir_background_ended(void *user)
{
    struct weir_background *background = user;

    if (--background->ending == 0)
        weir_loop_stop(background->loop);
}

/* Each service says when it is done; the one more is for those that are at once. */
static void run_stop(struct weir_loop_task *task)
{
    struct weir_background *background = WEIR_CONTAINER(task, struct weir_background, stop_task);

    weir_prober_deinit(&background->prober);
    background->ending = background->sharing != NULL ? 4 : 3;
    if (background->sharing != NULL)
        weir_sharing_end(background->sharing);
    weir_alerter_end(background->alerter, weir_background_ended, background);
    weir_exporter_end(&background->exporter);
    weir_background_ended(background);
}

static void take_down(struct weir_background *background)
{
    weir_prober_deinit(&background->prober);
    weir_alerter_free(background->alerter);
    background->alerter = NULL;
    weir_exporter_deinit(&background->exporter);
    weir_sharing_free(background->sharing);
    background->sharing = NULL;
    if (!uv_is_closing((uv_handle_t *)&background->turn))
        uv_close((uv_handle_t *)&background->turn, NULL);
}

/* Neither call can fail. */
static void init_turn(struct weir_background *background)
{
    (void)uv_prepare_init(weir_loop_uv(background->loop), &background->turn);
    (void)uv_prepare_start(&background->turn, on_turn);
}

static void *background_main(void *user)
{
    struct weir_background *background = user;

    weir_prober_follow(&background->prober);
    weir_alerter_follow(background->alerter);
    weir_exporter_follow(&background->exporter);
    weir_loop_run(background->loop);
    take_down(background);
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

static bool is_wanted(const struct weir_gateway *gateway)
{
    const struct weir_config *config = gateway->setup->config;

    return gateway->shares || config->settings.health_checks || weir_alerter_is_wanted(config) ||
           config->otlp.on;
}

static int make_services(struct weir_background *background, char text[WEIR_BACKGROUND_TEXT_MAX])
{
    char reason[WEIR_SHARING_TEXT_MAX];
    int r = weir_prober_init(&background->prober, background->gateway, &background->seat);

    if (r == 0)
        r = weir_exporter_init(&background->exporter, background);
    if (r == 0 && background->gateway->shares)
        r = weir_sharing_new(background, reason, &background->sharing);
    if (r == 0)
        r = weir_alerter_new(background->gateway, &background->seat, &background->alerter);
    if (r == 0)
        weir_prober_share(&background->prober, background->sharing);
    if (r > 0)
        (void)snprintf(text, WEIR_BACKGROUND_TEXT_MAX, "%s", reason);
    return r > 0 ? WEIR_BACKGROUND_REFUSED : r;
}

int weir_background_follow(struct weir_background *background, char text[WEIR_BACKGROUND_TEXT_MAX])
{
    struct weir_gateway *gateway = background->gateway;
    int r;

    if (gateway == NULL || background->loop != NULL || !is_wanted(gateway))
        return 0;
    r = weir_loop_new(gateway->mem, &background->loop);
    if (r < 0)
        return r;
    init_turn(background);
    weir_gateway_join(gateway, &background->seat, background->loop, on_changed);
    r = make_services(background, text);
    if (r != 0)
        return r;
    return start_thread(background);
}

int weir_background_start(struct weir_background *background, struct weir_gateway *gateway,
                          char text[WEIR_BACKGROUND_TEXT_MAX])
{
    int r;

    *background = (struct weir_background){.gateway = gateway, .stop_task.run = run_stop};
    r = weir_background_follow(background, text);
    if (r == 0 && background->sharing != NULL)
        weir_sharing_wait(background->sharing);
    return r;
}

void weir_background_deinit(struct weir_background *background)
{
    if (background->running) {
        weir_loop_post(background->loop, &background->stop_task);
        (void)pthread_join(background->thread, NULL);
    }
    if (background->loop != NULL)
        take_down(background);
    weir_loop_free(background->loop);
    if (background->seat.setup != NULL)
        weir_gateway_leave(background->gateway, &background->seat);
    *background = (struct weir_background){0};
}

void weir_background_notify(void *user)
{
    const struct weir_background *background = user;

    if (background->sharing != NULL)
        weir_sharing_notify(background->sharing);
}
