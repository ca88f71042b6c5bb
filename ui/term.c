/* SPDX-License-Identifier: MIT */
#include "ui/term.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "ui/term_input.h"
#include "ui/theme.h"

/* <term.h> has macros by these names. */
#undef columns
#undef lines

enum { ESCAPE_DELAY_MS = 25, LEAVE_WAIT_MS = 200 };

struct terminal {
    SCREEN *screen;
    const char *type; /* $TERM */
    struct preferences preferences;
    bool utf8;
    bool can_colour; /* curses has set colours up */
    struct term_input input;
    attr_t attributes[STYLE_COUNT];
    short pairs[STYLE_COUNT];
    struct surface shown;  /* what curses has been given */
    struct termios before; /* as the terminal was */
    bool everything;       /* the next frame owes nothing to `shown` */
};

/* Give curses what the theme says; a colour that cannot be had leaves the look without it. */
static void choose_looks(struct terminal *term)
{
    bool coloured = term->preferences.colour && term->can_colour;
    struct theme theme = theme_make(&term->preferences, coloured ? COLORS : 0);

    for (int i = 0; i < STYLE_COUNT; i++) {
        struct look look = theme_look(&theme, (enum style)i);

        term->pairs[i] = 0;
        term->attributes[i] = (look.attributes & LOOK_BOLD ? A_BOLD : 0) |
                              (look.attributes & LOOK_DIM ? A_DIM : 0) |
                              (look.attributes & LOOK_UNDERLINE ? A_UNDERLINE : 0) |
                              (look.attributes & LOOK_REVERSE ? A_REVERSE : 0);
        if (look.colour >= 0 && init_pair((short)(i + 1), (short)look.colour, -1) == OK)
            term->pairs[i] = (short)(i + 1);
    }
}

/* The console of Linux knows UTF-8 but has no braille in its font. */
static bool choose_utf8(enum charset charset, const char *type)
{
    bool locale = setlocale(LC_CTYPE, "") != NULL && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;

    if (charset == CHARSET_ASCII)
        return false;
    if (charset == CHARSET_AUTO)
        return locale && strcmp(type, "linux") != 0;
    return locale || setlocale(LC_CTYPE, "C.UTF-8") != NULL;
}

/* The terminal's type, NULL when the workbench cannot run on it. */
static const char *usable_terminal(struct error *err)
{
    const char *type = getenv("TERM");
    int status;

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        error_set(err, ERROR_USAGE,
                  "the workbench needs a terminal and standard %s is none: use `dpartui "
                  "train`, which also writes to files and pipes, or `dpartui screen` for a picture",
                  isatty(STDIN_FILENO) ? "output" : "input");
        return NULL;
    }
    if (type == NULL || type[0] == '\0') {
        error_set(err, ERROR_USAGE,
                  "TERM is not set, so the workbench cannot tell what the terminal does: "
                  "set it or use `dpartui train`");
        return NULL;
    }
    if (setupterm(type, STDOUT_FILENO, &status) != OK) {
        error_set(err, ERROR_USAGE,
                  "the terminal type TERM=%.64s is not known on this machine: set TERM to "
                  "one that is (vt100, xterm) or use `dpartui train`",
                  type);
        return NULL;
    }
    bool usable = cursor_address != NULL && clear_screen != NULL && !generic_type && !hard_copy;
    del_curterm(cur_term);
    if (!usable) {
        error_set(err, ERROR_USAGE,
                  "a terminal of type TERM=%.64s cannot place its cursor, which the "
                  "workbench needs: use `dpartui train`",
                  type);
        return NULL;
    }
    return type;
}

/* curses installs handlers of its own for these when they have none. */
static SCREEN *make_screen(const char *type)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
    struct sigaction before[sizeof signals / sizeof signals[0]];

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], NULL, &before[i]);
    SCREEN *screen = newterm(type, stdout, stdin);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &before[i], NULL);
    return screen;
}

bool term_open(struct terminal **out, const struct preferences *preferences, struct error *err)
{
    const char *type = usable_terminal(err);

    if (type == NULL)
        return false;
    struct terminal *term = calloc(1, sizeof *term);
    if (term == NULL)
        return error_memory(err, "the terminal");
    if (tcgetattr(STDOUT_FILENO, &term->before) != 0) {
        free(term);
        return error_errno(err, "the modes of the terminal cannot be read");
    }
    term->type = type;
    term->preferences = *preferences;
    term->utf8 = choose_utf8(preferences->charset, type);
    set_escdelay(ESCAPE_DELAY_MS);
    term->screen = make_screen(type);
    if (term->screen == NULL) {
        free(term);
        return error_set(err, ERROR_FAILED,
                         "the terminal could not be set up (TERM=%.64s): use `dpartui train`",
                         type);
    }
    cbreak();
    noecho();
    nonl();
    intrflush(stdscr, FALSE);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    typeahead(-1);
    curs_set(0);
    term->can_colour = has_colors() && start_color() == OK && use_default_colors() == OK;
    choose_looks(term);
    term_input_open(&term->input);
    term_input_marks(true);
    term_input_mouse(&term->input, preferences->mouse);
    term->everything = true;
    *out = term;
    return true;
}

void term_prefer(struct terminal *term, const struct preferences *preferences)
{
    const struct preferences *now = &term->preferences;
    bool same_looks = now->colour == preferences->colour && now->palette == preferences->palette &&
                      now->background == preferences->background;
    bool same_charset = now->charset == preferences->charset;

    term->preferences = *preferences;
    if (!same_looks)
        choose_looks(term);
    if (!same_charset)
        term->utf8 = choose_utf8(preferences->charset, term->type);
    term_input_mouse(&term->input, preferences->mouse);
    if (!same_looks || !same_charset)
        term->everything = true;
}

/* Whether the terminal takes its last words. One that the user stopped with Ctrl-S starts again
 * when the keys for that lose their meaning. */
static bool takes_output(void)
{
    struct termios modes;
    struct pollfd wait = {.fd = STDOUT_FILENO, .events = POLLOUT};

    if (tcgetattr(STDOUT_FILENO, &modes) == 0) {
        modes.c_iflag &= ~(tcflag_t)IXON;
        tcsetattr(STDOUT_FILENO, TCSANOW, &modes);
    }
    return poll(&wait, 1, LEAVE_WAIT_MS) == 1 && (wait.revents & POLLOUT);
}

bool term_close(struct terminal *term)
{
    bool taken = term != NULL && takes_output();

    if (term == NULL)
        return false;
    if (taken) {
        term_input_mouse(&term->input, false);
        term_input_marks(false);
        curs_set(1);
        endwin();
        delscreen(term->screen);
    } else {
        /* Whatever curses does now would write, and writing would keep the process for ever. */
        tcsetattr(STDOUT_FILENO, TCSANOW, &term->before);
    }
    surface_free(&term->shown);
    free(term);
    return taken;
}

bool term_utf8(const struct terminal *term)
{
    return term->utf8;
}

int term_fd(const struct terminal *term)
{
    (void)term;
    return STDIN_FILENO;
}

void term_size(struct terminal *term, int *rows, int *columns)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0 &&
        (size.ws_row != LINES || size.ws_col != COLS)) {
        resizeterm(size.ws_row, size.ws_col);
        term->everything = true;
    }
    *rows = LINES > 0 ? LINES : 1;
    *columns = COLS > 0 ? COLS : 1;
}

bool term_writable(const struct terminal *term)
{
    struct pollfd now = {.fd = STDOUT_FILENO, .events = POLLOUT};

    (void)term;
    return poll(&now, 1, 0) == 1 && (now.revents & POLLOUT);
}

bool term_gone(const struct terminal *term)
{
    int waiting = 0;

    (void)term;
    return ioctl(STDIN_FILENO, FIONREAD, &waiting) != 0 || waiting == 0;
}

static void show_cell(const struct terminal *term, int y, int x, const struct cell *cell)
{
    attr_t attributes = term->attributes[cell->style];
    short pair = term->pairs[cell->style];
    wchar_t text[2] = {(wchar_t)cell->character, L'\0'};
    cchar_t glyph;

    if (!term->utf8) {
        mvaddch(y, x, (chtype)cell->character | attributes | (chtype)COLOR_PAIR(pair));
    } else if (setcchar(&glyph, text, attributes, pair, NULL) == OK) {
        mvadd_wch(y, x, &glyph);
    }
}

void term_show(struct terminal *term, const struct surface *surface)
{
    struct error ignored = ERROR_INIT;
    bool everything = term->everything || term->shown.rows != surface->rows ||
                      term->shown.columns != surface->columns;

    if (everything) {
        erase();
        clearok(curscr, TRUE);
        /* Without memory for the last frame each frame is given to curses whole. */
        if (!surface_resize(&term->shown, surface->rows, surface->columns, &ignored))
            surface_free(&term->shown);
    }
    for (int y = 0; y < surface->rows; y++)
        for (int x = 0; x < surface->columns; x++) {
            const struct cell *cell = surface_at(surface, y, x);
            struct cell *last = surface_at(&term->shown, y, x);

            if (!everything && last != NULL && last->character == cell->character &&
                last->style == cell->style)
                continue;
            show_cell(term, y, x, cell);
            if (last != NULL)
                *last = *cell;
        }
    bool cursor = surface->cursor_y >= 0;
    curs_set(cursor);
    leaveok(stdscr, !cursor);
    if (cursor)
        move(surface->cursor_y, surface->cursor_x);
    refresh();
    term->everything = false;
}

bool term_next(struct terminal *term, struct term_event *event)
{
    return term_input_next(&term->input, event);
}

void term_suspend(struct terminal *term)
{
    (void)term;
    term_input_marks(false);
    curs_set(1);
    endwin();
}

void term_resume(struct terminal *term)
{
    reset_prog_mode();
    curs_set(0);
    term_input_marks(true);
    term->everything = true;
}
