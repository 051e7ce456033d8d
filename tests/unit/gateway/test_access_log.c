#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/mem_libc.h>

#include "base/time.h"
#include "gateway/log/access_log.h"

static const struct weir_access full = {.call_id = WEIR_SLICE_INIT("c1"),
                                        .route = WEIR_SLICE_INIT("chat"),
                                        .model = WEIR_SLICE_INIT("my model \"x\""),
                                        .group = WEIR_SLICE_INIT("g"),
                                        .deployment = WEIR_SLICE_INIT("d1"),
                                        .status = 200,
                                        .stream = true,
                                        .attempts = 2,
                                        .retries = 1,
                                        .duration_ns = 12345678,
                                        .prompt_tokens = 10};

static void a_line_is_an_object(void **state)
{
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), WEIR_ACCESS_LINE_MAX);
    assert_int_equal(weir_access_format(&full, WEIR_LOG_JSON, UINT64_C(1709210096789000000), &buf), 0);
    assert_slice_is(
        weir_buf_slice(&buf),
        "{\"time\":\"2024-02-29T12:34:56.789Z\",\"call_id\":\"c1\",\"route\":\"chat\","
        "\"model\":\"my model \\\"x\\\"\",\"group\":\"g\",\"deployment\":\"d1\",\"status\":200,"
        "\"stream\":true,\"attempts\":2,\"retries\":1,\"duration_ms\":12.345,\"prompt_tokens\":10}\n");
    weir_buf_deinit(&buf);
}

static void or_a_run_of_pairs(void **state)
{
    struct weir_buf buf;

    (void)state;
    weir_buf_init(&buf, weir_mem_libc(), WEIR_ACCESS_LINE_MAX);
    assert_int_equal(weir_access_format(&full, WEIR_LOG_LOGFMT, 0, &buf), 0);
    assert_slice_is(
        weir_buf_slice(&buf),
        "time=1970-01-01T00:00:00.000Z call_id=c1 route=chat model=\"my model \\\"x\\\"\" group=g "
        "deployment=d1 status=200 stream=true attempts=2 retries=1 duration_ms=12.345 prompt_tokens=10\n");
    weir_buf_deinit(&buf);
}

static void dates_are_right_at_their_borders(void **state)
{
    static const struct {
        uint64_t day;
        const char *date;
    } rows[] = {{0, "1970-01-01"},     {59, "1970-03-01"},    {10956, "1999-12-31"}, {10957, "2000-01-01"},
                {11016, "2000-02-29"}, {11017, "2000-03-01"}, {47540, "2100-02-28"}, {47541, "2100-03-01"}};
    struct weir_access access = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct weir_buf buf;

        weir_buf_init(&buf, weir_mem_libc(), WEIR_ACCESS_LINE_MAX);
        assert_int_equal(
            weir_access_format(&access, WEIR_LOG_LOGFMT, rows[i].day * 86400 * WEIR_NS_PER_S, &buf), 0);
        assert_slice_is(weir_slice_sub(weir_buf_slice(&buf), 5, 15), rows[i].date);
        weir_buf_deinit(&buf);
    }
}

static void a_long_text_is_cut(void **state)
{
    char name[5000];
    struct weir_access access = {.model = {name, sizeof(name)}, .group = {name, sizeof(name)}};
    struct weir_buf buf;

    (void)state;
    memset(name, '\x01', sizeof(name)); /* the longest escapes */
    weir_buf_init(&buf, weir_mem_libc(), WEIR_ACCESS_LINE_MAX);
    assert_int_equal(weir_access_format(&access, WEIR_LOG_JSON, 0, &buf), 0);
    weir_buf_deinit(&buf);
}

static void a_byte_that_is_not_plain_is_escaped_wherever_it_stands(void **state)
{
    (void)state;
    for (size_t len = 1; len < 20; len++)
        for (size_t at = 0; at < len; at++) {
            char model[] = "abcdefghijklmnopqrstu";
            char expected[128];
            struct weir_access access = {.model = {model, len}};
            struct weir_buf buf;

            model[at] = '"';
            (void)snprintf(expected, sizeof(expected),
                           "time=1970-01-01T00:00:00.000Z model=\"%.*s\\\"%.*s\" status=0 attempts=0\n",
                           (int)at, model, (int)(len - at - 1), model + at + 1);
            weir_buf_init(&buf, weir_mem_libc(), WEIR_ACCESS_LINE_MAX);
            assert_int_equal(weir_access_format(&access, WEIR_LOG_LOGFMT, 0, &buf), 0);
            assert_slice_is(weir_buf_slice(&buf), expected);
            weir_buf_deinit(&buf);
        }
}

static void a_worker_writes_to_its_lane(void **state)
{
    char path[] = "access-log-XXXXXX", text[WEIR_LOG_TEXT_MAX], line[512];
    struct weir_log_spec specs[WEIR_LOGS] = {[WEIR_LOG_EVENTS] = {WEIR_SLICE("off"), WEIR_LOG_JSON}};
    weir_log *log;
    FILE *file;
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    specs[WEIR_LOG_ACCESS] = (struct weir_log_spec){weir_slice_str(path), WEIR_LOG_LOGFMT};
    assert_int_equal(weir_log_new(weir_mem_libc(), specs, 2, text, &log), 0);
    weir_access_log_write(log, 1, &full, 0);
    weir_log_free(log);
    file = fdopen(fd, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    assert_non_null(strstr(line, "time=1970-01-01T00:00:00.000Z call_id=c1 route=chat "));
    (void)fclose(file);
    (void)unlink(path);
}

static void off_writes_nothing(void **state)
{
    const struct weir_log_spec off = {WEIR_SLICE("off"), WEIR_LOG_JSON};
    const struct weir_log_spec specs[WEIR_LOGS] = {off, off};
    char text[WEIR_LOG_TEXT_MAX];
    weir_log *log;

    (void)state;
    assert_int_equal(weir_log_new(weir_mem_libc(), specs, 1, text, &log), 0);
    weir_access_log_write(log, 0, &full, 0);
    assert_int_equal(weir_log_dropped(log, WEIR_LOG_ACCESS), 0);
    weir_log_free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_an_object),
        cmocka_unit_test(or_a_run_of_pairs),
        cmocka_unit_test(dates_are_right_at_their_borders),
        cmocka_unit_test(a_long_text_is_cut),
        cmocka_unit_test(a_byte_that_is_not_plain_is_escaped_wherever_it_stands),
        cmocka_unit_test(a_worker_writes_to_its_lane),
        cmocka_unit_test(off_writes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
