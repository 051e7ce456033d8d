/*
 * Whole calls against stored texts, so that a change of behaviour shows as a difference in review.
 *
 * traces/NAME.conf holds a configuration and, on lines that begin with "call ", "later " or "begin ", what to
 * do with it; traces/NAME.txt is everything that happened, with times.  "begin" starts a call and lets it run
 * beside the next one that is called.  To take new traces in:
 *
 *     WEIR_TRACES=write meson test -C build replay_traces
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_kit.h"

#define TEXT_MAX 262144

static const char *const names[] = {"walk", "tiers", "streams", "continuation", "cooldowns"};
static const char *folder;

static bool read_text(const char *name, const char *suffix, char text[TEXT_MAX])
{
    char path[1024];
    FILE *file;
    size_t len;

    snprintf(path, sizeof(path), "%s/%s.%s", folder, name, suffix);
    file = fopen(path, "r");
    if (file == NULL)
        return false;
    len = fread(text, 1, TEXT_MAX - 1, file);
    text[len] = '\0';
    fclose(file);
    return true;
}

static void write_text(const char *name, const char *text)
{
    char path[1024];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s.txt", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) < 0, false);
    fclose(file);
}

static bool is_action(const char *line)
{
    return strncmp(line, "call ", 5) == 0 || strncmp(line, "begin ", 6) == 0 ||
           strncmp(line, "later ", 6) == 0;
}

static void act(struct kit *kit, const char *line)
{
    if (line[0] == 'l')
        kit_advance(kit, strtod(line + 6, NULL));
    else if (line[0] == 'b')
        (void)kit_begin(kit, line + 6);
    else
        (void)kit_begin(kit, line + 5);
    if (line[0] == 'c')
        kit_run_all(kit);
}

/* Cuts the text into the configuration, which it returns, and the actions behind it. */
static char *cut_actions(char *text)
{
    char *line = text;

    while (line != NULL && !is_action(line)) {
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    assert_non_null(line);
    if (line > text)
        line[-1] = '\0';
    return line;
}

static void replay(const char *name)
{
    static char config[TEXT_MAX];
    static char stored[TEXT_MAX];
    char *line;

    assert_true(read_text(name, "conf", config));
    line = cut_actions(config);
    KIT(kit, config);
    while (*line != '\0') {
        char *end = line + strcspn(line, "\n");
        bool is_last = *end == '\0';

        *end = '\0';
        if (*line != '\0')
            act(kit, line);
        line = is_last ? end : end + 1;
    }
    if (getenv("WEIR_TRACES") != NULL)
        write_text(name, kit->trace);
    assert_true(read_text(name, "txt", stored));
    if (strcmp(stored, kit->trace) != 0)
        kit_die(kit, "%s/%s.txt tells another story", folder, name);
}

static void calls_go_as_their_stored_traces_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        replay(names[i]);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(calls_go_as_their_stored_traces_say)};

    if (argc != 2) {
        fprintf(stderr, "usage: replay_traces FOLDER\n");
        return 2;
    }
    folder = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
