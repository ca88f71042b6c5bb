/* SPDX-License-Identifier: MIT */
#include "ui/views/run.h"

#include <stdio.h>

#include "ui/views/dashboard.h"
#include "ui/views/run/profile.h"
#include "ui/views/run/sections.h"
#include "ui/views/run/summary.h"
#include "ui/views/run/timeline.h"

/* The details of the selected run: one page to scroll, or on a wide screen two side by side. */

enum { WIDE = 132, EPOCHS_WIDTH = 74 };

static run_section *const about[] = {section_summary, section_time,    section_timeline,
                                     section_profile, section_devices, section_changes,
                                     section_settings};

/* The part of the screen for the details, and for the epochs when they stand beside them. */
static void split(struct rect area, struct rect *left, struct rect *right)
{
    *left = area;
    *right = (struct rect){0};
    if (area.w < WIDE)
        return;
    *right = (struct rect){area.y, area.x + area.w - EPOCHS_WIDTH, area.h, EPOCHS_WIDTH};
    left->w = area.w - EPOCHS_WIDTH - 3;
}

/* Write a page from line `first` on; returns how many lines it has. */
static int write_left(const struct ui *ui, const struct state_run *run, struct surface *surface,
                      struct rect area, int first, bool with_epochs)
{
    struct page page = {surface, area, first, 0};
    for (size_t i = 0; i < sizeof about / sizeof about[0]; i++)
        about[i](&page, ui, run);
    if (with_epochs)
        section_epochs(&page, ui, run);
    return page.line;
}

static int write_right(const struct ui *ui, const struct state_run *run, struct surface *surface,
                       struct rect area, int first)
{
    struct page page = {surface, area, first, 0};
    section_epochs(&page, ui, run);
    return page.line;
}

/* A page scrolls until its last line stands in the last row. */
static int last_line(int lines, int rows)
{
    return lines > rows ? lines - rows : 0;
}

static void measure(const struct ui *ui, const struct state_run *run, struct rect left,
                    struct rect right, int *left_last, int *right_last)
{
    struct rect nothing_left = {0, 0, 0, left.w}, nothing_right = {0, 0, 0, right.w};
    *left_last = last_line(write_left(ui, run, NULL, nothing_left, 0, right.w == 0), left.h);
    *right_last =
        right.w > 0 ? last_line(write_right(ui, run, NULL, nothing_right, 0), right.h) : 0;
}

int run_view_last_line(const struct ui *ui)
{
    const struct state_run *run = state_run(&ui->state, ui->selected_run);
    struct layout layout = dashboard_layout(ui, ui->rows, ui->columns);
    struct rect left, right;
    int left_last, right_last;
    if (!run)
        return 0;
    split((struct rect){1, 0, layout.status.y - 1, ui->columns}, &left, &right);
    measure(ui, run, left, right, &left_last, &right_last);
    return left_last > right_last ? left_last : right_last;
}

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    const struct state_run *run = state_run(&ui->state, ui->selected_run);
    struct rect left, right;
    int left_last, right_last;
    (void)err;
    if (!run) {
        surface_text(surface, area.y, area.x, area.w, STYLE_LABEL, "no run is selected");
        return true;
    }
    split(area, &left, &right);
    measure(ui, run, left, right, &left_last, &right_last);
    write_left(ui, run, surface, left, view_first_line(ui, left_last), right.w == 0);
    if (right.w > 0) {
        for (int y = area.y; y < area.y + area.h; y++)
            surface_glyph(surface, y, right.x - 2, GLYPH_RULE, STYLE_TRACK);
        write_right(ui, run, surface, right, view_first_line(ui, right_last));
    }
    return true;
}

static void hint(const struct ui *ui, char *buffer, size_t size)
{
    view_hint_lines(ui, run_view_last_line(ui), buffer, size);
}

const struct view view_run = {draw, hint};
