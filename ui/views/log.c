/* SPDX-License-Identifier: MIT */
#include "ui/views/views.h"

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    int first = ui->state.log_count > area.h ? ui->state.log_count - area.h : 0;

    (void)err;
    for (int i = first; i < ui->state.log_count; i++)
        surface_text(surface, area.y + i - first, area.x, area.w, STYLE_NORMAL,
                     ui->state.log[i].text);
    return true;
}

const struct view view_log = {
    .name = "log",
    .title = "Log",
    .contexts = CONTEXT_LOG,
    .draw = draw,
};
