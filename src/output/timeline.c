/* SPDX-License-Identifier: MIT */
#include "output/timeline.h"

#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "base/print.h"
#include "output/svg.h"

enum { COLUMNS = 60, NAME_WIDTH = 7 };

void timeline_print(const struct timeline *timeline)
{
    char line[256], row[COLUMNS + 1];
    timeline_summary(timeline, line, sizeof line);
    print("\npipeline, %s\n", line);
    for (size_t i = 0; i < timeline->stages; i++) {
        const struct timeline_stage stage = timeline_stage(timeline, i);
        struct figure busy;
        timeline_row(timeline, i, COLUMNS, row, NULL);
        print("  %-*s %s %4s %s\n", NAME_WIDTH, stage.device, row,
              figure_percent(&busy, stage.busy), stage.last_layer);
    }
    if (timeline->drawn)
        print("  0-9: forward pass of a micro-batch (its last digit), a-j: backward pass, "
              "+: update, .: waiting;\n  then the share of the step in which the device computes, "
              "and its last layer\n");
}

/* Places in the picture. */
enum { WIDTH = 960, LEFT = 280, RIGHT = 940, TOP = 60, ROW = 34, BOX = 24, BELOW = 60 };

static const struct {
    enum timeline_task task;
    const char *name;
    int colour; /* svg_curve_begin's index */
} kinds[] = {{TIMELINE_FORWARD, "forward", 0},
             {TIMELINE_BACKWARD, "backward", 1},
             {TIMELINE_UPDATE, "update", 2}};

enum { KINDS = sizeof kinds / sizeof *kinds };

static void draw_passes(const struct timeline *timeline, size_t stage, int kind, double top,
                        struct text *out)
{
    const double scale = (RIGHT - LEFT) / timeline->seconds;
    double from, to;
    for (size_t i = 0; timeline_pass(timeline, stage, kinds[kind].task, i, &from, &to); i++) {
        char name[96];
        struct figure seconds;
        snprintf(name, sizeof name, "%s %zu: %s s", kinds[kind].name, i,
                 figure_seconds(&seconds, to - from));
        svg_curve_begin(out, kinds[kind].colour, name);
        svg_box(out, LEFT + from * scale, top, (to - from) * scale, BOX);
        svg_curve_end(out);
    }
}

static void draw_stage(const struct timeline *timeline, size_t index, struct text *out)
{
    const struct timeline_stage stage = timeline_stage(timeline, index);
    const double top = TOP + ROW * (double)index;
    char words[200];
    struct figure busy;
    snprintf(words, sizeof words, "%s, to %.24s, busy %s", stage.device, stage.last_layer,
             figure_percent(&busy, stage.busy));
    svg_label(out, "end", LEFT - 8, top + BOX - 7, words);
    for (int kind = 0; kind < KINDS; kind++)
        draw_passes(timeline, index, kind, top, out);
}

static void draw_legend(double y, struct text *out)
{
    double x = LEFT;
    for (int kind = 0; kind < KINDS; kind++) {
        svg_curve_begin(out, kinds[kind].colour, kinds[kind].name);
        svg_box(out, x, y, 16, 16);
        svg_curve_end(out);
        svg_label(out, "faint", x + 22, y + 13, kinds[kind].name);
        x += 110;
    }
}

void timeline_svg(const struct timeline *timeline, const char *title, struct text *out)
{
    const int height = TOP + ROW * (int)timeline->stages + BELOW;
    char line[256];
    timeline_summary(timeline, line, sizeof line);
    svg_begin(out, WIDTH, height, title);
    svg_label(out, "title", 20, 26, title);
    svg_label(out, "faint", 20, 46, line);
    for (size_t i = 0; timeline->seconds > 0 && i < timeline->stages; i++)
        draw_stage(timeline, i, out);
    draw_legend(height - BELOW + 16, out);
    svg_end(out);
}
