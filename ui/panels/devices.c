/* SPDX-License-Identifier: MIT */
#include "ui/panels/panels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/format.h"

enum { NAME, MODEL, BAR, LOAD, MEMORY, ROWS, SPEED, STATE, COLUMNS };

static const struct list_column columns[COLUMNS] = {
    [NAME] = {"Devices", 11, 0, false, 0},  [MODEL] = {"", 10, 40, false, 9},
    [BAR] = {"load", 10, 24, false, 6},     [LOAD] = {"", 4, 0, true, 4},
    [MEMORY] = {"memory", 13, 0, true, 7},  [ROWS] = {"rows", 5, 6, true, 3},
    [SPEED] = {"samples/s", 9, 0, true, 2}, [STATE] = {"state", 8, 0, false, 5},
};

static enum style state_style(const char *state)
{
    if (strcmp(state, "failed") == 0)
        return STYLE_BAD;
    return strcmp(state, "train") == 0 || strcmp(state, "eval") == 0 ? STYLE_GOOD : STYLE_LABEL;
}

static void draw_figures(struct surface *surface, struct rect area, int y,
                         const struct column_place *places, const struct state_device *device)
{
    struct figure figure;
    enum style style = device->in_run ? STYLE_NORMAL : STYLE_LABEL;

    list_cell(surface, area, y, &columns[MODEL], &places[MODEL], STYLE_LABEL, device->name);
    surface_bar(surface, y, area.x + places[BAR].x, places[BAR].w, device->load);
    list_cell(surface, area, y, &columns[LOAD], &places[LOAD], style,
              figure_percent(&figure, device->load));
    list_cell(surface, area, y, &columns[MEMORY], &places[MEMORY], style,
              figure_memory(&figure, device->memory_used, device->memory_total));
    list_cell(surface, area, y, &columns[ROWS], &places[ROWS], style,
              figure_whole(&figure, device->rows));
    list_cell(surface, area, y, &columns[SPEED], &places[SPEED], style,
              figure_count(&figure, device->samples_per_s));
    list_cell(surface, area, y, &columns[STATE], &places[STATE], state_style(device->state),
              device->state[0] != '\0' ? device->state : "-");
}

static void draw_device(struct surface *surface, struct rect area, int y,
                        const struct column_place *places, const struct form_device *device)
{
    char text[40], name[16];
    int beside = area.x + places[NAME].w + 1;
    const char *reason = NULL;

    snprintf(text, sizeof text, "[%c] %s", device->chosen ? 'x' : ' ',
             device_id_text(device->id, name));
    list_cell(surface, area, y, &columns[NAME], &places[NAME],
              device->chosen ? STYLE_STRONG : STYLE_NORMAL, text);
    if (device->known != NULL && device->known->available) {
        draw_figures(surface, area, y, places, device->known);
        return;
    }
    if (device->known != NULL)
        reason = device->known->reason[0] != '\0' ? device->known->reason : "not available";
    else if (device->id.kind == DEVICE_CPU)
        reason = "shares the cores with the others";
    else
        reason = "not on this machine";
    surface_text(surface, y, beside, area.x + area.w - beside,
                 device->id.kind == DEVICE_CPU ? STYLE_LABEL : STYLE_WARNING, reason);
}

/* Which part of a list that is longer than its room is shown: where no column has its title. */
static void draw_position(const struct ui *ui, struct surface *surface, struct rect area,
                          const struct column_place *place, int first, int visible, int count)
{
    char text[48];

    snprintf(text, sizeof text, "%d-%d of %d", first + 1, first + visible, count);
    if (place->w > 0)
        surface_text(surface, area.y, area.x + place->x, place->w, STYLE_LABEL, text);
    else
        surface_text(surface, area.y, area.x, 11,
                     panel_focused(ui, PANEL_DEVICES) ? STYLE_FOCUS : STYLE_STRONG, text);
}

bool panel_devices(const struct ui *ui, struct surface *surface, struct rect area,
                   struct error *err)
{
    struct form_device devices[FORM_MAX_DEVICES];
    struct column_place places[COLUMNS];
    int count = form_devices(&ui->form, &ui->state, devices);
    int visible = area.h - 1;

    (void)err;
    columns_place(columns, COLUMNS, area.w, places);
    panel_heading(ui, surface, area, PANEL_DEVICES, columns, places, COLUMNS);
    if (count == 0)
        surface_text(surface, area.y + 1, area.x, area.w, STYLE_LABEL,
                     ui->link == LINK_UP ? "waiting for the engine's list"
                                         : "the engine lists them when it is there");
    int line = ui->device_line < count ? ui->device_line : count - 1;
    int first = list_scroll(line, count, visible);
    for (int i = first; i < count && i < first + visible; i++) {
        int y = area.y + 1 + i - first;

        surface_mark_line(surface, y, area.x, area.w, i);
        draw_device(surface, area, y, places, &devices[i]);
        if (i == line && panel_focused(ui, PANEL_DEVICES))
            surface_restyle(surface, y, area.x, area.w, STYLE_CURSOR);
    }
    if (count > visible)
        draw_position(ui, surface, area, &places[MODEL], first, visible, count);
    return true;
}
