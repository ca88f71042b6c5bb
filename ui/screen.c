/* SPDX-License-Identifier: MIT */
#include "ui/screen.h"

#include <stddef.h>

#include "ui/layout.h"
#include "ui/views/views.h"

static const struct {
    size_t rect; /* offset of its rectangle in struct layout */
    view_draw *draw;
} parts[] = {
    {offsetof(struct layout, header), view_header},
    {offsetof(struct layout, devices), view_devices},
    {offsetof(struct layout, chart), view_chart},
    {offsetof(struct layout, form), view_form},
    {offsetof(struct layout, runs), view_runs},
    {offsetof(struct layout, status), view_status},
    {offsetof(struct layout, keys), view_keys},
};

static void draw_too_small(struct surface *surface)
{
    static const char *const words[] = {"dpartui needs 20x4", "needs 20x4", "small"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (text_columns(words[i]) <= surface->columns || i == 2) {
            surface_text(surface, surface->rows / 2, 0, surface->columns, STYLE_NORMAL, words[i]);
            return;
        }
}

bool screen_draw(const struct ui *ui, struct surface *surface, struct error *err)
{
    struct form_device devices[FORM_MAX_DEVICES];
    struct layout_request request = {
        .rows = surface->rows,
        .columns = surface->columns,
        .devices = form_devices(&ui->form, &ui->state, devices),
        .runs = ui->state.run_count,
        .fields = FORM_FIELDS,
        .focus = ui->focus,
    };
    struct layout layout = layout_compute(&request);
    bool ok = true;

    surface_clear(surface);
    if (layout.too_small) {
        draw_too_small(surface);
        return true;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && ok; i++) {
        const struct rect *area = (const struct rect *)((const char *)&layout + parts[i].rect);

        if (area->h > 0 && area->w > 0)
            ok = parts[i].draw(ui, surface, *area, err);
    }
    for (int y = layout.rule.y; y < layout.rule.y + layout.rule.h; y++)
        surface_glyph(surface, y, layout.rule.x, GLYPH_RULE, STYLE_TRACK);
    if (ok && ui->mode == MODE_HELP) {
        struct rect inside = {layout.header.h, 0, layout.status.y - layout.header.h,
                              surface->columns};

        ok = view_help(ui, surface, inside, err);
    }
    return ok;
}
