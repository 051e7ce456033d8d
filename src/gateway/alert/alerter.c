/*
 * One timer is for all that comes by time: looking at groups with an outage, tries that were put off, and the
 * limit of the end.
 *
 * A webhook's address is a secret: what is written to stderr names the setting that has it.  Its host is not
 * told either, nor is anything of its answers but the status.
 */
#include "gateway/alert/alerter.h"

#include <stdio.h>

#include <weir/error.h>
#include <weir/router.h>

#include "base/buf.h"
#include "base/container.h"
#include "base/slice.h"
#include "base/time.h"
#include "config/config.h"
#include "gateway/alert/alerts.h"
#include "gateway/alert/book.h"
#include "gateway/alert/outbox.h"
#include "gateway/alert/write.h"
#include "gateway/background/post.h"
#include "gateway/background/sharing.h"
#include "gateway/gateway.h"

#define LOOK_NS    WEIR_NS_PER_S
#define ROUND_NS   (10 * WEIR_NS_PER_MS)
#define END_MAX_NS (2 * WEIR_NS_PER_S)

#define JSON_TYPE WEIR_SLICE("Content-Type: application/json\r\n")

enum { ORIGIN_MAX = 96 };
enum { ROUND_GROUPS = 64 }; /* looked at in one go, when a cooldown was missed */

struct hook {
    struct weir_alerter *alerter;
    uint64_t key; /* of its address and form */
    uint32_t types;
    enum weir_alert_form form;
    char origin[ORIGIN_MAX];
    struct weir_post_place place;
    struct weir_post post;
    struct weir_alert_letter *letter; /* on its way */
};

struct weir_alerter {
    struct weir_gateway *gateway;
    struct weir_seat *seat;
    weir_loop *loop;
    weir_client *client;
    struct weir_alert_book book;
    struct weir_alert_outbox outbox;
    struct hook hooks[WEIR_CONFIG_HOOKS_MAX];
    size_t hook_count;
    uint32_t failing; /* a bit for each hook of which it was said */
    bool console;
    size_t round_left; /* groups still to be looked at, for a cooldown was missed, ... */
    size_t round_at;   /* ... from this one on, and around */
    uint64_t look_ns;  /* when groups with an outage are looked at next; WEIR_TIME_NEVER: none has one */
    uint64_t threshold_ns;
    uint64_t timeout_ns;
    struct weir_loop_task task; /* posted by workers */
    struct weir_timer timer;
    char process[WEIR_SHARING_NAME_MAX];
    size_t process_len;
    void (*done)(void *user); /* set: it ends */
    void *user;
    uint64_t end_ns;
};

static uint64_t now_of(const struct weir_alerter *alerter)
{
    return weir_loop_now(alerter->loop);
}

static void note(struct weir_alerter *alerter, weir_alert_kind kind, weir_alert_outcome outcome)
{
    weir_alerts_note(&alerter->gateway->alerts, kind, outcome);
}

/* ---- sending ---- */

static void pump(struct weir_alerter *alerter);

static uint32_t bit_of(const struct hook *hook)
{
    return UINT32_C(1) << (hook - hook->alerter->hooks);
}

/* Said once, until it is mended. */
static void say_failed(struct hook *hook, const struct weir_post_outcome *outcome)
{
    if ((hook->alerter->failing & bit_of(hook)) != 0)
        return;
    hook->alerter->failing |= bit_of(hook);
    if (outcome->status > 0)
        (void)fprintf(stderr, "weir: the webhook of %s does not take alerts: status %u\n", hook->origin,
                      outcome->status);
    else
        (void)fprintf(stderr, "weir: the webhook of %s does not take alerts: %.*s\n", hook->origin,
                      (int)outcome->reason.len, outcome->reason.ptr);
}

static void say_mended(struct hook *hook)
{
    if ((hook->alerter->failing & bit_of(hook)) == 0)
        return;
    hook->alerter->failing &= ~bit_of(hook);
    (void)fprintf(stderr, "weir: the webhook of %s takes alerts again\n", hook->origin);
}

/* It may be another time. */
static bool is_passing(const struct weir_post_outcome *outcome)
{
    return outcome->status == 0 || outcome->status == 408 || outcome->status == 429 || outcome->status >= 500;
}

static void on_done(struct weir_post *post, const struct weir_post_outcome *outcome)
{
    struct hook *hook = WEIR_CONTAINER(post, struct hook, post);
    struct weir_alerter *alerter = hook->alerter;
    struct weir_alert_letter *letter = hook->letter;
    weir_alert_kind kind = letter->kind;

    hook->letter = NULL;
    if (outcome->status >= 200 && outcome->status < 300) {
        weir_alert_outbox_done(&alerter->outbox, letter);
        note(alerter, kind, WEIR_ALERT_OUTCOME_SENT);
        say_mended(hook);
    } else {
        say_failed(hook, outcome);
        if (!is_passing(outcome)) {
            weir_alert_outbox_done(&alerter->outbox, letter);
            note(alerter, kind, WEIR_ALERT_OUTCOME_FAILED);
        } else if (!weir_alert_outbox_again(&alerter->outbox, letter, outcome->retry_after_ns,
                                            now_of(alerter))) {
            note(alerter, kind, WEIR_ALERT_OUTCOME_FAILED);
        }
    }
    pump(alerter);
}

static void send_next(struct hook *hook)
{
    struct weir_alerter *alerter = hook->alerter;
    struct weir_post_spec spec = {.loop = alerter->loop,
                                  .client = alerter->client,
                                  .mem = alerter->gateway->mem,
                                  .place = &hook->place,
                                  .fields = JSON_TYPE,
                                  .limit_ns = alerter->timeout_ns,
                                  .done = on_done};

    if (hook->letter != NULL)
        return;
    hook->letter = weir_alert_outbox_next(&alerter->outbox, hook->key, now_of(alerter));
    if (hook->letter == NULL)
        return;
    spec.body = (struct weir_slice){hook->letter->body, hook->letter->body_len};
    weir_post_start(&hook->post, &spec);
}

static bool is_sending(const struct weir_alerter *alerter)
{
    for (size_t i = 0; i < alerter->hook_count; i++)
        if (alerter->hooks[i].letter != NULL)
            return true;
    return false;
}

static bool has_outages(const struct weir_alerter *alerter)
{
    for (size_t i = 0; i < WEIR_ALERT_OUTAGES_MAX; i++)
        if (weir_alert_book_outage(&alerter->book, i) != NULL)
            return true;
    return false;
}

/* What is put off will not be sent any more. */
static void end_if_done(struct weir_alerter *alerter)
{
    void (*done)(void *user) = alerter->done;

    if (is_sending(alerter) && now_of(alerter) < alerter->end_ns) {
        weir_loop_arm(alerter->loop, &alerter->timer, alerter->end_ns);
        return;
    }
    alerter->done = NULL;
    weir_loop_cancel(alerter->loop, &alerter->timer);
    done(alerter->user);
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/* Sends what can be sent, and sets the timer for what comes next. */
static void pump(struct weir_alerter *alerter)
{
    uint64_t due_ns;

    for (size_t i = 0; i < alerter->hook_count; i++)
        send_next(&alerter->hooks[i]);
    if (alerter->done != NULL) {
        end_if_done(alerter);
        return;
    }
    if (!has_outages(alerter))
        alerter->look_ns = WEIR_TIME_NEVER;
    else if (alerter->look_ns == WEIR_TIME_NEVER)
        alerter->look_ns = weir_time_add(now_of(alerter), LOOK_NS);
    due_ns = earlier(weir_alert_outbox_due(&alerter->outbox), alerter->look_ns);
    if (alerter->round_left > 0)
        due_ns = earlier(due_ns, weir_time_add(now_of(alerter), ROUND_NS));
    weir_loop_arm(alerter->loop, &alerter->timer, due_ns);
}

/* ---- telling ---- */

static void post_to(struct weir_alerter *alerter, const struct hook *hook, const struct weir_alert *alert,
                    const struct weir_alert_scene *scene)
{
    WEIR_CLEANUP(weir_buf_deinit) struct weir_buf body;

    weir_buf_init(&body, alerter->gateway->mem, WEIR_ALERT_TEXT_MAX);
    if (weir_alert_message(alert, scene, hook->form, &body) < 0 ||
        weir_alert_outbox_put(&alerter->outbox, hook->key, alert->kind, weir_buf_slice(&body),
                              scene->now_ns) != 0)
        note(alerter, alert->kind, WEIR_ALERT_OUTCOME_DROPPED);
}

static void write_to_console(const struct weir_alerter *alerter, const struct weir_alert *alert,
                             const struct weir_alert_scene *scene)
{
    WEIR_CLEANUP(weir_buf_deinit) struct weir_buf text;
    struct weir_slice line;

    weir_buf_init(&text, alerter->gateway->mem, WEIR_ALERT_TEXT_MAX);
    if (weir_alert_sentence(alert, scene, &text) < 0)
        return;
    line = weir_buf_slice(&text);
    (void)fprintf(stderr, "weir: alert: %.*s\n", (int)line.len, line.ptr);
}

static void publish(struct weir_alerter *alerter, const struct weir_alert *alert)
{
    const struct weir_alert_scene scene = {.now_ns = now_of(alerter),
                                           .wall_ns = weir_loop_wall_ns(alerter->loop),
                                           .threshold_ns = alerter->threshold_ns,
                                           .process = {alerter->process, alerter->process_len}};
    uint32_t bit = WEIR_ALERT_BIT(weir_alert_kind_row(alert->kind)->type);

    if (alerter->console)
        write_to_console(alerter, alert, &scene);
    for (size_t i = 0; i < alerter->hook_count; i++)
        if ((alerter->hooks[i].types & bit) != 0)
            post_to(alerter, &alerter->hooks[i], alert, &scene);
}

static void settle(struct weir_alerter *alerter, weir_alert_kind kind, int result,
                   const struct weir_alert *alert)
{
    if (result == 0)
        publish(alerter, alert);
    else if (result == WEIR_ALERT_REPEATED)
        note(alerter, kind, WEIR_ALERT_OUTCOME_REPEATED);
    else if (result == WEIR_ALERT_HELD_BACK)
        note(alerter, kind, WEIR_ALERT_OUTCOME_HELD_BACK);
}

/* Names in alerts are cut and cleaned, never longer. */
static bool is_named(struct weir_slice group, const struct weir_alert_name *name)
{
    struct weir_alert_name own;

    if (weir_slice_eq(group, weir_alert_name_slice(name)))
        return true;
    if (group.len < name->len)
        return false;
    weir_alert_name_set(&own, group);
    return weir_slice_eq(weir_alert_name_slice(&own), weir_alert_name_slice(name));
}

static struct weir_alert_group group_of(const struct weir_alerter *alerter,
                                        const struct weir_alert_name *name)
{
    const weir_snapshot *snapshot = alerter->seat->setup->snapshot;
    struct weir_alert_group group = {.first_ns = WEIR_TIME_NEVER};
    uint64_t now_ns = now_of(alerter);

    for (size_t i = 0; i < weir_snapshot_deployment_count(snapshot); i++) {
        const weir_deployment *deployment = weir_snapshot_deployment(snapshot, i);
        struct weir_live_view view;

        if (!is_named(weir_deployment_group(deployment), name) || weir_deployment_blocked(deployment))
            continue;
        weir_router_view(alerter->gateway->router, deployment, now_ns, &view);
        group.members++;
        if (view.cooldown_until_ns <= now_ns) {
            group.sound |= view.cooldowns == 0;
            continue;
        }
        group.cooling++;
        if (view.cooldown_until_ns < group.first_ns)
            group.first_ns = view.cooldown_until_ns;
    }
    return group;
}

static void look_at(struct weir_alerter *alerter, const struct weir_alert_name *name)
{
    const struct weir_alert_group group = group_of(alerter, name);
    struct weir_alert alert;
    int r = weir_alert_book_group(&alerter->book, name, &group, now_of(alerter), &alert);

    settle(alerter, WEIR_ALERT_OUTAGE, r, &alert);
}

static void look_around(struct weir_alerter *alerter)
{
    alerter->look_ns = WEIR_TIME_NEVER;
    for (size_t i = 0; i < WEIR_ALERT_OUTAGES_MAX; i++) {
        const struct weir_alert_name *name = weir_alert_book_outage(&alerter->book, i);
        struct weir_alert_name copy;

        if (name == NULL)
            continue;
        copy = *name;
        look_at(alerter, &copy);
    }
}

/* Which group it was is not known where a cooldown was missed: so each is looked at, a part at a time, for a
 * configuration may have many thousands. */
static void look_round(struct weir_alerter *alerter)
{
    const weir_snapshot *snapshot = alerter->seat->setup->snapshot;
    size_t count = weir_snapshot_group_count(snapshot);

    for (size_t i = 0; i < ROUND_GROUPS && alerter->round_left > 0; i++) {
        struct weir_alert_name name;

        alerter->round_at = (alerter->round_at + 1) % count;
        alerter->round_left--;
        weir_alert_name_set(&name, weir_snapshot_group_name(snapshot, alerter->round_at));
        look_at(alerter, &name);
    }
}

static void begin_round(struct weir_alerter *alerter)
{
    alerter->round_left = weir_snapshot_group_count(alerter->seat->setup->snapshot);
}

static void take_signals(struct weir_alerter *alerter)
{
    struct weir_alert_signal signal;

    while (weir_alerts_take(&alerter->gateway->alerts, &signal)) {
        struct weir_alert alert;
        int r = weir_alert_book_signal(&alerter->book, &signal, now_of(alerter), &alert);

        settle(alerter, signal.kind, r, &alert);
        if (signal.kind == WEIR_ALERT_COOLDOWN)
            look_at(alerter, &signal.group);
    }
    if (weir_alerts_missed(&alerter->gateway->alerts))
        begin_round(alerter);
    look_round(alerter); /* here too: where signals never cease, the timer is put off again and again */
}

static void run_signals(struct weir_loop_task *task)
{
    struct weir_alerter *alerter = WEIR_CONTAINER(task, struct weir_alerter, task);

    weir_alerts_begin(&alerter->gateway->alerts);
    take_signals(alerter);
    pump(alerter);
}

static void on_timer(struct weir_timer *timer)
{
    struct weir_alerter *alerter = WEIR_CONTAINER(timer, struct weir_alerter, timer);

    if (alerter->done == NULL) {
        if (now_of(alerter) >= alerter->look_ns)
            look_around(alerter);
        look_round(alerter);
    }
    pump(alerter);
}

/* ---- the setup ---- */

static void want(struct weir_alerter *alerter)
{
    const struct weir_config *config = alerter->seat->setup->config;

    weir_alerts_want(&alerter->gateway->alerts, config->alerts.types, config->settings.alert_threshold_ns);
}

static uint64_t key_of(const struct weir_config_hook *config)
{
    uint64_t key = weir_slice_hash(config->url, (uint64_t)config->form + 1);

    return key == 0 ? 1 : key;
}

/* What was on its way is sent again, to the same webhook or to none. */
static void close_hooks(struct weir_alerter *alerter)
{
    for (size_t i = 0; i < alerter->hook_count; i++) {
        struct hook *hook = &alerter->hooks[i];

        weir_post_cancel(&hook->post);
        if (hook->letter != NULL)
            weir_alert_outbox_back(hook->letter);
        weir_post_place_deinit(&hook->place);
    }
    alerter->hook_count = 0;
    alerter->failing = 0;
}

static void open_hook(struct weir_alerter *alerter, const struct weir_config_hook *config)
{
    const struct weir_settings *settings = &alerter->seat->setup->config->settings;
    struct hook *hook = &alerter->hooks[alerter->hook_count];
    char text[WEIR_POST_TEXT_MAX];
    int r;

    *hook = (struct hook){
        .alerter = alerter, .key = key_of(config), .types = config->types, .form = config->form};
    (void)snprintf(hook->origin, sizeof(hook->origin), "%.*s", (int)config->origin.len, config->origin.ptr);
    r = weir_post_place_init(&hook->place, config->url, settings, &alerter->gateway->trust,
                             alerter->gateway->mem, text);
    if (r == 0)
        alerter->hook_count++;
    else
        (void)fprintf(stderr, "weir: no alerts are sent to the webhook of %s: %s\n", hook->origin,
                      r > 0 ? text : "no memory is left");
}

static void open_hooks(struct weir_alerter *alerter)
{
    const struct weir_config_alerts *alerts = &alerter->seat->setup->config->alerts;
    uint64_t keys[WEIR_CONFIG_HOOKS_MAX];
    struct weir_alert_letter *letter;

    for (size_t i = 0; i < alerts->hook_count; i++)
        open_hook(alerter, &alerts->hooks[i]);
    for (size_t i = 0; i < alerter->hook_count; i++)
        keys[i] = alerter->hooks[i].key;
    while ((letter = weir_alert_outbox_stray(&alerter->outbox, keys, alerter->hook_count)) != NULL) {
        note(alerter, letter->kind, WEIR_ALERT_OUTCOME_DROPPED);
        weir_alert_outbox_done(&alerter->outbox, letter);
    }
}

void weir_alerter_follow(weir_alerter *alerter)
{
    const struct weir_config *config = alerter->seat->setup->config;
    const struct weir_settings *settings = &config->settings;
    const struct weir_alert_rules rules = {.types = config->alerts.types,
                                           .window_ns = settings->alert_window_ns,
                                           .max_per_minute = settings->alert_max_per_minute,
                                           .storm_fallbacks = settings->alert_storm_fallbacks,
                                           .storm_window_ns = settings->alert_storm_window_ns};

    weir_alert_book_follow(&alerter->book, &rules);
    alerter->console = config->alerts.console;
    alerter->threshold_ns = settings->alert_threshold_ns;
    alerter->timeout_ns = settings->alert_timeout_ns;
    if (alerter->round_left > 0)
        begin_round(alerter); /* these are other groups */
    close_hooks(alerter);
    open_hooks(alerter);
    want(alerter);
    pump(alerter);
}

bool weir_alerter_is_wanted(const struct weir_config *config)
{
    return config->alerts.types != 0;
}

/* ---- its life ---- */

int weir_alerter_new(struct weir_gateway *gateway, struct weir_seat *seat, weir_alerter **ret_alerter)
{
    const struct weir_settings *settings = &seat->setup->config->settings;
    struct weir_alerter *alerter = gateway->mem->alloc(gateway->mem->user, sizeof(*alerter));
    int r;

    if (alerter == NULL)
        return WEIR_ERR_NOMEM;
    *alerter =
        (struct weir_alerter){.gateway = gateway, .seat = seat, .loop = seat->loop, .task.run = run_signals};
    weir_alert_book_init(&alerter->book, weir_loop_now(seat->loop));
    weir_alert_outbox_init(&alerter->outbox, gateway->mem);
    weir_timer_init(&alerter->timer, on_timer);
    alerter->process_len = weir_sharing_name(alerter->process).len;
    r = weir_post_client(gateway, settings, seat->loop, &alerter->client);
    if (r == 0)
        r = weir_alerts_attach(&gateway->alerts, seat->loop, &alerter->task);
    if (r < 0) {
        weir_alerter_free(alerter);
        return r;
    }
    want(alerter); /* from the first call on, though the thread may begin later */
    *ret_alerter = alerter;
    return 0;
}

void weir_alerter_end(weir_alerter *alerter, void (*done)(void *user), void *user)
{
    take_signals(alerter);
    weir_alerts_detach(&alerter->gateway->alerts);
    alerter->done = done;
    alerter->user = user;
    alerter->end_ns = weir_time_add(now_of(alerter), END_MAX_NS);
    pump(alerter);
}

void weir_alerter_free(weir_alerter *alerter)
{
    const struct weir_mem *mem;

    if (alerter == NULL)
        return;
    mem = alerter->gateway->mem;
    weir_alerts_detach(&alerter->gateway->alerts);
    weir_loop_unpost(alerter->loop, &alerter->task);
    weir_loop_cancel(alerter->loop, &alerter->timer);
    close_hooks(alerter);
    weir_alert_outbox_deinit(&alerter->outbox);
    weir_client_close(alerter->client);
    mem->free(mem->user, alerter, sizeof(*alerter));
}
