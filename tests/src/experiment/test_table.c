/* SPDX-License-Identifier: MIT */
/* Comparisons of runs: the statistics, what they say, and their output formats. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/sentence.h"
#include "output/svg_panel.h"
#include "study/export.h"
#include "tests/src/experiment/study_fixture.h"

static struct study_fixture at;
static struct study_run runs[16];
static struct study_table table;
static char text[1000];

static void setup(void)
{
    study_fixture_begin(&at);
    memset(runs, 0, sizeof runs);
}

static void teardown(void)
{
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        measure_free(&runs[i].measure);
    study_fixture_end(&at);
}

START_TEST(spreads_leave_out_what_is_not_known)
{
    double odd[] = {3, NAN, 1, INFINITY, 2}, even[] = {4, 1, 3, 2}, none[] = {NAN};
    struct spread spread = spread_of(odd, 5);
    ck_assert_int_eq(spread.count, 3);
    ck_assert_double_eq(spread.median, 2);
    ck_assert_double_eq(spread.low, 1);
    ck_assert_double_eq(spread.high, 3);
    ck_assert_double_eq(spread_of(even, 4).median, 2.5);
    ck_assert_double_eq(spread_of(even, 4).mean, 2.5);
    ck_assert_int_eq(spread_of(none, 1).count, 0);
    ck_assert(isnan(spread_of(none, 1).median) && isnan(spread_of(NULL, 0).mean));
}
END_TEST

/* Events of epochs given as "seconds accuracy", each of 1000 rows in 10 steps on 2 devices
 * that compute 0.6 and all-reduce 0.3 of the time. */
static json_t *epoch_events(const double (*epochs)[2], int count)
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
        json_array_append_new(list, json_pack("{s:i, s:b, s:i, s:i, s:f, s:f, s:f, s:o}", "epoch",
                                              i + 1, "partial", 0, "rows", 1000, "steps", 10,
                                              "seconds", s, "samples_per_s", 1000 / s, "test_acc",
                                              epochs[i][1], "devices", devices));
    }
    return list;
}

/* What a run with these epochs measured. */
static struct outcome read_outcome(const double (*epochs)[2], int count)
{
    const struct measure *measure = &runs[0].measure;
    struct outcome outcome;
    json_t *events = epoch_events(epochs, count);
    ck_assert(measure_read(&runs[0].measure, events, &at.err));
    /* The newest one came as an event, too. */
    if (count > 0)
        ck_assert(
            measure_add(&runs[0].measure, json_array_get(events, (size_t)(count - 1)), &at.err));
    ck_assert_int_eq(measure->count, count);
    ck_assert(outcome_make(&outcome, &measure, 1, NAN, &at.err));
    json_decref(events);
    return outcome;
}

START_TEST(the_first_epoch_is_warm_up)
{
    static const double epochs[][2] = {{9, 0.3}, {2, 0.8}, {3, 0.9}, {4, 0.85}};
    struct outcome outcome = read_outcome(epochs, 4);
    ck_assert_int_eq(outcome.s_per_epoch.count, 3);
    ck_assert(!outcome.warm_up);
    ck_assert_double_eq(outcome.s_per_epoch.median, 3);
    ck_assert_double_eq(outcome.samples_per_s.median, 1000.0 / 3);
    ck_assert_double_eq(outcome.test_acc.mean, 0.85);
    ck_assert_double_eq(outcome.epochs, 4);
    ck_assert_double_eq_tol(outcome.sync_share, 0.3, 1e-12);
    ck_assert_double_eq_tol(outcome.wait_share, 0.1, 1e-12);
    ck_assert_double_eq_tol(outcome.rows, 50, 1e-12);
    /* The warm-up is part of the time to an accuracy. */
    ck_assert_double_eq(measure_seconds_to(&runs[0].measure, 0.8), 11);
    ck_assert(isnan(measure_seconds_to(&runs[0].measure, 0.95)));
    ck_assert(isnan(measure_seconds_to(&runs[0].measure, NAN)));
}
END_TEST

START_TEST(a_single_epoch_counts_and_is_marked)
{
    static const double epochs[][2] = {{20, 0.5}, {7, 0.6}};
    struct outcome outcome = read_outcome(epochs, 1);
    ck_assert_int_eq(outcome.s_per_epoch.count, 1);
    ck_assert_double_eq(outcome.samples_per_s.median, 50);
    ck_assert(outcome.warm_up);
    /* One that is cut short does not count, unless it is all there is. */
    outcome = read_outcome(epochs, 2);
    ck_assert_double_eq(outcome.s_per_epoch.median, 7);
    runs[0].measure.epochs[1].partial = true;
    ck_assert(measure_counts(&runs[0].measure, 0) && !measure_counts(&runs[0].measure, 1));
    ck_assert(measure_is_warm_up(&runs[0].measure));
    runs[0].measure.epochs[0].partial = true;
    ck_assert(measure_counts(&runs[0].measure, 0) && !measure_counts(&runs[0].measure, 1));
}
END_TEST

START_TEST(runs_without_epochs_measure_nothing)
{
    struct outcome outcome = read_outcome(NULL, 0);
    ck_assert_int_eq(outcome.s_per_epoch.count, 0);
    ck_assert(isnan(outcome.test_acc.mean) && isnan(outcome.epochs));
    ck_assert(isnan(outcome.sync_share) && isnan(outcome.samples_per_s.median));
    ck_assert(isnan(measure_seconds_to(&runs[0].measure, 0.5)));
}
END_TEST

/* A made-up run of one entry: a first epoch that is warm-up, and one that counts. */
static void measure(int entry, double seconds, double sync, double wait, double device_rate)
{
    struct study_run *made = &runs[entry];
    const struct study_variant *variant =
        &at.study.variants[made->variant = at.study.entries[entry].variant];
    int devices = variant->devices > 0 ? variant->devices : 1;
    made->state = at.study.entries[entry].state = STUDY_DONE;
    made->wall_s = seconds + 1;
    made->measure.count = made->measure.capacity = 2;
    made->measure.epochs = calloc(2, sizeof *made->measure.epochs);
    for (int i = 0; i < 2; i++)
        made->measure.epochs[i] = (struct measured_epoch){.epoch = i + 1,
                                                          .seconds = i > 0 ? seconds : 99,
                                                          .samples_per_s = 1000 / seconds,
                                                          .test_acc = 0.9,
                                                          .device_s = devices * seconds,
                                                          .sync_s = devices * seconds * sync,
                                                          .wait_s = devices * seconds * wait,
                                                          .device_rate = device_rate,
                                                          .rows = (double)variant->batch / devices};
}

static const char *sentence(void)
{
    ck_assert(study_tabulate(&at.study, runs, &table, &at.err));
    return sentence_of_study(&table, text, sizeof text);
}

START_TEST(speed_up_and_efficiency_are_against_the_fewest_devices)
{
    ck_assert(study_fixture_plan(
        &at, (struct study_request){.counts = "4,2", .repeats = 3, .target_acc = 0.95}));
    for (int repeat = 0; repeat < 3; repeat++) {
        measure(2 * repeat, 5 + repeat, 0, 0, 100);
        measure(2 * repeat + 1, 9 + repeat, 0, 0, 100);
    }
    sentence();
    ck_assert_int_eq(table.base, 1);
    ck_assert_int_eq(table.last, 0);
    ck_assert_double_eq(table.rows[0].outcome.s_per_epoch.median, 6);
    ck_assert_double_eq(table.rows[0].outcome.s_per_epoch.low, 5);
    ck_assert_double_eq(table.rows[0].outcome.s_per_epoch.high, 7);
    ck_assert_double_eq_tol(table.rows[0].outcome.speed_up, 10.0 / 6, 1e-12);
    ck_assert_double_eq_tol(table.rows[0].outcome.efficiency, 5.0 / 6, 1e-12);
    ck_assert_double_eq(table.rows[1].outcome.efficiency, 1);
    ck_assert_int_eq(table.rows[0].outcome.test_acc.count, 3);
    ck_assert_int_eq(table.rows[0].outcome.target_s.count, 0);
}
END_TEST

START_TEST(failed_and_missing_runs_are_counted_and_leave_the_rest)
{
    ck_assert(study_fixture_plan(&at, (struct study_request){.counts = "1,2", .repeats = 2}));
    measure(0, 10, 0, 0, 100);
    for (int i = 1; i < 4; i++)
        runs[i] = (struct study_run){.variant = i % 2, .wall_s = NAN};
    runs[1].state = at.study.entries[1].state = STUDY_FAILED;
    strcpy(at.study.entries[1].reason, "the loss is not a number");
    runs[2].state = at.study.entries[2].state = STUDY_DELETED;
    ck_assert_str_eq(sentence(), "");
    ck_assert_int_eq(table.rows[0].done, 1);
    ck_assert_int_eq(table.rows[0].missing, 1);
    ck_assert_int_eq(table.rows[1].failed, 1);
    ck_assert_int_eq(table.rows[1].missing, 1);
    ck_assert(isnan(table.rows[1].outcome.speed_up) &&
              isnan(table.rows[1].outcome.s_per_epoch.median));
    ck_assert_int_eq(table.base, 0);
    ck_assert_int_eq(study_unfinished(&at.study), 2);
    /* With nothing done there is no base, and nothing to say. */
    measure_free(&runs[0].measure);
    runs[0].state = STUDY_STOPPED;
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
        {5.2, 0.01, 0.02, 100, 8, "96% efficient, the same test accuracy; nothing limits"},
        {8, 0.38, 0.02, 98, 8, "all-reduce (38% of the devices' time"},
        {8, 0.02, 0.36, 99, 8, "devices that wait for each other (36% of their time"},
        {8, 0.02, 0.02, 65, 8, "small batches per device (128 rows, not 256"},
        {8, 0.02, 0.02, 65, 1, "devices that share cores (2 threads of 2 CPU devices on 1 core"},
        {8, 0.22, 0.02, 80, 8, ", and by small batches per device"},
        {8, 0, 0, 100, 8, "do not say what limits it"},
        {8, 0.38, 0.02, 98, 1, "; the devices share cores: 2 threads on 1 core"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at.spec.cpu_threads = 1;
        ck_assert(study_fixture_plan(
            &at, (struct study_request){.counts = "1,2", .cores = cases[i].cores}));
        measure(0, 10, 0, 0, 100);
        measure(1, cases[i].seconds, cases[i].sync, cases[i].wait, cases[i].rate);
        ck_assert_msg(strstr(sentence(), cases[i].said), "%zu: %s", i, text);
        measure_free(&runs[0].measure);
        measure_free(&runs[1].measure);
    }
    at.study.variants[1].cpus = 1; /* the other device is a GPU */
    measure(0, 10, 0, 0, 100);
    measure(1, 8, 0.02, 0.02, 65);
    ck_assert_msg(strstr(sentence(), "threads of 1 CPU device on 1 core: "), "%s", text);
    measure_free(&runs[0].measure);
    measure_free(&runs[1].measure);
}
END_TEST

START_TEST(the_sentence_tells_input_from_waiting_and_chance_from_gain)
{
    ck_assert(study_fixture_plan(&at, (struct study_request){.counts = "1,2"}));
    measure(0, 10, 0, 0.3, 100);
    measure(1, 7.5, 0, 0.4, 99);
    ck_assert_msg(
        strstr(sentence(), "input (work between steps takes 30% of the time of one device"), "%s",
        text);
    ck_assert(!strstr(text, "may be chance"));
    measure_free(&runs[0].measure);
    measure_free(&runs[1].measure);
    ck_assert(study_fixture_plan(
        &at, (struct study_request){.counts = "1,2", .scaling = SCALING_WEAK, .repeats = 2}));
    measure(0, 10, 0, 0, 100);
    measure(1, 11, 0, 0, 60);
    measure(2, 12, 0, 0, 100);
    measure(3, 10, 0, 0, 60);
    ck_assert_msg(strstr(sentence(), "shared memory, caches or power"), "%s", text);
    ck_assert_msg(strstr(text, "may be chance"), "%s", text);
}
END_TEST

START_TEST(the_sentence_of_values_names_the_fastest_and_the_best)
{
    ck_assert(study_fixture_plan(
        &at, (struct study_request){.settings = {{"batch", "64,128"}}, .repeats = 2}));
    for (int i = 0; i < 4; i++) {
        measure(i, i % 2 ? 5 : 10, 0, 0, 100);
        runs[i].measure.epochs[1].test_acc = i % 2 ? 0.80 + i / 100.0 : 0.90 + i / 100.0;
    }
    ck_assert_str_eq(sentence(), "batch 128 is the fastest: 200 samples/s; batch 64 is the most "
                                 "accurate: 0.910 in the mean of 2 seeds");
    ck_assert(isnan(table.rows[1].outcome.efficiency));
    ck_assert_double_eq(table.rows[1].outcome.speed_up, 2);
}
END_TEST

START_TEST(the_time_left_follows_from_what_is_done)
{
    ck_assert(study_fixture_plan(&at, (struct study_request){.counts = "1,2", .repeats = 2}));
    for (int i = 0; i < 4; i++)
        runs[i] = (struct study_run){.variant = i % 2, .wall_s = NAN};
    ck_assert(isnan(study_seconds_left(&at.study, runs, NAN)));
    at.study.entries[0].state = STUDY_RUNNING;
    ck_assert_double_eq(study_seconds_left(&at.study, runs, 10), 40);
    measure(0, 9, 0, 0, 100); /* ten seconds of the clock */
    ck_assert_double_eq(study_seconds_left(&at.study, runs, NAN), 30);
    measure(1, 5, 0, 0, 100);
    ck_assert_double_eq(study_seconds_left(&at.study, runs, NAN), 16);
    at.study.entries[2].state = STUDY_RUNNING;
    ck_assert_double_eq(study_seconds_left(&at.study, runs, 2), 8);
    at.study.entries[2].state = at.study.entries[3].state = STUDY_FAILED;
    ck_assert_double_eq(study_seconds_left(&at.study, runs, NAN), 0);
}
END_TEST

START_TEST(exports_hold_what_is_known)
{
    struct text out = TEXT_INIT;
    ck_assert(study_fixture_plan(&at, (struct study_request){.counts = "1,2", .repeats = 1}));
    strcpy(at.study.variants[0].label, "a \"b\" & <c>");
    measure(0, 10, 0, 0, 100);
    runs[1] = (struct study_run){.variant = 1};
    sentence();
    study_table_csv(&table, &out);
    ck_assert_ptr_nonnull(strstr(text_cstr(&out),
                                 "\n\"a \"\"b\"\" & <c>\",1,256,0.1,1,0,0,10,10,10,"
                                 "100,100,100,1,1,"));
    ck_assert_ptr_nonnull(strstr(text_cstr(&out), "\n\"2 devices\",2,256,0.1,0,0,1,,,,,,,,,"));
    text_free(&out);
    json_t *object = study_table_json(&table, runs);
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

START_TEST(exports_of_a_grid_have_its_settings)
{
    struct text out = TEXT_INIT;
    ck_assert(study_fixture_plan(
        &at,
        (struct study_request){.settings = {{"optimizer", "sgd,adam"}, {"batch", "64,128,256"}}}));
    for (int i = 0; i < 6; i++)
        measure(i, 10 + i, 0, 0, 100);
    sentence();
    study_table_csv(&table, &out);
    ck_assert_ptr_nonnull(strstr(text_cstr(&out), "label,devices,batch,lr,optimizer,done,"));
    ck_assert_ptr_nonnull(strstr(
        text_cstr(&out), "\n\"optimizer adam, batch 128\",,128,0.1,\"adam\",1,0,0,14,14,14,"));
    text_free(&out);
    json_t *object = study_table_json(&table, runs);
    ck_assert_str_eq(json_string_value(json_object_get(object, "kind")), "optimizer,batch");
    json_decref(object);
    /* The batches are the axis, and each optimizer is a line in both panels. */
    study_table_svg(&table, &out);
    const char *picture = text_cstr(&out);
    static const char *const there[] = {">optimizer sgd<", ">optimizer adam<", ">batch<", ">256<"};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++) {
        const char *first = strstr(picture, there[i]);
        ck_assert_msg(first && strstr(first + 1, there[i]), "%s", there[i]);
    }
    ck_assert_ptr_null(strstr(picture, "nan"));
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

Suite *study_table_suite(void)
{
    const TTest *const tests[] = {
        spreads_leave_out_what_is_not_known,
        the_first_epoch_is_warm_up,
        a_single_epoch_counts_and_is_marked,
        runs_without_epochs_measure_nothing,
        speed_up_and_efficiency_are_against_the_fewest_devices,
        failed_and_missing_runs_are_counted_and_leave_the_rest,
        the_sentence_names_what_limits,
        the_sentence_tells_input_from_waiting_and_chance_from_gain,
        the_sentence_of_values_names_the_fastest_and_the_best,
        the_time_left_follows_from_what_is_done,
        exports_hold_what_is_known,
        exports_of_a_grid_have_its_settings,
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
