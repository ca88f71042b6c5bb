/* SPDX-License-Identifier: MIT */
#include "ui/frame/screen.h"

#include "ui/frame/header.h"
#include "ui/frame/keys.h"
#include "ui/frame/palette.h"
#include "ui/frame/status.h"
#include "ui/views/dashboard.h"

static void draw_too_small(struct surface *surface)
{
    static const char *const words[] = {"dpartui needs 20x4", "needs 20x4", "small"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (text_columns(words[i]) <= surface->columns || i == 2) {
            surface_text(surface, surface->rows / 2, 0, surface->columns, STYLE_NORMAL, words[i]);
            return;
        }
}

static bool draw_in(const struct ui *ui, struct surface *surface, struct rect area, draw_part *draw,
                    struct error *err)
{
    return area.h <= 0 || area.w <= 0 || draw(ui, surface, area, err);
}

bool screen_draw(const struct ui *ui, struct surface *surface, struct error *err)
{
    struct layout layout = dashboard_layout(ui, surface->rows, surface->columns);
    struct rect inside = {layout.header.h, 0, layout.status.y - layout.header.h, surface->columns};
    /* A long status covers the last rows of the view until the next key. */
    struct rect status = layout.status;
    int above = status_rows(ui, status.w) - 1;
    above = above < inside.h ? above : inside.h;
    status.y -= above;
    status.h += above;
    surface_clear(surface);
    if (layout.too_small) {
        draw_too_small(surface);
        return true;
    }
    return draw_in(ui, surface, layout.header, header_draw, err) &&
           draw_in(ui, surface, inside, view_of(ui->view)->draw, err) &&
           draw_in(ui, surface, inside, palette_draw, err) &&
           draw_in(ui, surface, status, status_draw, err) &&
           draw_in(ui, surface, layout.keys, keys_draw, err);
}
