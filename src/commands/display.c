/* SPDX-License-Identifier: MIT */
#include "commands/display.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"
#include "base/text.h"
#include "events/changes.h"
#include "events/device_names.h"
#include "events/strategy.h"
#include "output/paragraph.h"
#include "output/profile.h"

enum display_kind display_choose(bool json)
{
    const char *terminal = getenv("TERM");
    if (json)
        return DISPLAY_JSON;
    return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0 ? DISPLAY_TERMINAL
                                                                              : DISPLAY_LINES;
}

void display_begin(struct display *display, enum display_kind kind, long run,
                   enum profile_order profile)
{
    *display = (struct display){.kind = kind, .run = run, .profile = profile};
}

/* Write through. Output that cannot be written, to a reader that is gone or a full disk, is no
 * error of the run: it continues, and its end still decides the exit status. */
static void flush(struct display *display)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    if (errno != EPIPE && errno != EIO) /* EIO: the terminal has gone */
        print_to(stderr, "dpartui: cannot write the output: %s; the run continues without it\n",
                 strerror(errno));
    display->lost = true;
    clearerr(stdout);
}

void display_end(struct display *display)
{
    if (!display->lost) {
        bar_clear(&display->line);
        flush(display);
    }
    json_decref(display->begin);
    json_decref(display->state);
}

/* A line, printf; on a terminal as many as its width takes. */
static void say(const struct display *display, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(const struct display *display, const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0)
        return; /* without memory for it less is shown */
    paragraph_print(text, display->kind == DISPLAY_TERMINAL ? terminal_columns() : 0);
    free(text);
}

/* ", cosine, warmup 1"; "" where the learning rate stays what it is. */
static void describe_schedule(char *buffer, size_t size, const json_t *event)
{
    const char *shape = json_string_value(json_object_get(event, "lr_schedule"));
    double warmup = member_number(event, "warmup");
    bool rises = warmup > 0;
    char rise[32] = "";
    if (rises)
        snprintf(rise, sizeof rise, ", warmup %g", warmup);
    buffer[0] = '\0';
    if (shape && (rises || strcmp(shape, "constant") != 0))
        snprintf(buffer, size, ", %s%s", shape, rise);
}

static void print_run(const struct display *display, const json_t *event)
{
    struct figure params;
    char devices[200], schedule[200];
    const char *strategy = strategy_worth_telling(member_string(event, "strategy"));
    describe_schedule(schedule, sizeof schedule, event);
    say(display, "run %ld: %s (%s parameters) on %s, batch %.0f, lr %g%s, %s%s%s", display->run,
        member_text(event, "model"), figure_count(&params, member_number(event, "params")),
        member_text(event, "data"), member_number(event, "batch"), member_number(event, "lr"),
        schedule, run_devices_short(devices, sizeof devices, event), *strategy ? ", " : "",
        strategy);
}

static void print_epoch(const struct display *display, const json_t *event)
{
    struct figure loss, train, score, time, rate, all;
    const bool validated = json_is_number(json_object_get(event, "val_acc"));
    const char *epochs = figure_whole(&all, member_number(display->begin, "epochs"));
    say(display, "epoch %*.0f/%s  loss %s  acc %s  %s acc %s  %s s  %s samples/s",
        (int)strlen(epochs), member_number(event, "epoch"), epochs,
        figure_fixed(&loss, member_number(event, "train_loss"), 4),
        figure_fixed(&train, member_number(event, "train_acc"), 3), validated ? "val" : "test",
        figure_fixed(&score, member_score(event), 3),
        figure_seconds(&time, member_number(event, "seconds")),
        figure_count(&rate, member_number(event, "samples_per_s")));
}

/* What a run that resumes from a checkpoint has of its former epochs. */
static void print_resumption(const struct display *display, const json_t *event)
{
    double step = member_number(event, "resumed_at");
    double per_epoch = member_number(event, "steps_per_epoch");
    if (isfinite(step) && per_epoch > 0)
        say(display,
            "run %ld resumes from its checkpoint after step %.0f of %.0f: %.0f of %.0f epoch%s "
            "taken over",
            display->run, step, member_number(event, "total_steps"), floor(step / per_epoch),
            member_number(event, "epochs"), plural(member_number(event, "epochs")));
}

/* Print what has changed, and remember how long the run is now. */
static void print_retune(const struct display *display, const json_t *event)
{
    char text[EVENT_TEXT_SIZE];
    json_t *total = json_object_get(event, "total_steps");
    say(display, "%s", event_retune_text(text, sizeof text, event));
    if (display->begin && strcmp(member_text(event, "what"), "epochs") == 0) {
        json_object_set(display->begin, "epochs", json_object_get(event, "to"));
        json_object_set(display->begin, "total_steps", total);
    }
}

/* "validation acc 0.861, "; "" where there are no validation rows. */
static void describe_validation(char *buffer, size_t size, const json_t *event)
{
    struct figure accuracy;
    double value = member_number(event, "val_acc");
    buffer[0] = '\0';
    if (isfinite(value))
        snprintf(buffer, size, "validation acc %s, ", figure_fixed(&accuracy, value, 3));
}

static void print_end(const struct display *display, const json_t *event)
{
    struct figure accuracy, time, rate;
    char devices[400], validation[64], tested[64] = "";
    bool done = strcmp(member_text(event, "status"), "done") == 0;
    if (!display->begin)
        return; /* it never began: there are no figures */
    if (!done)
        print("%s after step %.0f of %.0f\n", member_text(event, "status"),
              member_number(event, "steps"), member_number(display->begin, "total_steps"));
    if (json_object_get(event, "reason"))
        say(display, "ended early: %s", member_text(event, "reason"));
    if (!done && isnan(member_score(event)))
        return;
    describe_validation(validation, sizeof validation, event);
    if (json_object_get(event, "tested"))
        snprintf(tested, sizeof tested, " with the %s weights, of epoch %.0f",
                 member_text(event, "tested"), member_number(event, "tested_epoch"));
    say(display, "%stest acc %s%s, %s s/epoch, %s samples/s on %s", validation,
        figure_fixed(&accuracy, member_number(event, "test_acc"), 3), tested,
        figure_seconds(&time, member_number(event, "s_per_epoch")),
        figure_count(&rate, member_number(event, "samples_per_s")),
        device_names_short(devices, sizeof devices, json_object_get(display->begin, "devices")));
}

static void print_text(struct display *display, json_t *event, const char *name)
{
    bar_clear(&display->line);
    if (strcmp(name, "run") == 0) {
        json_decref(display->begin);
        display->begin = json_copy(event);
        if (display->kind == DISPLAY_TERMINAL)
            print_run(display, event);
        if (json_object_get(event, "choice"))
            say(display, "%s", member_text(event, "choice"));
        print_resumption(display, event);
    } else if (strcmp(name, "epoch") == 0) {
        print_epoch(display, event);
    } else if (strcmp(name, "warning") == 0) {
        say(display, "warning: %s", member_text(event, "text"));
    } else if (strcmp(name, "retune") == 0) {
        print_retune(display, event);
    } else if (strcmp(name, "shares") == 0) {
        char text[EVENT_TEXT_SIZE];
        say(display, "%s", event_shares_text(text, sizeof text, event));
    } else if (strcmp(name, "profile") == 0) {
        struct error ignored = ERROR_INIT; /* without memory for it less is shown */
        profile_print(event, display->profile, &ignored);
    } else if (strcmp(name, "end") == 0) {
        display->ended = true;
        print_end(display, event);
    }
}

void display_event(struct display *display, json_t *event)
{
    const char *name = json_string_value(json_object_get(event, "event"));
    if (display->lost || !name)
        return;
    if (display->kind == DISPLAY_JSON) {
        json_to_file(event, stdout, JSON_LINE);
        putchar('\n');
    } else {
        print_text(display, event, name);
    }
}

void display_settle(struct display *display)
{
    if (display->lost)
        return;
    if (!display->line.shown || display->stale)
        display_redraw(display);
    display->stale = false;
    flush(display);
}

static void describe_wait(const struct display *display, struct bar *bar, const json_t *run)
{
    bar->share = NAN;
    if (json_is_object(run))
        snprintf(bar->left, sizeof bar->left, "run %ld waits for run %.0f", display->run,
                 member_number(run, "run"));
    else
        snprintf(bar->left, sizeof bar->left, "run %ld waits", display->run);
}

/* Of the epoch so far. */
static void add_training(struct bar *bar, const json_t *run)
{
    const double loss = member_number(run, "train_loss");
    struct figure f[2];
    if (isfinite(loss))
        bar_add(bar, 1, "loss %s  acc %s", figure_fixed(&f[0], loss, 3),
                figure_fixed(&f[1], member_number(run, "train_acc"), 3));
}

static void describe_run(const struct display *display, struct bar *bar, const json_t *run)
{
    struct figure text;
    const char *phase = member_text(run, "phase");
    double step = member_number(run, "step"), total = member_number(run, "total_steps");
    const bool stopping = display->stopping || json_is_true(json_object_get(run, "stopping"));
    if (strcmp(phase, "prepare") == 0) {
        double read = member_number(run, "read"), all = member_number(run, "to_read");
        bool reading = all > 0;
        snprintf(bar->left, sizeof bar->left, "preparing");
        bar->share = reading ? read / all : NAN;
        if (reading)
            bar_add(bar, 1, "%.0f of %.0f picture%s read", read, all, plural(all));
        if (isfinite(member_number(run, "elapsed_s")))
            bar_add(bar, 2, "%s", figure_duration(&text, member_number(run, "elapsed_s")));
        if (stopping)
            bar_add(bar, 0, "stopping");
        return;
    }
    snprintf(bar->left, sizeof bar->left, "epoch %.0f/%.0f", member_number(run, "epoch"),
             member_number(run, "epochs"));
    bar->share = total > 0 ? step / total : NAN;
    bar_add(bar, 3, "step %.0f/%.0f", step, total);
    add_training(bar, run);
    if (stopping)
        bar_add(bar, 0, "stopping");
    else if (strcmp(member_text(run, "status"), "paused") == 0)
        bar_add(bar, 0, "paused");
    else if (json_is_true(json_object_get(run, "stop_after_epoch")))
        bar_add(bar, 1, "stops after this epoch");
    else if (strcmp(phase, "eval") == 0)
        bar_add(bar, 2, "evaluating");
    else if (strcmp(phase, "save") == 0)
        bar_add(bar, 2, "saving");
    else if (member_number(run, "samples_per_s") > 0)
        bar_add(bar, 2, "%s samples/s", figure_count(&text, member_number(run, "samples_per_s")));
    if (!stopping && isfinite(member_number(run, "eta_s")))
        bar_add(bar, 0, "%s left", figure_duration(&text, member_number(run, "eta_s")));
}

void display_redraw(struct display *display)
{
    struct bar bar = {.count = 0};
    const json_t *run = json_object_get(display->state, "run");
    if (display->kind != DISPLAY_TERMINAL || display->lost || !display->state)
        return;
    if (display->ended)
        return;
    if (json_is_object(run) && member_number(run, "run") == (double)display->run)
        describe_run(display, &bar, run);
    else if (!display->begin)
        describe_wait(display, &bar, run);
    else
        return; /* an old state */
    bar_draw(&display->line, &bar);
}

void display_state(struct display *display, json_t *state)
{
    json_decref(display->state);
    display->state = json_incref(state);
    display->stale = true;
}

void display_remark(struct display *display, const char *text)
{
    if (!display->lost) {
        bar_clear(&display->line);
        flush(display);
    }
    print_to(stderr, "dpartui: %s\n", text);
    display_settle(display);
}
