/* SPDX-License-Identifier: MIT */
#include "ui/views/views.h"

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    return panel_runs(ui, surface, area, err);
}

const struct view view_compare = {
    .name = "compare",
    .title = "Compare",
    .contexts = CONTEXT_COMPARE,
    .draw = draw,
};
