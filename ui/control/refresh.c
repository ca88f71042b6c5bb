/* SPDX-License-Identifier: MIT */
#include "ui/control/refresh.h"

#include "ui/actions/run_list.h"
#include "ui/control/form_check.h"
#include "ui/session/bases.h"
#include "ui/session/grid.h"
#include "ui/state/curve.h"

static void want_curve(struct ui *ui, long number)
{
    struct state_run *run = state_run(&ui->state, number);
    if (state_use_curve(&ui->state, run))
        run->curve_known = ui_request_run(ui, REQUEST_SHOW, number);
}

/* Ask for the curves that the chart would show and that are not here. */
static void want_curves(struct ui *ui)
{
    const struct state_run *runs[UI_CHART_RUNS];
    if (ui->link != LINK_UP)
        return;
    for (int i = ui_chart_runs(ui, runs); i-- > 0;)
        want_curve(ui, runs[i]->run);
    if (ui->view == VIEW_COMPARE && grid_is_shown(ui))
        grid_want(ui, want_curve);
    else if (ui->view == VIEW_COMPARE)
        comparison_want(ui, want_curve);
}

void ui_refresh(struct ui *ui)
{
    bases_refresh(ui);
    run_list_refresh(ui);
    want_curves(ui);
    form_want_check(ui);
}
