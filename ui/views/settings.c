/* SPDX-License-Identifier: MIT */
#include "ui/views/views.h"

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    (void)ui;
    (void)err;
    surface_text(surface, area.y, area.x, area.w, STYLE_STRONG, "Settings");
    return true;
}

const struct view view_settings = {
    .name = "settings",
    .title = "Settings",
    .contexts = CONTEXT_SETTINGS,
    .draw = draw,
};
