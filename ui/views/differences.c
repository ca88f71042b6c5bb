/* SPDX-License-Identifier: MIT */
#include "ui/panels/pair.h"
#include "ui/views/views.h"

/* Two runs side by side. */

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    int below = panel_pair_lines(ui) - area.h;
    struct page page = {surface, area, view_first_line(ui, below > 0 ? below : 0), 0};
    (void)err;
    panel_pair(ui, &page);
    return true;
}

static void hint(const struct ui *ui, char *buffer, size_t size)
{
    int below = panel_pair_lines(ui) - (ui->rows - 3);
    view_hint_lines(ui, below > 0 ? below : 0, buffer, size);
}

const struct view view_differences = {draw, hint};
