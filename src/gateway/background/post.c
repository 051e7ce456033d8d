/*
 * A fetch with a clock and a bounded answer.  A post is over before it is told, so that its owner may start
 * the next one from inside done.
 */
#include "gateway/background/post.h"

#include <stdio.h>

#include "base/container.h"
#include "base/slice.h"
#include "base/time.h"
#include "config/settings.h"
#include "gateway/attempt/trust.h"
#include "gateway/gateway.h"
#include "wire/http1_read.h"
#include "wire/retry_after.h"
#include "wire/url.h"

enum { URL_MAX = 8 * 1024, CONNECTIONS_MAX = 32 };

/* ---- where to ---- */

static int refuse(char text[WEIR_POST_TEXT_MAX], const char *why)
{
    (void)snprintf(text, WEIR_POST_TEXT_MAX, "%s", why);
    return WEIR_POST_REFUSED;
}

/* Copies what of the URL is kept: the host, and behind it the target. */
static int keep(struct weir_post_place *place, const struct weir_url *url, const struct weir_mem *mem)
{
    struct weir_slice all;
    int r;

    weir_buf_init(&place->text, mem, URL_MAX);
    r = WEIR_BUF_APPEND(&place->text, url->host, url->path.len > 0 ? url->path : WEIR_SLICE("/"),
                        url->query.len > 0 ? WEIR_SLICE("?") : WEIR_SLICE_EMPTY, url->query);
    if (r < 0)
        return r;
    all = weir_buf_slice(&place->text);
    place->host = weir_slice_sub(all, 0, url->host.len);
    place->target = weir_slice_sub(all, url->host.len, all.len);
    place->secure = url->secure;
    place->port = url->port;
    return 0;
}

static int trust_place(struct weir_post_place *place, const struct weir_settings *settings,
                       struct weir_trust *trust, char text[WEIR_POST_TEXT_MAX])
{
    const struct weir_tls_spec spec = {.insecure = !settings->ssl_verify, .ca_file = settings->ca_file};
    char reason[WEIR_TLS_TEXT_MAX];
    int r;

    if (!place->secure)
        return 0;
    r = weir_trust_get(trust, &spec, reason, &place->tls);
    if (r > 0)
        (void)snprintf(text, WEIR_POST_TEXT_MAX, "certificates to trust: %s", reason);
    return r > 0 ? WEIR_POST_REFUSED : r;
}

int weir_post_place_init(struct weir_post_place *ret_place, struct weir_slice url,
                         const struct weir_settings *settings, struct weir_trust *trust,
                         const struct weir_mem *mem, char text[WEIR_POST_TEXT_MAX])
{
    struct weir_post_place place = {0};
    struct weir_url parts;
    int r;

    if (url.len >= URL_MAX || weir_url_parse(url, &parts) != 0)
        return refuse(text, "it is no http:// or https:// URL");
    if (parts.user.len > 0)
        return refuse(text, "a user and password in the URL are not taken; send a header");
    r = keep(&place, &parts, mem);
    if (r == 0)
        r = trust_place(&place, settings, trust, text);
    if (r == 0)
        *ret_place = place;
    else
        weir_post_place_deinit(&place);
    return r;
}

void weir_post_place_deinit(struct weir_post_place *place)
{
    weir_tls_context_unref(place->tls);
    if (place->text.mem != NULL)
        weir_buf_deinit(&place->text);
    *place = (struct weir_post_place){0};
}

int weir_post_client(const struct weir_gateway *gateway, const struct weir_settings *settings,
                     weir_loop *loop, weir_client **ret_client)
{
    const struct weir_client_config config = {.resolver = gateway->resolver,
                                              .proxies = &gateway->proxies,
                                              .max_connections = CONNECTIONS_MAX,
                                              .max_idle_per_upstream = 1,
                                              .max_head_bytes = (size_t)settings->max_head_bytes,
                                              .max_headers = settings->max_header_count,
                                              .idle_timeout_ns = settings->upstream_idle_timeout_ns};

    return weir_client_new(loop, &config, ret_client);
}

/* ---- the post ---- */

static void stop(struct weir_post *post)
{
    post->active = false;
    post->head = NULL;
    weir_loop_cancel(post->spec.loop, &post->timer);
    if (weir_fetch_active(&post->fetch))
        weir_fetch_cancel(&post->fetch);
}

static void tell(struct weir_post *post, struct weir_post_outcome *outcome)
{
    struct weir_buf answer = post->answer;

    outcome->body = outcome->status == 0 ? WEIR_SLICE_EMPTY : weir_buf_slice(&answer);
    post->answer = (struct weir_buf){0};
    stop(post);
    post->spec.done(post, outcome);
    weir_buf_deinit(&answer);
}

static void tell_answer(struct weir_post *post)
{
    const int64_t wall_s = (int64_t)weir_loop_wall_s(post->spec.loop);
    struct weir_post_outcome outcome = {.status = post->head->status};

    if (weir_retry_after_parse(weir_http1_value(post->head, WEIR_SLICE("retry-after")), wall_s,
                               &outcome.retry_after_ns) != 0)
        outcome.retry_after_ns = 0;
    tell(post, &outcome);
}

static void tell_failure(struct weir_post *post, struct weir_slice reason)
{
    struct weir_post_outcome outcome = {.reason = reason};

    tell(post, &outcome);
}

static void on_head(struct weir_fetch *fetch, const struct weir_http1_head *head)
{
    struct weir_post *post = fetch->user;

    post->head = head;
}

static void on_body(struct weir_fetch *fetch, struct weir_slice bytes)
{
    struct weir_post *post = fetch->user;
    size_t room = WEIR_POST_ANSWER_MAX - weir_buf_len(&post->answer);

    if (weir_buf_append(&post->answer, weir_slice_sub(bytes, 0, room)) < 0)
        tell_failure(post, weir_fetch_failure_slug(WEIR_FETCH_NOMEM));
    else if (bytes.len > room)
        tell_answer(post);
}

static void on_done(struct weir_fetch *fetch)
{
    tell_answer(fetch->user);
}

static void on_error(struct weir_fetch *fetch, const struct weir_fetch_failure *failure)
{
    tell_failure(fetch->user, weir_fetch_failure_slug(failure->kind));
}

static const struct weir_fetch_events events = {
    .on_head = on_head, .on_body = on_body, .on_done = on_done, .on_error = on_error};

static void on_timer(struct weir_timer *timer)
{
    tell_failure(WEIR_CONTAINER(timer, struct weir_post, timer), WEIR_SLICE("timed_out"));
}

void weir_post_start(struct weir_post *post, const struct weir_post_spec *spec)
{
    const struct weir_post_place *place = spec->place;

    *post = (struct weir_post){.spec = *spec,
                               .parts = {spec->lead, spec->body},
                               .fetch = {.events = &events, .user = post},
                               .active = true};
    post->request = (struct weir_fetch_request){.tls = place->secure,
                                                .host = place->host,
                                                .port = place->port,
                                                .tls_context = place->tls,
                                                .method = WEIR_SLICE("POST"),
                                                .target = place->target,
                                                .fields = spec->fields,
                                                .parts = spec->lead.len > 0 ? post->parts : post->parts + 1,
                                                .part_count = spec->lead.len > 0 ? 2 : 1,
                                                .connect_timeout_ns = spec->limit_ns};
    weir_buf_init(&post->answer, spec->mem, WEIR_POST_ANSWER_MAX);
    weir_timer_init(&post->timer, on_timer);
    weir_loop_arm(spec->loop, &post->timer, weir_time_add(weir_loop_now(spec->loop), spec->limit_ns));
    weir_client_start(spec->client, &post->fetch, &post->request);
}

void weir_post_cancel(struct weir_post *post)
{
    if (!post->active)
        return;
    stop(post);
    weir_buf_deinit(&post->answer);
}
