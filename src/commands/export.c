/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/run_number.h"
#include "commands/list.h"
#include "events/device_names.h"
#include "output/stream.h"
#include "output/svg_chart.h"
#include "runs/board.h"
#include "runs/csv.h"
#include "runs/json.h"
#include "runs/metric.h"
#include "runs/source.h"

/* Runs for other programs: tables, everything as JSON, pictures. */

enum form { FORM_CSV, FORM_JSON, FORM_SVG };
static const char *const form_names[] = {"csv", "json", "svg"};

/* By an option, else by what the file's name ends in, else CSV. */
static bool take_form(const struct invocation *invocation, enum form *form, struct error *err)
{
    const char *output = invocation_value(invocation, "output");
    const char *dot = output ? strrchr(output, '.') : NULL;
    int asked = 0;
    *form = FORM_CSV;
    for (int i = FORM_CSV; i <= FORM_SVG; i++)
        if (invocation_has(invocation, form_names[i])) {
            *form = (enum form)i;
            asked++;
        }
    if (asked > 1)
        return error_set(err, ERROR_USAGE, "--csv, --json and --svg exclude each other");
    for (int i = FORM_CSV; dot && !asked && i <= FORM_SVG; i++)
        if (strcmp(dot + 1, form_names[i]) == 0)
            *form = (enum form)i;
    if (*form != FORM_CSV && invocation_has(invocation, "points"))
        return error_set(err, ERROR_USAGE, "--points needs --csv");
    if (*form != FORM_SVG && invocation_has(invocation, "figure"))
        return error_set(err, ERROR_USAGE, "--figure needs --svg");
    return true;
}

struct runs {
    struct run_source source;
    struct run_view *views;
    int count;
};

static void close_runs(struct runs *runs)
{
    while (runs->count > 0)
        run_view_free(&runs->views[--runs->count]);
    free(runs->views);
    run_source_close(&runs->source);
}

/* All runs are looked for before anything is written. After a failure there is nothing to close. */
static bool open_runs(const struct invocation *invocation, struct runs *runs, struct error *err)
{
    *runs = (struct runs){.count = 0};
    if (!run_source_open(&runs->source, err))
        return false;
    runs->views = calloc((size_t)invocation->argument_count, sizeof *runs->views);
    bool ok = runs->views || error_memory(err, "runs");
    for (int i = 0; ok && i < invocation->argument_count; i++) {
        long number;
        ok = run_number_parse(invocation->arguments[i], &number, err) &&
             run_source_view(&runs->source, number, &runs->views[i], err);
        runs->count += ok;
    }
    if (!ok)
        close_runs(runs);
    return ok;
}

/* What all runs have in common is said once, in the title. */
static const char *common(const struct runs *runs, const char *key)
{
    const char *first = member_text(runs->views[0].head, key);
    for (int i = 1; i < runs->count; i++)
        if (strcmp(first, member_text(runs->views[i].head, key)) != 0)
            return NULL;
    return first;
}

/* "run 12: cpu:0-1, batch 256, lr 0.1, warm start", with the model and the data that are its own.
 */
static char *curve_name(const struct runs *runs, const json_t *run)
{
    const char *model = common(runs, "model") ? NULL : member_text(run, "model");
    const char *data = common(runs, "data") ? NULL : member_text(run, "data");
    struct figure number, batch, lr;
    char *devices = run_devices_text(run);
    const char *note = json_string_value(json_object_get(run, "note"));
    char *name = text_format(
        "run %s: %s%s%s%s%s, batch %s, lr %s%s%s", figure_whole(&number, member_number(run, "run")),
        model ? model : "", model ? ", " : "", data ? data : "", data ? ", " : "",
        devices ? devices : "-", figure_whole(&batch, member_number(run, "batch")),
        figure_digits(&lr, member_number(run, "lr"), 6), note ? ", " : "", note ? note : "");
    free(devices);
    return name;
}

static char *picture_title(const struct run_metric *metric, const struct runs *runs)
{
    const char *model = common(runs, "model"), *data = common(runs, "data");
    return text_format("%s%s%s%s%s", metric->title, model || data ? ": " : "", model ? model : "",
                       model && data ? " on " : "", data ? data : "");
}

struct picture_curves {
    struct svg_curve *curves;
    struct chart_point **points;
    char **names;
    int count;
};

static void free_curves(struct picture_curves *all)
{
    for (int i = 0; i < all->count; i++) {
        free(all->points[i]);
        free(all->names[i]);
    }
    free(all->curves);
    free(all->points);
    free(all->names);
}

static bool make_curves(const struct run_metric *metric, const struct runs *runs,
                        struct picture_curves *all, struct error *err)
{
    size_t count = (size_t)runs->count;
    all->curves = calloc(count, sizeof *all->curves);
    all->points = calloc(count, sizeof *all->points);
    all->names = calloc(count, sizeof *all->names);
    if (!all->curves || !all->points || !all->names)
        return error_memory(err, "curves");
    for (; all->count < runs->count; all->count++) {
        const struct run_view *view = &runs->views[all->count];
        struct chart_point **points = &all->points[all->count];
        char **name = &all->names[all->count];
        int length;
        if (!run_metric_curve(metric, view, points, &length, err))
            return false;
        *name = curve_name(runs, view->head);
        if (!*name) {
            free(*points);
            return error_memory(err, "curves");
        }
        all->curves[all->count] = (struct svg_curve){*name, *points, length};
    }
    return true;
}

/* What is drawn where nothing is asked for: what the first run's epochs are compared by. */
static const char *default_figure(const struct runs *runs)
{
    const json_t *head = runs->count > 0 ? runs->views[0].head : NULL;
    return json_is_number(json_object_get(head, "val_acc")) ? "val_acc" : "test_acc";
}

static bool put_svg(const struct invocation *invocation, const struct runs *runs, struct text *out,
                    struct error *err)
{
    const char *asked = invocation_value(invocation, "figure");
    const struct run_metric *metric = run_metric_find(asked ? asked : default_figure(runs), err);
    struct picture_curves all = {.count = 0};
    if (!metric)
        return false;
    char *title = picture_title(metric, runs);
    bool ok = title ? make_curves(metric, runs, &all, err) : error_memory(err, "title");
    if (ok) {
        const struct svg_chart chart = {.title = title,
                                        .x_label = "epoch",
                                        .top = metric->top,
                                        .may_diverge = metric->may_diverge,
                                        .curves = all.curves,
                                        .count = all.count};
        ok = svg_chart_draw(&chart, out, err);
    }
    free_curves(&all);
    free(title);
    return ok;
}

/* An array, as print_json writes it. */
static bool put_json(const struct runs *runs, struct stream *out, struct error *err)
{
    bool ok = true;
    text_puts(&out->text, "[");
    for (int i = 0; ok && i < runs->count; i++) {
        text_puts(&out->text, i > 0 ? ",\n " : "\n ");
        ok = run_json_put(&runs->views[i], 1, out, err);
    }
    text_puts(&out->text, "\n]\n");
    return ok;
}

/* TensorBoard reads a folder for each run. */
static bool export_to_board(const struct invocation *invocation, struct error *err)
{
    const char *directory = invocation_value(invocation, "tensorboard");
    static const char *const others[] = {"csv", "points", "json", "svg", "figure", "output"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (invocation_has(invocation, others[i]))
            return error_set(err, ERROR_USAGE, "--tensorboard and --%s exclude each other",
                             others[i]);
    struct runs runs;
    if (!open_runs(invocation, &runs, err))
        return false;
    bool ok = true;
    for (int i = 0; ok && i < runs.count; i++)
        ok = run_board_write(&runs.views[i], directory, err);
    close_runs(&runs);
    return ok;
}

static bool put_runs(const struct invocation *invocation, enum form form, const struct runs *runs,
                     struct stream *out, struct error *err)
{
    if (form == FORM_CSV)
        return run_csv_put(runs->views, runs->count, invocation_has(invocation, "points"), out,
                           err);
    return form == FORM_JSON ? put_json(runs, out, err)
                             : put_svg(invocation, runs, &out->text, err);
}

static bool export(struct invocation *invocation, struct error *err)
{
    struct stream out = STREAM_INIT;
    struct runs runs;
    enum form form;
    if (!take_form(invocation, &form, err) || !open_runs(invocation, &runs, err))
        return false;
    bool ok = stream_open(&out, invocation_value(invocation, "output"), err) &&
              put_runs(invocation, form, &runs, &out, err);
    ok = stream_close(&out, ok, err);
    close_runs(&runs);
    return ok;
}

static bool run(struct invocation *invocation, struct error *err)
{
    return invocation_has(invocation, "tensorboard") ? export_to_board(invocation, err)
                                                     : export(invocation, err);
}

static const struct option options[] = {
    {"csv", OPTION_FLAG, NULL, "a table of the epochs; as without an option"},
    {"points", OPTION_FLAG, NULL, "csv: the finer curve between the epochs instead"},
    {"json", OPTION_FLAG, NULL, "all that is kept, an array of runs"},
    {"svg", OPTION_FLAG, NULL, "the curves as a picture"},
    {"figure", OPTION_VALUE, "METRIC", "svg: test_acc (as without it), train_loss, ..."},
    {"tensorboard", OPTION_VALUE, "DIR", "write DIR/run-N for TensorBoard"},
    {"output", OPTION_VALUE, "FILE", "instead of standard output; its name may say the form"},
    OPTIONS_END,
};

const struct command command_export = {
    .name = "export",
    .place = PLACE_THERE,
    .arguments = "RUN...",
    .argument_min = 1,
    .argument_max = ARGUMENTS_ANY,
    .summary = "Write runs as a table, as JSON or as a picture",
    .options = options,
    .run = run,
};
