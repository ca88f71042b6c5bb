/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/noted.h"
#include "experiment/sentence.h"
#include "experiment/series.h"
#include "spec/set.h"
#include "tests/suites.h"

/* What the runs measured: two epochs each, of which the second counts. */
enum { MEASURES = 80 };
static struct measured_epoch epochs[MEASURES][2];
static struct measure measures[MEASURES];

static void set_measure(struct measure *measure, double epoch, double speed, double test_acc)
{
    struct measured_epoch *both = epochs[measure - measures];
    for (int i = 0; i < 2; i++)
        both[i] = (struct measured_epoch){.epoch = epoch - 1 + i,
                                          .seconds = 60000 / speed,
                                          .samples_per_s = i == 0 ? speed / 9 : speed,
                                          .test_acc = test_acc,
                                          .device_rate = NAN,
                                          .rows = NAN};
    *measure = (struct measure){.epochs = both, .count = speed > 0 ? 2 : 0};
}

/* A run whose speed on `devices` is `speed`, all else as in every other. */
static struct series_run make_run(long number, int devices, double batch, double lr, double speed)
{
    set_measure(&measures[number], 10, speed, 0.9 + devices * 0.001);
    return (struct series_run){
        .run = number,
        .model = "resnet18",
        .data = "fashion-mnist",
        .split = "chunk",
        .sync = "allreduce",
        .strategy = "data",
        .device_kind = "cpu",
        .device_list = "cpu",
        .note = "",
        .settings = 7,
        .threads = 1,
        .devices = devices,
        .batch = batch,
        .lr = lr,
        .measure = &measures[number],
        .samples_per_s = NAN,
        .has_speed = speed > 0,
        .done = true,
    };
}

static void make_series(struct series *series, enum scaling scaling, const struct series_run *runs,
                        int count, const struct series_run *anchor)
{
    struct error err = ERROR_INIT;
    series_begin(series, scaling, series_strategy(anchor), anchor, anchor, 0.5, false);
    for (int i = 0; i < count; i++)
        series_add(series, &runs[i]);
    for (int i = 0; i < count; i++)
        series_add_repeat(series, &runs[i]);
    ck_assert(series_finish(series, &err));
}

static char sentence[1000];

static void sentence_of(const struct series *series, int row)
{
    sentence_of_devices(&series->rows[row].outcome, &series->rows[series->base].outcome, 8,
                        sentence, sizeof sentence);
}

START_TEST(speed_up_and_efficiency)
{
    const struct series_run runs[] = {
        make_run(3, 4, 256, 0.1, 3200),
        make_run(1, 1, 256, 0.1, 1000),
        make_run(2, 2, 256, 0.1, 1870),
    };
    struct series series;
    make_series(&series, SCALING_STRONG, runs, 3, &runs[0]);
    ck_assert_int_eq(series.count, 3);
    ck_assert_int_eq(series.base, 0);
    ck_assert_int_eq(series.rows[0].run.run, 1);
    ck_assert_double_eq(series.rows[0].outcome.speed_up, 1);
    ck_assert_double_eq(series.rows[0].outcome.efficiency, 1);
    ck_assert_double_eq_tol(series.rows[1].outcome.speed_up, 1.87, 1e-12);
    ck_assert_double_eq_tol(series.rows[1].outcome.efficiency, 0.935, 1e-12);
    ck_assert_double_eq_tol(series.rows[2].outcome.efficiency, 0.8, 1e-12);
    ck_assert_double_eq_tol(series.rows[1].outcome.accuracy_change, 0.001, 1e-12);
    ck_assert(!series.threads_differ);
    sentence_of(&series, 2);
    ck_assert_str_eq(sentence,
                     "4 devices are 3.20 times as fast as 1, 80% efficient, test accuracy "
                     "+0.003; the times of the devices do not say what limits it");
    sentence_of(&series, 0);
    ck_assert_str_eq(sentence, "");
}
END_TEST

/* A pipeline has the single device with data as its base, and no other run of that strategy. */
START_TEST(strategies_are_series_of_their_own)
{
    struct series_run runs[] = {
        make_run(1, 1, 256, 0.1, 1000),
        make_run(2, 2, 256, 0.1, 1870),
        make_run(3, 2, 256, 0.1, 1500),
        make_run(4, 2, 256, 0.1, 1400),
    };
    struct series series;
    struct error err = ERROR_INIT;
    runs[2].strategy = "pipeline";
    runs[3].strategy = ""; /* not known */
    for (int pipeline = 0; pipeline < 2; pipeline++) {
        make_series(&series, SCALING_STRONG, runs, 4, &runs[1 + pipeline]);
        ck_assert_int_eq(series.count, 2);
        ck_assert_int_eq(series.rows[0].run.run, 1);
        ck_assert_int_eq(series.rows[1].run.run, 2 + pipeline);
        ck_assert_int_eq(series.rows[1].outcome.strategy,
                         pipeline ? STRATEGY_PIPELINE : STRATEGY_DATA);
        ck_assert_int_eq(series.rows[1].others, 0);
    }
    ck_assert_double_eq_tol(series.rows[1].outcome.speed_up, 1.5, 1e-12);
    sentence_of(&series, 1);
    ck_assert_ptr_nonnull(strstr(sentence, "2 devices as a pipeline are 1.50 times as fast as 1"));
    /* What is not known may be of either. */
    series_begin(&series, SCALING_STRONG, STRATEGY_DATA, &runs[0], &runs[0], 0.5, true);
    series_add(&series, &runs[3]);
    ck_assert_int_eq(series.count, 1);
    ck_assert(series_finish(&series, &err));
}
END_TEST

START_TEST(a_base_of_two_devices)
{
    const struct series_run runs[] = {
        make_run(1, 2, 512, 0.2, 2000),
        make_run(2, 8, 512, 0.2, 6000),
    };
    struct series series;
    make_series(&series, SCALING_STRONG, runs, 2, &runs[1]);
    ck_assert_double_eq(series.rows[1].outcome.speed_up, 3);
    ck_assert_double_eq(series_ideal_speed_up(&series, 8), 4);
    ck_assert_double_eq(series.rows[1].outcome.efficiency, 0.75);
}
END_TEST

START_TEST(weak_scaling)
{
    const struct series_run runs[] = {
        make_run(1, 1, 256, 0.1, 1000),
        make_run(2, 2, 256, 0.1, 1500), /* strong scaling */
        make_run(3, 2, 512, 0.2, 1900),
        make_run(4, 3, 768, 0.1 * 3, 2800), /* 0.30000000000000004 */
        make_run(5, 4, 1024, 0.1, 3500),    /* the rate did not grow */
        make_run(6, 4, 1024, 0.4, 3600),
    };
    struct series series;
    make_series(&series, SCALING_WEAK, runs, 6, &runs[3]);
    ck_assert_int_eq(series.count, 4);
    ck_assert_double_eq(series.batch, 256);
    ck_assert_int_eq(series.rows[0].run.run, 1);
    ck_assert_int_eq(series.rows[1].run.run, 3);
    ck_assert_int_eq(series.rows[2].run.run, 4);
    ck_assert_int_eq(series.rows[3].run.run, 6);
    ck_assert_double_eq_tol(series.rows[3].outcome.efficiency, 0.9, 1e-12);
    make_series(&series, SCALING_STRONG, runs, 6, &runs[0]);
    ck_assert_int_eq(series.count, 2);
    ck_assert_int_eq(series.rows[1].run.run, 2);
    /* 385 rows on two devices are 578 on three: rounded, but the same share. */
    const struct series_run odd[] = {
        make_run(1, 2, 385, 0.1, 1000),
        make_run(2, 3, 578, 0.15, 1400),
    };
    make_series(&series, SCALING_WEAK, odd, 2, &odd[0]);
    ck_assert_int_eq(series.count, 2);
}
END_TEST

START_TEST(only_like_runs_are_compared)
{
    struct series_run one = make_run(1, 1, 256, 0.1, 1000), other;
    other = make_run(2, 2, 256, 0.1, 1900);
    ck_assert(series_alike(&one, &other, false));
    other.model = "lenet";
    ck_assert(!series_alike(&one, &other, false));
    other = make_run(2, 2, 256, 0.1, 1900);
    other.data = "mnist";
    ck_assert(!series_alike(&one, &other, false));
    other = make_run(2, 2, 256, 0.1, 1900);
    other.split = "even";
    ck_assert(!series_alike(&one, &other, false));
    other = make_run(2, 2, 256, 0.1, 1900);
    other.sync = "central";
    ck_assert(!series_alike(&one, &other, false));
    other = make_run(2, 2, 256, 0.1, 1900);
    other.device_kind = "cuda";
    ck_assert(!series_alike(&one, &other, false));
    other = make_run(2, 2, 256, 0.1, 1900);
    other.settings = 8;
    ck_assert(!series_alike(&one, &other, false));
    /* What is not known may be anything. */
    other.settings = 0;
    ck_assert(!series_alike(&one, &other, false) && series_alike(&one, &other, true));
    one.settings = 0;
    ck_assert(!series_alike(&one, &other, false) && series_alike(&one, &other, true));
    one.settings = other.settings = 7;
    other.sync = "";
    ck_assert(!series_alike(&one, &other, false) && series_alike(&one, &other, true));
    other.sync = "allreduce";
    ck_assert(series_alike(&one, &other, false));
    /* A run of the same sweep that waits is alike before its settings are known. */
    other.settings = 0;
    one.note = other.note = "sweep: strong scaling, batch 256 on 1-2 devices";
    ck_assert(series_alike(&one, &other, false));
    other.note = "sweep: strong scaling, batch 256 on 1-2-4 devices";
    ck_assert(!series_alike(&one, &other, false));
    other.note = "";
    other.settings = 7;
    /* Weights are those of the devices. */
    one.split = "weighted:1";
    other.split = "weighted:1,2";
    ck_assert(series_alike(&one, &other, false));
    other.split = "weightedly";
    ck_assert(!series_alike(&one, &other, false));
}
END_TEST

START_TEST(unknown_numbers)
{
    struct series_run runs[] = {
        make_run(1, 1, 256, 0.1, NAN),
        make_run(2, 2, 256, 0.1, 1000),
        make_run(3, 4, 256, 0.1, 2000),
        make_run(4, 8, 256, 0.1, 3000),
    };
    struct series series;
    set_measure(&measures[4], 3, 3000, 0.9);
    make_series(&series, SCALING_STRONG, runs, 4, &runs[0]);
    ck_assert_int_eq(series.base, 1);
    ck_assert_double_nan(series.rows[0].outcome.speed_up);
    ck_assert_double_nan(series.rows[0].outcome.efficiency);
    ck_assert_double_eq(series.rows[1].outcome.speed_up, 1);
    ck_assert_double_eq_tol(series.rows[2].outcome.speed_up, 2, 1e-12);
    ck_assert_double_nan(series.rows[3].outcome.accuracy_change);
    sentence_of(&series, 0);
    ck_assert_str_eq(sentence, "");
    sentence_of(&series, 3);
    ck_assert_str_eq(
        sentence, "8 devices are 3.00 times as fast as 2, 75% efficient (after 3 epochs, not 10); "
                  "the times of the devices do not say what limits it");
    series.rows[3].outcome.epochs = 1;
    sentence_of(&series, 3);
    ck_assert_msg(strstr(sentence, " (after 1 epoch, not 10)"), "%s", sentence);
    make_series(&series, SCALING_STRONG, runs, 1, &runs[0]);
    ck_assert_int_eq(series.base, -1);
    ck_assert_double_nan(series_ideal_speed_up(&series, 2));
    /* Not even batch and lr. */
    runs[0].batch = runs[0].lr = NAN;
    make_series(&series, SCALING_STRONG, runs, 4, &runs[0]);
    ck_assert_int_eq(series.count, 0);
}
END_TEST

START_TEST(one_of_several_runs_is_taken)
{
    struct series_run runs[] = {
        make_run(1, 1, 256, 0.1, 1000), make_run(2, 1, 256, 0.1, 1100),
        make_run(3, 1, 256, 0.1, NAN),  make_run(4, 1, 256, 0.1, 1200),
        make_run(5, 1, 256, 0.1, 1300), make_run(6, 2, 256, 0.1, 2000),
    };
    struct series series;
    runs[3].failed = true;
    runs[4].threads = 2;
    /* The newest with the anchor's threads, a speed, and no failure. */
    make_series(&series, SCALING_STRONG, runs, 6, &runs[5]);
    ck_assert_int_eq(series.count, 2);
    ck_assert_int_eq(series.rows[0].run.run, 2);
    ck_assert_int_eq(series.rows[0].others, 4);
    ck_assert_int_eq(series.rows[1].others, 0);
    ck_assert(!series.threads_differ);
    runs[4].preference = 1;
    make_series(&series, SCALING_STRONG, runs, 6, &runs[5]);
    ck_assert_int_eq(series.rows[0].run.run, 5);
    ck_assert(series.threads_differ);
}
END_TEST

START_TEST(repeats_of_a_study_count_together)
{
    struct series_run runs[] = {
        make_run(1, 1, 256, 0.1, 1000), make_run(2, 2, 256, 0.1, 1800),
        make_run(3, 1, 256, 0.1, 1200), make_run(4, 2, 256, 0.1, 2200),
        make_run(5, 1, 256, 0.1, 5000), make_run(6, 2, 256, 0.1, 3000),
    };
    struct series series;
    runs[0].note = "compare 3: 1 device, seed 1 (1/4)";
    runs[1].note = "compare 3: 2 devices, seed 1 (2/4)";
    runs[2].note = "compare 3: 1 device, seed 2 (3/4)";
    runs[3].note = "compare 3: 2 devices, seed 2 (4/4)";
    runs[4].note = "compare 33: 1 device, seed 1 (1/1)";
    runs[5].note = runs[3].note;
    runs[5].done = false; /* still running */
    for (int i = 0; i < 4; i++)
        runs[i].preference = 1;
    make_series(&series, SCALING_STRONG, runs, 6, &runs[0]);
    ck_assert_int_eq(series.count, 2);
    ck_assert_int_eq(series.rows[0].repeat_count, 2);
    ck_assert_int_eq(series.rows[0].others, 1);
    ck_assert_double_eq(series.rows[0].outcome.samples_per_s.median, 1100);
    ck_assert_double_eq(series.rows[1].outcome.samples_per_s.median, 2000);
    ck_assert_int_eq(series.rows[1].outcome.samples_per_s.count, 2);
    ck_assert_double_eq(series.rows[1].outcome.speed_up, 2000.0 / 1100);
}
END_TEST

START_TEST(a_run_in_its_first_epoch_has_a_speed)
{
    struct series_run runs[] = {make_run(1, 1, 256, 0.1, 1000), make_run(2, 2, 256, 0.1, NAN)};
    struct series series;
    runs[1].samples_per_s = 1900;
    make_series(&series, SCALING_STRONG, runs, 2, &runs[0]);
    ck_assert_double_eq(series.rows[1].outcome.speed_up, 1.9);
    ck_assert(series.rows[1].outcome.warm_up && !series.rows[0].outcome.warm_up);
}
END_TEST

START_TEST(more_rows_than_there_is_room_for)
{
    struct series_run runs[SERIES_ROWS + 6];
    struct series series;
    for (int i = 0; i < SERIES_ROWS + 6; i++)
        runs[i] = make_run(i + 1, i + 1, 256, 0.1, 1000);
    make_series(&series, SCALING_STRONG, runs, SERIES_ROWS + 6, &runs[0]);
    ck_assert_int_eq(series.count, SERIES_ROWS);
    ck_assert_int_eq(series.rows[SERIES_ROWS - 1].run.devices, SERIES_ROWS);
}
END_TEST

START_TEST(counts_of_a_sweep)
{
    static const struct {
        int most, count, counts[SWEEP_RUNS];
    } cases[] = {
        {1, 1, {1}},
        {2, 2, {1, 2}},
        {3, 3, {1, 2, 3}},
        {6, 4, {1, 2, 4, 6}},
        {8, 4, {1, 2, 4, 8}},
        {63, 7, {1, 2, 4, 8, 16, 32, 63}},
        {64, 7, {1, 2, 4, 8, 16, 32, 64}},
        {0, 0, {0}},
        {65, 0, {0}},
    };
    int counts[SWEEP_RUNS];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_int_eq(sweep_counts(cases[i].most, counts), cases[i].count);
        for (int j = 0; j < cases[i].count; j++)
            ck_assert_int_eq(counts[j], cases[i].counts[j]);
    }
}
END_TEST

/* A sweep of smallnet, batch 256 and lr 0.1, over `devices`, on `cores` cores. */
static void begin_sweep(struct sweep *sweep, const char *devices, const char *split,
                        enum scaling scaling, int cores)
{
    struct error err = ERROR_INIT;
    struct device_list list;
    struct spec spec;
    spec_init(&spec);
    ck_assert(device_list_parse(devices, &list, &err));
    ck_assert_msg(spec_set(&spec, "model", "smallnet", &err) &&
                      spec_set(&spec, "save", "/tmp/weights.safetensors", &err) &&
                      spec_set(&spec, "batch", "256", &err) && spec_set(&spec, "lr", "0.1", &err) &&
                      spec_set(&spec, "split", split, &err),
                  "%s", err.text);
    ck_assert_msg(sweep_begin(sweep, &spec, &list, scaling, cores, &err), "%s", err.text);
    spec_free(&spec);
}

START_TEST(specs_of_a_sweep)
{
    struct error err = ERROR_INIT;
    struct sweep sweep;
    struct spec spec;
    char note[100];
    begin_sweep(&sweep, "cpu:0-2", "weighted:1,2,3", SCALING_WEAK, 8);
    ck_assert_int_eq(sweep.count, 3);
    ck_assert_msg(sweep_spec(&sweep, 2, &spec, &err), "%s", err.text);
    ck_assert_int_eq(spec.batch, 768);
    ck_assert_double_eq(spec.lr, 0.3);
    ck_assert_int_eq(spec.cpu_threads, 2);
    ck_assert_ptr_null(spec.save);
    ck_assert_int_eq(spec.weight_count, 3);
    spec_free(&spec);
    ck_assert(sweep_spec(&sweep, 0, &spec, &err));
    ck_assert_int_eq(spec.batch, 256);
    ck_assert_int_eq(spec.devices.count, 1);
    ck_assert_int_eq(spec.cpu_threads, 2); /* not all eight */
    ck_assert_int_eq(spec.weight_count, 1);
    spec_free(&spec);
    sweep_note(&sweep, note, sizeof note);
    ck_assert_str_eq(note, "sweep: weak scaling, batch 256 to 768 on 1-2-3 devices");
    sweep.scaling = SCALING_STRONG;
    ck_assert(sweep_spec(&sweep, 2, &spec, &err));
    ck_assert_int_eq(spec.batch, 256);
    ck_assert_double_eq(spec.lr, 0.1);
    spec_free(&spec);
    sweep_note(&sweep, note, sizeof note);
    ck_assert_str_eq(note, "sweep: strong scaling, batch 256 on 1-2-3 devices");
    sweep_free(&sweep);
}
END_TEST

START_TEST(sweeps_that_cannot_be)
{
    struct error err = ERROR_INIT;
    struct sweep sweep;
    struct spec spec;
    /* 256 rows do not divide evenly by three; 768 do. */
    begin_sweep(&sweep, "cuda:0-2", "even", SCALING_STRONG, 8);
    ck_assert_int_eq(sweep.spec.cpu_threads, 0);
    ck_assert(!sweep_spec(&sweep, 2, &spec, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    sweep.scaling = SCALING_WEAK;
    ck_assert(sweep_spec(&sweep, 2, &spec, &err));
    spec_free(&spec);
    sweep.spec.batch = 16777216;
    ck_assert(!sweep_spec(&sweep, 2, &spec, &err));
    sweep_free(&sweep);
    /* More devices than cores still have a thread each. */
    begin_sweep(&sweep, "cpu:0-7", "chunk", SCALING_STRONG, 2);
    ck_assert_int_eq(sweep.spec.cpu_threads, 1);
    sweep_free(&sweep);
    sweep_free(&sweep);
}
END_TEST

START_TEST(time_of_an_epoch)
{
    static const int devices[] = {1, 2, 4};
    static const double seconds[] = {16, 8.5, 4.5};
    bool at_least = false;
    ck_assert_double_nan(sweep_estimate(devices, seconds, 0, 2, &at_least));
    ck_assert_double_eq(sweep_estimate(devices, seconds, 3, 2, &at_least), 8.5);
    ck_assert(!at_least);
    /* From 1 to 4 the time fell to 4.5 / 16 in two doublings; another one makes 4.5 * 0.53. */
    ck_assert_double_eq_tol(sweep_estimate(devices, seconds, 3, 8, &at_least), 4.5 * sqrt(4.5 / 16),
                            1e-9);
    ck_assert(!at_least);
    ck_assert_double_eq(sweep_estimate(devices, seconds, 1, 8, &at_least), 2);
    ck_assert(at_least);
}
END_TEST

/* What is in the note of a study's run is found in it again. */
START_TEST(notes_say_the_values)
{
    static const struct {
        const char *note, *label, *first, *second;
    } good[] = {
        {"compare 3: batch 128, lr 0.05, seed 1 (1/8)", "batch 128, lr 0.05", "128", "0.05"},
        {"compare w12: lr 0.05, seed 2 (3/4)", "lr 0.05", "0.05", NULL},
        {"compare 1: lr-schedule multistep:3,6, optimizer adam, seed 1 (2/4)",
         "lr-schedule multistep:3,6, optimizer adam", "multistep:3,6", "adam"},
    };
    static const char *const bad[] = {
        "",
        "compare 3: 2 devices, seed 1 (4/12)",
        "compare 3: cpu:0-1, seed 1 (4/12)",
        "compare 3: batch 128",
        "compare 3: batch, seed 1 (1/1)",
        "compare",
        "sweep: strong scaling, batch 256 on 1-2 devices",
        "my own: batch 128, seed 1 (1/1)",
    };
    struct noted_run run;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_msg(noted_read(&run, good[i].note), "%s", good[i].note);
        ck_assert_str_eq(run.label, good[i].label);
        ck_assert_str_eq(run.value[0], good[i].first);
        ck_assert_int_eq(run.varied_count, good[i].second ? 2 : 1);
        ck_assert(!good[i].second || strcmp(run.value[1], good[i].second) == 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!noted_read(&run, bad[i]), "%s", bad[i]);
}
END_TEST

START_TEST(variants_come_from_notes)
{
    static struct study study;
    struct noted_run run;
    for (int i = 0; i < 2 * STUDY_VARIANTS + 2; i++) {
        char note[80];
        int variant = i % (STUDY_VARIANTS + 1);
        snprintf(note, sizeof note, "compare 1: batch %d, seed 1 (1/1)", variant + 1);
        ck_assert(noted_read(&run, note));
        ck_assert_int_eq(noted_variant(&study, &run), variant < STUDY_VARIANTS ? variant : -1);
    }
    ck_assert_str_eq(study.variants[1].label, "batch 2");
    ck_assert_str_eq(study.varied[0], "batch");
    ck_assert(noted_read(&run, "compare 1: lr 1, seed 1 (1/1)"));
    ck_assert_int_eq(noted_variant(&study, &run), -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("series");
    TCase *tests = tcase_create("series");
    tcase_add_test(tests, speed_up_and_efficiency);
    tcase_add_test(tests, strategies_are_series_of_their_own);
    tcase_add_test(tests, a_base_of_two_devices);
    tcase_add_test(tests, weak_scaling);
    tcase_add_test(tests, only_like_runs_are_compared);
    tcase_add_test(tests, unknown_numbers);
    tcase_add_test(tests, one_of_several_runs_is_taken);
    tcase_add_test(tests, repeats_of_a_study_count_together);
    tcase_add_test(tests, a_run_in_its_first_epoch_has_a_speed);
    tcase_add_test(tests, more_rows_than_there_is_room_for);
    tcase_add_test(tests, counts_of_a_sweep);
    tcase_add_test(tests, specs_of_a_sweep);
    tcase_add_test(tests, sweeps_that_cannot_be);
    tcase_add_test(tests, time_of_an_epoch);
    tcase_add_test(tests, notes_say_the_values);
    tcase_add_test(tests, variants_come_from_notes);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
