/* SPDX-License-Identifier: MIT */
/* Comparisons of runs: the statistics, what they say, and the forms they are given out in. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/figures.h"
#include "output/svg_panel.h"
#include "study/print.h"
#include "tests/src/experiment/study_fixture.h"

static struct study_fixture at;
static struct study_measure measures[16];
static struct study_table table;
static char text[1000];

static void setup(void)
{
    study_fixture_begin(&at);
    memset(measures, 0, sizeof measures);
}

static void teardown(void)
{
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
        study_measure_free(&measures[i]);
    study_fixture_end(&at);
}

START_TEST(spreads_leave_out_what_is_not_known)
{
    double odd[] = {3, NAN, 1, INFINITY, 2}, even[] = {4, 1, 3, 2}, none[] = {NAN};
    struct study_spread spread = study_spread(odd, 5);
    ck_assert_int_eq(spread.count, 3);
    ck_assert_double_eq(spread.median, 2);
    ck_assert_double_eq(spread.low, 1);
    ck_assert_double_eq(spread.high, 3);
    ck_assert_double_eq(study_spread(even, 4).median, 2.5);
    ck_assert_double_eq(study_spread(even, 4).mean, 2.5);
    ck_assert_int_eq(study_spread(none, 1).count, 0);
    ck_assert(isnan(study_spread(none, 1).median) && isnan(study_spread(NULL, 0).mean));
}
END_TEST

/* A run object of epochs given as "seconds accuracy", each of 1000 rows in 10 steps on 2 devices
 * that compute 0.6 and sum 0.3 of the time. */
static json_t *run_object(const double (*epochs)[2], int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        double s = epochs[i][0];
        json_t *devices = json_array();
        for (int j = 0; j < 2; j++)
            json_array_append_new(devices,
                                  json_pack("{s:i, s:f, s:f, s:f, s:f}", "rows", 500,
                                            "samples_per_s", 500 / (0.6 * s), "compute_s", 0.6 * s,
                                            "sync_s", 0.3 * s, "wait_s", 0.1 * s));
        json_array_append_new(list,
                              json_pack("{s:b, s:i, s:i, s:f, s:f, s:f, s:o}", "partial", 0, "rows",
                                        1000, "steps", 10, "seconds", s, "samples_per_s", 1000 / s,
                                        "test_acc", epochs[i][1], "devices", devices));
    }
    return json_pack("{s:o, s:f, s:f}", "epochs", list, "started_at", 100.0, "ended_at", 130.0);
}

START_TEST(the_first_epoch_is_warm_up)
{
    static const double epochs[][2] = {{9, 0.3}, {2, 0.8}, {3, 0.9}, {4, 0.85}};
    json_t *object = run_object(epochs, 4);
    ck_assert(study_measure_run(object, 0.8, &measures[0], &at.err));
    ck_assert_int_eq((int)measures[0].samples, 3);
    ck_assert_int_eq(measures[0].warmup, WARMUP_EPOCH);
    ck_assert_double_eq(measures[0].median_s_per_epoch, 3);
    ck_assert_double_eq(measures[0].test_acc, 0.85);
    ck_assert_double_eq(measures[0].target_s, 11); /* the warm-up is part of that */
    ck_assert_double_eq(measures[0].wall_s, 30);
    ck_assert_double_eq_tol(measures[0].sync_share, 0.3, 1e-12);
    ck_assert_double_eq_tol(measures[0].wait_share, 0.1, 1e-12);
    ck_assert_double_eq_tol(measures[0].rows, 50, 1e-12);
    ck_assert(study_measure_run(object, 0.95, &measures[1], &at.err));
    ck_assert(isnan(measures[1].target_s));
    ck_assert(study_measure_run(object, NAN, &measures[2], &at.err));
    ck_assert(isnan(measures[2].target_s));
    json_decref(object);
}
END_TEST

START_TEST(of_a_single_epoch_the_first_steps_are_warm_up)
{
    static const double epochs[][2] = {{20, 0.5}};
    json_t *object = run_object(epochs, 1), *points = json_array();
    ck_assert(study_measure_run(object, NAN, &measures[0], &at.err));
    ck_assert_int_eq(measures[0].warmup, WARMUP_KEPT);
    ck_assert_double_eq(measures[0].samples_per_s[0], 50);
    /* The first step takes 11 seconds, the others one each. */
    for (int i = 1; i <= 10; i++)
        json_array_append_new(points,
                              json_pack("{s:i, s:i, s:i, s:f}", "step", i, "steps", 1, "rows", 100,
                                        "samples_per_s", i == 1 ? 100.0 / 11 : 100.0));
    json_object_set_new(object, "points", points);
    ck_assert(study_measure_run(object, NAN, &measures[1], &at.err));
    ck_assert_int_eq(measures[1].warmup, WARMUP_STEPS);
    ck_assert_double_eq_tol(measures[1].samples_per_s[0], 100, 1e-9);
    ck_assert_double_eq_tol(measures[1].s_per_epoch[0], 10, 1e-9);
    json_decref(object);
}
END_TEST

START_TEST(runs_without_epochs_measure_nothing)
{
    json_t *object = json_object();
    ck_assert(study_measure_run(object, 0.5, &measures[0], &at.err));
    ck_assert_int_eq((int)measures[0].samples, 0);
    ck_assert(isnan(measures[0].test_acc) && isnan(measures[0].target_s));
    ck_assert(isnan(measures[0].sync_share) && isnan(measures[0].median_s_per_epoch));
    json_decref(object);
}
END_TEST

/* A made-up measure of one entry. */
static void measure(int entry, double seconds, double sync, double wait, double device_rate)
{
    struct study_measure *made = &measures[entry];
    made->variant = at.study.entries[entry].variant;
    made->state = at.study.entries[entry].state = STUDY_DONE;
    made->samples = 1;
    made->s_per_epoch = calloc(1, sizeof(double));
    made->samples_per_s = calloc(1, sizeof(double));
    made->s_per_epoch[0] = seconds;
    made->samples_per_s[0] = 1000 / seconds;
    made->sync_share = sync;
    made->wait_share = wait;
    made->device_rate = device_rate;
    made->rows =
        (double)at.study.variants[made->variant].batch /
        (at.study.variants[made->variant].devices ? at.study.variants[made->variant].devices : 1);
    made->test_acc = 0.9;
    made->target_s = NAN;
    made->wall_s = seconds + 1;
}

static const char *sentence(void)
{
    ck_assert(study_tabulate(&at.study, measures, &table, &at.err));
    return study_sentence(&table, text, sizeof text);
}

START_TEST(speed_up_and_efficiency_are_against_the_fewest_devices)
{
    ck_assert(study_fixture_plan(&at, (struct study_wish){.counts = "4,2", .repeats = 3}));
    for (int repeat = 0; repeat < 3; repeat++) {
        measure(2 * repeat, 5 + repeat, 0, 0, 100);
        measure(2 * repeat + 1, 9 + repeat, 0, 0, 100);
    }
    sentence();
    ck_assert_int_eq(table.base, 1);
    ck_assert_int_eq(table.last, 0);
    ck_assert_double_eq(table.rows[0].s_per_epoch.median, 6);
    ck_assert_double_eq(table.rows[0].s_per_epoch.low, 5);
    ck_assert_double_eq(table.rows[0].s_per_epoch.high, 7);
    ck_assert_double_eq_tol(table.rows[0].speed_up, 10.0 / 6, 1e-12);
    ck_assert_double_eq_tol(table.rows[0].efficiency, 5.0 / 6, 1e-12);
    ck_assert_double_eq(table.rows[1].efficiency, 1);
    ck_assert_int_eq(table.rows[0].test_acc.count, 3);
    ck_assert_int_eq(table.rows[0].target_s.count, 0);
}
END_TEST

START_TEST(failed_and_missing_runs_are_counted_and_leave_the_rest)
{
    ck_assert(study_fixture_plan(&at, (struct study_wish){.counts = "1,2", .repeats = 2}));
    measure(0, 10, 0, 0, 100);
    for (int i = 1; i < 4; i++)
        measures[i] = (struct study_measure){.variant = i % 2, .test_acc = NAN, .wall_s = NAN};
    measures[1].state = at.study.entries[1].state = STUDY_FAILED;
    strcpy(at.study.entries[1].reason, "the loss is not a number");
    measures[2].state = at.study.entries[2].state = STUDY_DELETED;
    ck_assert_str_eq(sentence(), "");
    ck_assert_int_eq(table.rows[0].done, 1);
    ck_assert_int_eq(table.rows[0].missing, 1);
    ck_assert_int_eq(table.rows[1].failed, 1);
    ck_assert_int_eq(table.rows[1].missing, 1);
    ck_assert_str_eq(table.rows[1].reason, "the loss is not a number");
    ck_assert(isnan(table.rows[1].speed_up) && isnan(table.rows[1].s_per_epoch.median));
    ck_assert_int_eq(table.base, 0);
    ck_assert_int_eq(study_unfinished(&at.study), 2);
    /* With nothing done there is no base, and nothing to say. */
    study_measure_free(&measures[0]);
    measures[0].state = STUDY_STOPPED;
    ck_assert_str_eq(sentence(), "");
    ck_assert_int_eq(table.base, -1);
}
END_TEST

/* Each cause, from figures in which it is the one. */
START_TEST(the_sentence_names_what_limits)
{
    static const struct {
        double seconds, sync, wait, rate;
        int cores;
        const char *said;
    } cases[] = {
        {5.2, 0.01, 0.02, 100, 8, "96% efficient: nothing limits"},
        {8, 0.38, 0.02, 98, 8, "communication (38% of the devices' time"},
        {8, 0.02, 0.36, 99, 8, "devices wait for each other (36% of their time"},
        {8, 0.02, 0.02, 65, 8, "the batch is small for each device (128 rows, not 256"},
        {8, 0.02, 0.02, 65, 1, "devices share cores (2 threads of 2 CPU devices on 1 core"},
        {8, 0.22, 0.02, 80, 8, ", and the batch is small for each device"},
        {8, 0, 0, 100, 8, "do not say what limits it"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at.spec.cpu_threads = 1;
        ck_assert(
            study_fixture_plan(&at, (struct study_wish){.counts = "1,2", .cores = cases[i].cores}));
        measure(0, 10, 0, 0, 100);
        measure(1, cases[i].seconds, cases[i].sync, cases[i].wait, cases[i].rate);
        ck_assert_msg(strstr(sentence(), cases[i].said), "%zu: %s", i, text);
        study_measure_free(&measures[0]);
        study_measure_free(&measures[1]);
    }
}
END_TEST

START_TEST(the_sentence_tells_data_from_waiting_and_chance_from_gain)
{
    ck_assert(study_fixture_plan(&at, (struct study_wish){.counts = "1,2"}));
    measure(0, 10, 0, 0.3, 100);
    measure(1, 7.5, 0, 0.4, 99);
    ck_assert_msg(
        strstr(sentence(), "data (work between steps takes 30% of the time of one device"), "%s",
        text);
    ck_assert(!strstr(text, "may be chance"));
    study_measure_free(&measures[0]);
    study_measure_free(&measures[1]);
    ck_assert(study_fixture_plan(
        &at, (struct study_wish){.counts = "1,2", .scaling = COMPARE_GROWING, .repeats = 2}));
    measure(0, 10, 0, 0, 100);
    measure(1, 11, 0, 0, 60);
    measure(2, 12, 0, 0, 100);
    measure(3, 10, 0, 0, 60);
    ck_assert_msg(strstr(sentence(), "devices slow each other down"), "%s", text);
    ck_assert_msg(strstr(text, "may be chance"), "%s", text);
}
END_TEST

START_TEST(the_sentence_of_values_names_the_fastest_and_the_best)
{
    ck_assert(study_fixture_plan(&at, (struct study_wish){.batches = "64,128", .repeats = 2}));
    for (int i = 0; i < 4; i++) {
        measure(i, i % 2 ? 5 : 10, 0, 0, 100);
        measures[i].test_acc = i % 2 ? 0.80 + i / 100.0 : 0.90 + i / 100.0;
    }
    ck_assert_str_eq(sentence(), "batch 128 is the fastest: 200 samples/s; batch 64 is the most "
                                 "accurate: 0.910 in the mean of 2 seeds");
    ck_assert(isnan(table.rows[1].efficiency));
    ck_assert_double_eq(table.rows[1].speed_up, 2);
}
END_TEST

START_TEST(the_time_left_follows_from_what_is_done)
{
    ck_assert(study_fixture_plan(&at, (struct study_wish){.counts = "1,2", .repeats = 2}));
    for (int i = 0; i < 4; i++)
        measures[i] = (struct study_measure){.variant = i % 2, .wall_s = NAN};
    ck_assert(isnan(study_seconds_left(&at.study, measures, NAN)));
    at.study.entries[0].state = STUDY_RUNNING;
    ck_assert_double_eq(study_seconds_left(&at.study, measures, 10), 40);
    measure(0, 9, 0, 0, 100); /* ten seconds of the clock */
    ck_assert_double_eq(study_seconds_left(&at.study, measures, NAN), 30);
    measure(1, 5, 0, 0, 100);
    ck_assert_double_eq(study_seconds_left(&at.study, measures, NAN), 16);
    at.study.entries[2].state = STUDY_RUNNING;
    ck_assert_double_eq(study_seconds_left(&at.study, measures, 2), 8);
    at.study.entries[2].state = at.study.entries[3].state = STUDY_FAILED;
    ck_assert_double_eq(study_seconds_left(&at.study, measures, NAN), 0);
}
END_TEST

START_TEST(exports_hold_what_is_known)
{
    struct text out = TEXT_INIT;
    ck_assert(study_fixture_plan(&at, (struct study_wish){.counts = "1,2", .repeats = 1}));
    strcpy(at.study.variants[0].label, "a \"b\" & <c>");
    measure(0, 10, 0, 0, 100);
    measures[1] = (struct study_measure){.variant = 1, .test_acc = NAN, .target_s = NAN};
    sentence();
    study_table_csv(&table, &out);
    ck_assert_ptr_nonnull(strstr(text_cstr(&out),
                                 "\n\"a \"\"b\"\" & <c>\",1,256,0.1,1,0,0,10,10,10,"
                                 "100,100,100,1,1,"));
    ck_assert_ptr_nonnull(strstr(text_cstr(&out), "\n\"2 devices\",2,256,0.1,0,0,1,,,,,,,,,"));
    text_free(&out);
    json_t *object = study_table_json(&table, measures);
    ck_assert_ptr_nonnull(object);
    ck_assert(json_is_null(
        json_object_get(json_array_get(json_object_get(object, "rows"), 1), "speed_up")));
    json_decref(object);
    at.study.lists = true;
    study_table_svg(&table, &out);
    ck_assert_ptr_nonnull(strstr(text_cstr(&out), "a \"b\" &amp; &lt;c&gt;"));
    ck_assert_ptr_null(strstr(text_cstr(&out), "nan"));
    ck_assert_ptr_null(strstr(text_cstr(&out), "inf"));
    text_free(&out);
}
END_TEST

START_TEST(pictures_take_any_text_and_any_figures)
{
    static const double x[] = {1, 2, 3, NAN, 5}, y[] = {1e9, NAN, -1e9, 2, INFINITY};
    struct text out = TEXT_INIT;
    static const char *const names[] = {"1", "2", "3", "4", "5"};
    const struct svg_series series[] = {
        {.name = "\xff\x01 \xc3\xa4 \xed\xa0\x80", .x = x, .y = y, .low = y, .high = y},
        {.name = "guide", .x = x, .y = y, .index = SVG_GUIDE}};
    struct svg_panel panel = {.title = "t",
                              .x_label = "x",
                              .y_label = "y",
                              .series = series,
                              .series_count = 2,
                              .count = 3,
                              .places = x,
                              .names = names};
    svg_begin(&out, 100, 100, "t");
    svg_panel_draw(&out, &panel, 0, 0, 100, 100);
    panel.series_count = 0;
    svg_panel_draw(&out, &panel, 0, 0, 100, 100);
    panel.count = 0;
    svg_panel_draw(&out, &panel, 0, 0, 100, 100);
    svg_end(&out);
    const char *made = text_cstr(&out);
    ck_assert_ptr_nonnull(strstr(made, ">\\xff\\x01 \xc3\xa4 \\xed\\xa0\\x80<"));
    ck_assert_ptr_null(strstr(made, "nan"));
    ck_assert_ptr_null(strstr(made, "inf"));
    text_free(&out);
}
END_TEST

Suite *study_figures_suite(void)
{
    const TTest *const tests[] = {
        spreads_leave_out_what_is_not_known,
        the_first_epoch_is_warm_up,
        of_a_single_epoch_the_first_steps_are_warm_up,
        runs_without_epochs_measure_nothing,
        speed_up_and_efficiency_are_against_the_fewest_devices,
        failed_and_missing_runs_are_counted_and_leave_the_rest,
        the_sentence_names_what_limits,
        the_sentence_tells_data_from_waiting_and_chance_from_gain,
        the_sentence_of_values_names_the_fastest_and_the_best,
        the_time_left_follows_from_what_is_done,
        exports_hold_what_is_known,
        pictures_take_any_text_and_any_figures,
    };
    Suite *suite = suite_create("study figures");
    TCase *cases = tcase_create("study figures");
    tcase_add_checked_fixture(cases, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(suite, cases);
    return suite;
}
