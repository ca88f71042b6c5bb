/* SPDX-License-Identifier: MIT */
#include "ui/panels/run_cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/figure.h"
#include "base/text.h"
#include "events/row_counts.h"
#include "events/strategy.h"

/* What every list of runs says of one. */

enum style run_status_style(enum run_status status)
{
    switch (status) {
    case RUN_RUNNING:
        return STYLE_GOOD;
    case RUN_PAUSED:
    case RUN_STOPPED:
    case RUN_CANCELLED:
    case RUN_INTERRUPTED:
    case RUN_LOST:
        return STYLE_WARNING;
    case RUN_FAILED:
        return STYLE_BAD;
    default:
        return STYLE_LABEL;
    }
}

enum style run_status_text(const struct ui *ui, const struct state_run *run, char *buffer,
                           size_t size)
{
    const struct state_live *live = &ui->state.live;
    int place = run->status == RUN_QUEUED ? state_queue_place(&ui->state, run->run) : -1;
    bool is_live = live->run == run->run;
    /* The state comes every second, the list of runs only after it. */
    enum run_status status = is_live && live->status != RUN_UNKNOWN ? live->status : run->status;
    bool stopping = is_live ? live->stop_after_epoch : run->stop_after_epoch;
    if (place >= 0)
        snprintf(buffer, size, "queued %d", place + 1);
    else if (status == RUN_RUNNING && stopping)
        snprintf(buffer, size, "stopping");
    else
        snprintf(buffer, size, "%s", run_status_name(status));
    return run_status_style(status);
}

/* "1.87x #7" */
static void speed_up_text(const struct state_run *run, char *buffer, size_t size)
{
    struct figure f;
    if (isfinite(run->speed_up))
        snprintf(buffer, size, "%s #%ld", figure_times(&f, run->speed_up), run->base);
    else
        snprintf(buffer, size, "-");
}

static void epochs_text(const struct state_run *run, char *buffer, size_t size)
{
    struct figure done, all;
    double so_far = isfinite(run->epochs_done) ? run->epochs_done : 0;
    if (so_far == run->epochs)
        snprintf(buffer, size, "%s", figure_whole(&all, run->epochs));
    else
        snprintf(buffer, size, "%s/%s", figure_whole(&done, so_far),
                 figure_whole(&all, run->epochs));
}

void date_text(double seconds, bool whole, char *buffer, size_t size)
{
    struct tm date;
    time_t when = (time_t)(seconds >= 0 && seconds < 1e11 ? seconds : -1);
    if (when < 0 || !localtime_r(&when, &date) ||
        (whole ? strftime(buffer, size, "%Y-%m-%d %H:%M:%S", &date)
               : strftime(buffer, size, "%m-%d %H:%M", &date)) == 0)
        snprintf(buffer, size, "-");
}

/* Signs beside the number say that the run is marked, and that there were warnings. */
static enum style number_cell(const struct ui *ui, const struct state_run *run, char *buffer,
                              size_t size)
{
    snprintf(buffer, size, "%s%s%ld", run->warnings > 0 ? "!" : "",
             ui_is_marked(ui, run->run) ? "*" : "", run->run);
    if (run->run == ui->state.live.run)
        return STYLE_SERIES;
    return run->run == ui->selected_run || ui_is_marked(ui, run->run) ? STYLE_SERIES_MARKED
                                                                      : STYLE_NORMAL;
}

/* A run's tags, each after a '#', and its note; returns how long that is. */
static int run_words(const struct state_run *run, char *buffer, size_t size)
{
    size_t used = 0;
    for (const char *tag = run->tags; *tag != '\0'; tag += strspn(tag, " ")) {
        int length = (int)strcspn(tag, " ");
        if (used < size)
            used += (size_t)snprintf(buffer + used, size - used, "%s#%.*s", used > 0 ? " " : "",
                                     length, tag);
        tag += length;
    }
    if (used < size)
        used += (size_t)snprintf(buffer + used, size - used, "%s%s",
                                 used > 0 && run->note[0] != '\0' ? " " : "", run->note);
    return (int)used;
}

/* "v0.912": on validation rows, which is not the same as on test rows. */
static const char *best_text(const struct state_run *run, struct figure *f)
{
    struct figure best;
    figure_fixed(&best, run->best_acc, 3);
    snprintf(f->text, sizeof f->text, "%s%.15s", isfinite(run->val_acc) ? "v" : "", best.text);
    return f->text;
}

static const char *figure_of(const struct state_run *run, enum run_column column, struct figure *f)
{
    switch (column) {
    case RUN_COLUMN_BATCH:
        return figure_whole(f, run->batch);
    case RUN_COLUMN_LR:
        return figure_digits(f, run->lr, 4);
    case RUN_COLUMN_TEST_ACC:
        return figure_fixed(f, run->test_acc, 3);
    case RUN_COLUMN_BEST_ACC:
        return best_text(run, f);
    case RUN_COLUMN_S_PER_EPOCH:
        return figure_seconds(f, run->s_per_epoch);
    case RUN_COLUMN_ENERGY:
        return figure_count(f, run->energy_j);
    case RUN_COLUMN_SAMPLES_PER_J:
        return figure_count(f, run->samples_per_j);
    default:
        return figure_count(f, run->samples_per_s);
    }
}

enum style run_cell(const struct ui *ui, const struct state_run *run, enum run_column column,
                    char *buffer, size_t size)
{
    struct figure f;
    switch (column) {
    case RUN_COLUMN_NUMBER:
        return number_cell(ui, run, buffer, size);
    case RUN_COLUMN_MODEL:
        snprintf(buffer, size, "%s", run->model);
        break;
    case RUN_COLUMN_DATA:
        snprintf(buffer, size, "%s", run->data);
        break;
    case RUN_COLUMN_ROWS:
        row_counts_text(run->train_rows, run->test_rows, buffer, size);
        break;
    case RUN_COLUMN_DEVICES:
        snprintf(buffer, size, "%s", run->devices);
        break;
    case RUN_COLUMN_STRATEGY:
        snprintf(buffer, size, "%s", run->strategy);
        break;
    case RUN_COLUMN_SPEED_UP:
        speed_up_text(run, buffer, size);
        break;
    case RUN_COLUMN_EPOCHS:
        epochs_text(run, buffer, size);
        break;
    case RUN_COLUMN_STATUS:
        return run_status_text(ui, run, buffer, size);
    case RUN_COLUMN_STARTED:
        date_text(run->started_at, false, buffer, size);
        break;
    case RUN_COLUMN_SPLIT:
        snprintf(buffer, size, "%s", run->split);
        break;
    case RUN_COLUMN_SYNC:
        snprintf(buffer, size, "%s", run->sync);
        break;
    case RUN_COLUMN_NOTE:
        run_words(run, buffer, size);
        break;
    default:
        snprintf(buffer, size, "%s", figure_of(run, column, &f));
        break;
    }
    return STYLE_NORMAL;
}

/* Does the column say of the run what is not the usual? */
static bool tells_of(const struct state_run *run, enum run_column column)
{
    switch (column) {
    case RUN_COLUMN_ROWS:
        return isfinite(run->train_rows) || isfinite(run->test_rows);
    case RUN_COLUMN_STRATEGY:
        return *strategy_worth_telling(run->strategy) != '\0';
    case RUN_COLUMN_ENERGY:
    case RUN_COLUMN_SAMPLES_PER_J:
        return isfinite(run->energy_j);
    default:
        return true;
    }
}

/* Of any run, or of all? */
static bool tells(const struct ui *ui, enum run_column column)
{
    const struct state_run none = {
        .train_rows = NAN, .test_rows = NAN, .energy_j = NAN, .strategy = ""};
    bool any = tells_of(&none, column);
    for (int i = 0; i < ui->state.run_count && !any; i++)
        any = tells_of(&ui->state.runs[i], column);
    return any;
}

struct run_columns run_columns_usual(const struct ui *ui)
{
    struct run_columns usual = {.count = 0};
    for (int i = 0; i < RUN_COLUMNS; i++)
        if (tells(ui, (enum run_column)i))
            run_columns_add(&usual, (enum run_column)i);
    return usual;
}

struct run_columns run_columns_wanted(const struct ui *ui)
{
    return ui->preferences.columns.count > 0 ? ui->preferences.columns : run_columns_usual(ui);
}

/* Wide enough for all that it shows: half a number would be another one. */
static void widen(const struct ui *ui, enum run_column column, struct list_column *wide)
{
    for (int i = 0; i < ui->state.run_count; i++) {
        char text[100];
        run_cell(ui, &ui->state.runs[i], column, text, sizeof text);
        wide->width = text_columns(text) > wide->width ? text_columns(text) : wide->width;
    }
}

void run_columns_choose(const struct ui *ui, const struct list_column *columns, bool all,
                        struct list_column *chosen)
{
    memcpy(chosen, columns, RUN_COLUMNS * sizeof *chosen);
    widen(ui, RUN_COLUMN_ROWS, &chosen[RUN_COLUMN_ROWS]);
    widen(ui, RUN_COLUMN_LR, &chosen[RUN_COLUMN_LR]);
    widen(ui, RUN_COLUMN_SPEED_UP, &chosen[RUN_COLUMN_SPEED_UP]);
    for (int i = 0; i < RUN_COLUMNS && !all; i++)
        if (!tells(ui, (enum run_column)i))
            chosen[i].width = chosen[i].most = 0;
}

/* "run 3: resnet18 on fashion-mnist, pipeline, chunk, allreduce" */
static void describe(const struct state_run *run, char *buffer, size_t size)
{
    const char *parts[] = {strategy_worth_telling(run->strategy), run->split, run->sync};
    size_t used =
        (size_t)snprintf(buffer, size, "run %ld: %s on %s", run->run, run->model, run->data);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && used < size; i++)
        if (parts[i][0] != '\0')
            used += (size_t)snprintf(buffer + used, size - used, ", %s", parts[i]);
}

void run_hint(const struct ui *ui, char *buffer, size_t size)
{
    const struct state_run *run = state_run(&ui->state, ui->selected_run);
    int place = run ? state_queue_place(&ui->state, run->run) : -1;
    char words[RUN_WORDS];
    if (!run)
        snprintf(buffer, size, "Up and Down mark a run in the chart");
    else if (run->error[0] != '\0')
        snprintf(buffer, size, "run %ld %s: %s", run->run, run_status_name(run->status),
                 run->error);
    else if (run_words(run, words, sizeof words) > 0)
        snprintf(buffer, size, "run %ld: %s", run->run, words);
    else if (run->warnings > 0)
        snprintf(buffer, size, "run %ld has %d warning%s: Enter shows them", run->run,
                 run->warnings, plural(run->warnings));
    else if (place == 0)
        snprintf(buffer, size, "run %ld is the next one of the queue", run->run);
    else if (place > 0)
        snprintf(buffer, size, "run %ld waits for %d other%s", run->run, place, plural(place));
    else if (run->status == RUN_LOST)
        snprintf(buffer, size, "run %ld was running when the engine was lost", run->run);
    else
        describe(run, buffer, size);
}

void run_row(const struct ui *ui, struct surface *surface, struct rect area, int y,
             const struct list_column *columns, const struct column_place *places,
             const struct state_run *run)
{
    char text[RUN_WORDS];
    for (int i = 0; i < RUN_COLUMNS; i++)
        if (places[i].w > 0) {
            enum style style = run_cell(ui, run, (enum run_column)i, text, sizeof text);
            list_cell(surface, area, y, &columns[i], &places[i], style, text);
        }
}
