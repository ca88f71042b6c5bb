/* SPDX-License-Identifier: MIT */
#include "ui/session/chart.h"

#include <string.h>

#include "ui/session/ui.h"

/* The run drawn in front: the running one, else the newest that has trained. */
static const struct state_run *main_run(const struct ui *ui)
{
    const struct state_run *run = state_run(&ui->state, ui->state.live.run);
    for (int i = 0; !run && i < ui->state.run_count; i++) {
        const struct state_run *newest = ui_run_line(ui, i);
        if (newest->epochs_done > 0 || newest->point_count > 0)
            run = newest;
    }
    return run;
}

static bool has_curve(const struct state_run *run)
{
    return run->epochs_done > 0 || run->point_count > 0;
}

static int pick(const struct state_run **picked, int count, const struct state_run *run)
{
    if (!run || count == UI_CHART_RUNS)
        return count;
    for (int i = 0; i < count; i++)
        if (picked[i] == run)
            return count;
    picked[count] = run;
    return count + 1;
}

int ui_chart_runs(const struct ui *ui, const struct state_run **runs)
{
    enum { EARLIER_RUNS = 6 };
    const struct state_run *front = main_run(ui);
    const struct state_run *picked[UI_CHART_RUNS];
    int count = pick(picked, 0, front), shown = 0;
    count = pick(picked, count, state_run(&ui->state, ui->selected_run));
    for (int i = ui_marks_drawn(ui); i-- > 0;)
        count = pick(picked, count, state_run(&ui->state, ui->marked[i]));
    /* With runs marked, what to compare with has been chosen. */
    for (int i = 0; ui->mark_count == 0 && front && i < ui->state.run_count && count < EARLIER_RUNS;
         i++) {
        const struct state_run *run = ui_run_line(ui, i);
        if (strcmp(run->model, front->model) == 0 && strcmp(run->data, front->data) == 0 &&
            has_curve(run))
            count = pick(picked, count, run);
    }
    while (count > 0)
        runs[shown++] = picked[--count];
    return shown;
}

const struct state_run *ui_chart_front(const struct ui *ui)
{
    const struct state_run *runs[UI_CHART_RUNS];
    int count = ui_chart_runs(ui, runs);
    return count > 0 ? runs[count - 1] : NULL;
}
