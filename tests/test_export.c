/* SPDX-License-Identifier: MIT */
/* Runs as tables and pictures; tests/keeping.py reads them with parsers of their own. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_csv.h"
#include "run_figure.h"
#include "svg_chart.h"
#include "tests/suites.h"

static struct error err;
static struct text out;

static void setup(void)
{
    err = (struct error)ERROR_INIT;
    out = (struct text)TEXT_INIT;
}

static void teardown(void)
{
    text_free(&out);
}

static const char run_text[] =
    "{\"run\":12,\"epochs\":[{\"epoch\":1,\"step\":10,\"partial\":false,\"lr\":0.1,"
    "\"test_acc\":0.5},{\"epoch\":2,\"step\":20,\"partial\":true,\"test_acc\":null,"
    "\"train_loss\":1e-7}],"
    "\"points\":[{\"epoch\":0.5,\"step\":5,\"steps\":5,\"train_loss\":2.25}]}";

static json_t *read_run(void)
{
    json_t *run = json_loads(run_text, 0, NULL);
    ck_assert_ptr_nonnull(run);
    return run;
}

START_TEST(tables_have_a_line_for_each_epoch_or_point)
{
    json_t *runs = json_pack("[o]", read_run());
    run_csv_put(runs, false, &out);
    const char *text = text_cstr(&out);
    ck_assert_ptr_nonnull(strstr(text, "\n12,1,10,,0,,0.1,,,,0.5,,,,,,,\n"
                                       "12,2,20,,1,,,1e-07,,,,,,,,,,\n"));
    ck_assert_int_eq(strncmp(text, "run,epoch,step,", 15), 0);
    text_free(&out);
    run_csv_put(runs, true, &out);
    ck_assert_str_eq(text_cstr(&out),
                     "run,epoch,step,steps,rows,train_loss,train_acc,samples_per_s,lr\n"
                     "12,0.5,5,5,,2.25,,,\n");
    json_decref(runs);
}
END_TEST

START_TEST(curves_take_points_where_there_are_any)
{
    struct chart_point *points;
    int count;
    json_t *run = read_run();
    ck_assert(run_figure_curve(run_figure_find("test_acc", &err), run, &points, &count, &err));
    ck_assert_int_eq(count, 2);
    ck_assert_double_eq(points[0].y, 0.5);
    ck_assert(isnan(points[1].y));
    free(points);
    ck_assert(run_figure_curve(run_figure_find("train_loss", &err), run, &points, &count, &err));
    ck_assert_int_eq(count, 1);
    ck_assert_double_eq(points[0].x, 0.5);
    free(points);
    json_object_del(run, "points");
    ck_assert(run_figure_curve(run_figure_find("train_loss", &err), run, &points, &count, &err));
    ck_assert_int_eq(count, 2);
    free(points);
    ck_assert_ptr_null(run_figure_find("tset_acc", &err));
    ck_assert_ptr_nonnull(strstr(err.text, "'test_acc'"));
    json_decref(run);
}
END_TEST

/* How often a text occurs in the picture. */
static int count(const char *what)
{
    int found = 0;
    for (const char *at = text_cstr(&out); (at = strstr(at, what)); at += strlen(what))
        found++;
    return found;
}

START_TEST(a_gap_interrupts_a_curve)
{
    const struct chart_point points[] = {{1, 0.5}, {2, 0.6}, {3, NAN}, {4, 0.7}, {5, 0.75}};
    const struct svg_curve curve = {"a & b <c>\x01", points, 5};
    const struct svg_chart chart = {
        .title = "t", .x_label = "epoch", .top = 1, .curves = &curve, .count = 1};
    ck_assert(svg_chart_draw(&chart, &out, &err));
    ck_assert_int_eq(count("a &amp; b &lt;c&gt;?"), 2); /* at the curve and in the legend */
    ck_assert_int_eq(count("<circle"), 4);
    ck_assert_int_eq(count("nan"), 0);
    const char *path = strstr(text_cstr(&out), "class=\"d0\" d=\"");
    ck_assert_ptr_nonnull(path);
    int lines = 0, moves = 0;
    for (path += 14; *path != '"'; path++) {
        lines += *path == 'L';
        moves += *path == 'M';
    }
    ck_assert_int_eq(moves, 2);
    ck_assert_int_eq(lines, 2);
}
END_TEST

START_TEST(thirty_curves_look_different)
{
    const struct chart_point points[] = {{1, 0.5}, {2, 0.6}};
    struct svg_curve curves[SVG_CURVES_MOST + 1];
    bool seen[6][5] = {{false}};
    for (int i = 0; i <= SVG_CURVES_MOST; i++)
        curves[i] = (struct svg_curve){"x", points, 2};
    struct svg_chart chart = {.title = "t", .x_label = "epoch", .top = INFINITY, .curves = curves};
    chart.count = SVG_CURVES_MOST;
    ck_assert(svg_chart_draw(&chart, &out, &err));
    const char *at = text_cstr(&out);
    for (int i = 0; i < SVG_CURVES_MOST; i++) {
        int colour, dash;
        at = strstr(at, "<g class=\"curve c");
        ck_assert_ptr_nonnull(at);
        ck_assert_int_eq(sscanf(at, "<g class=\"curve c%d", &colour), 1);
        at = strstr(at, "<path class=\"d");
        ck_assert_int_eq(sscanf(at, "<path class=\"d%d", &dash), 1);
        ck_assert(!seen[colour][dash]);
        seen[colour][dash] = true;
    }
    chart.count++;
    ck_assert(!svg_chart_draw(&chart, &out, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
}
END_TEST

START_TEST(odd_curves_are_drawn)
{
    const struct chart_point one[] = {{1, 0.5}}, wild[] = {{1, 2}, {2, 1e300}, {3, INFINITY}};
    const struct svg_curve curves[] = {{"none", NULL, 0}, {"one", one, 1}, {"wild", wild, 3}};
    for (int i = 0; i <= 3; i++) {
        const struct svg_chart chart = {.title = "t",
                                        .x_label = "epoch",
                                        .top = INFINITY,
                                        .may_diverge = true,
                                        .curves = curves,
                                        .count = i};
        text_free(&out);
        ck_assert(svg_chart_draw(&chart, &out, &err));
        ck_assert_int_eq(count("nan") + count("inf"), 0);
        ck_assert_int_eq(count("</svg>"), 1);
        ck_assert_uint_lt(out.length, 20000);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("export");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, tables_have_a_line_for_each_epoch_or_point);
    tcase_add_test(tests, curves_take_points_where_there_are_any);
    tcase_add_test(tests, a_gap_interrupts_a_curve);
    tcase_add_test(tests, thirty_curves_look_different);
    tcase_add_test(tests, odd_curves_are_drawn);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
