/* SPDX-License-Identifier: MIT */
#include "ui/views/views.h"

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    (void)err;
    surface_format(surface, area.y, area.x, area.w, STYLE_STRONG, "Run %ld", ui->selected_run);
    return true;
}

const struct view view_run = {
    .name = "run",
    .title = "Run",
    .contexts = CONTEXT_RUN,
    .draw = draw,
};
