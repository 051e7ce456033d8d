/* Rings of several threads, and the one that writes them out; run under ThreadSanitizer too. */
#include "unit.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/mem_libc.h>

#include "gateway/log/log.h"

enum { LANES = 3, PATH_BYTES = 64 };

/* Logs in a folder of their own. */
struct kit {
    char folder[PATH_BYTES];
    char paths[WEIR_LOGS][2 * PATH_BYTES];
    weir_log *log;
};

static void begin(struct kit *kit)
{
    struct weir_log_spec specs[WEIR_LOGS];
    char text[WEIR_LOG_TEXT_MAX];

    (void)snprintf(kit->folder, sizeof(kit->folder), "logs-XXXXXX");
    assert_non_null(mkdtemp(kit->folder));
    for (size_t i = 0; i < WEIR_LOGS; i++) {
        (void)snprintf(kit->paths[i], sizeof(kit->paths[i]), "%s/%zu", kit->folder, i);
        specs[i] = (struct weir_log_spec){weir_slice_str(kit->paths[i]), WEIR_LOG_JSON};
    }
    assert_int_equal(weir_log_new(weir_mem_libc(), specs, LANES, text, &kit->log), 0);
}

static void end(struct kit *kit)
{
    char moved[3 * PATH_BYTES];

    weir_log_free(kit->log);
    for (size_t i = 0; i < WEIR_LOGS; i++) {
        (void)unlink(kit->paths[i]);
        (void)snprintf(moved, sizeof(moved), "%s.old", kit->paths[i]);
        (void)unlink(moved);
    }
    assert_int_equal(rmdir(kit->folder), 0);
}

static void put(const struct kit *kit, weir_log_kind kind, size_t lane, const char *text)
{
    struct weir_buf *room = weir_log_room(kit->log, lane);

    assert_int_equal(weir_buf_append(room, weir_slice_str(text)), 0);
    weir_log_put(kit->log, kind, lane, weir_buf_slice(room));
}

/* How many whole lines a file has, and the sum of the counts of dropped ones that it tells. */
struct found {
    size_t lines;
    size_t dropped;
};

static struct found read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    struct found found = {0};
    char line[4096];

    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        size_t dropped;

        assert_true(line[strlen(line) - 1] == '\n');
        if (sscanf(line, "{\"dropped_lines\":%zu}", &dropped) == 1)
            found.dropped += dropped;
        else
            found.lines++;
    }
    (void)fclose(file);
    return found;
}

static bool has_bytes(const char *path)
{
    struct stat facts;

    return stat(path, &facts) == 0 && facts.st_size > 0;
}

static void await_bytes(const char *path)
{
    for (int i = 0; i < 5000 && !has_bytes(path); i++)
        (void)poll(NULL, 0, 1);
    assert_true(has_bytes(path));
}

static void each_log_has_its_file(void **state)
{
    struct kit kit;

    (void)state;
    begin(&kit);
    put(&kit, WEIR_LOG_ACCESS, 0, "a\n");
    put(&kit, WEIR_LOG_EVENTS, 0, "b\n");
    put(&kit, WEIR_LOG_EVENTS, 1, "c\n");
    await_bytes(kit.paths[WEIR_LOG_ACCESS]);
    await_bytes(kit.paths[WEIR_LOG_EVENTS]);
    put(&kit, WEIR_LOG_ACCESS, 2, "d\n");
    assert_int_equal(weir_log_dropped(kit.log, WEIR_LOG_EVENTS), 0);
    /* What is not written yet is, at the end. */
    weir_log_free(kit.log);
    kit.log = NULL;
    assert_int_equal(read_file(kit.paths[WEIR_LOG_ACCESS]).lines, 2);
    assert_int_equal(read_file(kit.paths[WEIR_LOG_EVENTS]).lines, 2);
    end(&kit);
}

static void what_cannot_be_composed_is_counted(void **state)
{
    struct kit kit;

    (void)state;
    begin(&kit);
    weir_log_lose(kit.log, WEIR_LOG_EVENTS, 1);
    put(&kit, WEIR_LOG_EVENTS, 1, "a\n");
    assert_int_equal(weir_log_dropped(kit.log, WEIR_LOG_EVENTS), 1);
    assert_int_equal(weir_log_dropped(kit.log, WEIR_LOG_ACCESS), 0);
    weir_log_free(kit.log);
    kit.log = NULL;
    assert_int_equal(read_file(kit.paths[WEIR_LOG_EVENTS]).lines, 1);
    assert_int_equal(read_file(kit.paths[WEIR_LOG_EVENTS]).dropped, 1);
    end(&kit);
}

static void a_file_that_was_moved_away_is_made_anew(void **state)
{
    const weir_log_kind kind = WEIR_LOG_EVENTS;
    char moved[3 * PATH_BYTES];
    struct kit kit;

    (void)state;
    begin(&kit);
    put(&kit, kind, 0, "before\n");
    await_bytes(kit.paths[kind]);
    (void)snprintf(moved, sizeof(moved), "%s.old", kit.paths[kind]);
    assert_int_equal(rename(kit.paths[kind], moved), 0);
    weir_log_reopen(kit.log);
    for (int i = 0; i < 5000 && access(kit.paths[kind], F_OK) != 0; i++)
        (void)poll(NULL, 0, 1);
    put(&kit, kind, 0, "after\n");
    put(&kit, kind, 0, "after\n");
    await_bytes(kit.paths[kind]);
    assert_int_equal(read_file(moved).lines, 1);
    weir_log_free(kit.log);
    kit.log = NULL;
    assert_int_equal(read_file(kit.paths[kind]).lines, 2);
    end(&kit);
}

static void a_file_that_cannot_be_opened_is_said(void **state)
{
    const struct weir_log_spec specs[WEIR_LOGS] = {{WEIR_SLICE("off"), WEIR_LOG_JSON},
                                                   {WEIR_SLICE("no-such-folder/log"), WEIR_LOG_JSON}};
    char text[WEIR_LOG_TEXT_MAX];
    weir_log *log;

    (void)state;
    assert_int_equal(weir_log_new(weir_mem_libc(), specs, 1, text, &log), WEIR_LOG_REFUSED);
    assert_non_null(strstr(text, "the event log no-such-folder/log"));
}

/* The event log alone, at a path that is there already. */
static int open_at(const char *path, char text[WEIR_LOG_TEXT_MAX], struct kit *kit)
{
    const struct weir_log_spec specs[WEIR_LOGS] = {{WEIR_SLICE("off"), WEIR_LOG_JSON},
                                                   {weir_slice_str(path), WEIR_LOG_JSON}};

    return weir_log_new(weir_mem_libc(), specs, 1, text, &kit->log);
}

static void lines_that_a_full_disk_refuses_are_counted(void **state)
{
    char text[WEIR_LOG_TEXT_MAX];
    struct kit kit;

    (void)state;
    assert_int_equal(open_at("/dev/full", text, &kit), 0);
    put(&kit, WEIR_LOG_EVENTS, 0, "a\nb\n");
    put(&kit, WEIR_LOG_EVENTS, 0, "c\n");
    for (int i = 0; i < 5000 && weir_log_dropped(kit.log, WEIR_LOG_EVENTS) < 3; i++)
        (void)poll(NULL, 0, 1);
    assert_int_equal(weir_log_dropped(kit.log, WEIR_LOG_EVENTS), 3);
    weir_log_free(kit.log);
}

/* A pipe with a name, in the folder where the test runs. */
static void make_pipe(char path[PATH_BYTES])
{
    (void)snprintf(path, PATH_BYTES, "pipe-%ld", (long)getpid());
    assert_int_equal(mkfifo(path, 0600), 0);
}

static void a_pipe_without_a_reader_is_refused(void **state)
{
    char text[WEIR_LOG_TEXT_MAX], path[PATH_BYTES];
    struct kit kit;

    (void)state;
    make_pipe(path);
    assert_int_equal(open_at(path, text, &kit), WEIR_LOG_REFUSED);
    assert_non_null(strstr(text, path));
    assert_int_equal(unlink(path), 0);
}

static void a_pipe_that_nobody_empties_does_not_hold_up_the_end(void **state)
{
    enum { LINES = 5000 };
    char text[WEIR_LOG_TEXT_MAX], path[PATH_BYTES], buffer[PIPE_BUF];
    size_t bytes = 0;
    char last = 0;
    struct kit kit;
    ssize_t n;
    int reader;

    (void)state;
    make_pipe(path);
    reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(open_at(path, text, &kit), 0);
    for (size_t i = 0; i < LINES; i++)
        put(&kit, WEIR_LOG_EVENTS, 0, "a line of the event log, of which a pipe takes a thousand and more\n");
    assert_true(weir_log_dropped(kit.log, WEIR_LOG_EVENTS) > 0);
    weir_log_free(kit.log);
    while ((n = read(reader, buffer, sizeof(buffer))) > 0) {
        last = buffer[n - 1];
        bytes += (size_t)n;
    }
    assert_true(bytes > 0 && last == '\n'); /* whole lines */
    assert_int_equal(close(reader), 0);
    assert_int_equal(unlink(path), 0);
}

/* ---- threads ---- */

struct writer {
    const struct kit *kit;
    size_t lane;
    size_t count;
};

static void *writer_main(void *user)
{
    const struct writer *writer = user;

    for (size_t i = 0; i < writer->count; i++) {
        put(writer->kit, WEIR_LOG_ACCESS, writer->lane,
            "a line of the access log that is as long as they usually are\n");
        put(writer->kit, WEIR_LOG_EVENTS, writer->lane, "one of the event log\n");
    }
    return NULL;
}

/* Every line that was put is in its file, or is counted and told. */
static void play(size_t count)
{
    struct writer writers[LANES];
    pthread_t threads[LANES];
    uint64_t dropped[WEIR_LOGS];
    struct kit kit;

    begin(&kit);
    for (size_t i = 0; i < LANES; i++) {
        writers[i] = (struct writer){&kit, i, count};
        assert_int_equal(pthread_create(&threads[i], NULL, writer_main, &writers[i]), 0);
    }
    weir_log_reopen(kit.log);
    for (size_t i = 0; i < LANES; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < WEIR_LOGS; i++)
        dropped[i] = weir_log_dropped(kit.log, (weir_log_kind)i);
    weir_log_free(kit.log);
    kit.log = NULL;
    for (size_t i = 0; i < WEIR_LOGS; i++) {
        struct found found = read_file(kit.paths[i]);

        assert_int_equal(found.lines + dropped[i], LANES * count);
        assert_int_equal(found.dropped, dropped[i]);
    }
    end(&kit);
}

static void every_line_is_written_where_there_is_room(void **state)
{
    (void)state;
    play(100);
}

static void what_finds_no_room_is_counted_and_told(void **state)
{
    (void)state;
    play(20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_log_has_its_file),
        cmocka_unit_test(what_cannot_be_composed_is_counted),
        cmocka_unit_test(a_file_that_was_moved_away_is_made_anew),
        cmocka_unit_test(a_file_that_cannot_be_opened_is_said),
        cmocka_unit_test(lines_that_a_full_disk_refuses_are_counted),
        cmocka_unit_test(a_pipe_without_a_reader_is_refused),
        cmocka_unit_test(a_pipe_that_nobody_empties_does_not_hold_up_the_end),
        cmocka_unit_test(every_line_is_written_where_there_is_room),
        cmocka_unit_test(what_finds_no_room_is_counted_and_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
