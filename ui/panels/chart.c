/* SPDX-License-Identifier: MIT */
#include "ui/control/run_chart.h"
#include "ui/panels/panels.h"

bool panel_chart(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    struct run_chart made;
    bool ok = run_chart_make(ui, &made, err) && chart_draw(&made.chart, surface, area, err);
    run_chart_free(&made);
    return ok;
}
