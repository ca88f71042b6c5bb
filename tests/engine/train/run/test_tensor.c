/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/engine/train/run/divided_fixture.h"
#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * Runs whose devices are the slices of a network, by strategy tensor and mixed: they do what one
 * device does, with BatchNorm as well. Real CPU devices, some of which pose as others with faults.
 */

static const char *const strategies[] = {"tensor", "mixed"};
enum { TENSOR, MIXED, SLICED, DEVICES = 3 };

static void check_slices(int strategy, const char *model, const char *common, double tolerance)
{
    static const char *const more[SLICED][DEVICES] = {
        {"strategy=tensor devices=cpu:0", "strategy=tensor devices=cpu:0-1",
         "strategy=tensor devices=cpu:0-2"},
        {"strategy=mixed devices=cpu:0", "strategy=mixed devices=cpu:0-1",
         "strategy=mixed devices=cpu:0-2"}};
    expect_one_devices(model, common, more[strategy], DEVICES, tolerance);
}

START_TEST(slices_equal_one_device)
{
    char *common = format(BATCHES "%s", divided_kinds[_i / SLICED]);
    check_slices(_i % SLICED, "plain", common, PLAIN_TOLERANCE);
    free(common);
}
END_TEST

/* Each channel has the statistics of all rows, running ones included. */
START_TEST(slices_normalise_as_one_device_does)
{
    static const char *const settings[] = {
        [TENSOR] = BATCHES "momentum=0.9", [MIXED] = BATCHES "momentum=0.9 sync-bn=true"};
    check_slices(_i, "normalised", settings[_i], NORMALISED_TOLERANCE);
}
END_TEST

/* Rows before the linear layers are divided as with strategy data, and so are the statistics, whose
 * running ones are those of the first device. */
START_TEST(rows_are_normalised_as_with_strategy_data)
{
    static const char *const splits[] = {"split=balanced", "split=chunk", "split=weighted:3,1,2"};
    char *common = format(BATCHES "momentum=0.9 devices=cpu:0-2 %s", splits[_i]);
    char *mixed = format("%s strategy=mixed", common);
    struct outcome data = train("normalised", common), slices = train("normalised", mixed);
    check_close(&data, &slices, NORMALISED_TOLERANCE, mixed);
    outcome_free(&data);
    outcome_free(&slices);
    free(common);
    free(mixed);
}
END_TEST

/* The second device has no row of the last mini-batch, which has one. */
START_TEST(device_without_rows_computes_its_outputs)
{
    const char *mixed = "strategy=mixed devices=cpu:0-1";
    expect_one_devices("plain", "max-steps=10 batch=10 train-rows=31 test-rows=21", &mixed, 1,
                       PLAIN_TOLERANCE);
}
END_TEST

/* Rows of validation after each epoch, those of test, which are more or fewer, in the end. */
START_TEST(validation_and_test_are_those_of_one_device)
{
    static const char *const rows[] = {"validation=0.5 test-rows=50", "validation=0.1 test-rows=50",
                                       "validation=0.3 test-rows=3"};
    char *common = format("batch=16 epochs=2 lr=0.2 %s", rows[_i / SLICED]);
    check_slices(_i % SLICED, "plain", common, PLAIN_TOLERANCE);
    free(common);
}
END_TEST

START_TEST(same_seed_same_slices_same_bits)
{
    char *settings =
        format(BATCHES "strategy=%s devices=cpu:0-2 momentum=0.9 clip-norm=0.1", strategies[_i]);
    struct outcome one = train("normalised", settings), two = train("normalised", settings);
    check_same(&one, &two, "again");
    outcome_free(&one);
    outcome_free(&two);
    free(settings);
}
END_TEST

START_TEST(events_tell_the_strategy_and_rows)
{
    struct recorder rec;
    char *settings = format(BATCHES "strategy=%s devices=cpu:0-1", strategies[_i]);
    ck_assert_msg(divided_run(&rec, "normalised", settings), "%s", rec.err.text);
    const json_t *event = recorder_event(&rec, "run", 0);
    ck_assert_str_eq(recorder_string(event, "strategy"), strategies[_i]);
    ck_assert_double_gt(recorder_number(event, "sync_bytes_per_step"), 0);
    event = recorder_event(&rec, "step", 3);
    ck_assert_double_eq(recorder_number(event, "rows"), 5);
    event = recorder_event(&rec, "epoch", 0);
    ck_assert_double_eq(recorder_number(event, "rows"), 92);
    recorder_free(&rec);
    free(settings);
}
END_TEST

static const struct {
    const char *settings, *reason;
} mistakes[] = {
    {"strategy=tensor devices=cpu:0-1 split=auto",
     "split auto: devices that divide layers compute the same"},
    {"strategy=tensor devices=cpu:0-1 sync=central",
     "sync central: devices that divide layers have"},
    {"strategy=tensor devices=cpu:0-11", "cannot be divided over 12 devices: "},
    {"strategy=mixed devices=cpu:0-1 split=auto", "split auto: not with strategy mixed"},
    {"strategy=mixed devices=cpu:0-1 sync=central",
     "sync central: devices that divide layers have"},
    {"strategy=mixed devices=cpu:0-11", "cannot be divided over 12 devices: "},
    {"strategy=mixed devices=cpu:0-1 split=weighted:1,0",
     "cpu:1 would have no row of a mini-batch of"},
};

enum { MISTAKES = sizeof mistakes / sizeof *mistakes };

START_TEST(mistakes_are_named)
{
    expect_refusal(mistakes[_i].settings, mistakes[_i].reason);
}
END_TEST

static const enum posing_phase faults[] = {POSING_OPEN, POSING_PLAN, POSING_PASS, POSING_UPDATE};

enum { SLICES = 3, FAULTS = sizeof faults / sizeof *faults };

#define POSING_SLICES BATCHES "devices=cuda:0-2 strategy="

static const char *const posing_slices[SLICED] = {POSING_SLICES "tensor", POSING_SLICES "mixed"};

START_TEST(slice_that_fails_is_named)
{
    expect_failure(posing_slices[_i % SLICED], _i / SLICED % SLICES, faults[_i / SLICED / SLICES]);
}
END_TEST

START_TEST(slice_that_hangs_is_named)
{
    expect_hang(posing_slices[_i % SLICED], _i / SLICED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tensor");
    TCase *tc = add_parallel_case(suite, "tensor");
    tcase_add_loop_test(tc, slices_equal_one_device, 0, DIVIDED_KINDS * SLICED);
    tcase_add_loop_test(tc, slices_normalise_as_one_device_does, 0, SLICED);
    tcase_add_loop_test(tc, rows_are_normalised_as_with_strategy_data, 0, 3);
    tcase_add_test(tc, device_without_rows_computes_its_outputs);
    tcase_add_loop_test(tc, validation_and_test_are_those_of_one_device, 0, 3 * SLICED);
    tcase_add_loop_test(tc, same_seed_same_slices_same_bits, 0, SLICED);
    tcase_add_loop_test(tc, events_tell_the_strategy_and_rows, 0, SLICED);
    tcase_add_loop_test(tc, mistakes_are_named, 0, MISTAKES);
    tcase_add_loop_test(tc, slice_that_fails_is_named, 0, FAULTS * SLICES * SLICED);
    tcase_add_loop_test(tc, slice_that_hangs_is_named, 0, SLICES * SLICED);
    return run_suites(suite, NULL);
}
