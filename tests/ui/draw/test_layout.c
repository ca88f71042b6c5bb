/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suites.h"
#include "ui/draw/layout.h"
#include "ui/draw/list.h"

static bool overlap(const struct rect *a, const struct rect *b)
{
    return a->h > 0 && a->w > 0 && b->h > 0 && b->w > 0 && a->y < b->y + b->h &&
           b->y < a->y + a->h && a->x < b->x + b->w && b->x < a->x + a->w;
}

static void check_rectangles(const struct layout_request *request)
{
    struct layout l = layout_compute(request);
    const struct rect *all[] = {&l.header, &l.devices, &l.chart,  &l.rule,
                                &l.form,   &l.runs,    &l.status, &l.keys};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const struct rect *r = all[i];
        if (r->h < 0 || r->w < 0 || r->y < 0 || r->x < 0 || r->y + r->h > request->rows ||
            r->x + r->w > request->columns)
            ck_abort_msg("%dx%d: part %zu is outside", request->columns, request->rows, i);
        for (size_t j = 0; j < i; j++)
            if (overlap(r, all[j]))
                ck_abort_msg("%dx%d with %d devices and %d runs: parts %zu and %zu overlap",
                             request->columns, request->rows, request->devices, request->runs, i,
                             j);
    }
    ck_assert(l.too_small == (request->rows < 4 || request->columns < 20));
    if (l.too_small)
        return;
    const struct rect *focused = request->focus == PANEL_DEVICES ? &l.devices
                                 : request->focus == PANEL_FORM  ? &l.form
                                 : request->focus == PANEL_CHART ? &l.chart
                                                                 : &l.runs;
    ck_assert_msg(focused->h >= 1 && focused->w >= 20, "%dx%d: the panel in focus is not shown",
                  request->columns, request->rows);
    ck_assert_int_eq(l.header.h, 1);
    ck_assert_int_eq(l.status.h, 1);
}

START_TEST(every_size)
{
    static const int devices[] = {0, 1, 2, 8, 16, 64}, runs[] = {0, 1, 5, 300};
    struct layout_request r = {.fields = 11};
    for (r.rows = 1; r.rows <= 60; r.rows++)
        for (r.columns = 1; r.columns <= 200; r.columns++)
            for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
                for (r.focus = PANEL_DEVICES; r.focus < PANEL_COUNT; r.focus++) {
                    r.devices = devices[i];
                    r.totals = (r.rows + r.columns) % 2;
                    r.runs = runs[(i + (size_t)r.rows) % 4];
                    check_rectangles(&r);
                }
}
END_TEST

START_TEST(the_usual_terminal_shows_everything)
{
    struct layout_request r = {24, 80, 8, false, 5, 11, PANEL_DEVICES};
    struct layout l = layout_compute(&r);
    ck_assert_int_eq(l.devices.h, 9);
    ck_assert_int_ge(l.runs.h, 3);
    ck_assert_int_ge(l.chart.h, 9);
    ck_assert_int_ge(l.form.h, 9);
    ck_assert_int_eq(l.keys.y, 23);
    r.devices = 2;
    l = layout_compute(&r);
    ck_assert_int_eq(l.devices.h, 3);
    ck_assert_int_eq(l.form.h, 12);
}
END_TEST

START_TEST(a_larger_terminal_never_shows_fewer_lines)
{
    struct layout_request r = {16, 80, 8, false, 20, 11, PANEL_DEVICES};
    struct layout before = layout_compute(&r);
    for (r.rows = 17; r.rows <= 60; r.rows++) {
        struct layout now = layout_compute(&r);
        ck_assert_int_ge(now.devices.h, before.devices.h);
        /* Blank lines between the sections appear once, and cost a few; devices that no longer
         * have to stand side by side do, too. */
        if (now.devices.h - before.devices.h <= 1 && r.rows != 20 && r.rows != 40)
            ck_assert_int_ge(now.chart.h + now.runs.h, before.chart.h + before.runs.h - 1);
        before = now;
    }
}
END_TEST

/* How many devices are on the screen at once. */
static int devices_shown(const struct layout_request *r)
{
    struct layout l = layout_compute(r);
    int lines = l.devices.h - 1;
    return lines * layout_device_columns(r->devices, lines, l.devices.w);
}

START_TEST(all_devices_are_on_the_screen)
{
    static const int counts[] = {1, 2, 8, 10, 16, 32};
    struct layout_request r = {24, 80, 0, true, 5, 11, PANEL_RUNS};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        r.devices = counts[i];
        ck_assert_int_ge(devices_shown(&r), counts[i]);
        ck_assert_int_le(layout_compute(&r).devices.h, 1 + 24 / 3);
        ck_assert_int_ge(layout_compute(&r).chart.h, 8);
    }
    /* More than that are walked through by pages. */
    r.devices = 64;
    ck_assert_int_eq(devices_shown(&r), 32);
    r.rows = 50;
    r.columns = 200;
    ck_assert_int_ge(devices_shown(&r), 64);
}
END_TEST

START_TEST(devices_stand_side_by_side_when_they_must)
{
    ck_assert_int_eq(layout_device_columns(8, 8, 80), 1);
    ck_assert_int_eq(layout_device_columns(9, 8, 80), 2);
    ck_assert_int_eq(layout_device_columns(17, 8, 80), 3);
    ck_assert_int_eq(layout_device_columns(1000, 8, 80), 4);
    ck_assert_int_eq(layout_device_columns(1000, 8, 10), 1);
    ck_assert_int_eq(layout_device_columns(0, 0, 1), 1);
    for (int width = 1; width <= 300; width++)
        for (int count = 1; count <= 64; count *= 2) {
            int columns = layout_device_columns(count, 3, width);
            int cell = layout_device_width(columns, width);
            int gap = layout_device_gap(columns, width);
            ck_assert_int_le(columns * cell + (columns - 1) * gap, width);
            ck_assert(columns == 1 || (cell >= 19 && gap >= 1));
        }
}
END_TEST

START_TEST(the_sum_of_devices_gives_way)
{
    struct layout_request r = {24, 80, 2, false, 5, 11, PANEL_RUNS};
    int without = layout_compute(&r).devices.h;
    r.totals = true;
    ck_assert_int_eq(layout_compute(&r).devices.h, without + 1);
    r.devices = 8;
    ck_assert_int_eq(layout_compute(&r).devices.h, 9);
}
END_TEST

START_TEST(columns_share_the_width)
{
    static const struct list_column columns[] = {
        {"name", 8, 0, false, 0},
        {"model", 6, 20, false, 3},
        {"a", 4, 0, true, 1},
        {"b", 4, 0, true, 2},
    };
    struct column_place p[4];
    columns_place(columns, 4, 80, p);
    ck_assert_int_eq(p[1].w, 20);
    ck_assert_int_eq(p[1].x, 10);
    ck_assert_int_eq(p[3].x, 38);
    columns_place(columns, 4, 25, p); /* one blank between them now */
    ck_assert_int_eq(p[1].w, 6);
    ck_assert_int_eq(p[3].x, 21);
    columns_place(columns, 4, 20, p); /* "model" goes first, then "b" */
    ck_assert_int_eq(p[1].w, 0);
    ck_assert_int_eq(p[3].w, 4);
    columns_place(columns, 4, 14, p);
    ck_assert_int_eq(p[3].w, 0);
    ck_assert_int_eq(p[2].w, 4);
    for (int width = 1; width < 60; width++) {
        columns_place(columns, 4, width, p);
        for (int i = 0; i < 4; i++)
            ck_assert_int_le(p[i].w > 0 ? p[i].x + p[i].w : 0, width);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layout");
    TCase *tests = tcase_create("layout");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_size);
    tcase_add_test(tests, the_usual_terminal_shows_everything);
    tcase_add_test(tests, a_larger_terminal_never_shows_fewer_lines);
    tcase_add_test(tests, all_devices_are_on_the_screen);
    tcase_add_test(tests, devices_stand_side_by_side_when_they_must);
    tcase_add_test(tests, the_sum_of_devices_gives_way);
    tcase_add_test(tests, columns_share_the_width);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
