/* SPDX-License-Identifier: MIT */
#include "ui/views/run/profile.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/figure.h"
#include "events/profile.h"

/* Of a run with --profile: what took most of its steps' time. The whole is for `dpartui show`. */

enum { SHOWN = 5, NAME_X = 7 };

/* ", 412 TFLOP/s (38% of the limit)"; nothing where nothing is known. */
static void write_rate(double rate, double limit, const char *unit, char *buffer, size_t size)
{
    struct figure speed, share;
    const bool tera = rate >= 1e12;
    if (rate <= 0)
        buffer[0] = '\0';
    else if (limit > 0)
        snprintf(buffer, size, ", %s %s%s (%s of the limit)",
                 figure_count(&speed, rate / (tera ? 1e12 : 1e9)), tera ? "T" : "G", unit,
                 figure_percent(&share, rate / limit));
    else
        snprintf(buffer, size, ", %s %s%s", figure_count(&speed, rate / (tera ? 1e12 : 1e9)),
                 tera ? "T" : "G", unit);
}

/* Work where there is any, else memory traffic. */
static void write_speed(const struct profile_row *row, char *buffer, size_t size)
{
    if (row->flops > 0)
        write_rate(row->flops, row->flops_limit, "FLOP/s", buffer, size);
    else
        write_rate(row->bytes, row->bytes_limit, "B/s", buffer, size);
}

/* " 8.1%  resnet_block4.0.conv2, weight gradient, 128 GFLOP/s, oneDNN jit:avx512_core" */
static void write_row(struct page *page, const struct profile_row *row)
{
    int y = page_next(page), x = page->area.x, w = page->area.w;
    struct figure share;
    char speed[64], text[256];
    if (y < 0)
        return;
    write_speed(row, speed, sizeof speed);
    snprintf(text, sizeof text, "%s%s%s, %s%s%s%s", row->layer, row->layer[0] != '\0' ? " " : "",
             row->kind, row->direction, speed, row->method[0] != '\0' ? ", " : "", row->method);
    surface_right(page->surface, y, x, w < 5 ? 0 : 5, STYLE_NORMAL,
                  figure_percent(&share, row->share));
    surface_text(page->surface, y, x + NAME_X, w < NAME_X ? 0 : w - NAME_X, STYLE_NORMAL, text);
}

static void write_heading(const json_t *event, char *buffer, size_t size)
{
    struct figure time, without;
    double steps, unprofiled_s = profile_event_unprofiled_s(event, &steps);
    figure_count(&time, 1e3 * profile_event_step_s(event));
    if (unprofiled_s > 0)
        snprintf(buffer, size,
                 "Of a step's %s ms (%s ms without the profile) the longest operations took",
                 time.text, figure_count(&without, 1e3 * unprofiled_s));
    else
        snprintf(buffer, size, "Of a step's %s ms the longest operations took", time.text);
}

void section_profile(struct page *page, const struct ui *ui, const struct state_run *run)
{
    const json_t *event = ui->details.profile;
    char text[128];
    size_t count;
    (void)run;
    if (!event)
        return;
    struct profile_row *rows =
        profile_event_rows(event, PROFILE_ALL_DEVICES, PROFILE_BY_TIME, &count);
    if (count > 0) {
        write_heading(event, text, sizeof text);
        page_paragraph(page, STYLE_LABEL, text);
    }
    for (size_t i = 0; rows && i < count && i < SHOWN; i++)
        write_row(page, &rows[i]);
    free(rows);
}
