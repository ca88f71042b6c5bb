/* SPDX-License-Identifier: MIT */
#include "ui/app/term.h"
#include "ui/draw/paint.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
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

#include "ui/app/term_input.h"
#include "ui/draw/theme.h"

/* <term.h> has macros by these names. */
#undef columns
#undef lines

/* These need no terminal, or none that can place its cursor. */
#define INSTEAD "use `dpartui train` or `dpartui screen` instead"

enum { ESCAPE_DELAY_MS = 25, LEAVE_WAIT_MS = 200 };

struct terminal {
    SCREEN *screen;   /* curses sets the terminal up and reads keys; ui/draw/paint.h draws */
    WINDOW *keys;     /* where they are read: a pad, which curses never shows */
    int out;          /* where frames are written: does not block, unless it is standard output */
    const char *type; /* $TERM */
    struct preferences preferences;
    bool utf8;
    struct term_input input;
    int colours; /* of the terminal */
    struct paint paint;
    size_t frame_bytes;    /* of the last one */
    int rows, columns;     /* of the terminal */
    struct termios before; /* as the terminal was */
    bool outside;          /* curses has not entered the screen, or left it */
    bool everything;       /* the next frame owes nothing to the last one */
};

static void choose_looks(struct terminal *term)
{
    struct theme theme = theme_make(&term->preferences, term->colours);
    paint_choose(&term->paint, &theme);
}

/* The console of Linux knows UTF-8 but has no braille in its font. */
static bool choose_utf8(enum charset charset, const char *type)
{
    bool locale = setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    if (charset == CHARSET_ASCII)
        return false;
    if (charset == CHARSET_AUTO)
        return locale && strcmp(type, "linux") != 0;
    return locale || setlocale(LC_CTYPE, "C.UTF-8");
}

/* Can the workbench run on a terminal of this type? */
static bool check_terminal(const char *type, struct error *err)
{
    int status;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return error_set(err, ERROR_USAGE,
                         "the workbench needs a terminal and standard %s is none: " INSTEAD,
                         isatty(STDIN_FILENO) ? "output" : "input");
    if (!type || type[0] == '\0')
        return error_set(err, ERROR_USAGE,
                         "TERM is not set, so the workbench cannot tell what the terminal does: "
                         "set it or " INSTEAD);
    if (setupterm(type, STDOUT_FILENO, &status) != OK)
        return error_set(err, ERROR_USAGE,
                         "the terminal type TERM=%.64s is not known on this machine: set TERM to "
                         "one that is (vt100, xterm) or " INSTEAD,
                         type);
    bool usable = cursor_address && clear_screen && !generic_type && !hard_copy;
    del_curterm(cur_term);
    return usable || error_set(err, ERROR_USAGE,
                               "a terminal of type TERM=%.64s cannot place its cursor, which the "
                               "workbench needs: " INSTEAD,
                               type);
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

/* The terminal once more, for itself: making standard output itself not block would change it for
 * the shell, too. Without the right to open it frames are written to standard output. */
static int open_output(void)
{
    const char *path = ttyname(STDOUT_FILENO);
    int fd = path ? open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1;
    return fd >= 0 ? fd : STDOUT_FILENO;
}

bool term_usable(struct error *err)
{
    return check_terminal(getenv("TERM"), err);
}

/* Ctrl-S and Ctrl-Q are keys like others: a screen that stands still after a slip of a finger looks
 * as if the program hung. curses returns to these modes after a suspension. */
static void take_flow_keys(void)
{
    struct termios modes;
    if (tcgetattr(STDIN_FILENO, &modes) != 0)
        return;
    modes.c_iflag &= ~(tcflag_t)IXON;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
    def_prog_mode();
}

bool term_open(struct terminal **out, const struct preferences *preferences, struct error *err)
{
    const char *type = getenv("TERM");
    if (!check_terminal(type, err))
        return false;
    struct terminal *term = calloc(1, sizeof *term);
    if (!term)
        return error_memory(err, "the terminal");
    if (tcgetattr(STDOUT_FILENO, &term->before) != 0) {
        free(term);
        return error_errno(err, "the modes of the terminal cannot be read");
    }
    term->type = type;
    term->preferences = *preferences;
    term->utf8 = choose_utf8(preferences->charset, type);
    set_escdelay(ESCAPE_DELAY_MS);
    term->out = STDOUT_FILENO;
    term->screen = make_screen(type);
    if (!term->screen) {
        free(term);
        return error_set(err, ERROR_FAILED,
                         "the terminal could not be set up (TERM=%.64s): " INSTEAD, type);
    }
    term->keys = newpad(1, 1);
    if (!term->keys) {
        term_close(term);
        return error_memory(err, "the terminal");
    }
    cbreak();
    noecho();
    nonl();
    intrflush(term->keys, FALSE);
    keypad(term->keys, TRUE);
    nodelay(term->keys, TRUE);
    typeahead(-1);
    take_flow_keys();
    curs_set(0);
    term->colours = max_colors;
    term->out = open_output();
    choose_looks(term);
    term_input_open(&term->input, term->keys, preferences->mouse);
    term_input_report(&term->input, true);
    term->outside = term->everything = true;
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

/* Whether the terminal takes its last words. */
static bool takes_output(void)
{
    struct pollfd wait = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&wait, 1, LEAVE_WAIT_MS) == 1 && (wait.revents & POLLOUT);
}

/* A last message to a terminal that takes none would wait for ever, too. */
static void silence_errors(void)
{
    int nowhere = isatty(STDERR_FILENO) ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (nowhere >= 0) {
        dup2(nowhere, STDERR_FILENO);
        close(nowhere);
    }
}

bool term_close(struct terminal *term)
{
    bool taken = term && takes_output() && term_flush(term);
    if (!term)
        return false;
    if (taken) {
        term_input_report(&term->input, false);
        curs_set(1);
        endwin();
        if (term->keys)
            delwin(term->keys);
        delscreen(term->screen);
    } else {
        /* Whatever curses does now would write, and writing would keep the process for ever. */
        tcsetattr(STDOUT_FILENO, TCSANOW, &term->before);
        silence_errors();
    }
    if (term->out != STDOUT_FILENO)
        close(term->out);
    paint_free(&term->paint);
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
    int now_rows = LINES, now_columns = COLS;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
        now_rows = size.ws_row;
        now_columns = size.ws_col;
    }
    if (now_rows != term->rows || now_columns != term->columns)
        term->everything = true;
    *rows = term->rows = now_rows > 0 ? now_rows : 1;
    *columns = term->columns = now_columns > 0 ? now_columns : 1;
}

bool term_flush(struct terminal *term)
{
    struct text *unsent = &term->paint.out;
    while (unsent->length > 0) {
        ssize_t sent = write(term->out, unsent->data, unsent->length);
        if (sent > 0)
            text_consume(unsent, (size_t)sent);
        else if (sent < 0 && errno == EINTR)
            continue;
        else
            return false;
    }
    return true;
}

bool term_writable(const struct terminal *term)
{
    struct pollfd now = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return term->paint.out.length == 0 && poll(&now, 1, 0) == 1 && (now.revents & POLLOUT);
}

bool term_gone(const struct terminal *term)
{
    int waiting = 0;
    (void)term;
    return ioctl(STDIN_FILENO, FIONREAD, &waiting) != 0 || waiting == 0;
}

/* Have curses enter the screen (again). It clears it, too, since it thinks that it is blank. This
 * waits for the terminal, all frames do not. */
static void enter_screen(void)
{
    clearok(curscr, TRUE);
    refresh();
}

bool term_show(struct terminal *term, const struct surface *surface, struct error *err)
{
    if (term->outside)
        enter_screen();
    term->outside = false;
    if (term->everything) {
        if (!paint_clear(&term->paint, surface->rows, surface->columns, err))
            return false;
        term->everything = false;
    }
    if (!paint_surface(&term->paint, surface, err))
        return false;
    term->frame_bytes = term->paint.out.length;
    term_flush(term);
    return true;
}

size_t term_frame_bytes(const struct terminal *term)
{
    return term->frame_bytes;
}

void term_redraw(struct terminal *term)
{
    term->everything = true;
}

void term_ring(struct terminal *term)
{
    text_puts(&term->paint.out, "\a");
    term_flush(term);
}

bool term_next(struct terminal *term, struct term_event *event)
{
    return term_input_next(&term->input, event);
}

void term_suspend(struct terminal *term)
{
    /* What the terminal has not taken is not for whoever has it next. */
    if (!term_flush(term))
        text_consume(&term->paint.out, term->paint.out.length);
    term->outside = true;
    term_input_report(&term->input, false);
    curs_set(1);
    endwin();
}

void term_resume(struct terminal *term)
{
    reset_prog_mode();
    curs_set(0);
    term_input_report(&term->input, true);
    term->everything = true;
}
