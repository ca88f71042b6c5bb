/* SPDX-License-Identifier: MIT */
#include "ui/session/sweep.h"

#include <math.h>
#include <string.h>

#include "ui/form/devices.h"
#include "ui/session/ui.h"

void sweep_devices(const struct ui *ui, struct device_list *list)
{
    struct form_device devices[FORM_MAX_DEVICES];
    int count = form_devices(&ui->form, &ui->state, devices);
    enum device_kind kind = DEVICE_CPU;
    *list = ui->form.spec.devices;
    list->free = 0;
    if (list->choice == DEVICES_LISTED && list->count > 1)
        return;
    *list = (struct device_list){.choice = DEVICES_LISTED};
    for (int i = 0; i < count && list->count < SPEC_MAX_DEVICES; i++)
        if (devices[i].chosen) {
            kind = devices[i].id.kind;
            list->id[list->count++] = devices[i].id;
        }
    if (list->count > 1)
        return;
    list->count = 0;
    for (int i = 0; i < count && list->count < SPEC_MAX_DEVICES; i++)
        if (devices[i].id.kind == kind &&
            (devices[i].chosen || (devices[i].known && devices[i].known->available)))
            list->id[list->count++] = devices[i].id;
}

bool sweep_is_asked(const struct ui *ui)
{
    return ui->question && ui->question->plan;
}

int sweep_runs(const struct ui *ui)
{
    const struct study *grid = &ui->compare.grid;
    return grid->entry_count > 0 ? grid->entry_count : ui->compare.sweep.count;
}

static bool of_sweep(const struct state_run *run)
{
    return strncmp(run->note, SWEEP_NOTE_PREFIX, strlen(SWEEP_NOTE_PREFIX)) == 0;
}

/*
 * The runs of the sweep that `at` is of: the same note, and devices that rise with the runs'
 * numbers; where they fall another sweep with the same note begins.
 */
static void find_members(const struct state *state, int at, struct sweep_progress *progress)
{
    const struct state_run *runs = state->runs;
    int first = at;
    for (int i = at - 1; i >= 0; i--) {
        if (strcmp(runs[i].note, runs[at].note) != 0)
            continue;
        if (runs[i].device_count >= runs[first].device_count)
            break;
        first = i;
    }
    for (int i = first; i < state->run_count && progress->count < SWEEP_RUNS; i++) {
        if (strcmp(runs[i].note, runs[at].note) != 0)
            continue;
        if (progress->count > 0 &&
            runs[i].device_count <= progress->runs[progress->count - 1]->device_count)
            break;
        progress->runs[progress->count++] = &runs[i];
    }
}

/* Seconds an epoch of a run takes, evaluation included; NAN: not known. */
static double epoch_seconds(const struct ui *ui, const struct state_run *run)
{
    const struct state_live *live = &ui->state.live;
    double whole = NAN;
    if (run->run == live->run && live->epochs > 0)
        whole = (live->elapsed_s + live->eta_s) / live->epochs;
    else if (run_has_ended(run) && run->epochs_done > 0)
        whole = (run->ended_at - run->started_at) / run->epochs_done;
    return whole > 0 && isfinite(whole) ? whole : run->s_per_epoch;
}

static double time_left(const struct ui *ui, struct sweep_progress *progress)
{
    int measured[SWEEP_RUNS], count = 0;
    double seconds[SWEEP_RUNS], left = ui->state.live.run != 0 ? ui->state.live.eta_s : 0;
    for (int i = 0; i < progress->count; i++) {
        double epoch = epoch_seconds(ui, progress->runs[i]);
        if (!(epoch > 0) || progress->runs[i]->status == RUN_QUEUED)
            continue;
        measured[count] = progress->runs[i]->device_count;
        seconds[count++] = epoch;
    }
    for (int i = 0; i < progress->count; i++)
        if (progress->runs[i]->status == RUN_QUEUED)
            left += progress->runs[i]->epochs * sweep_estimate(measured, seconds, count,
                                                               progress->runs[i]->device_count,
                                                               &progress->at_least);
    /* Other runs that stand between these take their time, too. */
    if (ui->state.queued > progress->waiting || (ui->state.live.run != 0 && !progress->live))
        progress->at_least = true;
    return left;
}

bool sweep_progress(const struct ui *ui, struct sweep_progress *progress)
{
    const struct state *state = &ui->state;
    int at = 0;
    *progress = (struct sweep_progress){.left_s = NAN};
    while (at < state->run_count &&
           (run_has_ended(&state->runs[at]) || !of_sweep(&state->runs[at])))
        at++;
    if (at == state->run_count || ui->link != LINK_UP)
        return false;
    find_members(state, at, progress);
    for (int i = 0; i < progress->count; i++) {
        const struct state_run *run = progress->runs[i];
        progress->ended += run_has_ended(run);
        progress->waiting += run->status == RUN_QUEUED;
        if (run->run == state->live.run)
            progress->live = run;
    }
    progress->left_s = time_left(ui, progress);
    return true;
}
