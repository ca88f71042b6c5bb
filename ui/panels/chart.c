/* SPDX-License-Identifier: MIT */
#include "ui/panels/panels.h"
#include "ui/run_chart.h"

bool panel_chart(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    struct run_chart made;
    bool ok = run_chart_make(ui, &made, err) && chart_draw(&made.chart, surface, area, err);

    run_chart_free(&made);
    return ok;
}
