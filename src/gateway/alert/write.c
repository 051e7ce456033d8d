/*
 * One sentence for each kind, which both forms carry.  JSON has its parts as fields too, and those by which
 * LiteLLM's webhooks are told apart: event, event_group, event_message.
 *
 * Slack reads `<`, `>` and `&` as markup wherever they stand, so the finished sentence is escaped, then put
 * into a string of JSON.
 */
#include "gateway/alert/write.h"

#include <assert.h>

#include "base/slice.h"
#include "base/text.h"
#include "base/time.h"
#include "config/alerts.h"
#include "gateway/story/event_json.h"
#include "wire/json_write.h"

/* "312.4", in seconds. */
static struct weir_slice seconds(uint64_t ns, char room[WEIR_TEXT_FIXED_MAX])
{
    return weir_text_short(ns / WEIR_NS_PER_MS, 3, room);
}

static struct weir_slice time_of(const struct weir_alert_scene *scene, uint64_t ns,
                                 char room[WEIR_TEXT_TIME_MAX])
{
    uint64_t wall_ns = ns <= scene->now_ns ? scene->wall_ns - (scene->now_ns - ns)
                                           : weir_time_add(scene->wall_ns, ns - scene->now_ns);

    return weir_text_time(wall_ns, room);
}

/* ---- the sentences ---- */

static int put_failure(const struct weir_alert_signal *about, struct weir_buf *buf)
{
    char digits[WEIR_TEXT_U64_MAX];

    return WEIR_BUF_APPEND(buf, weir_kind_row(about->failure)->name, WEIR_SLICE(" ("),
                           weir_text_u64((uint64_t)about->status, digits), WEIR_SLICE(")"));
}

static struct weir_alert_name by_of(const struct weir_alert_signal *about)
{
    struct weir_alert_name name = {.len = 0};

    weir_alert_name_set(&name, (struct weir_slice){about->by.text, about->by.len});
    return name;
}

static int put_hand(const struct weir_alert_signal *about, struct weir_buf *buf)
{
    const struct weir_alert_name by = by_of(about);
    int r = weir_buf_append(buf, WEIR_SLICE("set by hand"));

    if (r < 0 || by.len == 0)
        return r;
    return WEIR_BUF_APPEND(buf, WEIR_SLICE(" by "), weir_alert_name_slice(&by));
}

static int put_cooldown(const struct weir_alert *alert, struct weir_buf *buf)
{
    const struct weir_alert_signal *about = &alert->about;
    char room[WEIR_TEXT_FIXED_MAX];
    int r =
        WEIR_BUF_APPEND(buf, WEIR_SLICE("Deployment "), weir_alert_name_slice(&about->other),
                        WEIR_SLICE(" of "), weir_alert_name_slice(&about->group),
                        WEIR_SLICE(" cools down for "), seconds(about->length_ns, room), WEIR_SLICE(" s: "));

    if (r == 0 && about->rule == WEIR_COOLDOWN_BY_HAND)
        r = put_hand(about, buf);
    else if (r == 0)
        r = put_failure(about, buf);
    return r == 0 ? weir_buf_append(buf, WEIR_SLICE(".")) : r;
}

static int put_outage(const struct weir_alert *alert, struct weir_buf *buf)
{
    char digits[WEIR_TEXT_U64_MAX];
    char room[WEIR_TEXT_FIXED_MAX];

    return WEIR_BUF_APPEND(buf, WEIR_SLICE("Group "), weir_alert_name_slice(&alert->about.group),
                           WEIR_SLICE(" is out: every deployment of it cools down ("),
                           weir_text_u64(alert->members, digits), WEIR_SLICE("), the first is back in "),
                           seconds(alert->back_ns, room), WEIR_SLICE(" s."));
}

static int put_recovered(const struct weir_alert *alert, struct weir_buf *buf)
{
    char room[WEIR_TEXT_FIXED_MAX];

    return WEIR_BUF_APPEND(buf, WEIR_SLICE("Group "), weir_alert_name_slice(&alert->about.group),
                           WEIR_SLICE(" is back; it was out for "), seconds(alert->about.length_ns, room),
                           WEIR_SLICE(" s."));
}

static int put_storm(const struct weir_alert *alert, struct weir_buf *buf)
{
    char digits[WEIR_TEXT_U64_MAX];
    char room[WEIR_TEXT_FIXED_MAX];

    return WEIR_BUF_APPEND(
        buf, WEIR_SLICE("Group "), weir_alert_name_slice(&alert->about.group), WEIR_SLICE(" falls back: "),
        weir_text_u64(alert->fallbacks, digits), WEIR_SLICE(" times in "), seconds(alert->window_ns, room),
        WEIR_SLICE(" s, the last time to "), weir_alert_name_slice(&alert->about.other), WEIR_SLICE("."));
}

static int put_call(const struct weir_alert *alert, const struct weir_alert_scene *scene,
                    struct weir_buf *buf)
{
    char took[WEIR_TEXT_FIXED_MAX];
    char limit[WEIR_TEXT_FIXED_MAX];
    bool over = alert->kind == WEIR_ALERT_SLOW;

    /* a call that is over may have gone on to other groups than the one that was asked */
    return WEIR_BUF_APPEND(buf, over ? WEIR_SLICE("A call that ended in ") : WEIR_SLICE("A call to "),
                           weir_alert_name_slice(&alert->about.group),
                           over ? WEIR_SLICE(" took ") : WEIR_SLICE(" is not over after "),
                           seconds(alert->about.length_ns, took), WEIR_SLICE(" s; the threshold is "),
                           seconds(scene->threshold_ns, limit), WEIR_SLICE(" s."));
}

static int put_failed(const struct weir_alert *alert, struct weir_buf *buf)
{
    int r = WEIR_BUF_APPEND(buf, WEIR_SLICE("A call to "), weir_alert_name_slice(&alert->about.group),
                            WEIR_SLICE(" failed: "));

    if (r == 0)
        r = put_failure(&alert->about, buf);
    return r == 0 ? weir_buf_append(buf, WEIR_SLICE(".")) : r;
}

static int put_what(const struct weir_alert *alert, const struct weir_alert_scene *scene,
                    struct weir_buf *buf)
{
    switch (alert->kind) {
    case WEIR_ALERT_COOLDOWN:
        return put_cooldown(alert, buf);
    case WEIR_ALERT_OUTAGE:
        return put_outage(alert, buf);
    case WEIR_ALERT_RECOVERED:
        return put_recovered(alert, buf);
    case WEIR_ALERT_STORM:
        return put_storm(alert, buf);
    case WEIR_ALERT_SLOW:
    case WEIR_ALERT_HANGING:
        return put_call(alert, scene, buf);
    case WEIR_ALERT_FAILED:
        return put_failed(alert, buf);
    case WEIR_ALERT_KINDS:
        break;
    }
    return 0;
}

/* Which call and deployment it was, where that is told apart. */
static int put_whose(const struct weir_alert_signal *about, struct weir_buf *buf)
{
    int r = 0;

    if (about->call_id.len == 0)
        return 0;
    if (about->other.len > 0)
        r = WEIR_BUF_APPEND(buf, WEIR_SLICE(" Deployment: "), weir_alert_name_slice(&about->other),
                            WEIR_SLICE("."));
    return r < 0 ? r
                 : WEIR_BUF_APPEND(buf, WEIR_SLICE(" Call: "), weir_alert_name_slice(&about->call_id),
                                   WEIR_SLICE("."));
}

static int put_untold(const struct weir_alert *alert, const struct weir_alert_scene *scene,
                      struct weir_buf *buf)
{
    char digits[WEIR_TEXT_U64_MAX];
    char time[WEIR_TEXT_TIME_MAX];
    int r = 0;

    if (alert->repeated > 0)
        r = WEIR_BUF_APPEND(buf, WEIR_SLICE(" And "), weir_text_u64(alert->repeated, digits),
                            WEIR_SLICE(" more since "), time_of(scene, alert->repeated_since_ns, time),
                            WEIR_SLICE("."));
    if (r == 0 && alert->held_back > 0)
        r = WEIR_BUF_APPEND(buf, WEIR_SLICE(" Alerts that were too many and not sent: "),
                            weir_text_u64(alert->held_back, digits), WEIR_SLICE("."));
    return r;
}

int weir_alert_sentence(const struct weir_alert *alert, const struct weir_alert_scene *scene,
                        struct weir_buf *buf)
{
    int r = put_what(alert, scene, buf);

    if (r == 0)
        r = put_whose(&alert->about, buf);
    return r == 0 ? put_untold(alert, scene, buf) : r;
}

/* ---- JSON ---- */

static void put_name(struct weir_json_writer *w, struct weir_slice key, const struct weir_alert_name *name)
{
    weir_event_json_text(w, key, weir_alert_name_slice(name));
}

static void put_failure_fields(struct weir_json_writer *w, const struct weir_alert *alert)
{
    bool by_hand = alert->kind == WEIR_ALERT_COOLDOWN && alert->about.rule == WEIR_COOLDOWN_BY_HAND;

    if ((alert->kind != WEIR_ALERT_COOLDOWN && alert->kind != WEIR_ALERT_FAILED) || by_hand)
        return;
    weir_json_put_key(w, WEIR_SLICE("failure"));
    weir_json_open(w, '{');
    weir_json_put_text_member(w, WEIR_SLICE("kind"), weir_kind_row(alert->about.failure)->name);
    weir_json_put_u64_member(w, WEIR_SLICE("status"), (uint64_t)alert->about.status);
    weir_json_close(w, '}');
}

static void put_own_fields(struct weir_json_writer *w, const struct weir_alert *alert,
                           const struct weir_alert_scene *scene)
{
    const struct weir_alert_signal *about = &alert->about;
    const struct weir_alert_name by = by_of(about);
    char time[WEIR_TEXT_TIME_MAX];

    switch (alert->kind) {
    case WEIR_ALERT_COOLDOWN:
        weir_json_put_text_member(w, WEIR_SLICE("rule"), weir_cooldown_rule_name(about->rule));
        put_name(w, WEIR_SLICE("by"), &by);
        weir_event_json_s(w, WEIR_SLICE("length_s"), about->length_ns);
        weir_json_put_text_member(w, WEIR_SLICE("until"),
                                  time_of(scene, weir_time_add(about->time_ns, about->length_ns), time));
        break;
    case WEIR_ALERT_OUTAGE:
        weir_json_put_u64_member(w, WEIR_SLICE("deployments"), alert->members);
        weir_event_json_s(w, WEIR_SLICE("back_in_s"), alert->back_ns);
        break;
    case WEIR_ALERT_STORM:
        weir_json_put_u64_member(w, WEIR_SLICE("fallbacks"), alert->fallbacks);
        weir_event_json_s(w, WEIR_SLICE("window_s"), alert->window_ns);
        break;
    case WEIR_ALERT_RECOVERED:
    case WEIR_ALERT_SLOW:
    case WEIR_ALERT_HANGING:
        weir_event_json_s(w, WEIR_SLICE("duration_s"), about->length_ns);
        break;
    case WEIR_ALERT_FAILED:
    case WEIR_ALERT_KINDS:
        break;
    }
}

static void put_untold_fields(struct weir_json_writer *w, const struct weir_alert *alert,
                              const struct weir_alert_scene *scene)
{
    char time[WEIR_TEXT_TIME_MAX];

    weir_json_put_u64_member(w, WEIR_SLICE("repeated"), alert->repeated);
    if (alert->repeated > 0)
        weir_json_put_text_member(w, WEIR_SLICE("repeated_since"),
                                  time_of(scene, alert->repeated_since_ns, time));
    weir_json_put_u64_member(w, WEIR_SLICE("held_back"), alert->held_back);
}

static int put_json(const struct weir_alert *alert, const struct weir_alert_scene *scene,
                    struct weir_slice sentence, struct weir_buf *buf)
{
    const struct weir_alert_kind_row *row = weir_alert_kind_row(alert->kind);
    char time[WEIR_TEXT_TIME_MAX];
    struct weir_json_writer w;

    weir_json_writer_init(&w, buf);
    weir_json_open(&w, '{');
    weir_json_put_text_member(&w, WEIR_SLICE("event"), weir_alert_type_name(row->type));
    weir_json_put_text_member(&w, WEIR_SLICE("event_group"), row->owner);
    weir_json_put_text_member(&w, WEIR_SLICE("event_message"), sentence);
    weir_json_put_text_member(&w, WEIR_SLICE("alert"), row->name);
    weir_json_put_text_member(&w, WEIR_SLICE("level"), row->level);
    weir_json_put_text_member(&w, WEIR_SLICE("time"), time_of(scene, alert->about.time_ns, time));
    weir_json_put_text_member(&w, WEIR_SLICE("process"), scene->process);
    put_name(&w, WEIR_SLICE("group"), &alert->about.group);
    put_name(&w, alert->kind == WEIR_ALERT_STORM ? WEIR_SLICE("target") : WEIR_SLICE("deployment"),
             &alert->about.other);
    put_name(&w, WEIR_SLICE("call_id"), &alert->about.call_id);
    put_failure_fields(&w, alert);
    put_own_fields(&w, alert, scene);
    put_untold_fields(&w, alert, scene);
    weir_json_close(&w, '}');
    return weir_json_writer_end(&w);
}

/* ---- Slack ---- */

static struct weir_slice escaped(struct weir_slice c)
{
    if (weir_slice_eq(c, WEIR_SLICE("<")))
        return WEIR_SLICE("&lt;");
    if (weir_slice_eq(c, WEIR_SLICE(">")))
        return WEIR_SLICE("&gt;");
    return weir_slice_eq(c, WEIR_SLICE("&")) ? WEIR_SLICE("&amp;") : c;
}

static int escape(struct weir_slice text, struct weir_buf *buf)
{
    int r = 0;

    assert(text.ptr != NULL); /* no sentence is empty */
    for (size_t i = 0; r == 0 && i < text.len; i++)
        r = weir_buf_append(buf, escaped(weir_slice_sub(text, i, i + 1)));
    return r;
}

static int put_slack_text(const struct weir_alert *alert, const struct weir_alert_scene *scene,
                          struct weir_slice sentence, struct weir_buf *buf)
{
    const struct weir_alert_kind_row *row = weir_alert_kind_row(alert->kind);
    char time[WEIR_TEXT_TIME_MAX];
    int r = WEIR_BUF_APPEND(buf, WEIR_SLICE("Alert type: `"), weir_alert_type_name(row->type),
                            WEIR_SLICE("`\nLevel: `"), row->level, WEIR_SLICE("`\nTimestamp: `"),
                            time_of(scene, alert->about.time_ns, time), WEIR_SLICE("`\nProcess: `"),
                            scene->process, WEIR_SLICE("`\n\nMessage: "));

    return r == 0 ? escape(sentence, buf) : r;
}

static int put_slack(const struct weir_alert *alert, const struct weir_alert_scene *scene,
                     struct weir_slice sentence, struct weir_buf *buf)
{
    WEIR_CLEANUP(weir_buf_deinit) struct weir_buf text;
    struct weir_json_writer w;
    int r;

    weir_buf_init(&text, buf->mem, WEIR_ALERT_TEXT_MAX);
    r = put_slack_text(alert, scene, sentence, &text);
    if (r < 0)
        return r;
    weir_json_writer_init(&w, buf);
    weir_json_open(&w, '{');
    weir_json_put_text_member(&w, WEIR_SLICE("text"), weir_buf_slice(&text));
    weir_json_close(&w, '}');
    return weir_json_writer_end(&w);
}

int weir_alert_message(const struct weir_alert *alert, const struct weir_alert_scene *scene,
                       enum weir_alert_form form, struct weir_buf *buf)
{
    WEIR_CLEANUP(weir_buf_deinit) struct weir_buf sentence;
    int r;

    weir_buf_init(&sentence, buf->mem, WEIR_ALERT_TEXT_MAX);
    r = weir_alert_sentence(alert, scene, &sentence);
    if (r < 0)
        return r;
    return form == WEIR_ALERT_JSON ? put_json(alert, scene, weir_buf_slice(&sentence), buf)
                                   : put_slack(alert, scene, weir_buf_slice(&sentence), buf);
}
