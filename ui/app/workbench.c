/* SPDX-License-Identifier: MIT */
#include "ui/app/workbench.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/print.h"
#include "system/signals.h"
#include "ui/actions/settings.h"
#include "ui/app/hosts.h"
#include "ui/app/link.h"
#include "ui/app/recording.h"
#include "ui/app/term.h"
#include "ui/control/control.h"
#include "ui/control/picture.h"
#include "ui/frame/mouse.h"
#include "ui/frame/screen.h"

/* A running engine's first words are worth this wait: one full frame instead of two. */
#define FIRST_FRAME_S 0.015
/* A point of a curve is shown with the next state, which comes within a second while a run trains:
 * one small frame instead of two. */
#define SMALL_NEWS_S 1.0

/*
 * What frames that no key asked for may cost on a slow line, in bytes a second: so much for a
 * screen of 80x24, and so much more for each cell beyond. After a large one the next waits, at most
 * so long.
 */
#define LINE_BYTES_S      330.0
#define LINE_BYTES_CELL_S 0.025
#define LINE_WAIT_MOST_S  3.0

/* Terminal, signals, link, and the terminal's output. */
enum { OWN_DESCRIPTORS = 4 };

struct workbench {
    struct ui ui;
    struct signals signals;
    bool watches_signals;
    struct terminal *term;
    struct link *link;
    struct host_lines *hosts;
    const char *ssh; /* what reaches hosts */
    struct recording *recording;
    struct surface surface;
    bool stale;        /* the screen shows less than the ui knows */
    bool opening;      /* the first frame waits for the engine's first words */
    double not_before; /* when what is stale is drawn; 0: at once */
    bool by_user;      /* what is stale is the answer to a key or the like */
    double paid;       /* when the line has had its time for the last frame that was not */
    int ended_by;      /* a signal that says to leave, 0: none */
    bool terminal_gone;
};

static void take_signals(struct workbench *w)
{
    for (int number; (number = signals_next(&w->signals)) != 0;) {
        switch (number) {
        case SIGWINCH:
            break;
        case SIGTSTP:
            term_suspend(w->term);
            signals_stop_here();
            term_resume(w->term);
            break;
        case SIGCONT:
            /* Somebody stopped us without asking: what the screen shows now is anybody's guess. */
            term_suspend(w->term);
            term_resume(w->term);
            break;
        case SIGINT:
            ui_leave(&w->ui);
            break;
        default:
            w->ended_by = number;
            break;
        }
        w->stale = w->by_user = true;
        w->not_before = 0;
    }
}

static void take_event(struct workbench *w, const struct term_event *event)
{
    switch (event->kind) {
    case TERM_KEY:
        ui_key(&w->ui, event->key);
        break;
    case TERM_MOUSE:
        ui_mouse(&w->ui, w->surface.rows, w->surface.columns, event->y, event->x, event->mouse);
        break;
    case TERM_PASTE:
        ui_paste(&w->ui, event->text);
        break;
    }
}

static void take_events(struct workbench *w)
{
    struct term_event event;
    /* Before anything is read: what was there may make no event yet. */
    if (term_gone(w->term)) {
        w->terminal_gone = true;
        return;
    }
    while (!w->ui.quit && term_next(w->term, &event)) {
        take_event(w, &event);
        w->stale = w->by_user = true;
        if (!w->opening)
            w->not_before = 0;
    }
    if (w->ui.want_redraw) {
        w->ui.want_redraw = false;
        term_redraw(w->term);
    }
}

/* After a frame: when the next one that no key asked for may follow. */
static void pay(struct workbench *w)
{
    double cells = (double)w->surface.rows * w->surface.columns;
    double rate = LINE_BYTES_S + LINE_BYTES_CELL_S * fmax(cells - 80 * 24, 0);
    if (!w->by_user && !w->opening)
        w->paid =
            clock_seconds() + fmin((double)term_frame_bytes(w->term) / rate, LINE_WAIT_MOST_S);
    w->stale = w->opening = w->by_user = false;
}

static bool draw(struct workbench *w, struct error *err)
{
    int rows, columns;
    term_prefer(w->term, &w->ui.preferences);
    w->surface.utf8 = term_utf8(w->term);
    term_size(w->term, &rows, &columns);
    w->ui.rows = rows;
    w->ui.columns = columns;
    if (!surface_resize(&w->surface, rows, columns, err) || !screen_draw(&w->ui, &w->surface, err))
        return false;
    if (w->ui.want_picture[0] != '\0') {
        struct theme theme = theme_make(&w->ui.preferences, 256);
        picture_write(&w->ui, &w->surface, &theme);
        if (!screen_draw(&w->ui, &w->surface, err))
            return false;
    }
    if (!term_show(w->term, &w->surface, err))
        return false;
    if (w->ui.want_bell)
        term_ring(w->term);
    w->ui.want_bell = false;
    pay(w);
    return true;
}

/* Milliseconds for poll() until `deadline`, -1: for ever. */
static int wait_ms(double deadline)
{
    double left = deadline - clock_seconds();
    if (isinf(deadline))
        return -1;
    return left <= 0 ? 0 : left > 3600 ? 3600000 : (int)ceil(left * 1000);
}

static void take_news(struct workbench *w, enum news news)
{
    if (w->opening) {
        w->opening = w->ui.link == LINK_UP && !(w->ui.state.known && link_quiet(w->link));
        if (!w->opening)
            w->not_before = 0;
    } else if (news == NEWS_FULL) {
        w->not_before = 0;
    } else if (news == NEWS_STATE && !w->by_user) {
        w->not_before = w->paid;
    } else if (news == NEWS_SMALL && !w->stale) {
        w->not_before = clock_seconds() + SMALL_NEWS_S;
    }
    w->stale = w->stale || news != NEWS_NONE;
}

/* Open the host that the user has chosen; the current one again as well: that is how to try. */
static bool change_host(struct workbench *w, struct error *err)
{
    struct hosts *hosts = &w->ui.hosts;
    const struct host *host = &hosts->host[hosts->wanted];
    const struct remote remote = {.host = host->name[0] != '\0' ? host->name : NULL, .ssh = w->ssh};
    hosts->current = hosts->wanted;
    hosts->wanted = -1;
    hosts->shown = false;
    if (!ui_start_over(&w->ui, err))
        return false;
    link_change(w->link, &remote);
    w->stale = w->by_user = true;
    w->not_before = 0;
    return true;
}

/* One turn: wait, take in what came, draw when something changed. */
static bool turn(struct workbench *w, struct error *err)
{
    bool hold = w->stale && clock_seconds() < w->not_before;
    /* A terminal that takes nothing gets no frame; the newest one is drawn when it does again. */
    bool blocked = !term_flush(w->term) || (w->stale && !hold && !term_writable(w->term));
    if (w->stale && !hold && !blocked && !draw(w, err))
        return false;
    struct pollfd fds[OWN_DESCRIPTORS + HOSTS_MOST] = {
        {.fd = term_fd(w->term), .events = POLLIN},
        {.fd = w->signals.fd, .events = POLLIN},
        link_poll(w->link),
        {.fd = blocked ? STDOUT_FILENO : -1, .events = POLLOUT},
    };
    int count = OWN_DESCRIPTORS + host_lines_poll(w->hosts, fds + OWN_DESCRIPTORS);
    double deadline = fmin(fmin(link_deadline(w->link), host_lines_deadline(w->hosts)),
                           hold ? w->not_before : INFINITY);
    int ready = poll(fds, (nfds_t)count, wait_ms(deadline));
    if (ready < 0 && errno != EINTR)
        return error_errno(err, "the workbench cannot wait for keys");
    if (ready < 0)
        ready = 0;
    if (ready > 0 && fds[1].revents)
        take_signals(w);
    if (ready > 0 && (fds[0].revents & (POLLERR | POLLHUP | POLLNVAL)))
        w->terminal_gone = true;
    else if (ready > 0 && (fds[0].revents & POLLIN))
        take_events(w);
    take_news(w, link_step(w->link));
    take_news(w, host_lines_step(w->hosts));
    return w->ui.hosts.wanted < 0 || change_host(w, err);
}

static bool loop(struct workbench *w, struct error *err)
{
    w->stale = true;
    /* Only a running engine answers in time; without one the first frame comes at once. */
    link_step(w->link);
    w->opening = w->ui.link == LINK_UP;
    w->not_before = w->opening ? clock_seconds() + FIRST_FRAME_S : 0;
    while (!w->ui.quit && w->ended_by == 0 && !w->terminal_gone)
        if (!turn(w, err))
            return false;
    if (w->terminal_gone || w->ended_by == SIGHUP)
        return error_set(err, ERROR_CANCELLED, "the terminal is gone; runs continue in the engine");
    if (w->ended_by == SIGTERM)
        return error_set(err, ERROR_CANCELLED,
                         "the workbench was terminated; runs continue in the engine");
    return true;
}

/* While ssh may ask for a password, signals act as in any command. */
static bool open_all(struct workbench *w, const struct workbench_options *options,
                     struct error *err)
{
    if (!term_usable(err) ||
        (options->record && !recording_open(&w->recording, options->record, err)))
        return false;
    w->ui.preferences = options->preferences;
    w->ui.settings_source = options->settings_source;
    w->ui.exported.write = options->write_runs;
    w->ui.start_when_idle = options->start_run;
    w->ssh = options->remote.ssh;
    if (!hosts_init(&w->ui.hosts, options->hosts, options->remote.host, err) ||
        !host_lines_open(&w->hosts, &w->ui, w->ssh, err) ||
        !link_open(&w->link, &w->ui, &options->remote, err))
        return false;
    link_record(w->link, w->recording);
    if (!link_reach(w->link, err) || !signals_open(&w->signals, err))
        return false;
    w->watches_signals = true;
    return term_open(&w->term, &options->preferences, err);
}

/* Tell the user who just left what still runs. */
static void say_goodbye(const struct workbench *w)
{
    const char *host = w->ui.hosts.host[w->ui.hosts.current].name;
    const char *option = host[0] != '\0' ? " --host " : "";
    const long run = w->ui.state.live.run;
    if (w->ui.link == LINK_UP && run != 0)
        print("run %ld continues in the engine (%s%spid %ld): `dpartui%s%s` shows it again, "
              "`dpartui%s%s stop %ld` ends it\n",
              run, w->ui.host, host[0] != '\0' ? ", " : "", w->ui.state.pid, option, host, option,
              host, run);
}

bool workbench_run(const struct workbench_options *options, struct error *err)
{
    struct workbench w = {.term = NULL};
    if (!ui_init(&w.ui, &options->spec, err))
        return false;
    if (options->keys)
        w.ui.keymap = *options->keys;
    bool ok = open_all(&w, options, err) && loop(&w, err);
    if (term_close(w.term) && ok)
        say_goodbye(&w);
    host_lines_close(w.hosts);
    link_close(w.link);
    recording_close(w.recording);
    surface_free(&w.surface);
    if (w.watches_signals)
        signals_close(&w.signals);
    ui_free(&w.ui);
    return ok;
}
