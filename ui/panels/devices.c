/* SPDX-License-Identifier: MIT */
#include "ui/panels/devices.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "ui/panels/device_cells.h"
#include "ui/panels/device_parts.h"

enum {
    NAME,
    BAR,
    LOAD,
    ROWS,
    SPEED,
    COMPUTE,
    TIMES,
    MEMORY,
    STATE,
    OTHERS,
    TEMPERATURE,
    POWER,
    CLOCK,
    THROTTLE,
    TENSOR,
    BANDWIDTH,
    PCIE,
    HARDWARE,
    COLUMNS
};

enum { LEGEND_WIDTH = 24 }; /* the bar of times with its parts named above it */
enum { MOST_NAME = 24 };    /* what a long name may take of other columns */

static const struct list_column all_columns[COLUMNS] = {
    [NAME] = {"Devices", 11, 0, false, 0},
    [BAR] = {"load", 10, 24, false, 7},
    [LOAD] = {"", 4, 0, true, 1},
    [ROWS] = {"rows", 5, 6, true, 2},
    [SPEED] = {"samples/s", 9, 0, true, 3},
    [COMPUTE] = {"comp", 4, 0, true, 4},
    [TIMES] = {"time", 8, LEGEND_WIDTH, false, 8},
    [MEMORY] = {"memory", 13, 0, true, 5},
    [STATE] = {"state", 7, 8, false, 6},
    [OTHERS] = {"others", 8, 9, true, 6}, /* stays longer than the state */
    [TEMPERATURE] = {"temp", 5, 0, true, 9},
    [POWER] = {"power", 9, 0, true, 10},
    [CLOCK] = {"clock MHz", 9, 0, true, 11},
    [THROTTLE] = {"throttle", 9, 16, false, 12},
    [TENSOR] = {"tensor", 6, 0, true, 13},
    [BANDWIDTH] = {"mem bw", 6, 0, true, 14},
    [PCIE] = {"PCIe in/out B/s", 15, 0, true, 15},
    [HARDWARE] = {"hardware", 10, 40, false, 16},
};

/* Figures that no device has get no column. */
static void find_known(const struct form_device *devices, int count, bool *known)
{
    for (int i = 0; i < COLUMNS; i++)
        known[i] = i == NAME || i == BAR || i == LOAD || i == MEMORY || i == STATE || i == HARDWARE;
    for (int i = 0; i < count; i++) {
        const struct state_device *device = devices[i].known;
        if (!device)
            continue;
        known[OTHERS] |= device->others > 0 && device->available;
        known[ROWS] |= isfinite(device->rows);
        known[SPEED] |= isfinite(device->samples_per_s);
        known[COMPUTE] |= isfinite(device->compute_s);
        known[TEMPERATURE] |= isfinite(device->temperature_c);
        known[POWER] |= isfinite(device->power_w);
        known[CLOCK] |= isfinite(device->clock_mhz);
        known[THROTTLE] |= device->throttle_known;
        known[TENSOR] |= isfinite(device->tensor_load);
        known[BANDWIDTH] |= isfinite(device->memory_load);
        known[PCIE] |= isfinite(device->pcie_rx) || isfinite(device->pcie_tx);
    }
    known[TIMES] = known[COMPUTE];
}

/* Devices of other hosts are called h1/cpu:0. */
static int longest_label(const struct form_device *devices, int count)
{
    char text[32];
    int longest = 0;
    for (int i = 0; i < count; i++) {
        device_label(&devices[i], all_columns[NAME].width, text, sizeof text);
        longest = (int)strlen(text) > longest ? (int)strlen(text) : longest;
    }
    return longest;
}

static void choose_columns(const struct ui *ui, const struct form_device *devices, int count,
                           struct list_column *columns)
{
    bool known[COLUMNS];
    find_known(devices, count, known);
    known[BAR] = ui->preferences.load != LOAD_NUMBER;
    for (int i = 0; i < COLUMNS; i++) {
        columns[i] = all_columns[i];
        if (!known[i])
            columns[i].width = columns[i].most = 0;
    }
    if (!known[BAR])
        columns[LOAD].title = "load";
    const int longest = longest_label(devices, count);
    columns[NAME].most = longest;
    /* By the end of their names devices of a host are told apart. */
    if (longest > columns[NAME].width)
        columns[NAME].width = longest < MOST_NAME ? longest : MOST_NAME;
}

static void draw_figures(const struct ui *ui, struct surface *surface, struct rect area, int y,
                         const struct column_place *places, const struct state_device *device,
                         double most_rows)
{
    struct figure f[COLUMNS];
    struct device_times times = device_times(device);
    enum style plain = device->in_run ? STYLE_NORMAL : STYLE_LABEL;
    char temperature[40], power[80], clock[80], pcie[80], in[32], others[40];
    const char *text[COLUMNS] = {
        [LOAD] = figure_percent(&f[LOAD], device->load),
        [ROWS] = figure_whole(&f[ROWS], device->rows),
        [SPEED] = figure_count(&f[SPEED], device->samples_per_s),
        [COMPUTE] = figure_percent(&f[COMPUTE], times.compute),
        [MEMORY] = figure_memory(&f[MEMORY], device->memory_used, device->memory_total),
        [STATE] = device->state[0] != '\0' ? device->state : "-",
        [OTHERS] = others_text(device, others, sizeof others),
        [TEMPERATURE] = temperature_text(device, temperature, sizeof temperature),
        [POWER] = power_text(device, power, sizeof power),
        [CLOCK] = clock_text(device, clock, sizeof clock),
        [THROTTLE] = throttle_text(device),
        [TENSOR] = figure_percent(&f[TENSOR], device->tensor_load),
        [BANDWIDTH] = figure_percent(&f[BANDWIDTH], device->memory_load),
        [PCIE] = pcie,
        [HARDWARE] = device->name,
    };
    snprintf(in, sizeof in, "%s", figure_count(&f[PCIE], device->pcie_rx));
    snprintf(pcie, sizeof pcie, "%s/%s", in, figure_count(&f[PCIE], device->pcie_tx));
    if (!isfinite(device->pcie_rx) && !isfinite(device->pcie_tx))
        text[PCIE] = "-";
    draw_load(surface, y, area.x + places[BAR].x, places[BAR].w, device, ui->preferences.load);
    draw_times(surface, y, area.x + places[TIMES].x, places[TIMES].w, &times);
    for (int i = LOAD; i < COLUMNS; i++) {
        enum style style = plain;
        if (i == STATE)
            style = device_state_style(device);
        else if (i == LOAD)
            style = device_load_style(device);
        else if (i == OTHERS || (i == THROTTLE && device->throttle[0] != '\0') ||
                 (i == ROWS && device->rows < most_rows))
            style = STYLE_WARNING;
        if (text[i])
            list_cell(surface, area, y, &all_columns[i], &places[i], style, text[i]);
    }
}

static void draw_device(const struct ui *ui, struct surface *surface, struct rect area, int y,
                        const struct column_place *places, const struct form_device *device,
                        double most_rows)
{
    char text[200];
    int beside = area.x + places[NAME].w + 1;
    enum style style;
    const char *trouble = device_trouble(device, &style, text, sizeof text);
    if (trouble)
        surface_text(surface, y, beside, area.x + area.w - beside, style, trouble);
    else
        draw_figures(ui, surface, area, y, places, device->known, most_rows);
    device_label(device, places[NAME].w, text, sizeof text);
    list_cell(surface, area, y, &all_columns[NAME], &places[NAME],
              device->chosen ? STYLE_STRONG : STYLE_NORMAL, text);
}

/* What the devices of the running run do together. */
struct device_sum {
    int working;
    double rows, speed, power;
    double compute_speed;      /* what their speeds come to, which have no waiting in them */
    struct device_times times; /* of the average device */
};

static struct device_sum add_up(const struct ui *ui, const struct form_device *devices, int count)
{
    /* A device's speed is that of computing alone, the run's has all the waiting in it. */
    struct device_sum sum = {.speed = ui->state.live.samples_per_s};
    for (int i = 0; i < count; i++) {
        const struct state_device *device = devices[i].known;
        if (!device || !device->in_run || device->lost)
            continue;
        struct device_times times = device_times(device);
        sum.working++;
        sum.rows += device->rows;
        sum.compute_speed += device->samples_per_s;
        sum.power += device->power_w;
        sum.times.compute += times.compute;
        sum.times.all_reduce += times.all_reduce;
        sum.times.wait += times.wait;
    }
    /* Stages of a pipeline all compute the same rows. */
    if (!state_divides_rows(&ui->state))
        sum.compute_speed = NAN;
    sum.rows = state_rows_together(&ui->state, sum.rows, sum.working);
    sum.times.compute /= sum.working;
    sum.times.all_reduce /= sum.working;
    sum.times.wait /= sum.working;
    return sum;
}

static void draw_totals(struct surface *surface, struct rect area, int y,
                        const struct column_place *places, const struct device_sum *sum)
{
    struct figure figure;
    char text[48];
    int length = snprintf(text, sizeof text, "%d together, computing %s/s", sum->working,
                          figure_count(&figure, sum->compute_speed));
    if (!isfinite(sum->compute_speed) || length > places[LOAD].x)
        snprintf(text, sizeof text, "%d together", sum->working);
    surface_text(surface, y, area.x, places[LOAD].x, STYLE_LABEL, text);
    list_cell(surface, area, y, &all_columns[ROWS], &places[ROWS], STYLE_STRONG,
              figure_whole(&figure, sum->rows));
    list_cell(surface, area, y, &all_columns[SPEED], &places[SPEED], STYLE_STRONG,
              figure_count(&figure, sum->speed));
    list_cell(surface, area, y, &all_columns[COMPUTE], &places[COMPUTE], STYLE_STRONG,
              figure_percent(&figure, sum->times.compute));
    draw_times(surface, y, area.x + places[TIMES].x, places[TIMES].w, &sum->times);
    if (!isfinite(sum->power))
        return;
    snprintf(text, sizeof text, "%s W", figure_whole(&figure, sum->power));
    list_cell(surface, area, y, &all_columns[POWER], &places[POWER], STYLE_STRONG, text);
}

/* The same in a sentence, below devices that stand side by side. */
static void write_totals(struct surface *surface, struct rect area, int y,
                         const struct device_sum *sum)
{
    struct figure rows, speed, compute;
    int used = surface_format(surface, y, area.x, area.w, STYLE_STRONG,
                              "%d together: %s rows, %s samples/s", sum->working,
                              figure_whole(&rows, sum->rows), figure_count(&speed, sum->speed));
    if (isfinite(sum->times.compute))
        surface_format(surface, y, area.x + used, area.w - used, STYLE_STRONG, ", computing %s",
                       figure_percent(&compute, sum->times.compute));
}

/* The parts of the bar of times by name, when it has grown to the width of these words. */
static void draw_legend(struct surface *surface, struct rect area, const struct column_place *place)
{
    static const struct {
        enum glyph glyph;
        const char *name;
    } parts[] = {{GLYPH_COMPUTE, "comp "}, {GLYPH_ALL_REDUCE, "all-reduce "}, {GLYPH_WAIT, "wait"}};
    int x = area.x + place->x;
    if (place->w < LEGEND_WIDTH)
        return;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        surface_glyph(surface, area.y, x++, parts[i].glyph, STYLE_LABEL);
        x += surface_text(surface, area.y, x, area.w, STYLE_LABEL, parts[i].name);
    }
}

static void draw_list(const struct ui *ui, struct surface *surface, struct rect area,
                      const struct form_device *devices, int count)
{
    struct list_column columns[COLUMNS];
    struct column_place places[COLUMNS];
    struct device_sum sum = add_up(ui, devices, count);
    double most_rows = device_most_rows(devices, count);
    choose_columns(ui, devices, count, columns);
    columns_place(columns, COLUMNS, area.w, places);
    panel_heading(ui, surface, area, PANEL_DEVICES, columns, places, COLUMNS);
    draw_legend(surface, area, &places[TIMES]);
    for (int i = 0; i < count; i++) {
        int y = area.y + 1 + i;
        draw_device(ui, surface, area, y, places, &devices[i], most_rows);
        surface_mark_line(surface, y, area.x, area.w, i);
        if (i == ui->device_line && panel_focused(ui, PANEL_DEVICES))
            surface_restyle(surface, y, area.x, area.w, STYLE_CURSOR);
    }
    int y = area.y + 1 + count, end = area.y + area.h;
    if (sum.working > 1 && y < end)
        draw_totals(surface, area, y++, places, &sum);
    if (ui->state.no_gpus[0] != '\0' && y < end)
        surface_format(surface, y, area.x, area.w, STYLE_LABEL, "No GPUs: %s", ui->state.no_gpus);
}

/* Side by side. Their sum has a line when the layout has made room for it. */
static void draw_cells(const struct ui *ui, struct surface *surface, struct rect area,
                       const struct form_device *devices, int count)
{
    int columns = layout_device_columns(count, area.h - 1, area.w);
    int lines = (count + columns - 1) / columns;
    struct device_sum sum = add_up(ui, devices, count);
    lines = lines < area.h - 1 ? lines : area.h - 1;
    if (lines <= 0)
        return;
    device_cells(ui, surface, area, devices, count, columns, lines);
    if (sum.working > 1 && lines + 1 < area.h)
        write_totals(surface, area, area.y + 1 + lines, &sum);
}

bool panel_devices(const struct ui *ui, struct surface *surface, struct rect area,
                   struct error *err)
{
    struct form_device devices[FORM_MAX_DEVICES];
    int count = form_devices(&ui->form, &ui->state, devices);
    (void)err;
    if (count <= area.h - 1)
        draw_list(ui, surface, area, devices, count);
    else
        draw_cells(ui, surface, area, devices, count);
    if (count == 0 && area.h > 1)
        surface_text(surface, area.y + 1, area.x, area.w, STYLE_LABEL,
                     ui->link != LINK_UP ? "the engine lists them when it is there"
                     : ui->state.known   ? "the engine has none: + adds a CPU device"
                                         : "waiting for the engine's list");
    return true;
}
