/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/engine/train/run/fixture.h"
#include "tests/suites.h"

/* Runs on devices that fail, hang or are slow: those of fake_backend.c. */

static void check_failure(const char *device, const char *reason)
{
    ck_assert(!recorder_run(&rec));
    ck_assert_int_eq(rec.err.kind, ERROR_FAILED);
    ck_assert_msg(strstr(rec.err.text, device) && strstr(rec.err.text, reason), "%s", rec.err.text);
    ck_assert_str_eq(recorder_string(recorder_event(&rec, "end", 0), "error"), rec.err.text);
}

static void check_next_run_works(void)
{
    int misuse = atomic_load(&fake.misuse);
    recorder_free(&rec);
    ck_assert_int_eq(atomic_load(&fake.opened), atomic_load(&fake.closed));
    fake_reset();
    atomic_store(&fake.misuse, misuse);
    run_ok(LINEAR "devices=cpu:0-7");
}

static const char *const methods[] = {"allreduce", "reduce-broadcast", "central"};

START_TEST(failing_device_ends_the_run)
{
    char settings[200];
    snprintf(settings, sizeof settings, LINEAR "devices=cpu:0-7 sync=%s", methods[_i % 3]);
    recorder_init(&rec, settings);
    fake.device = _i / 3;
    fake.pass = 3;
    fake.fails = true;
    char device[16];
    snprintf(device, sizeof device, "cpu:%d", fake.device);
    check_failure(device, "the library said no");
    ck_assert_int_eq(recorder_count(&rec, "step"), 2);
    ck_assert_str_eq(rec.last.devices[fake.device].state, "failed");
    check_next_run_works();
}
END_TEST

START_TEST(device_that_does_not_open)
{
    recorder_init(&rec, LINEAR "devices=cpu:0-3");
    fake.device = 2;
    fake.fails_to_open = true;
    check_failure("cpu:2", "on fire");
    ck_assert_int_eq(recorder_count(&rec, "run"), 0);
    check_next_run_works();
}
END_TEST

START_TEST(failure_in_evaluation)
{
    recorder_init(&rec, LINEAR "devices=cpu:0-3");
    fake.device = 3;
    fake.fails_in_evaluation = true;
    check_failure("cpu:3", "evaluation hurts");
    check_next_run_works();
}
END_TEST

START_TEST(failure_inside_an_allreduce)
{
    /* Device 1 fails before the others' sums are complete: they must not wait for it. */
    recorder_init(&rec, LINEAR "devices=cpu:0-3 sync-bn=yes");
    fake.device = 1;
    fake.pass = 2;
    fake.fails = true;
    check_failure("cpu:1", "the library said no");
    check_next_run_works();
}
END_TEST

START_TEST(hanging_device_is_given_up)
{
    char settings[200];
    snprintf(settings, sizeof settings, LINEAR "devices=cpu:0-2 sync=%s", methods[_i]);
    recorder_init(&rec, settings);
    rec.limits.stall_s = 2; /* the other devices answer in time on a busy machine, too */
    rec.limits.grace_s = 0.2;
    fake.device = 1;
    fake.pass = 2;
    fake.hangs = true;
    check_failure("cpu:1", "no sign of progress");
    ck_assert_ptr_null(strstr(rec.err.text, "cpu:0"));
    ck_assert_ptr_null(strstr(rec.err.text, "cpu:2"));
    ck_assert_int_eq(atomic_load(&fake.hanging), 1);
    /* Another run goes its way while that thread still hangs. */
    recorder_free(&rec);
    fake.device = -1;
    run_ok(LINEAR "devices=cpu:0-2");
    ck_assert_int_eq(atomic_load(&fake.opened), 6);
    ck_assert_int_eq(atomic_load(&fake.closed), 3);
    /* When it comes back, everything is given back. */
    atomic_store(&fake.go_on, true);
    for (int i = 0; i < 5000 && atomic_load(&fake.closed) < 6; i++)
        usleep(1000);
    usleep(20000);
}
END_TEST

START_TEST(slow_device_is_waited_for)
{
    recorder_init(&rec, LINEAR "devices=cpu:0-2 epochs=1");
    fake.slow_device = 2;
    fake.slow_us = 60000;
    rec.limits.stall_s = 10;
    rec.limits.grace_s = 10;
    ck_assert(recorder_run(&rec));
    const json_t *devices = json_object_get(recorder_event(&rec, "epoch", 0), "devices");
    ck_assert(recorder_number(json_array_get(devices, 2), "compute_s") > 0.2);
    ck_assert(recorder_number(json_array_get(devices, 0), "wait_s") > 0.2);
}
END_TEST

START_TEST(loss_that_is_no_number)
{
    recorder_init(&rec, LINEAR "devices=cpu:0-1");
    fake.device = 1;
    fake.pass = 3;
    fake.gives_nan = true;
    check_failure("lr 0.1", "diverged");
    ck_assert_int_eq(recorder_count(&rec, "step"), 3);
    ck_assert(json_is_null(json_object_get(recorder_event(&rec, "step", 2), "loss")));
    check_next_run_works();
}
END_TEST

START_TEST(learning_rate_that_is_too_high)
{
    recorder_init(&rec, LINEAR "lr=1e6 momentum=1 weight-decay=1000 epochs=20");
    check_failure("lr 1e+06", "diverged");
}
END_TEST

START_TEST(allreduce_sums_over_all_devices)
{
    /* fake_backend.c counts a wrong sum as misuse. */
    run_ok(LINEAR "devices=cpu:0-7 sync-bn=yes");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("command");
    TCase *tcase = add_case(suite, "faults");
    tcase_add_loop_test(tcase, failing_device_ends_the_run, 0, 8 * 3);
    tcase_add_test(tcase, device_that_does_not_open);
    tcase_add_test(tcase, failure_in_evaluation);
    tcase_add_test(tcase, failure_inside_an_allreduce);
    tcase_add_loop_test(tcase, hanging_device_is_given_up, 0, 3);
    tcase_add_test(tcase, slow_device_is_waited_for);
    tcase_add_test(tcase, loss_that_is_no_number);
    tcase_add_test(tcase, allreduce_sums_over_all_devices);
    tcase_add_test(tcase, learning_rate_that_is_too_high);
    return run_suites(suite, NULL);
}
