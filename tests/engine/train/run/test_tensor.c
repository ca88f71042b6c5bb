/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/engine/train/run/divided_fixture.h"
#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * Runs whose devices are the slices of a network: they do what one device does, with BatchNorm as
 * well. Real CPU devices, some of which pose as others with faults.
 */

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
    char *common = format(BATCHES "%s", divided_kinds[_i]);
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

START_TEST(events_tell_the_strategy_and_rows)
{
    struct recorder rec;
    ck_assert_msg(divided_run(&rec, "normalised", BATCHES "strategy=tensor devices=cpu:0-1"), "%s",
                  rec.err.text);
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
    char *settings = format("strategy=tensor %s", mistakes[_i].settings);
    expect_refusal(settings, mistakes[_i].reason);
    free(settings);
}
END_TEST

static const enum posing_phase faults[] = {POSING_OPEN, POSING_PLAN, POSING_PASS, POSING_UPDATE};

enum { SLICES = 3, FAULTS = sizeof faults / sizeof *faults };

#define POSING_SLICES BATCHES "strategy=tensor devices=cuda:0-2"

START_TEST(slice_that_fails_is_named)
{
    expect_failure(POSING_SLICES, _i % SLICES, faults[_i / SLICES]);
}
END_TEST

START_TEST(slice_that_hangs_is_named)
{
    expect_hang(POSING_SLICES, _i);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tensor");
    TCase *tc = add_parallel_case(suite, "tensor");
    tcase_add_loop_test(tc, slices_equal_one_device, 0, DIVIDED_KINDS);
    tcase_add_test(tc, slices_normalise_as_one_device_does);
    tcase_add_loop_test(tc, validation_and_test_are_those_of_one_device, 0, 3);
    tcase_add_test(tc, same_seed_same_slices_same_bits);
    tcase_add_test(tc, events_tell_the_strategy_and_rows);
    tcase_add_loop_test(tc, mistakes_are_named, 0, MISTAKES);
    tcase_add_loop_test(tc, slice_that_fails_is_named, 0, FAULTS * SLICES);
    tcase_add_loop_test(tc, slice_that_hangs_is_named, 0, SLICES);
    return run_suites(suite, NULL);
}
