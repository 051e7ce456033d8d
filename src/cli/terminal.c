/*
 * ncurses reads from a descriptor of its own (/dev/tty): what is piped into the program is no key.
 */
#include "cli/terminal.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>

#include <weir/error.h>

#include "cli/top_screen.h"

#define LIBRARY "libncursesw.so.6"

/* How long a lone Esc waits for the rest of a key. */
enum { ESCAPE_MS = 50 };

struct functions {
#define X(result, name, arguments) result(*name) arguments;
#include "cli/tbl/curses.h"
#undef X
};

struct weir_terminal {
    struct functions curses;
    FILE *in;
    SCREEN *screen;
    WINDOW *window;
    bool colour;
};

/* The library stays loaded: the process ends with the command. */
static bool load(struct functions *curses)
{
    static const struct {
        const char *name;
        size_t at;
    } names[] = {
#define X(result, name, arguments) {#name, offsetof(struct functions, name)},
#include "cli/tbl/curses.h"
#undef X
    };
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        void *function = library == NULL ? NULL : dlsym(library, names[i].name);

        if (function == NULL)
            return false;
        memcpy((char *)curses + names[i].at, &function, sizeof(function));
    }
    return true;
}

static void prepare(weir_terminal *terminal, bool colour)
{
    const struct functions *curses = &terminal->curses;
    static const short inks[WEIR_STYLES] = {
        [WEIR_STYLE_GOOD] = COLOR_GREEN, [WEIR_STYLE_WARN] = COLOR_YELLOW, [WEIR_STYLE_BAD] = COLOR_RED};

    (void)curses->cbreak();
    (void)curses->noecho();
    (void)curses->nonl();
    (void)curses->set_escdelay(ESCAPE_MS);
    (void)curses->curs_set(0);
    (void)curses->keypad(terminal->window, true);
    (void)curses->nodelay(terminal->window, true);
    if (!colour || !curses->has_colors() || curses->start_color() == ERR ||
        curses->use_default_colors() == ERR)
        return;
    for (int i = WEIR_STYLE_GOOD; i < WEIR_STYLES; i++)
        (void)curses->init_pair((short)i, inks[i], -1);
    terminal->colour = true;
}

__attribute__((format(printf, 3, 4))) static int refuse(weir_terminal *terminal, char *text,
                                                        const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, WEIR_TERMINAL_TEXT_MAX, format, arguments);
    va_end(arguments);
    weir_terminal_close(terminal);
    return WEIR_TERMINAL_NONE;
}

int weir_terminal_open(bool colour, char text[WEIR_TERMINAL_TEXT_MAX], weir_terminal **ret_terminal)
{
    weir_terminal *terminal = calloc(1, sizeof(*terminal));
    const char *kind = getenv("TERM");

    if (terminal == NULL)
        return WEIR_ERR_NOMEM;
    terminal->in = fopen("/dev/tty", "re");
    if (terminal->in == NULL)
        return refuse(terminal, text, "there is no terminal to read keys from (%s)", strerror(errno));
    if (!load(&terminal->curses))
        return refuse(terminal, text, "%s is missing; on Debian, apt install libncursesw6", LIBRARY);
    terminal->screen = terminal->curses.newterm(NULL, stdout, terminal->in);
    if (terminal->screen == NULL)
        return refuse(
            terminal, text,
            "the terminal's kind is not known (TERM=%s): set TERM to a kind that is, or print once: --once",
            kind == NULL ? "" : kind);
    terminal->window = terminal->curses.newwin(0, 0, 0, 0);
    if (terminal->window == NULL) {
        weir_terminal_close(terminal);
        return WEIR_ERR_NOMEM;
    }
    prepare(terminal, colour);
    *ret_terminal = terminal;
    return 0;
}

void weir_terminal_close(weir_terminal *terminal)
{
    if (terminal == NULL)
        return;
    if (terminal->window != NULL)
        (void)terminal->curses.delwin(terminal->window);
    if (terminal->screen != NULL) {
        (void)terminal->curses.endwin();
        terminal->curses.delscreen(terminal->screen);
    }
    if (terminal->in != NULL)
        (void)fclose(terminal->in);
    free(terminal);
}

void weir_terminal_measure(weir_terminal *terminal, unsigned *ret_lines, unsigned *ret_columns)
{
    const struct functions *curses = &terminal->curses;
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
        (void)curses->resizeterm(size.ws_row, size.ws_col);
        (void)curses->wresize(terminal->window, size.ws_row, size.ws_col);
        (void)curses->wclear(terminal->window);
    }
    *ret_lines = (unsigned)curses->getmaxy(terminal->window);
    *ret_columns = (unsigned)curses->getmaxx(terminal->window);
}

static void set_style(const weir_terminal *terminal, weir_style style, bool reverse)
{
    attr_t attributes = reverse ? A_REVERSE : A_NORMAL;
    short pair = terminal->colour && style >= WEIR_STYLE_GOOD ? (short)style : (short)0;

    if (style == WEIR_STYLE_STRONG || (!terminal->colour && style == WEIR_STYLE_BAD))
        attributes |= A_BOLD;
    if (style == WEIR_STYLE_DIM)
        attributes |= A_DIM;
    (void)terminal->curses.wattr_set(terminal->window, attributes, pair, NULL);
}

void weir_terminal_line(weir_terminal *terminal, unsigned number, const struct weir_line *line)
{
    const struct functions *curses = &terminal->curses;
    size_t from = 0;

    (void)curses->wmove(terminal->window, (int)number, 0);
    for (size_t i = 0; i < line->span_count; i++) {
        set_style(terminal, line->spans[i].style, line->reverse);
        (void)curses->waddnstr(terminal->window, line->text + from, (int)(line->spans[i].end - from));
        from = line->spans[i].end;
    }
}

void weir_terminal_erase(weir_terminal *terminal)
{
    (void)terminal->curses.wattr_set(terminal->window, A_NORMAL, 0, NULL);
    (void)terminal->curses.werase(terminal->window);
}

void weir_terminal_show(weir_terminal *terminal)
{
    (void)terminal->curses.wrefresh(terminal->window);
}

static uint32_t key_of(wint_t code)
{
    static const struct {
        wint_t code;
        uint32_t key;
    } keys[] = {
        {KEY_UP, WEIR_KEY_UP},           {KEY_DOWN, WEIR_KEY_DOWN},           {KEY_PPAGE, WEIR_KEY_PAGE_UP},
        {KEY_NPAGE, WEIR_KEY_PAGE_DOWN}, {KEY_HOME, WEIR_KEY_HOME},           {KEY_END, WEIR_KEY_END},
        {KEY_ENTER, WEIR_KEY_ENTER},     {KEY_BACKSPACE, WEIR_KEY_BACKSPACE}, {KEY_DC, WEIR_KEY_BACKSPACE}};

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (keys[i].code == code)
            return keys[i].key;
    return WEIR_KEY_OTHER;
}

bool weir_terminal_key(weir_terminal *terminal, uint32_t *ret_key)
{
    wint_t character;
    int r = terminal->curses.wget_wch(terminal->window, &character);

    if (r == ERR)
        return false;
    if (r == KEY_CODE_YES)
        *ret_key = key_of(character);
    else if (character == 0x1b)
        *ret_key = WEIR_KEY_ESCAPE;
    else
        *ret_key = character == 0x7f || character == '\b' ? WEIR_KEY_BACKSPACE : (uint32_t)character;
    return true;
}
