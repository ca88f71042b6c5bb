/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/data/validation.h"
#include "engine/train/split/order.h"
#include "engine/train/step/workload.h"
#include "spec/set.h"
#include "tests/recorder.h"
#include "tests/suites.h"
#include "tests/support.h"

/* Rows for validation, and runs that choose and end by them, on real CPU devices. */

#define SETTINGS                                                                                   \
    "model=linear data=glyphs train-rows=500 test-rows=200 batch=100 lr=0.1 momentum=0.9 "         \
    "cpu-threads=1 "

static char *folder, *checkpoints;
static struct recorder rec;

static void setup(void)
{
    folder = temporary_folder();
    checkpoints = format("%s/checkpoints", folder);
}

static void teardown(void)
{
    recorder_free(&rec);
    free(checkpoints);
    remove_tree(folder);
}

static void begin(struct recorder *recorder, const char *settings)
{
    char *all = format("%s%s", SETTINGS, settings);
    recorder_init(recorder, all);
    recorder->keep.checkpoints = checkpoints;
    free(all);
}

static void run_ok(const char *settings)
{
    begin(&rec, settings);
    rec.keep.checkpoints = NULL;
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
}

/* 15 rows of class 0 and 5 of class 2. */
static struct data few_rows(uint8_t labels[20])
{
    for (int i = 0; i < 20; i++)
        labels[i] = i % 4 == 3 ? 2 : 0;
    return (struct data){.name = (char *)(uintptr_t) "few",
                         .train = {.rows = 20, .classes = 3, .labels = labels}};
}

START_TEST(each_class_gives_its_share)
{
    uint8_t labels[20];
    struct data data = few_rows(labels);
    struct validation found = {0}, again = {0};
    struct error err = ERROR_INIT;
    /* 25% of 20 rows are 5: of 15 rows 3.75, of 5 rows 1.25. */
    ck_assert_msg(validation_divide(&data, 20, 0.25, &found, &err), "%s", err.text);
    ck_assert_int_eq(found.rows, 5);
    ck_assert_int_eq(found.train_rows, 15);
    ck_assert_int_eq(validation_count(20, 0.25), 5);
    int counts[3] = {0}, seen[20] = {0};
    for (int i = 0; i < 5; i++) {
        counts[labels[found.own[i]]]++;
        seen[found.own[i]]++;
    }
    for (int i = 0; i < 15; i++)
        seen[found.train[i]]++;
    ck_assert_int_eq(counts[0], 4);
    ck_assert_int_eq(counts[2], 1);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(seen[i], 1);
    /* For good: other rows would have runs that resume validate on what they were trained on. */
    static const uint32_t own[] = {1, 12, 13, 14, 19};
    ck_assert_int_eq(memcmp(found.own, own, sizeof own), 0);
    ck_assert(validation_divide(&data, 20, 0.25, &again, &err));
    ck_assert_int_eq(memcmp(found.own, again.own, 5 * sizeof *again.own), 0);
    free(found.own);
    free(found.train);
    free(again.own);
    free(again.train);
}
END_TEST

START_TEST(a_class_without_a_row_is_named)
{
    static const struct {
        double share;
        const char *words;
    } cases[] = {
        {0.05, "class 2 in few none would be left for validation: give a larger share"},
        {0.01, "class 0 in few none would be left for validation"},
        {0.9, "class 2 in few none would be left for training: give a smaller share"},
    };
    uint8_t labels[20];
    struct data data = few_rows(labels);
    labels[7] = labels[11] = labels[15] = labels[19] = 0; /* one of class 2 is left */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct validation found = {0};
        struct error err = ERROR_INIT;
        ck_assert(!validation_divide(&data, 20, cases[i].share, &found, &err));
        ck_assert_msg(strstr(err.text, cases[i].words) != NULL, "'%s'", err.text);
        ck_assert_int_eq(err.kind, ERROR_USAGE);
        ck_assert_ptr_null(found.own);
    }
}
END_TEST

/* Over many epochs: every training row once in each, no other. And whatever the seed. */
START_TEST(validation_rows_are_not_trained_on)
{
    struct spec spec;
    struct workload work[2];
    struct error err = ERROR_INIT;
    memset(work, 0, sizeof work);
    spec_init(&spec);
    ck_assert(spec_set(&spec, "model", "linear", &err) &&
              spec_set(&spec, "data", "random:300x2", &err));
    spec.validation = 0.2;
    for (int i = 0; i < 2; i++) {
        /* The rows are made from the seed, and with them their labels: so they are the same. */
        ck_assert_msg(workload_open(&work[i], &spec, NULL, &err), "%s", err.text);
        ck_assert_int_eq(work[i].train_rows, 240);
        ck_assert_int_eq(work[i].validation.rows, 60);
        ck_assert_int_eq(work[i].steps_per_epoch, 1);
        ck_assert_ptr_eq(work[i].evaluated, &work[i].validation);
    }
    ck_assert_int_eq(memcmp(work[0].validation.order, work[1].validation.order, 60 * 4), 0);
    for (uint32_t epoch = 1; epoch <= 5; epoch++) {
        int seen[300] = {0};
        struct order order = order_make(ORDER_SHUFFLE, 9, epoch, 240);
        workload_fill_order(&work[0], &order);
        for (int i = 0; i < 240; i++)
            seen[work[0].order[i]]++;
        for (int i = 0; i < 60; i++)
            seen[work[0].validation.order[i]]++;
        for (int i = 0; i < 300; i++)
            ck_assert_int_eq(seen[i], 1);
    }
    for (int i = 0; i < 2; i++)
        workload_close(&work[i]);
    spec_free(&spec);
}
END_TEST

static double figure(const char *kind, int index, const char *key)
{
    return recorder_number(recorder_event(&rec, kind, index), key);
}

/* The test rows at the end, with the weights that were saved. */
static void check_tested(const char *file, double accuracy, double loss)
{
    struct recorder eval;
    char *settings = format("epochs=0 devices=cpu:0 init=%s", file);
    begin(&eval, settings);
    eval.spec.test_rows = rec.spec.test_rows;
    eval.keep.checkpoints = NULL;
    ck_assert_msg(recorder_run(&eval), "%s", eval.err.text);
    const json_t *end = recorder_event(&eval, "end", 0);
    ck_assert(recorder_number(end, "test_acc") == accuracy);
    ck_assert_double_eq_tol(recorder_number(end, "test_loss"), loss, 1e-6);
    recorder_free(&eval);
    free(settings);
}

/* The last weights or the best ones, as trained or averaged. */
START_TEST(the_test_is_of_what_was_saved)
{
    const bool chosen = _i & 1;
    char *save = format("%s/last.safetensors", folder),
         *best = format("%s/best.safetensors", folder);
    char *settings =
        format("epochs=8 lr=1 ema=%s validation=0.2 devices=cpu:0-1 save=%s%s%s",
               _i & 2 ? "0.3" : "0", save, chosen ? " save-best=" : "", chosen ? best : "");
    run_ok(settings);
    const json_t *end = recorder_event(&rec, "end", 0);
    int at = 0;
    for (int i = 0; i < 8; i++) {
        const json_t *epoch = recorder_event(&rec, "epoch", i);
        ck_assert(json_is_null(json_object_get(epoch, "test_acc")));
        if (recorder_number(epoch, "val_acc") > figure("epoch", at, "val_acc"))
            at = i;
    }
    ck_assert_int_lt(at, 7); /* so that the best are other weights than the last */
    ck_assert_str_eq(recorder_string(end, "tested"), chosen ? "best" : "last");
    ck_assert(recorder_number(end, "tested_epoch") == (chosen ? at + 1 : 8));
    ck_assert(recorder_number(end, "val_acc") == figure("epoch", 7, "val_acc"));
    check_tested(chosen ? best : save, recorder_number(end, "test_acc"),
                 recorder_number(end, "test_loss"));
    free(settings);
    free(save);
    free(best);
}
END_TEST

/* Without validation rows the best epoch is by test rows, and the figures of the end are the last
 * epoch's. */
START_TEST(without_validation_the_test_chooses)
{
    char *best = format("%s/best.safetensors", folder);
    char *settings = format("epochs=8 lr=2 test-rows=50 devices=cpu:0 save-best=%s", best);
    run_ok(settings);
    int at = 0;
    for (int i = 0; i < 8; i++)
        if (figure("epoch", i, "test_acc") > figure("epoch", at, "test_acc"))
            at = i;
    ck_assert_int_lt(at, 7);
    ck_assert(figure("end", 0, "test_acc") == figure("epoch", 7, "test_acc"));
    ck_assert_ptr_null(json_object_get(recorder_event(&rec, "end", 0), "tested"));
    ck_assert_ptr_null(json_object_get(recorder_event(&rec, "end", 0), "val_acc"));
    check_tested(best, figure("epoch", at, "test_acc"), figure("epoch", at, "test_loss"));
    free(settings);
    free(best);
}
END_TEST

/* When `patience` epochs without a better accuracy have gone by; 0: never. By the events. */
static int patient_until(const char *key, int patience)
{
    double best = -1;
    int since = 0;
    for (int i = 0; i < recorder_count(&rec, "epoch"); i++) {
        double value = figure("epoch", i, key);
        since = value > best ? 0 : since + 1;
        best = fmax(best, value);
        if (since == patience)
            return i + 1;
    }
    return 0;
}

START_TEST(patience_ends_a_run)
{
    static const char *const keys[] = {"val_acc", "test_acc"};
    const char *const more =
        _i ? "epochs=30 lr=1 devices=cpu:0" : "epochs=30 lr=1 validation=0.2 devices=cpu:0";
    run_ok(more);
    int wanted = patient_until(keys[_i], 3);
    ck_assert_int_gt(wanted, 3);
    ck_assert_int_lt(wanted, 30);
    recorder_free(&rec);
    char *settings = format("%s patience=3", more);
    run_ok(settings);
    ck_assert_int_eq(recorder_count(&rec, "epoch"), wanted);
    const json_t *end = recorder_event(&rec, "end", 0);
    ck_assert_str_eq(recorder_string(end, "status"), "done");
    char *words =
        format("no better %s accuracy for 3 epochs: the best is %.4f, of epoch %d",
               _i ? "test" : "validation", figure("epoch", wanted - 4, keys[_i]), wanted - 3);
    ck_assert_str_eq(recorder_string(end, "reason"), words);
    free(words);
    free(settings);
}
END_TEST

START_TEST(an_accuracy_ends_a_run)
{
    run_ok("epochs=12 validation=0.2 devices=cpu:0");
    double goal = figure("epoch", 6, "val_acc");
    int first = 0;
    while (figure("epoch", first, "val_acc") < goal)
        first++;
    recorder_free(&rec);
    char *settings = format("epochs=12 validation=0.2 devices=cpu:0 stop-at-acc=%.17g", goal);
    run_ok(settings);
    ck_assert_int_eq(recorder_count(&rec, "epoch"), first + 1);
    ck_assert_ptr_nonnull(
        strstr(recorder_string(recorder_event(&rec, "end", 0), "reason"), "validation accuracy "));
    free(settings);
}
END_TEST

/* It does not depend on how many devices there are. */
START_TEST(devices_share_the_validation)
{
    run_ok("epochs=2 validation=0.15 devices=cpu:0");
    double acc = figure("epoch", 1, "val_acc"), loss = figure("epoch", 1, "val_loss");
    double test = figure("end", 0, "test_loss");
    recorder_free(&rec);
    run_ok("epochs=2 validation=0.15 devices=cpu:0-2 split=balanced");
    ck_assert_double_eq_tol(figure("epoch", 1, "val_acc"), acc, 0.02);
    ck_assert_double_eq_tol(figure("epoch", 1, "val_loss"), loss, 1e-4);
    ck_assert_double_eq_tol(figure("end", 0, "test_loss"), test, 1e-4);
}
END_TEST

static long stop_at;

static void stop_there(struct recorder *recorder, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == stop_at)
        run_control_stop(&recorder->control, RUN_STOP_STEP);
}

/* What the run does after it, the epoch of its early end included, is what it does without a stop.
 */
START_TEST(resumes_with_its_patience)
{
    const char *const settings = "epochs=30 lr=1 validation=0.2 patience=3 devices=cpu:0-1";
    run_ok(settings);
    const int epochs = recorder_count(&rec, "epoch");
    const long stops[] = {2, 4 * epochs - 9, 4 * epochs - 4, 4 * epochs - 1, 4 * epochs};
    ck_assert_int_gt(epochs, 3);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        struct recorder first, second;
        begin(&first, settings);
        first.on_event = stop_there;
        stop_at = stops[i];
        ck_assert(!recorder_run(&first));
        ck_assert(json_is_null(json_object_get(recorder_event(&first, "end", 0), "test_acc")));
        recorder_free(&first);
        begin(&second, settings);
        second.keep.resumes = true;
        ck_assert_msg(recorder_run(&second), "%s", second.err.text);
        static const char *const keys[] = {"val_acc",      "val_loss", "test_acc", "test_loss",
                                           "tested_epoch", "steps",    "epochs"};
        const json_t *end = recorder_event(&second, "end", 0);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            ck_assert_msg(recorder_number(end, keys[k]) == figure("end", 0, keys[k]), "%s",
                          keys[k]);
        ck_assert_str_eq(recorder_string(end, "reason"),
                         recorder_string(recorder_event(&rec, "end", 0), "reason"));
        recorder_free(&second);
        remove_tree(format("%s", checkpoints));
    }
}
END_TEST

/* Unless it is given more of it. */
START_TEST(one_that_ended_early_stays_so)
{
    struct recorder second;
    begin(&rec, "epochs=30 lr=1 validation=0.2 patience=3 devices=cpu:0");
    ck_assert(recorder_run(&rec));
    begin(&second, "epochs=30 lr=1 validation=0.2 patience=3 devices=cpu:0");
    second.keep.resumes = true;
    ck_assert_msg(recorder_run(&second), "%s", second.err.text);
    ck_assert_int_eq(recorder_count(&second, "step"), 0);
    const json_t *end = recorder_event(&second, "end", 0);
    ck_assert(recorder_number(end, "test_acc") == figure("end", 0, "test_acc"));
    ck_assert_str_eq(recorder_string(end, "reason"),
                     recorder_string(recorder_event(&rec, "end", 0), "reason"));
    recorder_free(&second);
    begin(&second, "epochs=30 lr=1 validation=0.2 patience=4 devices=cpu:0");
    second.keep.resumes = true;
    ck_assert_msg(recorder_run(&second), "%s", second.err.text);
    ck_assert_int_ge(recorder_count(&second, "epoch"), 1);
    recorder_free(&second);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("validation");
    TCase *tcase = tcase_create("validation");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, each_class_gives_its_share);
    tcase_add_test(tcase, a_class_without_a_row_is_named);
    tcase_add_test(tcase, validation_rows_are_not_trained_on);
    tcase_add_loop_test(tcase, the_test_is_of_what_was_saved, 0, 4);
    tcase_add_test(tcase, without_validation_the_test_chooses);
    tcase_add_loop_test(tcase, patience_ends_a_run, 0, 2);
    tcase_add_test(tcase, an_accuracy_ends_a_run);
    tcase_add_test(tcase, devices_share_the_validation);
    tcase_add_test(tcase, resumes_with_its_patience);
    tcase_add_test(tcase, one_that_ended_early_stays_so);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
