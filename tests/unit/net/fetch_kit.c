#include "fetch_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "base/slice.h"
#include "wire/http1_read.h"

#include <cmocka.h>

static void on_head(struct weir_fetch *fetch, const struct weir_http1_head *head)
{
    struct fetch_kit *kit = fetch->user;

    kit->heads++;
    kit->status = head->status;
    if (kit->cancel_on_head)
        weir_fetch_cancel(fetch);
}

static void on_body(struct weir_fetch *fetch, struct weir_slice bytes)
{
    struct fetch_kit *kit = fetch->user;

    assert_true(bytes.len > 0);
    kit->pieces++;
    kit->body_bytes += bytes.len;
    if (kit->keep_body) {
        assert_true(kit->text.len + bytes.len < sizeof(kit->text.bytes));
        memcpy(kit->text.bytes + kit->text.len, bytes.ptr, bytes.len);
        kit->text.len += bytes.len;
    }
    if (kit->pause_on_body)
        weir_fetch_pause(fetch);
    if (kit->cancel_on_body)
        weir_fetch_cancel(fetch);
}

static void on_flush(struct weir_fetch *fetch)
{
    struct fetch_kit *kit = fetch->user;

    kit->flushes++;
}

static void on_done(struct weir_fetch *fetch)
{
    struct fetch_kit *kit = fetch->user;

    kit->dones++;
    assert_false(weir_fetch_active(fetch));
}

static void on_error(struct weir_fetch *fetch, const struct weir_fetch_failure *failure)
{
    struct fetch_kit *kit = fetch->user;

    kit->errors++;
    kit->kind = failure->kind;
    kit->sent = failure->sent;
    memcpy(kit->text.bytes, failure->text.ptr, failure->text.len);
    kit->text.len = failure->text.len;
    kit->text.bytes[kit->text.len] = '\0';
}

static const struct weir_fetch_events events = {on_head, on_body, on_done, on_error, on_flush};

struct fetch_kit *fetch_kit_open(const struct weir_client_config *config)
{
    const struct weir_resolver_config resolver_config = {.threads = 1};
    struct weir_client_config own = {0};
    struct fetch_kit *kit = calloc(1, sizeof(*kit));

    assert_non_null(kit);
    if (config != NULL)
        own = *config;
    kit->keep_body = true;
    kit->fetch.events = &events;
    kit->fetch.user = kit;
    assert_int_equal(weir_loop_new(weir_mem_libc(), &kit->loop), 0);
    assert_int_equal(weir_resolver_new(weir_mem_libc(), &resolver_config, &kit->resolver), 0);
    own.resolver = own.resolver == NULL ? kit->resolver : own.resolver;
    assert_int_equal(weir_client_new(kit->loop, &own, &kit->client), 0);
    return kit;
}

void fetch_kit_close(struct fetch_kit *kit)
{
    weir_client_close(kit->client);
    weir_loop_free(kit->loop);
    weir_resolver_free(kit->resolver);
    free(kit);
}

void fetch_kit_start(struct fetch_kit *kit)
{
    kit->status = 0;
    kit->heads = 0;
    kit->dones = 0;
    kit->errors = 0;
    kit->body_bytes = 0;
    kit->pieces = 0;
    kit->text = (struct kit_text){0};
    kit->heard = (struct kit_text){0};
    weir_client_start(kit->client, &kit->fetch, &kit->request);
    assert_int_equal(kit->heads + kit->dones + kit->errors, 0);
}

void fetch_kit_prepare(struct fetch_kit *kit, uint16_t port)
{
    kit->body[0] = WEIR_SLICE("hel");
    kit->body[1] = WEIR_SLICE("lo");
    kit->request = (struct weir_fetch_request){.host = WEIR_SLICE("127.0.0.1"),
                                               .port = port,
                                               .method = WEIR_SLICE("POST"),
                                               .target = WEIR_SLICE("/v1/x?y=1"),
                                               .fields = WEIR_SLICE("Content-Type: text/plain\r\n"),
                                               .parts = kit->body,
                                               .part_count = 2};
}

void fetch_kit_post(struct fetch_kit *kit, uint16_t port)
{
    fetch_kit_prepare(kit, port);
    fetch_kit_start(kit);
}

static bool is_over(void *user)
{
    const struct fetch_kit *kit = user;

    return kit->dones + kit->errors > 0;
}

void fetch_kit_wait(struct fetch_kit *kit)
{
    kit_until(kit->loop, is_over, kit);
    assert_int_equal(kit->dones + kit->errors, 1);
}

void fetch_kit_expect_error(struct fetch_kit *kit, enum weir_fetch_failure_kind kind)
{
    fetch_kit_wait(kit);
    assert_int_equal(kit->errors, 1);
    if (kit->kind != kind)
        fail_msg("%s", kit->text.bytes);
}

void fetch_kit_expect_body(struct fetch_kit *kit, const char *body)
{
    fetch_kit_wait(kit);
    if (kit->errors > 0)
        fail_msg("%s", kit->text.bytes);
    assert_int_equal(kit->heads, 1);
    kit->text.bytes[kit->text.len] = '\0';
    assert_string_equal(kit->text.bytes, body);
}

void fetch_kit_hear(struct fetch_kit *kit, int fd)
{
    kit->heard = (struct kit_text){0};
    kit_receive(kit->loop, fd, &kit->heard, "\r\n\r\nhello");
}
