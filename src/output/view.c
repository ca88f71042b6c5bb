/* SPDX-License-Identifier: MIT */
#include "output/view.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"
#include "events/device_names.h"
#include "events/event_text.h"
#include "output/profile_print.h"

enum view_kind view_choose(bool json)
{
    const char *terminal = getenv("TERM");
    if (json)
        return VIEW_JSON;
    return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0 ? VIEW_TERMINAL
                                                                              : VIEW_LINES;
}

void view_begin(struct view *view, enum view_kind kind, long run, enum profile_order profile)
{
    *view = (struct view){.kind = kind, .run = run, .profile = profile};
}

/* Write through. Output that cannot be written, to a reader that is gone or a full disk, is no
 * error of the run's: it goes on, and its end still makes the exit status. */
static void flush(struct view *view)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    if (errno != EPIPE && errno != EIO) /* EIO: the terminal has gone */
        print_to(stderr, "dpartui: cannot write the output: %s; the run goes on without\n",
                 strerror(errno));
    view->lost = true;
    clearerr(stdout);
}

void view_end(struct view *view)
{
    if (!view->lost) {
        bar_clear(&view->line);
        flush(view);
    }
    json_decref(view->begin);
    json_decref(view->state);
}

static void print_run(const struct view *view, const json_t *event)
{
    struct figure params;
    char devices[200];
    print("run %ld: %s (%s parameters) on %s, batch %.0f, lr %g, %s\n", view->run,
          member_text(event, "model"), figure_count(&params, member_number(event, "params")),
          member_text(event, "data"), member_number(event, "batch"), member_number(event, "lr"),
          run_devices_short(devices, sizeof devices, event));
}

static void print_epoch(const struct view *view, const json_t *event)
{
    struct figure loss, train, test, time, rate, all;
    const char *epochs = figure_whole(&all, member_number(view->begin, "epochs"));
    print("epoch %*.0f/%s  loss %s  train acc %s  test acc %s  %s s  %s samples/s\n",
          (int)strlen(epochs), member_number(event, "epoch"), epochs,
          figure_fixed(&loss, member_number(event, "train_loss"), 4),
          figure_fixed(&train, member_number(event, "train_acc"), 3),
          figure_fixed(&test, member_number(event, "test_acc"), 3),
          figure_seconds(&time, member_number(event, "seconds")),
          figure_count(&rate, member_number(event, "samples_per_s")));
}

/* What a run that resumes from a checkpoint has of its former epochs. */
static void print_resumption(const struct view *view, const json_t *event)
{
    double step = member_number(event, "resumed_at");
    double per_epoch = member_number(event, "steps_per_epoch");
    if (isfinite(step) && per_epoch > 0)
        print("run %ld resumes from its checkpoint after step %.0f of %.0f: %.0f of %.0f epochs "
              "are taken over\n",
              view->run, step, member_number(event, "total_steps"), floor(step / per_epoch),
              member_number(event, "epochs"));
}

/* Says what has changed, and keeps in mind how long the run is now. */
static void print_retune(const struct view *view, const json_t *event)
{
    char text[EVENT_TEXT_SIZE];
    json_t *total = json_object_get(event, "total_steps");
    print("%s\n", event_retune_text(text, sizeof text, event));
    if (view->begin && strcmp(member_text(event, "what"), "epochs") == 0) {
        json_object_set(view->begin, "epochs", json_object_get(event, "to"));
        json_object_set(view->begin, "total_steps", total);
    }
}

static void print_end(const struct view *view, const json_t *event)
{
    struct figure accuracy, time, rate;
    char devices[400];
    bool done = strcmp(member_text(event, "status"), "done") == 0;
    if (!view->begin)
        return; /* it never began: there are no figures */
    if (!done)
        print("%s after step %.0f of %.0f\n", member_text(event, "status"),
              member_number(event, "steps"), member_number(view->begin, "total_steps"));
    if (!done && isnan(member_number(event, "test_acc")))
        return;
    print("test acc %s, %s s/epoch, %s samples/s on %s\n",
          figure_fixed(&accuracy, member_number(event, "test_acc"), 3),
          figure_seconds(&time, member_number(event, "s_per_epoch")),
          figure_whole(&rate, member_number(event, "samples_per_s")),
          device_names_short(devices, sizeof devices, json_object_get(view->begin, "devices")));
}

static void print_text(struct view *view, json_t *event, const char *name)
{
    bar_clear(&view->line);
    if (strcmp(name, "run") == 0) {
        json_decref(view->begin);
        view->begin = json_copy(event);
        if (view->kind == VIEW_TERMINAL)
            print_run(view, event);
        print_resumption(view, event);
    } else if (strcmp(name, "epoch") == 0) {
        print_epoch(view, event);
    } else if (strcmp(name, "warning") == 0) {
        print("warning: %s\n", member_text(event, "text"));
    } else if (strcmp(name, "retune") == 0) {
        print_retune(view, event);
    } else if (strcmp(name, "shares") == 0) {
        char text[EVENT_TEXT_SIZE];
        print("%s\n", event_shares_text(text, sizeof text, event));
    } else if (strcmp(name, "profile") == 0) {
        struct error ignored = ERROR_INIT; /* without memory for it less is shown */
        profile_print(event, view->profile, &ignored);
    } else if (strcmp(name, "end") == 0) {
        view->ended = true;
        print_end(view, event);
    }
}

void view_event(struct view *view, json_t *event)
{
    const char *name = json_string_value(json_object_get(event, "event"));
    if (view->lost || !name)
        return;
    if (view->kind == VIEW_JSON) {
        json_to_file(event, stdout, JSON_LINE);
        putchar('\n');
    } else {
        print_text(view, event, name);
    }
}

void view_settle(struct view *view)
{
    if (view->lost)
        return;
    if (!view->line.shown || view->stale)
        view_redraw(view);
    view->stale = false;
    flush(view);
}

static void describe_wait(const struct view *view, struct bar *bar, const json_t *run)
{
    bar->share = NAN;
    if (json_is_object(run))
        snprintf(bar->left, sizeof bar->left, "run %ld waits behind run %.0f", view->run,
                 member_number(run, "run"));
    else
        snprintf(bar->left, sizeof bar->left, "run %ld waits", view->run);
}

static void describe_run(const struct view *view, struct bar *bar, const json_t *run)
{
    struct figure text;
    const char *phase = member_text(run, "phase");
    double step = member_number(run, "step"), total = member_number(run, "total_steps");
    if (strcmp(phase, "prepare") == 0) {
        snprintf(bar->left, sizeof bar->left, "preparing");
        bar->share = NAN;
        return;
    }
    snprintf(bar->left, sizeof bar->left, "epoch %.0f/%.0f", member_number(run, "epoch"),
             member_number(run, "epochs"));
    bar->share = total > 0 ? step / total : NAN;
    bar_add(bar, 3, "step %.0f/%.0f", step, total);
    if (view->stopping)
        bar_add(bar, 0, "stopping");
    else if (strcmp(member_text(run, "status"), "paused") == 0)
        bar_add(bar, 0, "paused");
    else if (json_is_true(json_object_get(run, "stop_after_epoch")))
        bar_add(bar, 1, "stops after this epoch");
    else if (strcmp(phase, "eval") == 0)
        bar_add(bar, 1, "evaluating");
    else if (strcmp(phase, "save") == 0)
        bar_add(bar, 1, "saving");
    else if (member_number(run, "samples_per_s") > 0)
        bar_add(bar, 2, "%s samples/s", figure_count(&text, member_number(run, "samples_per_s")));
    if (!view->stopping && isfinite(member_number(run, "eta_s")))
        bar_add(bar, 0, "%s left", figure_duration(&text, member_number(run, "eta_s")));
}

void view_redraw(struct view *view)
{
    struct bar bar = {.count = 0};
    const json_t *run = json_object_get(view->state, "run");
    if (view->kind != VIEW_TERMINAL || view->lost || !view->state)
        return;
    if (view->ended)
        return;
    if (json_is_object(run) && member_number(run, "run") == (double)view->run)
        describe_run(view, &bar, run);
    else if (!view->begin)
        describe_wait(view, &bar, run);
    else
        return; /* an old state */
    bar_draw(&view->line, &bar);
}

void view_state(struct view *view, json_t *state)
{
    json_decref(view->state);
    view->state = json_incref(state);
    view->stale = true;
}

void view_remark(struct view *view, const char *text)
{
    if (!view->lost) {
        bar_clear(&view->line);
        flush(view);
    }
    print_to(stderr, "dpartui: %s\n", text);
    view_settle(view);
}
