/*
 * A time that stands without quotes is a number to YAML (22:00 are 1320 sixtieths), so times are read as they
 * are written.
 */
#include "config/access_windows.h"

#include <weir/error.h>

#include "base/slice.h"
#include "config/zone.h"

struct window {
    struct weir_loader *loader;
    const struct weir_yaml *node;
    struct weir_path path;
};

static int refuse(const struct window *window, struct weir_slice key, struct weir_slice what)
{
    const struct weir_yaml *node = weir_yaml_get(window->node, key);
    struct weir_path path = {&window->path, key, 0};

    WEIR_REPORT(window->loader, ERROR, node != NULL ? node : window->node,
                node != NULL ? &path : &window->path, what, window->loader->consequence);
    return WEIR_ENTRY_SKIPPED;
}

static bool two_digits(struct weir_slice text, size_t at, uint32_t *ret_number)
{
    uint64_t number;

    if (weir_slice_u64(weir_slice_sub(text, at, at + 2), &number) != 0)
        return false;
    *ret_number = (uint32_t)number;
    return true;
}

/* HH:MM, of a day. */
static int read_time(const struct window *window, struct weir_slice key, uint32_t *ret_min)
{
    const struct weir_yaml *node = weir_yaml_get(window->node, key);
    struct weir_slice text = node == NULL ? WEIR_SLICE_EMPTY : node->variable ? node->text : node->written;
    uint32_t hour, minute;

    if (text.len != 5 || text.ptr[2] != ':' || !two_digits(text, 0, &hour) || !two_digits(text, 3, &minute) ||
        hour > 23 || minute > 59)
        return refuse(window, key, WEIR_SLICE("start and end must be times of a day, such as \"22:00\""));
    *ret_min = hour * 60 + minute;
    return 0;
}

static int read_zone(const struct window *window, struct weir_zone *ret_zone)
{
    struct weir_slice key = WEIR_SLICE("timezone"), why;
    const struct weir_yaml *node = weir_yaml_get(window->node, key);
    int r =
        weir_zone_read(node == NULL ? WEIR_SLICE("UTC") : node->text, window->loader->arena, ret_zone, &why);

    return r == WEIR_ZONE_UNKNOWN ? refuse(window, key, why) : r;
}

static int read_teams(const struct window *window, struct weir_access_window *ret_window)
{
    struct weir_slice key = WEIR_SLICE("team_ids");
    const struct weir_yaml *list = weir_yaml_get(window->node, key);
    struct weir_slice *teams;

    if (list == NULL || list->kind != WEIR_YAML_LIST || list->count == 0)
        return refuse(window, key, WEIR_SLICE("team_ids must be a list of ids, with one at least"));
    teams = weir_arena_zalloc(window->loader->arena, list->count, sizeof(*teams));
    if (teams == NULL)
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i]->kind != WEIR_YAML_TEXT || list->items[i]->text.len == 0)
            return refuse(window, key, WEIR_SLICE("team_ids must be a list of ids, each of them text"));
        teams[i] = list->items[i]->text;
    }
    ret_window->teams = teams;
    ret_window->team_count = list->count;
    return 0;
}

static int read_window(const struct window *window, struct weir_access_window *ret_window)
{
    int r;

    if (window->node->kind != WEIR_YAML_MAP)
        return refuse(window, WEIR_SLICE_EMPTY,
                      WEIR_SLICE("a window must be a map with start, end, timezone and team_ids"));
    r = read_time(window, WEIR_SLICE("start"), &ret_window->start_min);
    if (r == 0)
        r = read_time(window, WEIR_SLICE("end"), &ret_window->end_min);
    if (r == 0 && ret_window->start_min == ret_window->end_min)
        r = refuse(window, WEIR_SLICE("end"), WEIR_SLICE("a window must not end when it starts"));
    if (r == 0)
        r = read_zone(window, &ret_window->zone);
    return r == 0 ? read_teams(window, ret_window) : r;
}

int weir_access_windows_read(struct weir_loader *loader, const struct weir_config_entry *entry,
                             const struct weir_access_window **ret_windows, size_t *ret_count)
{
    struct weir_path path = {&entry->info_path, WEIR_SLICE("access_windows"), 0};
    const struct weir_yaml *list = weir_yaml_get(entry->info, path.key);
    struct weir_access_window *windows;

    if (list == NULL)
        return 0;
    if (list->kind != WEIR_YAML_LIST) {
        WEIR_REPORT(loader, ERROR, list, &path, WEIR_SLICE("found "), weir_yaml_kind_name(list),
                    WEIR_SLICE(", expected a list of windows"), loader->consequence);
        return WEIR_ENTRY_SKIPPED;
    }
    windows = weir_arena_zalloc(loader->arena, list->count + 1, sizeof(*windows));
    if (windows == NULL)
        return WEIR_ERR_NOMEM;
    for (size_t i = 0; i < list->count; i++) {
        const struct window window = {loader, list->items[i], {&path, WEIR_SLICE_EMPTY, i}};
        int r = read_window(&window, &windows[i]);

        if (r != 0)
            return r;
    }
    *ret_windows = windows;
    *ret_count = list->count;
    return 0;
}
