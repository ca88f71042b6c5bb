/* SPDX-License-Identifier: MIT */
#include "ui/views/run/summary.h"

#include <math.h>
#include <stdio.h>

#include "base/figure.h"
#include "events/row_counts.h"
#include "experiment/noise.h"
#include "ui/panels/run_cells.h"

static void write_times(struct page *page, const struct ui *ui, const struct state_run *run)
{
    char submitted[40], started[40], ended[40];
    bool live = ui->state.live.run == run->run;
    double lasted = isfinite(run->ended_at) ? run->ended_at - run->started_at
                    : live                  ? ui->state.live.elapsed_s
                                            : NAN;
    const bool was_resumed = measure_seconds(&ui->details.measure) > lasted;
    struct figure duration;
    date_text(run->submitted_at, true, submitted, sizeof submitted);
    date_text(run->started_at, true, started, sizeof started);
    date_text(run->ended_at, true, ended, sizeof ended);
    page_entry(page, "submitted", STYLE_NORMAL, "%s", submitted);
    page_entry(page, "started", STYLE_NORMAL, "%s", started);
    page_entry(page, "ended", STYLE_NORMAL, "%s", ended);
    page_entry(page, "lasted", STYLE_NORMAL, "%s%s%s", figure_duration(&duration, lasted),
               was_resumed ? " since it was resumed" : "", live ? " so far" : "");
}

static void write_results(struct page *page, const struct ui *ui, const struct state_run *run)
{
    const struct run_details *details = &ui->details;
    struct figure f[4];
    char best[48] = "", speed_up[64] = "";
    int at = details_best(details);
    if (at >= 0)
        snprintf(best, sizeof best, ", best %s in epoch %s",
                 figure_fixed(&f[0], details->epochs[at].value[METRIC_TEST_ACC], 3),
                 figure_whole(&f[1], details->epochs[at].epoch));
    else if (isfinite(run->best_acc))
        snprintf(best, sizeof best, ", best %s", figure_fixed(&f[0], run->best_acc, 3));
    bool validates = isfinite(run->val_acc);
    if (validates)
        page_entry(page, "val acc", STYLE_NORMAL, "%s%s", figure_fixed(&f[2], run->val_acc, 3),
                   best);
    page_entry(page, "test acc", STYLE_NORMAL, "%s%s", figure_fixed(&f[3], run->test_acc, 3),
               validates ? "" : best);
    if (run->reason[0] != '\0')
        page_entry(page, "early end", STYLE_NORMAL, "%s", run->reason);
    if (run->base != run->run && isfinite(run->speed_up))
        snprintf(speed_up, sizeof speed_up, ", %s the speed of run %ld",
                 figure_times(&f[2], run->speed_up), run->base);
    page_entry(page, "speed", STYLE_NORMAL, "%s s/epoch, %s samples/s%s",
               figure_seconds(&f[0], run->s_per_epoch), figure_count(&f[1], run->samples_per_s),
               speed_up);
}

/* Nothing where it was not measured. */
static void write_noise(struct page *page, const struct run_details *details,
                        const struct state_run *run)
{
    const double rows = details_noise(details);
    struct figure scale, batch, waste;
    if (isfinite(rows))
        page_entry(page, "noise", STYLE_NORMAL, "scale %s rows: batches of %s waste %s of each row",
                   figure_count(&scale, rows), figure_whole(&batch, run->batch),
                   figure_percent(&waste, noise_waste(rows, run->batch)));
}

static void write_energy(struct page *page, const struct run_details *details)
{
    const struct measured_energy energy = measure_energy(&details->measure);
    struct figure joules, rows;
    if (isfinite(energy.joules))
        page_entry(page, "energy", STYLE_NORMAL, "%s J/epoch, %s samples/J",
                   figure_count(&joules, energy.joules), figure_count(&rows, energy.samples_per_j));
}

/* As it was when the page was opened: a running run may have written newer ones since. */
static void write_checkpoint(struct page *page, const struct ui *ui, const struct state_run *run)
{
    const struct run_details *details = &ui->details;
    char date[40];
    struct figure steps;
    if (!details->known)
        return;
    date_text(details->checkpoint_at, true, date, sizeof date);
    if (isfinite(details->checkpoint_steps))
        page_entry(page, "checkpoint", STYLE_NORMAL, "after step %s, %s%s",
                   figure_whole(&steps, details->checkpoint_steps), date,
                   ui->state.live.run == run->run ? ", or a newer one" : "");
    else
        page_entry(page, "checkpoint", STYLE_LABEL, "-");
}

void section_summary(struct page *page, const struct ui *ui, const struct state_run *run)
{
    const struct run_details *details = &ui->details;
    const char *error = details->error ? details->error : run->error;
    struct figure done, all, params;
    char status[24], rows[100];
    enum style style = run_status_text(ui, run, status, sizeof status);
    page_title(page, "Run %ld", run->run);
    page_entry(page, "status", style, "%s%s", status,
               run->status == RUN_LOST ? " - it was running when the engine was lost" : "");
    /* A resumed run may still have that of its interruption. */
    if (error[0] != '\0' && ui->state.live.run != run->run)
        page_entry(page, "error", STYLE_BAD, "%s", error);
    for (size_t i = 0; i < json_array_size(details->warnings); i++) {
        const char *warning = json_string_value(json_array_get(details->warnings, i));
        page_entry(page, "warning", STYLE_WARNING, "%s", warning ? warning : "-");
    }
    if (run->tags[0] != '\0')
        page_entry(page, "tags", STYLE_STRONG, "%s", run->tags);
    if (run->note[0] != '\0')
        page_entry(page, "note", STYLE_STRONG, "%s", run->note);
    page_entry(page, "trains", STYLE_NORMAL, "%s on %s rows of %s, %s parameters",
               run->model[0] != '\0' ? run->model : "-",
               row_counts_text(run->train_rows, run->test_rows, rows, sizeof rows),
               run->data[0] != '\0' ? run->data : "-", figure_whole(&params, details->params));
    page_entry(page, "devices", STYLE_NORMAL, "%s", run->devices);
    if (details->types[0] != '\0')
        page_entry(page, "dtype", STYLE_NORMAL, "%s", details->types);
    page_entry(page, "epochs", STYLE_NORMAL, "%s of %s", figure_whole(&done, run->epochs_done),
               figure_whole(&all, run->epochs));
    write_results(page, ui, run);
    write_energy(page, details);
    write_noise(page, details, run);
    write_checkpoint(page, ui, run);
    write_times(page, ui, run);
}
