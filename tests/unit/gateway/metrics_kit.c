#include "metrics_kit.h"

#include <stdio.h>
#include <string.h>

#include <weir/mem_libc.h>

#include "config/config.h"
#include "gateway/metrics/exposition.h"

enum { PAGE_MAX = 16 * 1024 * 1024 };

static const char *no_variables(void *user, const char *name)
{
    (void)user;
    (void)name;
    return NULL;
}

static struct weir_config *config_of(const char *extra)
{
    const struct weir_config_env env = {no_variables, NULL};
    struct weir_diags diags;
    struct weir_config *config;
    char text[4096];

    (void)snprintf(
        text, sizeof(text),
        "model_list:\n"
        "- {model_name: g, litellm_params: {model: openai/gpt-4o, api_key: k, api_base: "
        "'http://a.example/v1', rpm: 60}, model_info: {id: d1}}\n"
        "- {model_name: h, litellm_params: {model: openai/gpt-5, api_key: k}, model_info: {id: d2}}\n"
        "- {model_name: 'w/*', litellm_params: {model: 'openai/*', api_key: k}, model_info: {id: d3}}\n"
        "%s\n",
        extra);
    weir_diags_init(&diags, weir_mem_libc());
    assert_int_equal(
        weir_config_load_text(weir_slice_str(text), "c.yaml", &env, weir_mem_libc(), &diags, &config), 0);
    assert_int_equal(diags.counts[WEIR_SEVERITY_ERROR], 0);
    weir_diags_deinit(&diags);
    return config;
}

void metrics_begin(struct metrics_kit *kit, const char *extra)
{
    char why[WEIR_GATEWAY_TEXT_MAX];

    *kit = (struct metrics_kit){0};
    assert_int_equal(weir_gateway_init(&kit->gateway, config_of(extra), 2, 7, NULL, weir_mem_libc(), why), 0);
    kit->worker.gateway = &kit->gateway;
    kit->worker.seat.setup = kit->gateway.setup;
    weir_series_init(&kit->worker.series, &kit->gateway.metrics, 0);
    weir_buf_init(&kit->page, weir_mem_libc(), PAGE_MAX);
    metrics_job(kit, "g");
}

void metrics_end(struct metrics_kit *kit)
{
    weir_series_deinit(&kit->worker.series);
    weir_gateway_deinit(&kit->gateway);
    weir_buf_deinit(&kit->page);
}

void metrics_reload(struct metrics_kit *kit, const char *extra)
{
    char why[WEIR_GATEWAY_TEXT_MAX];

    assert_int_equal(weir_gateway_adopt(&kit->gateway, config_of(extra), why), 0);
    weir_series_forget(&kit->worker.series);
    kit->worker.seat.setup = kit->gateway.setup;
    kit->job.setup = kit->gateway.setup;
}

void metrics_job(struct metrics_kit *kit, const char *model)
{
    kit->job = (struct weir_job){.worker = &kit->worker, .setup = kit->gateway.setup};
    kit->job.asked.request.model = weir_slice_str(model);
    kit->job.access.route = WEIR_SLICE("chat");
    kit->job.access.model = weir_slice_str(model);
}

void metrics_event(struct metrics_kit *kit, struct weir_event event)
{
    weir_count_event(&kit->job, &event);
}

const char *metrics_page(struct metrics_kit *kit)
{
    static const bool eligible[3] = {true, true, true};
    struct weir_exposition page = {
        .metrics = &kit->gateway.metrics,
        .eligible = eligible,
        .source = {.gateway = &kit->gateway, .setup = kit->gateway.setup, .now_ns = 1}};

    weir_buf_clear(&kit->page);
    assert_int_equal(weir_exposition_write(&page, PAGE_MAX / 2, &kit->page), 0);
    assert_int_equal(weir_buf_append(&kit->page, (struct weir_slice){"", 1}), 0);
    return kit->page.ptr + kit->page.start;
}

/* The line that begins so, or NULL. */
static const char *find_line(const char *page, const char *start)
{
    const char *at = page;

    while ((at = strstr(at, start)) != NULL) {
        if (at == page || at[-1] == '\n')
            return at;
        at++;
    }
    return NULL;
}

const char *metrics_line(struct metrics_kit *kit, const char *start)
{
    static char value[64];
    const char *page = metrics_page(kit);
    const char *at = find_line(page, start);

    if (at == NULL || at[strlen(start)] != ' ') {
        print_error("no line %s in\n%s", start, page);
        fail();
        return "";
    }
    (void)sscanf(at + strlen(start), " %63s", value);
    return value;
}

void metrics_assert_none(struct metrics_kit *kit, const char *start)
{
    assert_null(find_line(metrics_page(kit), start));
}
