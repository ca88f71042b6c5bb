/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/profile_event.h"
#include "ui/format.h"
#include "ui/views/run_sections.h"

/* Of a run with --profile: what took most of its steps' time. The whole is for `dpartui show`. */

enum { SHOWN = 5, NAME_X = 7 };

static void write_speed(const struct profile_row *row, char *buffer, size_t size)
{
    struct figure speed;

    if (row->flops > 0)
        snprintf(buffer, size, ", %s GFLOP/s", figure_count(&speed, row->flops / 1e9));
    else if (row->bytes > 0)
        snprintf(buffer, size, ", %s GB/s", figure_count(&speed, row->bytes / 1e9));
    else
        buffer[0] = '\0';
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

void section_profile(struct page *page, const struct ui *ui, const struct state_run *run)
{
    const json_t *event = ui->details.profile;
    struct figure time;
    char text[96];
    size_t count;

    (void)run;
    if (event == NULL)
        return;
    struct profile_row *rows =
        profile_event_rows(event, PROFILE_ALL_DEVICES, PROFILE_BY_TIME, &count);
    if (count > 0) {
        snprintf(text, sizeof text, "Of a step's %s ms the longest operations took",
                 figure_count(&time, 1e3 * profile_event_step_s(event)));
        page_paragraph(page, STYLE_LABEL, text);
    }
    for (size_t i = 0; rows != NULL && i < count && i < SHOWN; i++)
        write_row(page, &rows[i]);
    free(rows);
}
