/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/fakes/posing_backend.h"
#include "tests/recorder.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * Runs whose devices are the slices of a network: they do what one device does, with BatchNorm as
 * well. Real CPU devices, some of which pose as others with faults.
 */

/* 92 rows in batches of 29 end with one of 5. */
#define BATCHES "max-steps=10 batch=29 train-rows=92 "

static const char *const kinds[] = {
    "",
    "momentum=0.9 weight-decay=0.01",
    "optimizer=adam lr=0.001 no-decay=norm-bias weight-decay=0.01",
    "clip-norm=0.05",
    "augment=flip-crop label-smoothing=0.1",
    "ema=0.9",
    "clip-norm=0.05 ema=0.9",
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static void check_slices(const char *model, const char *common, double tolerance)
{
    static const char *const devices[] = {"cpu:0", "cpu:0-1", "cpu:0-2"};
    struct outcome one = train(model, common);
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        char *settings = format("%s strategy=tensor devices=%s", common, devices[i]);
        struct outcome slices = train(model, settings);
        check_close(&one, &slices, tolerance, settings);
        outcome_free(&slices);
        free(settings);
    }
    outcome_free(&one);
}

START_TEST(slices_equal_one_device)
{
    char *common = format(BATCHES "%s", kinds[_i]);
    check_slices("plain", common, PLAIN_TOLERANCE);
    free(common);
}
END_TEST

/* Each channel has the statistics of all rows, running ones included. */
START_TEST(slices_normalise_as_one_device_does)
{
    check_slices("normalised", BATCHES "momentum=0.9", NORMALISED_TOLERANCE);
}
END_TEST

/* Rows of validation after each epoch, those of test, which are more or fewer, in the end. */
START_TEST(validation_and_test_are_those_of_one_device)
{
    static const char *const rows[] = {"validation=0.5 test-rows=50", "validation=0.1 test-rows=50",
                                       "validation=0.3 test-rows=3"};
    char *common = format("batch=16 epochs=2 lr=0.2 %s", rows[_i]);
    check_slices("plain", common, PLAIN_TOLERANCE);
    free(common);
}
END_TEST

START_TEST(same_seed_same_slices_same_bits)
{
    const char *settings = BATCHES "strategy=tensor devices=cpu:0-2 momentum=0.9 clip-norm=0.1";
    struct outcome one = train("normalised", settings), two = train("normalised", settings);
    check_same(&one, &two, "again");
    outcome_free(&one);
    outcome_free(&two);
}
END_TEST

/* A run of a model of the folder. */
static bool run(struct recorder *rec, const char *model, const char *settings)
{
    char *all = format("model=%s/%s.conf data=%s/data lr=0.05 init=default cpu-threads=1 "
                       "strategy=tensor %s",
                       folder, model, folder, settings);
    recorder_init(rec, all);
    rec->limits.grace_s = 1;
    free(all);
    return recorder_run(rec);
}

START_TEST(events_tell_the_strategy_and_rows)
{
    struct recorder rec;
    ck_assert_msg(run(&rec, "normalised", BATCHES "devices=cpu:0-1"), "%s", rec.err.text);
    const json_t *event = recorder_event(&rec, "run", 0);
    ck_assert_str_eq(recorder_string(event, "strategy"), "tensor");
    ck_assert_double_gt(recorder_number(event, "sync_bytes_per_step"), 0);
    event = recorder_event(&rec, "step", 3);
    ck_assert_double_eq(recorder_number(event, "rows"), 5);
    event = recorder_event(&rec, "epoch", 0);
    ck_assert_double_eq(recorder_number(event, "rows"), 92);
    recorder_free(&rec);
}
END_TEST

static const struct {
    const char *settings, *reason;
} mistakes[] = {
    {"devices=cpu:0-1 split=auto", "split auto: devices that divide each layer all compute every"},
    {"devices=cpu:0-1 sync=central", "sync central: devices that divide each layer have"},
    {"devices=cpu:0-11", "cannot be divided over 12 devices: "},
};

enum { MISTAKES = sizeof mistakes / sizeof *mistakes };

START_TEST(mistakes_are_named)
{
    struct recorder rec;
    ck_assert(!run(&rec, "normalised", mistakes[_i].settings));
    ck_assert_int_eq(rec.err.kind, ERROR_USAGE);
    ck_assert_msg(strstr(rec.err.text, mistakes[_i].reason), "%s", rec.err.text);
    recorder_free(&rec);
}
END_TEST

static const enum posing_phase faults[] = {POSING_OPEN, POSING_PLAN, POSING_PASS, POSING_UPDATE};

enum { SLICES = 3, FAULTS = sizeof faults / sizeof *faults };

#define POSING_SLICES BATCHES "devices=cuda:0-2"

static void check_next_run_works(void)
{
    struct recorder rec;
    posing_reset();
    ck_assert_msg(run(&rec, "plain", POSING_SLICES), "%s", rec.err.text);
    recorder_free(&rec);
}

START_TEST(slice_that_fails_is_named)
{
    struct recorder rec;
    char name[16];
    posing_reset();
    posing.device = _i % SLICES;
    posing.phase = faults[_i / SLICES];
    snprintf(name, sizeof name, "cuda:%d: ", posing.device);
    ck_assert(!run(&rec, "plain", POSING_SLICES));
    ck_assert_int_eq(rec.err.kind, ERROR_FAILED);
    ck_assert_msg(strstr(rec.err.text, name) && strstr(rec.err.text, "went wrong"), "%s",
                  rec.err.text);
    ck_assert_int_eq(atomic_load(&posing.opened), atomic_load(&posing.closed));
    recorder_free(&rec);
    check_next_run_works();
}
END_TEST

START_TEST(slice_that_hangs_is_named)
{
    struct recorder rec;
    char name[16];
    posing_reset();
    posing.device = _i;
    posing.phase = POSING_PASS;
    posing.hangs = true;
    snprintf(name, sizeof name, "cuda:%d: ", _i);
    char *all =
        format("model=%s/plain.conf data=%s/data cpu-threads=1 strategy=tensor " POSING_SLICES,
               folder, folder);
    recorder_init(&rec, all);
    free(all);
    rec.limits.stall_s = 2; /* the other devices answer in time on a busy machine, too */
    rec.limits.grace_s = 0.2;
    ck_assert(!recorder_run(&rec));
    ck_assert_msg(strncmp(rec.err.text, name, strlen(name)) == 0 &&
                      strstr(rec.err.text, "no sign of progress"),
                  "%s", rec.err.text);
    recorder_free(&rec);
    /* Once it comes back it gives back what it holds. */
    atomic_store(&posing.go_on, true);
    for (int i = 0; i < 1000 && atomic_load(&posing.closed) < SLICES; i++)
        usleep(10000);
    ck_assert_int_eq(atomic_load(&posing.closed), SLICES);
    check_next_run_works();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tensor");
    TCase *tc = add_parallel_case(suite, "tensor");
    tcase_add_loop_test(tc, slices_equal_one_device, 0, KINDS);
    tcase_add_test(tc, slices_normalise_as_one_device_does);
    tcase_add_loop_test(tc, validation_and_test_are_those_of_one_device, 0, 3);
    tcase_add_test(tc, same_seed_same_slices_same_bits);
    tcase_add_test(tc, events_tell_the_strategy_and_rows);
    tcase_add_loop_test(tc, mistakes_are_named, 0, MISTAKES);
    tcase_add_loop_test(tc, slice_that_fails_is_named, 0, FAULTS * SLICES);
    tcase_add_loop_test(tc, slice_that_hangs_is_named, 0, SLICES);
    return run_suites(suite, NULL);
}
