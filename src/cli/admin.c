/*
 * A question ends once: with the fetch, with an answer that is too long, or with the timer.  What is told of
 * a failure says what to do about it, since the reader has no manual at hand.
 */
#include "cli/admin.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <weir/error.h>
#include <weir/mem_libc.h>

#include "base/container.h"
#include "base/slice.h"
#include "base/time.h"
#include "cli/facts.h"
#include "wire/http1_read.h"
#include "wire/http_field.h"

enum { ANSWER_S = 20, CONNECT_S = 5, TARGET_MAX = 8192, FIELDS_MAX = 8192 };

__attribute__((format(printf, 2, 3))) static void say(char *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, WEIR_ADMIN_TEXT_MAX, format, arguments);
    va_end(arguments);
}

/* ---- the place ---- */

static const char *key_of(const struct weir_admin_place *place)
{
    static const char *const names[] = {"WEIR_KEY", "LITELLM_MASTER_KEY"};
    const char *key = place->key;

    for (size_t i = 0; key == NULL && i < sizeof(names) / sizeof(*names); i++)
        key = getenv(names[i]);
    return key == NULL ? "" : key;
}

static int write_fields(struct weir_admin *admin, struct weir_slice key, char text[WEIR_ADMIN_TEXT_MAX])
{
    int r = WEIR_BUF_APPEND(&admin->fields, WEIR_SLICE("Accept: application/json\r\n"
                                                       "User-Agent: weir/" WEIR_VERSION "\r\n"));

    if (r < 0 || key.len == 0)
        return r;
    r = weir_http_is_value(key)
            ? WEIR_BUF_APPEND(&admin->fields, WEIR_SLICE("Authorization: Bearer "), key, WEIR_SLICE("\r\n"))
            : WEIR_ERR_LIMIT;
    admin->has_key = r == 0;
    if (r == WEIR_ERR_LIMIT) {
        say(text, "the key is too long, or holds a character that no header may hold");
        return WEIR_ADMIN_REFUSED;
    }
    return r;
}

static struct weir_slice variable(void *user, const char *name)
{
    (void)user;
    return weir_slice_str(getenv(name));
}

static bool is_loopback(struct weir_slice host)
{
    struct weir_addresses addresses;

    return weir_resolve_literal(host, &addresses) == 0 && weir_address_loopback(&addresses.list[0].sa);
}

/* This machine is reached directly, the rest as the variables say. */
static int make_client(struct weir_admin *admin, char text[WEIR_ADMIN_TEXT_MAX])
{
    const struct weir_mem *mem = weir_mem_libc();
    const struct weir_resolver_config resolver = {.threads = 1};
    struct weir_client_config config = {0};
    int r =
        is_loopback(admin->url.host) ? 0 : weir_proxies_init_variables(&admin->proxies, mem, variable, NULL);

    if (r > 0) {
        say(text, "HTTP_PROXY, HTTPS_PROXY or ALL_PROXY is not http://[user:password@]host[:port]");
        return WEIR_ADMIN_REFUSED;
    }
    if (r == 0)
        r = weir_loop_new(mem, &admin->loop);
    if (r == 0)
        r = weir_resolver_new(mem, &resolver, &admin->resolver);
    config.resolver = admin->resolver;
    config.proxies = &admin->proxies;
    return r == 0 ? weir_client_new(admin->loop, &config, &admin->client) : r;
}

static int make_trust(struct weir_admin *admin, char text[WEIR_ADMIN_TEXT_MAX])
{
    const struct weir_tls_spec spec = {0};
    char reason[WEIR_TLS_TEXT_MAX];
    int r = admin->url.secure ? weir_tls_context_new(weir_mem_libc(), &spec, reason, &admin->tls) : 0;

    if (r > 0) {
        say(text, "%s", reason);
        return WEIR_ADMIN_REFUSED;
    }
    return r;
}

int weir_admin_init(struct weir_admin *ret_admin, const struct weir_admin_place *place,
                    char text[WEIR_ADMIN_TEXT_MAX])
{
    struct weir_slice where = weir_slice_str(place->url == NULL ? WEIR_ADMIN_URL : place->url);
    int r;

    while (weir_slice_ends(where, WEIR_SLICE("/")))
        where.len--;
    *ret_admin = (struct weir_admin){.where = where};
    weir_buf_init(&ret_admin->fields, weir_mem_libc(), FIELDS_MAX);
    if (weir_url_parse(where, &ret_admin->url) != 0 || ret_admin->url.user.len > 0 ||
        ret_admin->url.query.len > 0) {
        say(text, "`%.*s` is no place to ask: --url wants http://HOST:PORT or https://HOST:PORT",
            (int)where.len, where.ptr);
        return WEIR_ADMIN_REFUSED;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    r = write_fields(ret_admin, weir_slice_str(key_of(place)), text);
    if (r == 0)
        r = make_trust(ret_admin, text);
    return r == 0 ? make_client(ret_admin, text) : r;
}

void weir_admin_deinit(struct weir_admin *admin)
{
    weir_client_close(admin->client);
    weir_loop_free(admin->loop);
    weir_resolver_free(admin->resolver);
    weir_tls_context_unref(admin->tls);
    weir_proxies_deinit(&admin->proxies);
    weir_buf_deinit(&admin->fields);
    *admin = (struct weir_admin){0};
}

/* ---- an answer ---- */

static void finish(struct weir_admin_get *get)
{
    weir_loop_cancel(get->admin->loop, &get->timer);
    get->done(get);
}

/* The message of an error in weir's shape; empty when it is none. */
static struct weir_slice message_of(yyjson_doc *doc)
{
    return weir_fact_text(yyjson_obj_get(yyjson_doc_get_root(doc), "error"), "message");
}

static void refuse_answer(struct weir_admin_get *get)
{
    const struct weir_slice where = get->admin->where;
    struct weir_slice message = message_of(get->doc);

    if ((get->status == 401 || get->status == 403) && get->admin->has_key)
        say(get->text,
            "weir at %.*s does not take this key (of --key, else WEIR_KEY, else LITELLM_MASTER_KEY): it "
            "wants "
            "its master key",
            (int)where.len, where.ptr);
    else if (get->status == 401 || get->status == 403)
        say(get->text,
            "weir at %.*s wants its master key: set WEIR_KEY (or LITELLM_MASTER_KEY), or give --key KEY",
            (int)where.len, where.ptr);
    else if (message.len > 0)
        say(get->text, "%.*s", (int)message.len, message.ptr);
    else
        say(get->text,
            "%.*s has answered %u, but not as weir does: is it weir that listens there, and this version of "
            "it?",
            (int)where.len, where.ptr, get->status);
    yyjson_doc_free(get->doc);
    get->doc = NULL;
}

static void on_done(struct weir_fetch *fetch)
{
    struct weir_admin_get *get = fetch->user;
    struct weir_slice body = weir_buf_slice(&get->body);

    get->doc = body.len > 0 ? yyjson_read(body.ptr, body.len, 0) : NULL;
    if (get->status != 200 || !yyjson_is_obj(yyjson_doc_get_root(get->doc)))
        refuse_answer(get);
    finish(get);
}

static void on_head(struct weir_fetch *fetch, const struct weir_http1_head *head)
{
    struct weir_admin_get *get = fetch->user;

    get->status = head->status;
}

static void on_body(struct weir_fetch *fetch, struct weir_slice bytes)
{
    struct weir_admin_get *get = fetch->user;

    if (weir_buf_append(&get->body, bytes) == 0)
        return;
    weir_fetch_cancel(fetch);
    say(get->text, "%.*s answers more than %d MiB", (int)get->admin->where.len, get->admin->where.ptr,
        WEIR_ADMIN_ANSWER_MAX / 1024 / 1024);
    finish(get);
}

static void on_error(struct weir_fetch *fetch, const struct weir_fetch_failure *failure)
{
    static const char *const advice[WEIR_FETCH_FAILURES] = {
        [WEIR_FETCH_DNS] = ": is the name right? --url URL names the place",
        [WEIR_FETCH_REFUSED] = ": is weir running there? --url URL names another place",
        [WEIR_FETCH_UNREACHABLE] = ": --url URL names another place",
        [WEIR_FETCH_CONNECT_TIMEOUT] = ": --url URL names another place",
        [WEIR_FETCH_TLS_UNVERIFIED] = ": the variable SSL_CERT_FILE names the authorities to trust",
        [WEIR_FETCH_TLS_BROKEN] = ": does it speak HTTPS? --url http://... asks without",
        [WEIR_FETCH_RESET] = ": does it speak HTTP? --url https://... asks with TLS",
        [WEIR_FETCH_FRAMING] = ": does it speak HTTP? --url https://... asks with TLS",
    };
    struct weir_admin_get *get = fetch->user;
    const char *more = advice[failure->kind];

    say(get->text, "cannot ask %.*s%s", (int)failure->text.len, failure->text.ptr, more == NULL ? "" : more);
    finish(get);
}

static void on_timer(struct weir_timer *timer)
{
    struct weir_admin_get *get = WEIR_CONTAINER(timer, struct weir_admin_get, timer);

    weir_fetch_cancel(&get->fetch);
    say(get->text, "%.*s has not answered within %d seconds", (int)get->admin->where.len,
        get->admin->where.ptr, ANSWER_S);
    finish(get);
}

/* ---- a question ---- */

static void clear_answer(struct weir_admin_get *get)
{
    yyjson_doc_free(get->doc);
    get->doc = NULL;
    get->text[0] = '\0';
    get->status = 0;
    weir_buf_deinit(&get->body);
    weir_buf_deinit(&get->target);
}

void weir_admin_start(struct weir_admin *admin, struct weir_admin_get *get, struct weir_slice path)
{
    static const struct weir_fetch_events events = {
        .on_head = on_head, .on_body = on_body, .on_done = on_done, .on_error = on_error};

    clear_answer(get);
    get->admin = admin;
    weir_buf_init(&get->body, weir_mem_libc(), WEIR_ADMIN_ANSWER_MAX);
    weir_buf_init(&get->target, weir_mem_libc(), TARGET_MAX);
    if (WEIR_BUF_APPEND(&get->target, admin->url.path, path) < 0)
        weir_buf_clear(&get->target); /* the client refuses a request without a target */
    get->request = (struct weir_fetch_request){.tls = admin->url.secure,
                                               .host = admin->url.host,
                                               .port = admin->url.port,
                                               .tls_context = admin->tls,
                                               .method = WEIR_SLICE("GET"),
                                               .target = weir_buf_slice(&get->target),
                                               .fields = weir_buf_slice(&admin->fields),
                                               .connect_timeout_ns = CONNECT_S * WEIR_NS_PER_S};
    get->fetch = (struct weir_fetch){.events = &events, .user = get};
    weir_timer_init(&get->timer, on_timer);
    weir_loop_arm(admin->loop, &get->timer, weir_loop_now(admin->loop) + ANSWER_S * WEIR_NS_PER_S);
    weir_client_start(admin->client, &get->fetch, &get->request);
}

static void stop_loop(struct weir_admin_get *get)
{
    weir_loop_stop(get->admin->loop);
}

void weir_admin_wait(struct weir_admin *admin, struct weir_admin_get *get, struct weir_slice path)
{
    get->done = stop_loop;
    weir_admin_start(admin, get, path);
    weir_loop_run(admin->loop);
}

yyjson_doc *weir_admin_take(struct weir_admin_get *get)
{
    yyjson_doc *doc = get->doc;

    get->doc = NULL;
    return doc;
}

void weir_admin_clear(struct weir_admin_get *get)
{
    if (get->admin != NULL) {
        weir_loop_cancel(get->admin->loop, &get->timer);
        weir_fetch_cancel(&get->fetch);
    }
    clear_answer(get);
}

int weir_admin_escape(struct weir_buf *buf, struct weir_slice text)
{
    static const char digits[] = "0123456789ABCDEF";
    int r = 0;

    for (size_t i = 0; r == 0 && i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        const char coded[] = {'%', digits[c >> 4], digits[c & 15]};
        bool is_plain =
            weir_char_is_alnum((char)c) || c == '-' || c == '.' || c == '_' || c == '~' || c == ',';

        r = weir_buf_append(buf, is_plain ? weir_slice_sub(text, i, i + 1) : (struct weir_slice){coded, 3});
    }
    return r;
}
