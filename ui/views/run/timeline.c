/* SPDX-License-Identifier: MIT */
#include "ui/views/run/timeline.h"

#include <stdlib.h>

#include "base/figure.h"
#include "events/timeline.h"

/* A picture of a pipeline's step: a row for each stage, its share of time and what it ends with. */

enum { NAME_WIDTH = 8, SHARE_WIDTH = 6, LAYER_WIDTH = 18, LEAST_COLUMNS = 20, MOST_COLUMNS = 400 };

static enum style style_of(enum timeline_task task)
{
    static const enum style styles[] = {[TIMELINE_WAIT] = STYLE_TRACK,
                                        [TIMELINE_FORWARD] = STYLE_SERIES,
                                        [TIMELINE_BACKWARD] = STYLE_SERIES_MARKED,
                                        [TIMELINE_UPDATE] = STYLE_GOOD};
    return styles[task];
}

/* Characters of one look at a time. */
static void write_passes(struct surface *surface, int y, int x, const char *text,
                         const enum timeline_task *tasks, int columns)
{
    for (int from = 0, to; from < columns; from = to) {
        char part[MOST_COLUMNS + 1];
        for (to = from; to < columns && tasks[to] == tasks[from]; to++)
            part[to - from] = text[to];
        part[to - from] = '\0';
        surface_text(surface, y, x + from, to - from, style_of(tasks[from]), part);
    }
}

static void write_stage(struct page *page, const struct timeline *timeline, size_t index,
                        int columns)
{
    const struct timeline_stage stage = timeline_stage(timeline, index);
    const int y = page_next(page), x = page->area.x, end = x + page->area.w;
    char text[MOST_COLUMNS + 1];
    enum timeline_task tasks[MOST_COLUMNS];
    struct figure busy;
    if (y < 0)
        return;
    timeline_row(timeline, index, columns, text, tasks);
    surface_text(page->surface, y, x, NAME_WIDTH - 1, STYLE_NORMAL, stage.device);
    write_passes(page->surface, y, x + NAME_WIDTH, text, tasks, columns);
    surface_right(page->surface, y, x + NAME_WIDTH + columns, SHARE_WIDTH, STYLE_NORMAL,
                  figure_percent(&busy, stage.busy));
    const int layer = x + NAME_WIDTH + columns + SHARE_WIDTH + 1;
    surface_text(page->surface, y, layer, end - layer, STYLE_LABEL, stage.last_layer);
}

void section_timeline(struct page *page, const struct ui *ui, const struct state_run *run)
{
    char text[256];
    int columns = page->area.w - NAME_WIDTH - SHARE_WIDTH - LAYER_WIDTH;
    (void)run;
    if (!ui->details.timeline)
        return;
    columns = columns < LEAST_COLUMNS  ? LEAST_COLUMNS
              : columns > MOST_COLUMNS ? MOST_COLUMNS
                                       : columns;
    const struct timeline timeline = timeline_read(ui->details.timeline);
    page_title(page, "What the stages did");
    timeline_summary(&timeline, text, sizeof text);
    page_paragraph(page, STYLE_NORMAL, text);
    for (size_t i = 0; i < timeline.stages; i++)
        write_stage(page, &timeline, i, columns);
    if (timeline.drawn)
        page_paragraph(
            page, STYLE_LABEL,
            "0-9: forward pass of a micro-batch, a-j: backward pass, +: update, .: waiting");
}
