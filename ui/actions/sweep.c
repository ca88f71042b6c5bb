/* SPDX-License-Identifier: MIT */
#include "ui/actions/sweep.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/figure.h"
#include "base/text.h"
#include "spec/json.h"
#include "ui/actions/grid.h"
#include "ui/session/comparison.h"
#include "ui/session/grid.h"
#include "ui/session/sweep.h"

/* Training the form on 1, 2, 4... of its devices, one run after the other. */

static bool submit_next(struct ui *ui)
{
    if (ui->compare.grid.entry_count > 0)
        return grid_submit_next(ui);
    struct sweep *sweep = &ui->compare.sweep;
    struct error err = ERROR_INIT;
    struct spec spec;
    char note[160];
    if (!sweep_spec(sweep, ui->compare.taken, &spec, &err))
        return ui_say(ui, true, "%s", err.text);
    sweep_note(sweep, note, sizeof note);
    json_t *params = spec_to_json(&spec);
    bool ok = params ? json_object_set_new(params, "note", json_string(note)) == 0 ||
                           error_memory(&err, "a run")
                     : spec_json_failed(&spec, &err);
    spec_free(&spec);
    if (ok)
        return ui_request(ui, REQUEST_SWEEP, params);
    json_decref(params);
    return ui_say(ui, true, "%s", err.text);
}

/* All or none: a sweep with an impossible run is not begun. */
static bool all_runs_are_possible(struct ui *ui)
{
    struct error err = ERROR_INIT;
    for (int i = 0; i < ui->compare.sweep.count; i++) {
        struct spec spec;
        if (!sweep_spec(&ui->compare.sweep, i, &spec, &err))
            return ui_say(ui, true, "%s", err.text);
        spec_free(&spec);
    }
    return true;
}

static void answer_sweep(struct ui *ui, enum action answer)
{
    if (answer == ACTION_GRID) {
        grid_ask(ui);
        return;
    }
    ui->compare.sweep.scaling = answer == ACTION_WEAK_SCALING ? SCALING_WEAK : SCALING_STRONG;
    ui->compare.taken = 0;
    ui->compare.submitting = all_runs_are_possible(ui) && submit_next(ui);
}

static const struct question sweep_question = {
    .answers = {ACTION_STRONG_SCALING, ACTION_WEAK_SCALING, ACTION_GRID},
    .answer = answer_sweep,
    .plan = true,
    .moot = true,
};

/* "1, 2, 4" */
static void counts_text(const struct sweep *sweep, char *buffer, size_t size)
{
    size_t length = 0;
    buffer[0] = '\0';
    for (int i = 0; i < sweep->count && length < size; i++)
        length += (size_t)snprintf(buffer + length, size - length, "%s%d", i > 0 ? ", " : "",
                                   sweep->devices[i]);
}

void sweep_ask(struct ui *ui)
{
    struct sweep *sweep = &ui->compare.sweep;
    struct error err = ERROR_INIT;
    struct device_list devices;
    struct figure lr;
    char counts[64];
    study_free(&ui->compare.grid);
    sweep_devices(ui, &devices);
    if (devices.count < 2) {
        grid_ask(ui);
        return;
    }
    sweep_free(sweep);
    if (!sweep_begin(sweep, &ui->form.spec, &devices, SCALING_STRONG, comparison_cores(ui), &err)) {
        ui_say(ui, true, "%s", err.text);
        return;
    }
    counts_text(sweep, counts, sizeof counts);
    char *names = device_list_text(&devices);
    ui_ask(ui, &sweep_question, 0, "Train %s on %s devices of %s (batch %ld, lr %s)?",
           sweep->spec.model ? sweep->spec.model : "the default network", counts,
           names ? names : "-", sweep->spec.batch, figure_digits(&lr, sweep->spec.lr, 4));
    free(names);
}

void sweep_taken(struct ui *ui, long run)
{
    int count = sweep_runs(ui);
    ui->state.runs_stale = true;
    if (!ui->compare.submitting)
        return;
    if (ui->compare.taken++ == 0) {
        ui->compare.anchor = ui->selected_run = run;
        ui->line = 0;
    }
    if (ui->compare.taken < count) {
        ui->compare.submitting = submit_next(ui);
        return;
    }
    ui->compare.submitting = false;
    ui_say(ui, false, "the sweep's %d run%s in the queue, up to run %ld", count, plural_are(count),
           run);
}

void sweep_refused(struct ui *ui)
{
    ui->compare.submitting = false;
}

/* --- taking it back */

static bool drop(struct ui *ui, long run)
{
    return ui_request(ui, REQUEST_STOP,
                      json_pack("{s:I, s:s}", "run", (json_int_t)run, "when", "step"));
}

/* The waiting runs of the sweep that a run is of, by rising number; 0: it is of none. */
static int waiting_with(const struct ui *ui, const struct state_run *run, long *runs)
{
    struct sweep_progress progress;
    bool member = false;
    int count = 0;
    for (int i = 0; i < ui->state.run_count && count < GRID_RUNS; i++)
        if (ui->state.runs[i].status == RUN_QUEUED &&
            study_is_same(run->note, ui->state.runs[i].note))
            runs[count++] = ui->state.runs[i].run;
    if (count > 0 || !sweep_progress(ui, &progress))
        return count;
    for (int i = 0; i < progress.count; i++) {
        member |= progress.runs[i] == run;
        if (progress.runs[i]->status == RUN_QUEUED)
            runs[count++] = progress.runs[i]->run;
    }
    return member ? count : 0;
}

/* The last one first, so that none begins while the others before it leave. */
static void answer_drop(struct ui *ui, enum action answer)
{
    const struct state_run *run = state_run(&ui->state, ui->asked_run);
    long runs[GRID_RUNS];
    int dropped = 0;
    if (answer == ACTION_YES) {
        if (!run || run->status != RUN_QUEUED)
            ui_say(ui, true, "run %ld no longer waits", ui->asked_run);
        else if (drop(ui, ui->asked_run))
            ui_say(ui, false, "run %ld leaves the queue", ui->asked_run);
        return;
    }
    int waiting = run ? waiting_with(ui, run, runs) : 0;
    for (int i = waiting - 1; i >= 0; i--)
        dropped += drop(ui, runs[i]);
    if (waiting > 0 && dropped == waiting)
        ui_say(ui, false, "%d run%s of the sweep leave%s the queue", dropped, plural(dropped),
               dropped == 1 ? "s" : "");
}

static const struct question drop_question = {
    .answers = {ACTION_YES, ACTION_WHOLE_SWEEP},
    .answer = answer_drop,
    .moot = true,
};

bool sweep_ask_drop(struct ui *ui, long run)
{
    const struct state_run *selected = state_run(&ui->state, run);
    long runs[GRID_RUNS];
    int waiting = selected && selected->status == RUN_QUEUED ? waiting_with(ui, selected, runs) : 0;
    if (waiting < 2)
        return false;
    ui_ask(ui, &drop_question, run,
           "Take run %ld out of the queue, or all %d waiting runs of its sweep?", run, waiting);
    return true;
}
