/* SPDX-License-Identifier: MIT */
/* Runs as tables and pictures; tests/programs/history.py reads them with their own parsers. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/svg_chart.h"
#include "runs/csv.h"
#include "runs/json.h"
#include "runs/metric.h"
#include "tests/suites.h"

static struct error err;
static struct stream out;

static void setup(void)
{
    err = (struct error)ERROR_INIT;
    out = (struct stream)STREAM_INIT;
}

static void teardown(void)
{
    text_free(&out.text);
}

static const char run_text[] =
    "{\"run\":12,\"epochs\":[{\"epoch\":1,\"step\":10,\"partial\":false,\"lr\":0.1,"
    "\"grad_norm\":1.5,\"test_acc\":0.5,\"noise_scale\":1904.5},{\"epoch\":2,\"step\":20,"
    "\"partial\":true,\"test_acc\":null,"
    "\"train_loss\":1e-7}],"
    "\"points\":[{\"epoch\":0.5,\"step\":5,\"steps\":5,\"train_loss\":2.25}]}";

static struct run_view view;

static json_t *read_run(void)
{
    json_t *run = json_loads(run_text, 0, NULL);
    ck_assert_ptr_nonnull(run);
    return run;
}

START_TEST(tables_have_a_line_for_each_epoch_or_point)
{
    run_view_take(&view, read_run());
    ck_assert(run_csv_put(&view, 1, false, &out, &err));
    const char *text = text_cstr(&out.text);
    ck_assert_ptr_nonnull(strstr(text, "\n12,1,10,,0,,0.1,1.5,,,,0.5,,,,,,,,,,1904.5,,,0\n"
                                       "12,2,20,,1,,,,1e-07,,,,,,,,,,,,,,,,0\n"));
    ck_assert_int_eq(strncmp(text, "run,epoch,step,", 15), 0);
    text_free(&out.text);
    ck_assert(run_csv_put(&view, 1, true, &out, &err));
    ck_assert_str_eq(text_cstr(&out.text),
                     "run,epoch,step,steps,rows,train_loss,train_acc,samples_per_s,lr\n"
                     "12,0.5,5,5,,2.25,,,\n");
    run_view_free(&view);
}
END_TEST

/* Written row by row as jansson writes the whole. */
/* Written row by row as jansson writes the whole. */
START_TEST(json_is_that_of_the_whole_object)
{
    json_t *run = read_run();
    json_object_set_new(run, "spec", json_pack("{s:[s,s], s:{}}", "a", "two\nlines", "\\", "b"));
    json_object_set_new(run, "retunes", json_array());
    json_object_set_new(run, "events", json_pack("[{s:[]}]", "event"));
    run_view_take(&view, json_deep_copy(run));
    text_puts(&out.text, "[\n ");
    ck_assert(run_json_put(&view, 1, &out, &err));
    text_puts(&out.text, "\n]");
    json_t *read = json_loads(text_cstr(&out.text), 0, NULL);
    ck_assert(json_equal(json_array_get(read, 0), run));
    char *whole = json_dumps(read, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    ck_assert_str_eq(text_cstr(&out.text), whole);
    free(whole);
    json_decref(read);
    json_decref(run);
    run_view_free(&view);
}
END_TEST

START_TEST(curves_take_points_where_there_are_any)
{
    struct chart_point *points;
    int count;
    run_view_take(&view, read_run());
    ck_assert(run_metric_curve(run_metric_find("test_acc", &err), &view, &points, &count, &err));
    ck_assert_int_eq(count, 2);
    ck_assert_double_eq(points[0].y, 0.5);
    ck_assert(isnan(points[1].y));
    free(points);
    ck_assert(run_metric_curve(run_metric_find("train_loss", &err), &view, &points, &count, &err));
    ck_assert_int_eq(count, 1);
    ck_assert_double_eq(points[0].x, 0.5);
    free(points);
    ck_assert(run_metric_curve(run_metric_find("noise_scale", &err), &view, &points, &count, &err));
    ck_assert_int_eq(count, 2);
    ck_assert_double_eq(points[0].y, 1904.5);
    ck_assert(isnan(points[1].y));
    free(points);
    json_array_clear(view.live[STORE_POINTS]);
    ck_assert(run_metric_curve(run_metric_find("train_loss", &err), &view, &points, &count, &err));
    ck_assert_int_eq(count, 2);
    free(points);
    ck_assert_ptr_null(run_metric_find("tset_acc", &err));
    ck_assert_ptr_nonnull(strstr(err.text, "'test_acc'"));
    run_view_free(&view);
}
END_TEST

/* A curve of 100,000 points keeps its ends' places, its order and its extremes. */
START_TEST(long_curves_are_thinned_out)
{
    struct chart_point *points;
    int count;
    bool low = false, high = false;
    json_t *epochs = json_array();
    for (int i = 1; i <= 100000; i++) {
        double y = i == 31415 ? 0.01 : i == 27182 ? 0.99 : 0.5 + 0.1 * sin(i);
        json_array_append_new(epochs, i == 50000
                                          ? json_pack("{s:i, s:n}", "epoch", i, "test_acc")
                                          : json_pack("{s:i, s:f}", "epoch", i, "test_acc", y));
    }
    run_view_take(&view, json_pack("{s:i, s:o}", "run", 1, "epochs", epochs));
    ck_assert(run_metric_curve(run_metric_find("test_acc", &err), &view, &points, &count, &err));
    ck_assert_int_le(count, RUN_METRIC_POINTS);
    ck_assert_int_gt(count, RUN_METRIC_POINTS / 4);
    ck_assert_double_lt(points[0].x, 100);
    ck_assert_double_gt(points[count - 1].x, 99900);
    for (int i = 0; i < count; i++) {
        ck_assert(i == 0 || points[i].x > points[i - 1].x);
        ck_assert(!isnan(points[i].y));
        low |= points[i].y == 0.01;
        high |= points[i].y == 0.99;
    }
    ck_assert(low && high);
    free(points);
    run_view_free(&view);
}
END_TEST

/* How often a text occurs in the picture. */
static int count(const char *what)
{
    int found = 0;
    for (const char *at = text_cstr(&out.text); (at = strstr(at, what)); at += strlen(what))
        found++;
    return found;
}

START_TEST(a_gap_interrupts_a_curve)
{
    const struct chart_point points[] = {{1, 0.5}, {2, 0.6}, {3, NAN}, {4, 0.7}, {5, 0.75}};
    const struct svg_curve curve = {"a & b <c>\x01", points, 5};
    const struct svg_chart chart = {
        .title = "t", .x_label = "epoch", .top = 1, .curves = &curve, .count = 1};
    ck_assert(svg_chart_draw(&chart, &out.text, &err));
    ck_assert_int_eq(count("a &amp; b &lt;c&gt;\\x01"), 2); /* at the curve and in the legend */
    ck_assert_int_eq(count("<circle"), 4);
    ck_assert_int_eq(count("nan"), 0);
    const char *path = strstr(text_cstr(&out.text), "class=\"d0\" d=\"");
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
    ck_assert(svg_chart_draw(&chart, &out.text, &err));
    const char *at = text_cstr(&out.text);
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
    ck_assert(!svg_chart_draw(&chart, &out.text, &err));
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
        text_free(&out.text);
        ck_assert(svg_chart_draw(&chart, &out.text, &err));
        ck_assert_int_eq(count("nan") + count("inf"), 0);
        ck_assert_int_eq(count("</svg>"), 1);
        ck_assert_uint_lt(out.text.length, 20000);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("export");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, tables_have_a_line_for_each_epoch_or_point);
    tcase_add_test(tests, json_is_that_of_the_whole_object);
    tcase_add_test(tests, curves_take_points_where_there_are_any);
    tcase_add_test(tests, long_curves_are_thinned_out);
    tcase_add_test(tests, a_gap_interrupts_a_curve);
    tcase_add_test(tests, thirty_curves_look_different);
    tcase_add_test(tests, odd_curves_are_drawn);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
