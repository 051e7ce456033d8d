/* Lists are as long as those of changes.h at most, so a report is bounded by the lengths of names. */
#include "gateway/process/reload_report.h"

#include "base/slice.h"
#include "wire/json_write.h"

enum { DIAGS_SHOWN_MAX = 20, DIAG_BYTES_MAX = 256 * 1024 };

static size_t shown(const struct weir_change_list *list)
{
    return list->count < WEIR_CHANGES_NAMES_MAX ? list->count : WEIR_CHANGES_NAMES_MAX;
}

/* ---- JSON ---- */

static void put_list(struct weir_json_writer *writer, struct weir_slice key,
                     const struct weir_change_list *list)
{
    weir_json_put_key(writer, key);
    weir_json_open(writer, '[');
    for (size_t i = 0; i < shown(list); i++)
        weir_json_put_string(writer, list->names[i]);
    weir_json_close(writer, ']');
}

static void put_diags(struct weir_json_writer *writer, const struct weir_diags *diags,
                      const struct weir_mem *mem)
{
    WEIR_CLEANUP(weir_arena_deinit) struct weir_arena arena;

    weir_arena_init(&arena, mem, 4096, DIAG_BYTES_MAX);
    weir_json_put_key(writer, WEIR_SLICE("warnings"));
    weir_json_open(writer, '[');
    for (size_t i = 0; i < diags->count && i < DIAGS_SHOWN_MAX; i++)
        weir_json_put_string(writer, weir_diag_text(&diags->list[i], &arena));
    weir_json_close(writer, ']');
}

int weir_reload_report_json(const struct weir_config *config, const struct weir_config_changes *changes,
                            const struct weir_diags *diags, struct weir_buf *ret_text)
{
    struct weir_json_writer writer;

    weir_json_writer_init(&writer, ret_text);
    weir_json_open(&writer, '{');
    weir_json_put_key(&writer, WEIR_SLICE("status"));
    weir_json_put_string(&writer, WEIR_SLICE("ok"));
    weir_json_put_key(&writer, WEIR_SLICE("deployments"));
    weir_json_open(&writer, '{');
    weir_json_put_key(&writer, WEIR_SLICE("total"));
    weir_json_put_u64(&writer, config->deployment_count);
    put_list(&writer, WEIR_SLICE("added"), &changes->added);
    put_list(&writer, WEIR_SLICE("removed"), &changes->removed);
    put_list(&writer, WEIR_SLICE("changed"), &changes->changed);
    weir_json_close(&writer, '}');
    put_list(&writer, WEIR_SLICE("settings"), &changes->settings);
    put_list(&writer, WEIR_SLICE("needs_restart"), &changes->held);
    put_diags(&writer, diags, config->mem);
    weir_json_close(&writer, '}');
    return weir_json_writer_end(&writer);
}

/* ---- sentences ---- */

int weir_reload_report_refusal(const struct weir_diags *diags, struct weir_buf *ret_text)
{
    WEIR_CLEANUP(weir_arena_deinit) struct weir_arena arena;
    struct weir_slice separator = WEIR_SLICE("the configuration is refused: ");
    size_t told = 0;

    weir_arena_init(&arena, diags->arena.mem, 4096, DIAG_BYTES_MAX);
    for (size_t i = 0; i < diags->count && told < DIAGS_SHOWN_MAX; i++) {
        int r;

        if (diags->list[i].severity == WEIR_SEVERITY_WARNING)
            continue;
        r = WEIR_BUF_APPEND(ret_text, separator, weir_diag_text(&diags->list[i], &arena));
        if (r < 0)
            return r;
        separator = WEIR_SLICE("; ");
        told++;
    }
    return 0;
}

static void put_count(FILE *out, const char **separator, size_t count, const char *what)
{
    if (count == 0)
        return;
    (void)fprintf(out, "%s%zu deployment%s %s", *separator, count, count == 1 ? "" : "s", what);
    *separator = ", ";
}

static void put_names(FILE *out, const char **separator, const struct weir_change_list *list,
                      const char *verb)
{
    if (list->count == 0)
        return;
    for (size_t i = 0; i < shown(list); i++) {
        (void)fprintf(out, "%s%.*s", *separator, (int)list->names[i].len, list->names[i].ptr);
        *separator = ", ";
    }
    if (list->count > shown(list))
        (void)fprintf(out, " and %zu more", list->count - shown(list));
    (void)fprintf(out, " %s", verb);
    *separator = "; ";
}

void weir_reload_report_line(const struct weir_config_changes *changes, FILE *out)
{
    const char *separator = "";

    put_count(out, &separator, changes->added.count, "added");
    put_count(out, &separator, changes->removed.count, "removed");
    put_count(out, &separator, changes->changed.count, "changed");
    put_names(out, &separator, &changes->settings, "changed");
    put_names(out, &separator, &changes->held, "as before until a restart");
    (void)fputs(*separator == '\0' ? "nothing changed\n" : "\n", out);
}
