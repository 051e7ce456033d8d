/*
 * From above: what is asked and since when it knows; a line of sums or of trouble; the table; the newest
 * failovers where there is room; the chosen row in full; the keys.
 */
#include "cli/top_screen.h"

#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "cli/facts.h"
#include "cli/top_table.h"
#include "wire/utf8.h"

enum { HEAD_LINES = 3, FOOT_LINES_MAX = 3, PANE_FROM_LINES = 20, PANE_ROWS_MAX = 8, CODE_MAX = 0x10ffff };

/* What the lines of one screen have in common. */
struct drawing {
    struct weir_top_screen *screen;
    const struct weir_top_model *model;
    const struct weir_line_sink *sink;
    unsigned number; /* of the next line */
};

static struct weir_slice filter_of(const struct weir_top_screen *screen)
{
    return (struct weir_slice){screen->filter, screen->filter_len};
}

void weir_top_screen_init(struct weir_top_screen *ret_screen, struct weir_slice where)
{
    *ret_screen = (struct weir_top_screen){.where = where, .lines = 24, .columns = 80};
    for (int view = 0; view < WEIR_TOP_VIEWS; view++)
        ret_screen->sort[view].by = weir_top_columns_of((weir_top_view)view).sorted_by;
}

/* ---- keys ---- */

static void show(struct weir_top_screen *screen, weir_top_view view)
{
    screen->view = view;
    screen->cursor = 0;
    screen->first = 0;
}

static void drop_character(struct weir_top_screen *screen)
{
    while (screen->filter_len > 0 && weir_utf8_is_tail((unsigned char)screen->filter[screen->filter_len - 1]))
        screen->filter_len--;
    if (screen->filter_len > 0)
        screen->filter_len--;
}

static void type(struct weir_top_screen *screen, uint32_t key)
{
    char bytes[4];
    size_t len;

    if (key == WEIR_KEY_ENTER || key == '\n' || key == '\r') {
        screen->typing = false;
    } else if (key == WEIR_KEY_ESCAPE) {
        screen->typing = false;
        screen->filter_len = 0;
    } else if (key == WEIR_KEY_BACKSPACE) {
        drop_character(screen);
    } else if (key >= ' ' && key <= CODE_MAX && key != 0x7f) {
        len = weir_utf8_put(key, bytes);
        if (screen->filter_len + len <= sizeof(screen->filter)) {
            memcpy(screen->filter + screen->filter_len, bytes, len);
            screen->filter_len += len;
        }
    }
    screen->cursor = 0;
}

static void move(struct weir_top_screen *screen, uint32_t key)
{
    size_t page = screen->lines / 2 + 1;
    size_t last = screen->count > 0 ? screen->count - 1 : 0;

    if (key == WEIR_KEY_UP || key == 'k')
        screen->cursor -= screen->cursor > 0;
    else if (key == WEIR_KEY_DOWN || key == 'j')
        screen->cursor++;
    else if (key == WEIR_KEY_PAGE_UP)
        screen->cursor -= page < screen->cursor ? page : screen->cursor;
    else if (key == WEIR_KEY_PAGE_DOWN)
        screen->cursor += page;
    else if (key == WEIR_KEY_HOME)
        screen->cursor = 0;
    else if (key == WEIR_KEY_END)
        screen->cursor = last;
    if (screen->cursor > last)
        screen->cursor = last;
}

static void sort_by_next(struct weir_top_screen *screen, bool back)
{
    size_t count = weir_top_columns_of(screen->view).count;
    struct weir_top_sort *sort = &screen->sort[screen->view];

    sort->by = (sort->by + (back ? count - 1 : 1)) % count;
    sort->turned = false;
}

bool weir_top_screen_key(struct weir_top_screen *screen, uint32_t key)
{
    if (screen->typing) {
        type(screen, key);
        return true;
    }
    if (screen->help) {
        screen->help = false;
        return key != 'q';
    }
    switch (key) {
    case 'q':
        return false;
    case 'd':
        show(screen, WEIR_TOP_DEPLOYMENTS);
        break;
    case 'g':
        show(screen, WEIR_TOP_GROUPS);
        break;
    case 'f':
        show(screen, WEIR_TOP_FAILOVERS);
        break;
    case 's':
    case '>':
        sort_by_next(screen, false);
        break;
    case 'S':
    case '<':
        sort_by_next(screen, true);
        break;
    case 'r':
        screen->sort[screen->view].turned = !screen->sort[screen->view].turned;
        break;
    case '/':
        screen->typing = true;
        break;
    case WEIR_KEY_ESCAPE:
        screen->filter_len = 0;
        break;
    case 'p':
    case ' ':
        screen->paused = !screen->paused;
        break;
    case '?':
    case 'h':
        screen->help = true;
        break;
    default:
        move(screen, key);
    }
    return true;
}

/* ---- lines ---- */

static void begin(const struct drawing *drawing, struct weir_line *line)
{
    weir_line_init(line, drawing->screen->columns);
}

static void end(struct drawing *drawing, const struct weir_line *line)
{
    drawing->sink->line(drawing->sink->user, drawing->number++, line);
}

static void put_count(struct weir_line *line, const char *before, size_t count, const char *after)
{
    char room[64];
    int len = snprintf(room, sizeof(room), "%s%zu%s", before, count, after);

    weir_line_put(line, (struct weir_slice){room, (size_t)len}, WEIR_STYLE_PLAIN);
}

/* With the day, where that is another one than today. */
static void put_since(struct weir_line *line, const struct weir_top_model *model)
{
    if (!weir_slice_eq(weir_slice_sub(model->since, 0, 10), weir_slice_sub(model->now, 0, 10))) {
        weir_line_put(line, weir_slice_sub(model->since, 0, 10), WEIR_STYLE_PLAIN);
        weir_line_put(line, WEIR_SLICE(" "), WEIR_STYLE_PLAIN);
    }
    weir_line_put(line, weir_clock_of(model->since), WEIR_STYLE_PLAIN);
}

static void draw_title(struct drawing *drawing)
{
    const struct weir_top_model *model = drawing->model;
    char text[WEIR_DURATION_MAX];
    struct weir_line line;

    begin(drawing, &line);
    weir_line_put(&line, WEIR_SLICE("weir "), WEIR_STYLE_STRONG);
    if (model != NULL) {
        weir_line_put(&line, model->version, WEIR_STYLE_STRONG);
        weir_line_put(&line, WEIR_SLICE(" "), WEIR_STYLE_PLAIN);
    }
    weir_line_put(&line, drawing->screen->where, WEIR_STYLE_PLAIN);
    if (model != NULL) {
        weir_line_put(&line, WEIR_SLICE("  "), WEIR_STYLE_PLAIN);
        weir_line_put(&line, weir_clock_of(model->now), WEIR_STYLE_STRONG);
        weir_line_put(&line, WEIR_SLICE(" UTC  since "), WEIR_STYLE_PLAIN);
        put_since(&line, model);
        weir_line_put(&line, WEIR_SLICE(" ("), WEIR_STYLE_PLAIN);
        weir_line_put(&line, weir_duration_text(model->uptime_s, text), WEIR_STYLE_PLAIN);
        weir_line_put(&line, WEIR_SLICE(")"), WEIR_STYLE_PLAIN);
    }
    end(drawing, &line);
}

static void put_sums(const struct drawing *drawing, struct weir_line *line)
{
    const struct weir_top_model *model = drawing->model;

    put_count(line, "", model->group_count, model->group_count == 1 ? " group, " : " groups, ");
    put_count(line, "", model->deployment_count,
              model->deployment_count == 1 ? " deployment: " : " deployments: ");
    put_count(line, "", model->eligible, " eligible");
    if (model->cooling > 0) {
        weir_line_put(line, WEIR_SLICE(", "), WEIR_STYLE_PLAIN);
        char room[32];
        int len = snprintf(room, sizeof(room), "%zu cooling down", model->cooling);

        weir_line_put(line, (struct weir_slice){room, (size_t)len}, WEIR_STYLE_BAD);
    }
    put_count(line, "; ", model->in_flight, " in flight");
    if (drawing->screen->restarted)
        weir_line_put(line, WEIR_SLICE("  RESTARTED"), WEIR_STYLE_WARN);
}

static void put_filter(const struct weir_top_screen *screen, struct weir_line *line)
{
    if (screen->paused)
        weir_line_put(line, WEIR_SLICE("PAUSED  "), WEIR_STYLE_WARN);
    if (screen->filter_len == 0 && !screen->typing)
        return;
    weir_line_put(line, WEIR_SLICE("/"), WEIR_STYLE_WARN);
    weir_line_put(line, filter_of(screen), WEIR_STYLE_STRONG);
    weir_line_put(line, screen->typing ? WEIR_SLICE("_  ") : WEIR_SLICE("  "), WEIR_STYLE_WARN);
}

static void draw_state(struct drawing *drawing)
{
    struct weir_line line;

    begin(drawing, &line);
    if (drawing->screen->trouble.len > 0) {
        weir_line_put(&line, drawing->model != NULL ? WEIR_SLICE("LOST: ") : WEIR_SLICE_EMPTY,
                      WEIR_STYLE_BAD);
        weir_line_put(&line, drawing->screen->trouble, WEIR_STYLE_BAD);
    } else if (drawing->model != NULL) {
        put_filter(drawing->screen, &line);
        put_sums(drawing, &line);
    } else {
        weir_line_put(&line, WEIR_SLICE("asking ..."), WEIR_STYLE_DIM);
    }
    end(drawing, &line);
}

static void draw_empty(struct drawing *drawing, unsigned up_to)
{
    struct weir_line line;

    begin(drawing, &line);
    while (drawing->number < up_to)
        end(drawing, &line);
}

/* ---- tables ---- */

/* Rows of the order, from first on, with their titles. */
static void draw_table(struct drawing *drawing, weir_top_view view, size_t first, size_t count, size_t chosen)
{
    struct weir_top_layout layout;
    struct weir_line line;

    weir_top_table_lay_out(drawing->model, view, first, count, drawing->screen->columns, &layout);
    begin(drawing, &line);
    weir_top_table_titles(view, &layout, drawing->screen->sort[view].by, &line);
    end(drawing, &line);
    for (size_t i = first; i < first + count; i++) {
        begin(drawing, &line);
        weir_top_table_row(view, &layout, weir_top_row(drawing->model, view, drawing->model->order[i]),
                           &line);
        line.reverse = i == chosen;
        if (line.reverse)
            weir_line_fill(&line, WEIR_STYLE_PLAIN);
        end(drawing, &line);
    }
}

/* Keeps the cursor among the rows, and on the screen. */
static void follow_cursor(struct weir_top_screen *screen, size_t room)
{
    if (screen->cursor >= screen->count)
        screen->cursor = screen->count > 0 ? screen->count - 1 : 0;
    if (screen->cursor < screen->first)
        screen->first = screen->cursor;
    if (screen->cursor >= screen->first + room)
        screen->first = screen->cursor - room + 1;
    if (screen->first + room > screen->count)
        screen->first = screen->count > room ? screen->count - room : 0;
}

static size_t arrange(const struct drawing *drawing, weir_top_view view, struct weir_slice filter)
{
    return weir_top_table_arrange(drawing->model, view, &drawing->screen->sort[view], filter);
}

static void draw_detail(struct drawing *drawing, unsigned lines)
{
    const struct weir_top_screen *screen = drawing->screen;
    struct weir_line line;

    for (unsigned part = 0; part < lines; part++) {
        begin(drawing, &line);
        if (screen->count > 0)
            weir_top_row_detail(
                screen->view,
                weir_top_row(drawing->model, screen->view, drawing->model->order[screen->cursor]), part,
                &line);
        else if (part == 0)
            weir_line_put(&line,
                          screen->filter_len > 0 ? WEIR_SLICE("nothing has that text; Esc shows all again")
                                                 : WEIR_SLICE("there is nothing"),
                          WEIR_STYLE_DIM);
        end(drawing, &line);
    }
}

static void draw_keys(struct drawing *drawing)
{
    static const struct weir_slice keys[][2] = {{WEIR_SLICE_INIT("q"), WEIR_SLICE_INIT(" quit ")},
                                                {WEIR_SLICE_INIT("d"), WEIR_SLICE_INIT(" deployments ")},
                                                {WEIR_SLICE_INIT("g"), WEIR_SLICE_INIT(" groups ")},
                                                {WEIR_SLICE_INIT("f"), WEIR_SLICE_INIT(" failovers ")},
                                                {WEIR_SLICE_INIT("/"), WEIR_SLICE_INIT(" filter ")},
                                                {WEIR_SLICE_INIT("?"), WEIR_SLICE_INIT(" help ")},
                                                {WEIR_SLICE_INIT("s"), WEIR_SLICE_INIT(" by ")}};
    const struct weir_top_screen *screen = drawing->screen;
    struct weir_line line;

    begin(drawing, &line);
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        weir_line_put(&line, keys[i][0], WEIR_STYLE_STRONG);
        weir_line_put(&line, keys[i][1], WEIR_STYLE_DIM);
    }
    weir_line_put(&line, weir_top_columns_of(screen->view).list[screen->sort[screen->view].by].title,
                  WEIR_STYLE_DIM);
    end(drawing, &line);
}

/* The chosen row and the keys: two lines and one, where there is room. */
static unsigned foot_lines(unsigned lines)
{
    if (lines < HEAD_LINES + FOOT_LINES_MAX)
        return 0;
    return lines < PANE_FROM_LINES ? FOOT_LINES_MAX - 1 : FOOT_LINES_MAX;
}

/* The newest failovers below the table, where that leaves it most of the screen. */
static size_t pane_rows(const struct drawing *drawing)
{
    const struct weir_top_screen *screen = drawing->screen;
    size_t most = screen->lines / 4 < PANE_ROWS_MAX ? screen->lines / 4 : PANE_ROWS_MAX;

    if (screen->view == WEIR_TOP_FAILOVERS || screen->lines < PANE_FROM_LINES)
        return 0;
    return drawing->model->failover_count < most ? drawing->model->failover_count : most;
}

static void draw_pane(struct drawing *drawing, size_t rows)
{
    const struct weir_top_sort newest = {.by = weir_top_columns_of(WEIR_TOP_FAILOVERS).sorted_by};

    if (rows == 0)
        return;
    (void)weir_top_table_arrange(drawing->model, WEIR_TOP_FAILOVERS, &newest, WEIR_SLICE_EMPTY);
    draw_table(drawing, WEIR_TOP_FAILOVERS, 0, rows, SIZE_MAX);
}

static void draw_model(struct drawing *drawing)
{
    struct weir_top_screen *screen = drawing->screen;
    size_t pane = pane_rows(drawing), below = pane > 0 ? pane + 2 : 0;
    unsigned foot = foot_lines(screen->lines);
    size_t room = screen->lines > HEAD_LINES + foot + below ? screen->lines - HEAD_LINES - foot - below : 0;
    size_t count;

    screen->count = arrange(drawing, screen->view, filter_of(screen));
    follow_cursor(screen, room > 0 ? room : 1);
    count = screen->count - screen->first < room ? screen->count - screen->first : room;
    draw_table(drawing, screen->view, screen->first, count, screen->cursor);
    draw_empty(drawing, (unsigned)(screen->lines - foot - below + (below > 0)));
    draw_pane(drawing, pane);
    if (foot == 0)
        return;
    if (pane > 0) /* the order is the failovers' */
        screen->count = arrange(drawing, screen->view, filter_of(screen));
    draw_detail(drawing, foot - 1);
    draw_keys(drawing);
}

static void draw_help(struct drawing *drawing)
{
    static const char *const text[] = {
        "",
        "d  g  f      deployments, groups, failovers",
        "arrows, PgUp, PgDn, Home, End   choose a row; the bottom lines tell all of it",
        "s  S         sort by the next column, by the one before",
        "r            the other way round",
        "/            filter: rows with this text in a name, state or last failure",
        "Enter  Esc   keep the filter, drop it",
        "p            pause: the screen stays as it is",
        "q            quit",
        "",
        "FLYING   calls under way, other processes' too",
        "LATENCY  per token of whole answers, as strategies go by; a timeout: 1000 s",
        "FIRST    the same to the first content of streams",
        "FAILED   share of failures in the window of the cooldown rule",
        "REQ/MIN  requests and tokens of this minute, with the limit if there is one",
        "ODDS     that the next pick of the group takes it",
        "",
        "What weir knows it has learned since its start: the time is in the first line.",
    };
    struct weir_line line;

    for (size_t i = 0; i < sizeof(text) / sizeof(*text) && drawing->number < drawing->screen->lines; i++) {
        begin(drawing, &line);
        weir_line_put(&line, weir_slice_str(text[i]), WEIR_STYLE_PLAIN);
        end(drawing, &line);
    }
}

void weir_top_screen_draw(struct weir_top_screen *screen, const struct weir_top_model *model,
                          const struct weir_line_sink *sink)
{
    struct drawing drawing = {.screen = screen, .model = model, .sink = sink};

    draw_title(&drawing);
    if (screen->lines > 1)
        draw_state(&drawing);
    if (screen->help)
        draw_help(&drawing);
    else if (model != NULL && screen->lines > HEAD_LINES)
        draw_model(&drawing);
    draw_empty(&drawing, screen->lines);
}

void weir_top_screen_print(struct weir_top_screen *screen, const struct weir_top_model *model,
                           const struct weir_line_sink *sink)
{
    static const weir_top_view views[] = {WEIR_TOP_GROUPS, WEIR_TOP_DEPLOYMENTS, WEIR_TOP_FAILOVERS};
    struct drawing drawing = {.screen = screen, .model = model, .sink = sink};

    screen->columns = WEIR_LINE_COLUMNS_MAX;
    draw_title(&drawing);
    draw_state(&drawing);
    for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
        size_t count = arrange(&drawing, views[i], WEIR_SLICE_EMPTY);

        if (count == 0)
            continue;
        draw_empty(&drawing, drawing.number + 1);
        draw_table(&drawing, views[i], 0, count, SIZE_MAX);
    }
}
