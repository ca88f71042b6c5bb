/* SPDX-License-Identifier: MIT */
#include "ui/panels/device_cells.h"

#include <math.h>
#include <stdio.h>

#include "base/figure.h"
#include "ui/panels/device_parts.h"

/* Devices side by side, for when there are more than lines. */

enum { NAME, BAR, LOAD, ROWS, SPEED, COMPUTE, STATE, TEMPERATURE, MEMORY, COLUMNS };
enum { SHORT_LABEL = 9, SHORT_BELOW = 22 }; /* narrow cells have a short label */

static const struct list_column all_columns[COLUMNS] = {
    [NAME] = {"Devices", 11, 0, false, 0}, [BAR] = {"", 5, 24, false, 4},
    [LOAD] = {"load", 4, 0, true, 1},      [ROWS] = {"rows", 4, 6, true, 2},
    [SPEED] = {"smp/s", 5, 0, true, 3},    [COMPUTE] = {"comp", 4, 0, true, 6},
    [STATE] = {"state", 5, 6, false, 5},   [TEMPERATURE] = {"temp", 4, 5, true, 7},
    [MEMORY] = {"memory", 13, 0, true, 8},
};

static void draw_cell(const struct ui *ui, struct surface *surface, struct rect area,
                      const struct list_column *columns, const struct column_place *places,
                      const struct form_device *device, double most_rows)
{
    struct figure figure;
    char text[200];
    enum style style;
    const struct state_device *known = device->known;
    const char *trouble = device_trouble(device, &style, text, sizeof text);
    int beside = places[NAME].w + 1, y = area.y;
    if (trouble) {
        surface_text(surface, y, area.x + beside, area.w - beside, style, trouble);
    } else {
        enum style plain = known->in_run ? STYLE_NORMAL : STYLE_LABEL;
        draw_load(surface, y, area.x + places[BAR].x, places[BAR].w, known, ui->preferences.load);
        list_cell(surface, area, y, &columns[LOAD], &places[LOAD], device_load_style(known),
                  figure_percent(&figure, known->load));
        list_cell(surface, area, y, &columns[ROWS], &places[ROWS],
                  known->rows < most_rows ? STYLE_WARNING : plain,
                  figure_whole(&figure, known->rows));
        list_cell(surface, area, y, &columns[SPEED], &places[SPEED], plain,
                  figure_count(&figure, known->samples_per_s));
        list_cell(surface, area, y, &columns[COMPUTE], &places[COMPUTE], plain,
                  figure_percent(&figure, device_times(known).compute));
        list_cell(surface, area, y, &columns[TEMPERATURE], &places[TEMPERATURE], plain,
                  temperature_text(known, text, sizeof text));
        list_cell(surface, area, y, &columns[MEMORY], &places[MEMORY], plain,
                  figure_memory(&figure, known->memory_used, known->memory_total));
        list_cell(surface, area, y, &columns[STATE], &places[STATE], device_state_style(known),
                  known->state[0] != '\0' ? known->state : "-");
    }
    device_label(device, places[NAME].w, text, sizeof text);
    list_cell(surface, area, y, &columns[NAME], &places[NAME],
              device->chosen ? STYLE_STRONG : STYLE_NORMAL, text);
}

/* Figures that no device has get no column. */
static void drop_unknown(const struct form_device *devices, int count, struct list_column *columns)
{
    bool times = false, temperature = false;
    for (int i = 0; i < count; i++)
        if (devices[i].known) {
            times |= isfinite(device_times(devices[i].known).compute);
            temperature |= isfinite(devices[i].known->temperature_c);
        }
    if (!times)
        columns[COMPUTE].width = 0;
    if (!temperature)
        columns[TEMPERATURE].width = columns[TEMPERATURE].most = 0;
}

/* The panel's name above the first cell; above the second, which devices these are of how many. */
static void draw_heading(const struct ui *ui, struct surface *surface, struct rect area,
                         const struct list_column *columns, const struct column_place *places,
                         const char *title)
{
    surface_text(surface, area.y, area.x, places[NAME].w,
                 panel_focused(ui, PANEL_DEVICES) ? STYLE_FOCUS : STYLE_STRONG, title);
    for (int i = BAR; i < COLUMNS; i++)
        list_cell(surface, area, area.y, &columns[i], &places[i], STYLE_LABEL, columns[i].title);
}

/* Is there room for the panel's name and the position, as far as the bar, which has no title? */
static bool fits_after_name(const struct column_place *places, const char *title)
{
    const struct column_place *last = places[BAR].w > 0 ? &places[BAR] : &places[NAME];
    return text_columns(all_columns[NAME].title) + 1 + text_columns(title) <= last->x + last->w;
}

void device_cells(const struct ui *ui, struct surface *surface, struct rect area,
                  const struct form_device *devices, int count, int columns, int lines)
{
    struct list_column shown[COLUMNS];
    struct column_place places[COLUMNS];
    int width = layout_device_width(columns, area.w), visible = columns * lines;
    int line = ui->device_line < count ? ui->device_line : count - 1;
    int first = line / visible * visible; /* by pages: nothing moves but the cursor */
    int gap = layout_device_gap(columns, area.w);
    double most_rows = device_most_rows(devices, count);
    char title[32] = "";
    if (first > 0 && first > count - visible)
        first = count - visible;
    int last = first + visible < count ? first + visible : count;
    for (int i = 0; i < COLUMNS; i++)
        shown[i] = all_columns[i];
    drop_unknown(devices, count, shown);
    if (width < SHORT_BELOW)
        shown[NAME].width = SHORT_LABEL;
    if (ui->preferences.load == LOAD_NUMBER)
        shown[BAR].width = shown[BAR].most = 0;
    columns_place(shown, COLUMNS, width, places);
    if (count > visible)
        snprintf(title, sizeof title,
                 places[NAME].w < 10 || columns == 1 ? "%d-%d/%d" : "%d-%d of %d", first + 1, last,
                 count);
    const bool after_name = columns == 1 && fits_after_name(places, title);
    for (int i = 0; i < columns; i++) {
        struct rect cell = {area.y, area.x + i * (width + gap), 1, width};
        bool name = i == 0 && (columns > 1 || count <= visible || after_name);
        draw_heading(ui, surface, cell, shown, places,
                     name                         ? shown[NAME].title
                     : i == (columns > 1 ? 1 : 0) ? title
                                                  : "");
    }
    if (after_name)
        surface_text(surface, area.y, area.x + text_columns(shown[NAME].title) + 1, width,
                     STYLE_NORMAL, title);
    for (int i = first; i < last; i++) {
        int column = (i - first) / lines, row = (i - first) % lines;
        struct rect cell = {area.y + 1 + row, area.x + column * (width + gap), 1, width};
        draw_cell(ui, surface, cell, shown, places, &devices[i], most_rows);
        surface_mark_line(surface, cell.y, cell.x, cell.w, i);
        if (i == line && panel_focused(ui, PANEL_DEVICES))
            surface_restyle(surface, cell.y, cell.x, cell.w, STYLE_CURSOR);
    }
}
