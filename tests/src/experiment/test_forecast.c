/* SPDX-License-Identifier: MIT */
/* What `compare --predict` foresees from the made-up runs of a study, and what it refuses. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "experiment/series.h"
#include "spec/set.h"
#include "study/forecast.h"
#include "tests/src/experiment/study_fixture.h"

enum { RUNS = 8, EPOCHS = 3 };

static struct study_fixture at;
static struct study_run runs[RUNS];
static struct study_table table;
static struct study_forecast asked;
static char text[500];

static void setup(void)
{
    study_fixture_begin(&at);
    memset(runs, 0, sizeof runs);
    at.spec.cpu_threads = 1;
}

static void teardown(void)
{
    for (int i = 0; i < RUNS; i++)
        measure_free(&runs[i].measure);
    study_fixture_end(&at);
}

/* On devices without a link of their own: computing, sums of 4 MB, and what is between steps. */
static double compute_s(double rows)
{
    return 1e-3 + 1e-4 * rows;
}

static double sync_s(int devices)
{
    return devices > 1 ? 2.0 * (devices - 1) / devices * 1e-3 : 0;
}

static double step_s(int devices, double rows)
{
    return compute_s(rows) + sync_s(devices) + 5e-4;
}

/* 100 steps an epoch with 256 rows; `factors` of the epochs' times, of which the first is warm-up.
 */
static void measure(int entry, const double factors[EPOCHS])
{
    struct study_run *run = &runs[entry];
    const struct study_variant *variant =
        &at.study.variants[run->variant = at.study.entries[entry].variant];
    const double rows = (double)variant->batch / variant->devices;
    const double steps = 25600.0 / (double)variant->batch;
    run->state = at.study.entries[entry].state = STUDY_DONE;
    run->measure.gradient_bytes = 4e6;
    run->measure.count = run->measure.capacity = EPOCHS;
    run->measure.epochs = calloc(EPOCHS, sizeof *run->measure.epochs);
    for (int i = 0; i < EPOCHS; i++) {
        const double part = steps * factors[i] * variant->devices;
        run->measure.epochs[i] = (struct measured_epoch){
            .epoch = i + 1,
            .seconds = part / variant->devices * step_s(variant->devices, rows),
            .device_s = part * step_s(variant->devices, rows),
            .sync_s = part * sync_s(variant->devices),
            .wait_s = part * 5e-4,
            .device_rate = rows / compute_s(rows),
            .rows = rows};
        run->measure.epochs[i].samples_per_s = 25600 / run->measure.epochs[i].seconds;
    }
}

static const double even[EPOCHS] = {9, 1, 1};

static void measure_all(void)
{
    for (int i = 0; i < at.study.entry_count; i++)
        measure(i, even);
}

static bool ask(const char *counts, const char *link)
{
    at.err = (struct error)ERROR_INIT;
    return study_forecast_read(&asked, counts, link, &at.err);
}

static bool foresee(const char *counts, const char *link)
{
    return ask(counts, link) && study_forecast_check(&asked, &at.study, &at.err) &&
           study_tabulate(&at.study, runs, &table, &at.err) &&
           study_forecast_make(&asked, &table, &at.err);
}

static void check_forecast(int which, int devices, double batch)
{
    const struct outcome *outcome = &asked.forecasts[which].outcome;
    const double step = step_s(devices, batch / devices), rate = batch / step;
    ck_assert_int_eq(outcome->devices, devices);
    ck_assert_double_eq(asked.forecasts[which].batch, batch);
    ck_assert_double_eq_tol(outcome->samples_per_s.median, rate, 0.05 * rate);
    ck_assert_double_eq_tol(outcome->s_per_epoch.median, 25600 / rate, 0.05 * 25600 / rate);
    ck_assert_double_le(outcome->samples_per_s.low, rate);
    ck_assert_double_ge(outcome->samples_per_s.high, rate);
    ck_assert_double_eq_tol(outcome->sync_share, sync_s(devices) / step, 0.05);
    ck_assert_double_eq_tol(outcome->speed_up, rate * step_s(1, 256) / 256, 0.05 * devices);
    ck_assert_double_eq_tol(outcome->efficiency, outcome->speed_up / devices, 1e-12);
}

START_TEST(strong_scaling_is_foreseen)
{
    ck_assert(study_fixture_plan(&at, (struct study_request){.counts = "1,2,4"}));
    measure_all();
    ck_assert_msg(foresee("8", NULL), "%s", at.err.text);
    check_forecast(0, 8, 256);
    ck_assert_int_eq(asked.forecasts[0].limit, CAUSE_SYNC);
    ck_assert_str_eq(
        forecast_sentence(&asked.basis, &asked.forecasts[0], text, sizeof text),
        "Predicted for 8 devices: 0.65 s/epoch (0.61-0.69), 4.20x, efficiency 53%; all-reduce "
        "limits");
    ck_assert_str_eq(
        forecast_assumptions(&asked.basis, text, sizeof text),
        "Assumes that all devices are alike and compute as fast as in the measured runs, however "
        "many there are, and that all-reduce is a ring with the latency and bandwidth that these "
        "runs had, after the backward pass");
}
END_TEST

/* No cause is named that a measured run would not be told to have. */
START_TEST(what_scales_well_has_no_limit)
{
    ck_assert(device_list_parse("cpu:0", &at.spec.devices, &at.err));
    ck_assert(study_fixture_plan(&at, (struct study_request){.settings = {{"batch", "128,256"}}}));
    measure_all();
    /* Windows may say another rate than epochs, as on a busy machine. */
    for (int i = 0; i < EPOCHS; i++)
        runs[1].measure.epochs[i].device_rate *= 1.2;
    ck_assert_msg(foresee("2", "40GB/s"), "%s", at.err.text);
    ck_assert_int_eq(asked.forecasts[0].limit, CAUSES);
    ck_assert_ptr_nonnull(
        strstr(forecast_sentence(&asked.basis, &asked.forecasts[0], text, sizeof text),
               "; nothing limits"));
    ck_assert_double_eq_tol(asked.forecasts[0].outcome.device_rate, 1.2 * 128 / compute_s(128), 1);
}
END_TEST

START_TEST(weak_scaling_is_foreseen)
{
    ck_assert(
        study_fixture_plan(&at, (struct study_request){.counts = "2,1", .scaling = SCALING_WEAK}));
    measure_all();
    ck_assert_msg(foresee("4,8", NULL), "%s", at.err.text);
    check_forecast(0, 4, 1024);
    check_forecast(1, 8, 2048);
    ck_assert_int_eq(asked.forecasts[1].limit, CAUSES);
    ck_assert(isnan(forecast_reach(&asked.basis, &asked.forecasts[1]).sooner));
}
END_TEST

/* The noise of the one that measured it is that of all. */
START_TEST(larger_batches_take_more_epochs)
{
    ck_assert(
        study_fixture_plan(&at, (struct study_request){.counts = "1,2", .scaling = SCALING_WEAK}));
    measure_all();
    for (int i = 0; i < EPOCHS; i++)
        runs[1].measure.epochs[i].noise = 1536;
    ck_assert_msg(foresee("8", NULL), "%s", at.err.text);
    const struct noise_reach reach = forecast_reach(&asked.basis, &asked.forecasts[0]);
    ck_assert_double_eq_tol(reach.faster, asked.forecasts[0].outcome.speed_up, 1e-12);
    ck_assert_double_eq_tol(reach.epochs, (2048.0 + 1536) / (256 + 1536), 1e-12);
    ck_assert_ptr_nonnull(
        strstr(forecast_reach_sentence(&asked.basis, &asked.forecasts[0], text, sizeof text),
               " per epoch, 2.0 times the epochs: "));
    json_t *object = study_forecast_put(&asked, json_object());
    const json_t *first = json_array_get(json_object_get(object, "predictions"), 0);
    ck_assert_double_eq_tol(member_number(json_object_get(first, "to_accuracy"), "times"),
                            reach.sooner, 1e-12);
    json_decref(object);
}
END_TEST

/* A number that was measured is predicted from the others, to see how good that is. */
START_TEST(what_was_measured_is_predicted_without_it)
{
    ck_assert(study_fixture_plan(&at, (struct study_request){.counts = "1,2,4,8"}));
    for (int i = 0; i < 4; i++)
        measure(i, i == 2 ? (const double[]){9, 3, 3} : even);
    ck_assert_msg(foresee("4", NULL), "%s", at.err.text);
    check_forecast(0, 4, 256);
}
END_TEST

START_TEST(two_batches_of_one_device_and_a_link_are_enough)
{
    ck_assert(device_list_parse("cpu:0", &at.spec.devices, &at.err));
    ck_assert(study_fixture_plan(&at, (struct study_request){.settings = {{"batch", "128,256"}}}));
    measure_all();
    /* 4 MB at 4 GB/s are the 1 ms of sync_s. */
    ck_assert_msg(foresee("2,4", "4GB/s"), "%s", at.err.text);
    check_forecast(0, 2, 256);
    check_forecast(1, 4, 256);
    ck_assert_ptr_nonnull(strstr(forecast_assumptions(&asked.basis, text, sizeof text),
                                 "a ring that sums 4.00MB at 4.00GB/s, after"));
    ck_assert(!foresee("2", NULL));
    ck_assert_ptr_nonnull(strstr(at.err.text, "give --link"));
}
END_TEST

/* Hosts are counted, and their network was measured. */
START_TEST(hosts_are_foreseen)
{
    ck_assert(study_fixture_plan(
        &at, (struct study_request){
                 .lists = "h1/cpu:0-1;h1/cpu:0-1,h2/cpu:0-1;h1/cpu:0-1,h2/cpu:0-1,h3/cpu:0-1,"
                          "h4/cpu:0-1",
                 .scaling = SCALING_WEAK,
                 .cores = 2}));
    measure_all();
    for (int i = 1; i < 3; i++)
        for (int j = 0; j < EPOCHS; j++) {
            struct measured_epoch *epoch = &runs[i].measure.epochs[j];
            epoch->network_s = epoch->seconds / 4;
            epoch->network_bytes = 4e6;
            epoch->network_steps = 100;
        }
    ck_assert_msg(foresee("8", NULL), "%s", at.err.text);
    ck_assert_int_eq(asked.forecasts[0].outcome.devices, 16);
    ck_assert_double_eq(asked.forecasts[0].batch, 4096);
    ck_assert(asked.forecasts[0].outcome.speed_up > 4);
    ck_assert_ptr_nonnull(strstr(
        forecast_sentence(&asked.basis, &asked.forecasts[0], text, sizeof text), "for 8 hosts: "));
}
END_TEST

START_TEST(noise_makes_the_range_wider)
{
    double width[2];
    for (int noisy = 0; noisy < 2; noisy++) {
        ck_assert(study_fixture_plan(&at, (struct study_request){.counts = "1,2,4"}));
        for (int i = 0; i < 3; i++) {
            measure_free(&runs[i].measure);
            measure(i, noisy ? (const double[]){9, 1.1, 0.9} : even);
        }
        ck_assert_msg(foresee("8", NULL), "%s", at.err.text);
        const struct spread *seconds = &asked.forecasts[0].outcome.s_per_epoch;
        width[noisy] = seconds->high / seconds->low;
        check_forecast(0, 8, 256);
    }
    ck_assert_double_gt(width[1], 1.5 * width[0]);
}
END_TEST

/* Before anything is trained. */
START_TEST(what_cannot_be_foreseen_is_refused)
{
    const struct {
        struct study_request request;
        const char *counts, *said;
    } cases[] = {
        {{.counts = "1"}, "4", "train on another number of devices, too"},
        {{.counts = "1,2"}, "2", "--devices cpu:0 --cpu-threads 1 --batch 128,256 --link 10GB/s"},
        {{.lists = "cuda:0"}, "2", "--devices cuda:0 --batch 128,256 --link 450GB/s"},
        {{.counts = "1", .scaling = SCALING_WEAK},
         "2",
         "was measured: give --link, such as 10GB/s"},
        {{.counts = "2,4", .scaling = SCALING_WEAK}, "8", NULL},
        {{.counts = "2", .scaling = SCALING_WEAK}, "8", "train on 1 device, too"},
        {{.counts = "1", .scaling = SCALING_WEAK}, "8", "or give --link"},
        {{.counts = "1,2"}, "4,16", "16: as many CPU devices would share 8 cores: predict 8 at"},
        {{.counts = "1,2", .cores = 2}, "4", "share 2 cores: predict 2 at most"},
        {{.lists = "cuda:0;cpu:0"}, "4", "the devices of the runs differ"},
        {{.lists = "cuda:0;cuda:0-1"}, "64", NULL},
        {{.settings = {{"lr", "0.1,0.2"}}}, "4", "let nothing else vary"},
        {{.settings = {{"batch", "64,128"}}}, "4", "name them"},
        {{.counts = "2", .strategies = "data,pipeline"}, "4", "is for strategy data"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_msg(study_fixture_plan(&at, cases[i].request), "%zu: %s", i, at.err.text);
        const bool ok =
            ask(cases[i].counts, NULL) && study_forecast_check(&asked, &at.study, &at.err);
        ck_assert_msg(ok == !cases[i].said, "%zu: %s", i, at.err.text);
        ck_assert_msg(!cases[i].said || strstr(at.err.text, cases[i].said), "%zu: %s", i,
                      at.err.text);
        ck_assert(ok || at.err.kind == ERROR_USAGE);
    }
    at.spec.cpu_threads = 4;
    ck_assert(study_fixture_plan(&at, (struct study_request){.counts = "1,2"}));
    ck_assert(ask("4", NULL) && !study_forecast_check(&asked, &at.study, &at.err));
    ck_assert_ptr_nonnull(strstr(at.err.text, "train with --cpu-threads 2"));
    at.spec.batch = 4;
    at.spec.cpu_threads = 1;
    ck_assert(study_fixture_plan(&at, (struct study_request){.counts = "1,2"}));
    ck_assert(ask("8", NULL) && !study_forecast_check(&asked, &at.study, &at.err));
    ck_assert_ptr_nonnull(strstr(at.err.text, "a row of the batch for each"));
}
END_TEST

START_TEST(runs_that_are_missing_are_not_made_up)
{
    ck_assert(study_fixture_plan(&at, (struct study_request){.counts = "1,2"}));
    measure(0, even);
    runs[1].variant = 1;
    ck_assert(!foresee("4", NULL));
    ck_assert_ptr_nonnull(strstr(at.err.text, "one number of rows per device"));
    measure(1, even);
    runs[1].measure.epochs[1].device_s = runs[1].measure.epochs[2].device_s = 0;
    ck_assert(!foresee("4", NULL));
    ck_assert_ptr_nonnull(strstr(at.err.text, "do not say where their time went"));
}
END_TEST

START_TEST(texts_are_checked)
{
    static const char *const wrong[] = {
        "", "1", "4,", "4,,8", "65", "x", "4;8", "4.5", "2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2"};
    static const struct {
        const char *link;
        double bytes_per_s;
    } links[] = {{"450GB/s", 450e9}, {"25Gbit/s", 3.125e9}, {"1.5MB/s", 1.5e6},
                 {"450", 0},         {"GB/s", 0},           {"0GB/s", 0},
                 {"-1GB/s", 0},      {"1GB/sx", 0},         {"1e3GB/s", 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!ask(wrong[i], NULL) && at.err.kind == ERROR_USAGE, "'%s'", wrong[i]);
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        ck_assert_msg(ask("4", links[i].link) == (links[i].bytes_per_s > 0), "%s", links[i].link);
        if (links[i].bytes_per_s > 0)
            ck_assert_double_eq(asked.bandwidth, links[i].bytes_per_s);
    }
    ck_assert(!ask(NULL, "4GB/s"));
    ck_assert(ask(NULL, NULL) && asked.count == 0);
}
END_TEST

START_TEST(json_has_what_is_foreseen)
{
    ck_assert(study_fixture_plan(&at, (struct study_request){.counts = "1,2,4"}));
    measure_all();
    ck_assert(foresee("8,2", NULL));
    json_t *object = study_forecast_put(&asked, json_object());
    const json_t *first = json_array_get(json_object_get(object, "predictions"), 0);
    ck_assert_int_eq(json_array_size(json_object_get(object, "predictions")), 2);
    ck_assert_int_eq(member_integer(first, "device_count"), 8);
    ck_assert_int_eq(member_integer(first, "device_rows"), 32);
    ck_assert_str_eq(member_text(first, "limit"), "all-reduce");
    ck_assert_double_gt(member_number(json_object_get(first, "s_per_epoch"), "max"),
                        member_number(json_object_get(first, "s_per_epoch"), "median"));
    ck_assert_int_eq(strncmp(member_text(first, "sentence"), "Predicted for 8 devices", 23), 0);
    ck_assert_int_eq(strncmp(member_text(object, "assumptions"), "Assumes", 7), 0);
    json_decref(object);
    ck_assert(ask(NULL, NULL));
    object = study_forecast_put(&asked, json_object());
    ck_assert_ptr_null(json_object_get(object, "predictions"));
    json_decref(object);
    ck_assert_ptr_null(study_forecast_put(&asked, NULL));
}
END_TEST

Suite *forecast_suite(void)
{
    const TTest *const tests[] = {
        strong_scaling_is_foreseen,
        what_scales_well_has_no_limit,
        weak_scaling_is_foreseen,
        larger_batches_take_more_epochs,
        what_was_measured_is_predicted_without_it,
        two_batches_of_one_device_and_a_link_are_enough,
        hosts_are_foreseen,
        noise_makes_the_range_wider,
        what_cannot_be_foreseen_is_refused,
        runs_that_are_missing_are_not_made_up,
        texts_are_checked,
        json_has_what_is_foreseen,
    };
    Suite *suite = suite_create("forecast");
    TCase *cases = tcase_create("forecast");
    tcase_add_checked_fixture(cases, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(suite, cases);
    return suite;
}
