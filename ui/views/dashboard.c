/* SPDX-License-Identifier: MIT */
#include "ui/views/dashboard.h"

#include <stddef.h>
#include <stdio.h>

#include "base/figure.h"
#include "base/text.h"
#include "ui/form/devices.h"
#include "ui/form/preview.h"
#include "ui/form/suggestion.h"
#include "ui/panels/chart.h"
#include "ui/panels/device_parts.h"
#include "ui/panels/devices.h"
#include "ui/panels/form.h"
#include "ui/panels/outlook.h"
#include "ui/panels/run_cells.h"
#include "ui/panels/runs.h"
#include "ui/panels/schedule.h"

static const struct {
    size_t rect; /* offset of its rectangle in struct layout */
    draw_part *draw;
} parts[] = {
    {offsetof(struct layout, devices), panel_devices},
    {offsetof(struct layout, chart), panel_chart},
    {offsetof(struct layout, form), panel_form},
    {offsetof(struct layout, runs), panel_runs},
};

/* With several devices in use, a line shows their total. */
static bool wants_totals(const struct ui *ui)
{
    int working = 0;
    for (int i = 0; i < ui->state.device_count; i++)
        working += ui->state.devices[i].in_run;
    return working > 1;
}

struct layout dashboard_layout(const struct ui *ui, int rows, int columns)
{
    struct form_device devices[FORM_MAX_DEVICES];
    struct layout_request request = {
        .rows = rows,
        .columns = columns,
        .devices = form_devices(&ui->form, &ui->state, devices),
        .totals = wants_totals(ui),
        .runs = ui->state.run_count,
        .fields = FORM_FIELDS,
        .focus = ui->focus,
    };
    return layout_compute(&request);
}

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    struct layout layout = dashboard_layout(ui, surface->rows, surface->columns);
    (void)area;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const struct rect *rect = (const struct rect *)((const char *)&layout + parts[i].rect);
        if (rect->h > 0 && rect->w > 0 && !parts[i].draw(ui, surface, *rect, err))
            return false;
    }
    for (int y = layout.rule.y; y < layout.rule.y + layout.rule.h; y++)
        surface_glyph(surface, y, layout.rule.x, GLYPH_RULE, STYLE_TRACK);
    return true;
}

static void focused_device_hint(const struct ui *ui, char *buffer, size_t size)
{
    struct form_device devices[FORM_MAX_DEVICES];
    if (ui->device_line < form_devices(&ui->form, &ui->state, devices))
        device_hint(&devices[ui->device_line], buffer, size);
}

static void form_field_hint(const struct ui *ui, char *buffer, size_t size)
{
    enum form_field field = ui->form.field;
    char origin[80];
    if (form_on_fold(&ui->form))
        snprintf(buffer, size, "Enter lists %d more settings", FORM_FIELDS - FORM_COMMON);
    else if (form_origin(&ui->form, field, &ui->check, origin, sizeof origin))
        snprintf(buffer, size, "%s (%s): %s", form_label(field), origin, form_hint(field));
    else
        snprintf(buffer, size, "%s: %s", form_label(field), form_hint(field));
}

/* What decides how long the next run takes to an accuracy. */
static bool chooses_devices_or_batch(const struct ui *ui)
{
    const enum form_field field = ui->form.field;
    return ui->focus == PANEL_DEVICES ||
           (ui->focus == PANEL_FORM &&
            (field == FORM_DEVICES || field == FORM_BATCH || field == FORM_LR));
}

static void hint(const struct ui *ui, char *buffer, size_t size)
{
    struct form_suggestion suggestion;
    struct outlook outlook;
    char text[120], more[160] = "";
    const bool foreseen = chooses_devices_or_batch(ui) && outlook_of_form(ui, &outlook);
    if (foreseen)
        outlook_text(&outlook, more, sizeof more);
    if (form_suggest(&ui->form, &ui->state, &ui->check, &suggestion)) {
        form_suggestion_text(&suggestion, text, sizeof text);
        snprintf(buffer, size, "%s? press g%s%s", text, foreseen ? "; " : "", more);
        return;
    }
    if (ui->focus == PANEL_FORM && form_problem(&ui->form, &ui->state, &ui->check, buffer, size))
        return;
    else if (foreseen)
        snprintf(buffer, size, "%s", more);
    else if (schedule_in_focus(ui))
        form_rates_text(&ui->form, &ui->check, buffer, size);
    else if (ui->focus == PANEL_FORM)
        form_field_hint(ui, buffer, size);
    else if (ui->focus == PANEL_RUNS)
        run_hint(ui, buffer, size);
    else if (ui->focus == PANEL_DEVICES)
        focused_device_hint(ui, buffer, size);
    else if (ui->focus == PANEL_CHART)
        run_chart_hint(ui, buffer, size);
}

const struct view view_dashboard = {draw, hint};
