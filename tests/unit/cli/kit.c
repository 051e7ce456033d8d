#include "kit.h"

#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

#include "base/slice.h"

yyjson_doc *kit_json(const char *text)
{
    char *copy = strdup(text);
    yyjson_doc *doc;

    assert_non_null(copy);
    for (char *c = copy; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    doc = yyjson_read(copy, strlen(copy), 0);
    if (doc == NULL)
        fail_msg("not JSON: %s", copy);
    free(copy);
    return doc;
}

char *kit_printed(void (*page)(const struct weir_explain_out *to, yyjson_val *answer), const char *json)
{
    yyjson_doc *doc = kit_json(json);
    char *text;
    size_t len;
    struct weir_explain_out to = {.out = open_memstream(&text, &len)};

    assert_non_null(to.out);
    page(&to, yyjson_doc_get_root(doc));
    assert_int_equal(fclose(to.out), 0);
    yyjson_doc_free(doc);
    return text;
}

void kit_expect(void (*page)(const struct weir_explain_out *to, yyjson_val *answer), const char *json,
                const char *text)
{
    char *printed = kit_printed(page, json);

    assert_string_equal(printed, text);
    free(printed);
}

static void keep_line(void *user, unsigned number, const struct weir_line *line)
{
    struct kit_screen *drawn = user;
    struct weir_slice text = weir_slice_trim_end((struct weir_slice){line->text, line->len});

    assert_int_equal(number, drawn->lines); /* in order, each once */
    assert_int_equal(weir_cells_of((struct weir_slice){line->text, line->len}), line->columns);
    assert_true(line->columns <= line->max_columns);
    if (line->span_count > 0)
        assert_int_equal(line->spans[line->span_count - 1].end, line->len);
    drawn->text = realloc(drawn->text, drawn->len + text.len + 2);
    assert_non_null(drawn->text);
    if (text.len > 0)
        memcpy(drawn->text + drawn->len, text.ptr, text.len);
    drawn->len += text.len;
    drawn->text[drawn->len++] = '\n';
    drawn->text[drawn->len] = '\0';
    drawn->lines++;
    drawn->widest = line->columns > drawn->widest ? line->columns : drawn->widest;
}

void kit_draw(struct weir_top_screen *screen, const struct weir_top_model *model,
              struct kit_screen *ret_drawn)
{
    const struct weir_line_sink sink = {.line = keep_line, .user = ret_drawn};

    *ret_drawn = (struct kit_screen){0};
    weir_top_screen_draw(screen, model, &sink);
    assert_int_equal(ret_drawn->lines, screen->lines);
    assert_true(ret_drawn->widest <= screen->columns);
}

void kit_print(struct weir_top_screen *screen, const struct weir_top_model *model,
               struct kit_screen *ret_drawn)
{
    const struct weir_line_sink sink = {.line = keep_line, .user = ret_drawn};

    *ret_drawn = (struct kit_screen){0};
    weir_top_screen_print(screen, model, &sink);
}

const char *kit_line(const struct kit_screen *drawn, unsigned number)
{
    static char line[WEIR_LINE_BYTES + 1];
    const char *at = drawn->text;
    size_t len;

    for (unsigned i = 0; i < number; i++)
        at = strchr(at, '\n') + 1;
    len = (size_t)(strchr(at, '\n') - at);
    memcpy(line, at, len);
    line[len] = '\0';
    return line;
}

void kit_screen_free(struct kit_screen *drawn)
{
    free(drawn->text);
    *drawn = (struct kit_screen){0};
}

static void write_deployment(FILE *out, unsigned number)
{
    (void)fprintf(out, "%s{\"id\":\"d%u\",\"model\":\"openai/m%u\",\"provider\":\"openai\",\"eligible\":%s,",
                  number % 3 == 0 ? "" : ",", number, number % 7, number % 10 == 0 ? "false" : "true");
    if (number % 10 == 0)
        (void)fprintf(out,
                      "\"why\":\"cooling_down\",\"cooldown\":{\"remaining_s\":%u,\"length_s\":60,"
                      "\"kind\":\"rate_limit\",\"status\":429,\"rule\":\"rate_limited\",\"number\":1},",
                      number % 60 + 1);
    (void)fprintf(out,
                  "\"window\":{\"successes\":%u,\"failures\":1},\"in_flight\":%u,\"latency_s\":0.5,"
                  "\"usage\":{\"requests\":%u,\"tokens\":%u,\"rpm\":600},"
                  "\"last_failure\":{\"kind\":\"timeout\",\"status\":408,"
                  "\"time\":\"2026-11-30T09:00:00.000Z\"}}",
                  number + 1, number % 5, number, number * 100);
}

struct weir_top_model *kit_model(unsigned deployments)
{
    struct weir_top_model *model;
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    assert_non_null(out);
    (void)fputs("{\"now\":\"2026-11-30T09:01:00.000Z\",\"since\":\"2026-11-30T08:00:00.000Z\","
                "\"version\":\"0.1.0\",\"uptime_s\":3660,\"in_flight\":7,\"groups\":[",
                out);
    for (unsigned i = 0; i < deployments; i++) {
        if (i % 3 == 0)
            (void)fprintf(out, "%s{\"group\":\"g%u\",\"strategy\":\"simple-shuffle\",\"deployments\":[",
                          i == 0 ? "" : "]},", i / 3);
        write_deployment(out, i);
    }
    (void)fputs(deployments > 0 ? "]}]}" : "]}", out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(
        weir_top_model_new(
            kit_json(text),
            kit_json("{'calls':[{'time':'2026-11-30T09:00:30.000Z','call_id':'c1','model':'g0',"
                     "'deployment':'d1','status':200,'attempts':2,'retries':1,'recovery':'retry',"
                     "'duration_ms':831,'state':'succeeded'},"
                     "{'time':'2026-11-30T09:00:10.000Z','call_id':'c0','model':'g1',"
                     "'deployment':'d4','status':429,'kind':'rate_limit','attempts':3,"
                     "'fallbacks':2,'duration_ms':12,'state':'failed'}]}"),
            &model),
        0);
    free(text);
    return model;
}
