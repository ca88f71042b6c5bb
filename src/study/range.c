/* SPDX-License-Identifier: MIT */
#include "study/range.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"
#include "client/session.h"
#include "output/bar.h"
#include "output/plot.h"
#include "system/signals.h"

enum { CHART_ROWS = 18, CHART_COLUMNS = 79 };

struct follower {
    struct range_run *test;
    struct client *client;
    struct signals signals;
    struct bar_line line;
    bool live, ended, left;
    int stops;
};

static void draw(struct follower *follower)
{
    const struct range *range = &follower->test->range;
    struct bar bar = {.share = (double)range->count / (double)follower->test->steps};
    struct figure lr, loss;
    if (!follower->live || range->count == 0)
        return;
    const struct range_point *last = &range->points[range->count - 1];
    snprintf(bar.left, sizeof bar.left, "step %d/%ld", range->count, follower->test->steps);
    bar_add(&bar, 1, "lr %s", figure_digits(&lr, last->lr, 3));
    bar_add(&bar, 2, "loss %s", figure_fixed(&loss, last->loss, 3));
    bar_draw(&follower->line, &bar);
    fflush(stdout);
}

static bool stop(struct follower *follower, struct error *err)
{
    const char *remark;
    return session_stop(follower->client, follower->test->run, follower->stops++, &remark, err);
}

static bool take_event(struct follower *follower, const json_t *event, struct error *err)
{
    struct range_run *test = follower->test;
    const char *kind = member_text(event, "event");
    if (strcmp(kind, "step") == 0) {
        if (!range_add(&test->range, member_number(event, "lr"), member_number(event, "loss"), err))
            return false;
        draw(follower);
        return !test->range.diverged || follower->stops > 0 || stop(follower, err);
    }
    if (strcmp(kind, "end") == 0) {
        follower->ended = true;
        if (strcmp(member_text(event, "status"), "failed") == 0 && !test->range.diverged)
            snprintf(test->failure, sizeof test->failure, "%s", member_text(event, "error"));
    }
    return true;
}

static bool take_signals(struct follower *follower, struct error *err)
{
    for (int number; (number = signals_next(&follower->signals)) != 0;) {
        if (number == SIGTERM || number == SIGHUP || (number == SIGINT && follower->stops > 1))
            follower->left = true;
        else if (number == SIGTSTP)
            signals_stop_here();
        else if (number == SIGINT && !stop(follower, err))
            return false;
        follower->test->interrupted |= number != SIGTSTP && number != SIGCONT && number != SIGWINCH;
    }
    return true;
}

static bool follow(struct follower *follower, struct error *err)
{
    struct client *client = follower->client;
    while (!follower->ended && !follower->left) {
        json_t *message;
        if (!take_signals(follower, err) || !client_next(client, &message, err))
            return false;
        if (message) {
            const json_t *params = json_object_get(message, "params");
            bool ours = strcmp(member_text(message, "method"), "event") == 0 &&
                        member_number(params, "run") == (double)follower->test->run;
            bool ok = !ours || take_event(follower, params, err);
            json_decref(message);
            if (!ok)
                return false;
            continue;
        }
        struct pollfd wait[] = {{.fd = follower->signals.fd, .events = POLLIN},
                                client_poll(client)};
        if (poll(wait, 2, -1) < 0 && errno != EINTR)
            return error_errno(err, "cannot wait for the engine");
    }
    return true;
}

bool range_train(struct range_run *test, struct client *client, json_t *params, bool live,
                 struct error *err)
{
    struct follower follower = {.test = test, .client = client, .live = live};
    char note[80];
    json_t *result = NULL;
    snprintf(note, sizeof note, "lr range %g:%g", test->from, test->to);
    if (json_object_set_new(params, "note", json_string(note)) != 0) {
        json_decref(params);
        return error_memory(err, "run");
    }
    if (!client_call(client, "submit", params, SUBMIT_SECONDS, &result, err))
        return false;
    test->run = (long)json_integer_value(json_object_get(result, "run"));
    json_decref(result);
    if (!signals_open(&follower.signals, err))
        return false;
    bool ok = client_call(client, "follow",
                          json_pack("{s:I, s:b}", "run", (json_int_t)test->run, "steps", 1),
                          SESSION_SECONDS, NULL, err) &&
              follow(&follower, err);
    bar_clear(&follower.line);
    signals_close(&follower.signals);
    if (ok && test->failure[0] && test->range.count == 0)
        return error_set(err, ERROR_FAILED, "run %ld failed: %s", test->run, test->failure);
    return ok;
}

void range_run_free(struct range_run *test)
{
    range_free(&test->range);
}

/* The loss of each step dotted, its smoothed curve, and a mark at the rate to try. */
static bool print_chart(const struct range_run *test, struct error *err)
{
    const struct range *range = &test->range;
    size_t count = (size_t)range->count;
    struct chart_point *points = calloc(2 * count + 1, sizeof *points);
    double mark = log10(range_steepest(range));
    if (!points)
        return error_memory(err, "chart");
    for (size_t i = 0; i < count; i++) {
        double x = log10(range->points[i].lr);
        points[i] = (struct chart_point){x, range->points[i].loss};
        points[count + i] = (struct chart_point){x, range->points[i].smoothed};
    }
    /* What diverges goes beyond the top. */
    double first = range->points[0].smoothed;
    double top = first + fmax(0.5 * (first - range->least), 0.2 * first);
    const struct chart_series series[] = {{.points = points,
                                           .count = range->count,
                                           .rank = SERIES_PAST,
                                           .name = "loss",
                                           .last = NAN,
                                           .best = NAN},
                                          {.points = points + count,
                                           .count = range->count,
                                           .rank = SERIES_MAIN,
                                           .name = "smoothed",
                                           .last = NAN,
                                           .best = NAN}};
    const struct chart chart = {.title = "Training loss over the learning rate, as powers of ten",
                                .x_label = "log lr",
                                .x_low = log10(test->from),
                                .x_high = log10(test->to),
                                .x_fractions = true,
                                .y_floor = 0,
                                .y_top = INFINITY,
                                .fixed = true,
                                .low = fmax(0, range->least - 0.2 * (top - range->least)),
                                .high = top,
                                .decimals = 3,
                                .marks = &mark,
                                .mark_count = isfinite(mark),
                                .series = series,
                                .count = 2};
    bool ok = plot_print(&chart, CHART_ROWS, CHART_COLUMNS, err);
    free(points);
    return ok;
}

bool range_print(const struct range_run *test, struct error *err)
{
    const struct range *range = &test->range;
    struct figure from, to, steepest, lowest, tenth;
    print("learning-rate range test, run %ld: %d of %ld steps, lr from %s to %s%s\n\n", test->run,
          range->count, test->steps, figure_digits(&from, test->from, 4),
          figure_digits(&to, test->to, 4), range->diverged ? "; the loss diverged" : "");
    if (range->count > 1 && !print_chart(test, err))
        return false;
    if (!isfinite(range_steepest(range))) {
        print("\nThe loss hardly falls, so no rate is suggested: more steps (--max-steps) or other "
              "initial\nweights (--init) may help.\n");
        return true;
    }
    double low = range_lowest(range);
    print("\nlr %s is suggested: there the smoothed loss falls most steeply.\n"
          "It is least at %s; a tenth of that, %s, is the other usual choice.\n",
          figure_digits(&steepest, range_steepest(range), 2), figure_digits(&lowest, low, 2),
          figure_digits(&tenth, low / 10, 2));
    return true;
}

json_t *range_json(const struct range_run *test)
{
    const struct range *range = &test->range;
    json_t *points = json_array();
    for (int i = 0; points && i < range->count; i++) {
        const struct range_point *point = &range->points[i];
        json_array_append_new(points,
                              json_pack("{s:i, s:f, s:f, s:f}", "step", i + 1, "lr", point->lr,
                                        "loss", point->loss, "smoothed", point->smoothed));
    }
    return json_pack("{s:I, s:f, s:f, s:I, s:b, s:o, s:o, s:o}", "run", (json_int_t)test->run,
                     "from", test->from, "to", test->to, "steps", (json_int_t)test->steps,
                     "diverged", range->diverged, "suggested_lr",
                     json_finite(range_steepest(range)), "lowest_lr",
                     json_finite(range_lowest(range)), "points", points);
}

void range_print_csv(const struct range_run *test)
{
    print("step,lr,loss,smoothed\n");
    for (int i = 0; i < test->range.count; i++) {
        const struct range_point *point = &test->range.points[i];
        print("%d,%.10g,%.10g,%.10g\n", i + 1, point->lr, point->loss, point->smoothed);
    }
}
