/* SPDX-License-Identifier: MIT */
#include "ui/panels/schedule.h"

#include <math.h>

#include "ui/chart/curve.h"
#include "ui/form/preview.h"

enum { POINTS = 500 };

bool schedule_in_focus(const struct ui *ui)
{
    enum form_field field = ui->form.field;
    return panel_focused(ui, PANEL_FORM) && (field == FORM_SCHEDULE || field == FORM_WARMUP) &&
           form_has_rates(&ui->form);
}

bool panel_schedule(const struct ui *ui, struct surface *surface, struct rect area,
                    struct error *err)
{
    const struct metric_look *look = metric_look(METRIC_LR);
    struct form_rate rates[POINTS];
    struct chart_point points[POINTS];
    form_rates(&ui->form, &ui->check, rates, POINTS);
    for (int i = 0; i < POINTS; i++)
        points[i] = (struct chart_point){rates[i].epoch, rates[i].lr};
    const struct chart_series series = {.points = points,
                                        .count = POINTS,
                                        .rank = SERIES_MAIN,
                                        .name = "next run",
                                        .last = NAN,
                                        .best = NAN};
    const struct chart chart = {.title = look->title,
                                .x_high = points[POINTS - 1].x,
                                .y_floor = look->floor,
                                .y_top = look->top,
                                .from_zero = true,
                                .unit = look->unit,
                                .canvas = ui->preferences.canvas,
                                .series = &series,
                                .count = 1};
    return chart_draw(&chart, surface, area, err);
}
