/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/engine/train/run/run_fixture.h"
#include "tests/suites.h"

/* Runs that are stopped, paused, retuned, or fail. The devices are those of fake_backend.c. */

static void stop_at_three(struct recorder *recorder, const char *kind, json_t *event)
{
    if (strcmp(kind, "step") == 0 && recorder_number(event, "step") == 3)
        atomic_store(&recorder->control.stop, RUN_STOP_STEP);
}

START_TEST(stop_after_the_step_saves)
{
    const char *path = temporary_path("stopped");
    char settings[700];
    snprintf(settings, sizeof settings, LINEAR "devices=cpu:0-1 save=%s", path);
    recorder_init(&rec, settings);
    rec.on_event = stop_at_three;
    ck_assert(!recorder_run(&rec));
    ck_assert_int_eq(rec.err.kind, ERROR_CANCELLED);
    const json_t *end = recorder_event(&rec, "end", 0);
    ck_assert(recorder_number(end, "steps") == 3);
    ck_assert(recorder_number(end, "epochs") == 0);
    ck_assert(json_is_null(json_object_get(end, "test_acc")));
    ck_assert_int_eq(recorder_count(&rec, "epoch"), 0);
    ck_assert_int_eq(access(path, R_OK), 0);
    unlink(path);
}
END_TEST

static void stop_now_at_two(struct recorder *recorder, const char *kind, json_t *event)
{
    if (strcmp(kind, "step") == 0 && recorder_number(event, "step") == 2)
        atomic_store(&recorder->control.stop, RUN_STOP_NOW);
}

START_TEST(stop_now_does_not_save)
{
    const char *path = temporary_path("dropped");
    char settings[700];
    snprintf(settings, sizeof settings, LINEAR "devices=cpu:0-1 save=%s", path);
    recorder_init(&rec, settings);
    rec.on_event = stop_now_at_two;
    ck_assert(!recorder_run(&rec));
    ck_assert_int_eq(rec.err.kind, ERROR_CANCELLED);
    ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

static void stop_when_training(struct recorder *recorder, const struct run_progress *progress)
{
    if (progress->phase == PHASE_TRAIN && progress->step >= 1)
        atomic_store(&recorder->control.stop, RUN_STOP_NOW);
}

START_TEST(stop_now_wakes_a_step)
{
    /* Step 2 never ends by itself: the others wait for device 1. */
    recorder_init(&rec, LINEAR "devices=cpu:0-2");
    fake.device = 1;
    fake.pass = 2;
    fake.hangs = true;
    rec.limits.grace_s = 0.2;
    rec.on_progress = stop_when_training;
    ck_assert(!recorder_run(&rec));
    ck_assert_int_eq(rec.err.kind, ERROR_CANCELLED);
    atomic_store(&fake.go_on, true);
    for (int i = 0; i < 5000 && atomic_load(&fake.closed) < 3; i++)
        usleep(1000);
}
END_TEST

static void stop_in_evaluation(struct recorder *recorder, const struct run_progress *progress)
{
    if (progress->phase == PHASE_EVAL)
        atomic_store(&recorder->control.stop, RUN_STOP_STEP);
}

START_TEST(stop_cuts_an_evaluation_short)
{
    recorder_init(&rec, "model=linear data=random:1000x5 batch=100 devices=cpu:0-1");
    fake.slow_device = 0;
    fake.slow_us = 150000;
    rec.on_progress = stop_in_evaluation;
    ck_assert(!recorder_run(&rec));
    ck_assert_int_eq(rec.err.kind, ERROR_CANCELLED);
    ck_assert_int_eq(recorder_count(&rec, "step"), 10);
    ck_assert_int_eq(recorder_count(&rec, "epoch"), 0);
}
END_TEST

static void retune(struct recorder *recorder, const char *kind, json_t *event)
{
    if (strcmp(kind, "step") == 0 && recorder_number(event, "step") == 3)
        atomic_store(&recorder->control.lr, 0.025);
}

START_TEST(learning_rate_from_the_next_step_on)
{
    recorder_init(&rec, LINEAR);
    rec.on_event = retune;
    ck_assert(recorder_run(&rec));
    for (int i = 0; i < 8; i++)
        ck_assert(recorder_number(recorder_event(&rec, "step", i), "lr") == (i < 3 ? 0.1 : 0.025));
    ck_assert(atomic_load(&rec.control.lr) == 0);
    ck_assert(rec.last.lr == 0.025);
}
END_TEST

static int paused_snapshots;

static void pause_at_two(struct recorder *recorder, const char *kind, json_t *event)
{
    if (strcmp(kind, "step") == 0 && recorder_number(event, "step") == 2) {
        paused_snapshots = 0;
        atomic_store(&recorder->control.paused, true);
    }
}

static void resume_later(struct recorder *recorder, const struct run_progress *progress)
{
    if (!atomic_load(&recorder->control.paused))
        return;
    ck_assert_int_eq(progress->step, 2);
    ck_assert_str_eq(progress->devices[0].state, "idle");
    if (++paused_snapshots == 3)
        atomic_store(&recorder->control.paused, false);
}

START_TEST(pause_and_resume)
{
    recorder_init(&rec, LINEAR);
    rec.on_event = pause_at_two;
    rec.on_progress = resume_later;
    ck_assert(recorder_run(&rec));
    ck_assert_int_eq(paused_snapshots, 3);
    ck_assert_int_eq(recorder_count(&rec, "step"), 8);
    /* Half a second of pause is not training time. */
    ck_assert(recorder_number(recorder_event(&rec, "epoch", 0), "seconds") <
              rec.last.elapsed_s - 0.4);
}
END_TEST

static void stop_in_pause(struct recorder *recorder, const struct run_progress *progress)
{
    if (atomic_load(&recorder->control.paused) && progress->step == 2)
        atomic_store(&recorder->control.stop, RUN_STOP_STEP);
}

START_TEST(stop_ends_a_pause)
{
    recorder_init(&rec, LINEAR);
    rec.on_event = pause_at_two;
    rec.on_progress = stop_in_pause;
    ck_assert(!recorder_run(&rec));
    ck_assert(recorder_number(recorder_event(&rec, "end", 0), "steps") == 2);
    /* It did not go on for that. */
    ck_assert_int_eq(recorder_count(&rec, "retune"), 1);
    ck_assert_str_eq(recorder_string(recorder_event(&rec, "retune", 0), "what"), "pause");
}
END_TEST

START_TEST(snapshots_follow_the_phases)
{
    run_ok(LINEAR "devices=cpu:0-2");
    ck_assert_int_ge(rec.phases[PHASE_PREPARE], 1);
    ck_assert_int_ge(rec.phases[PHASE_TRAIN], 2);
    ck_assert_int_eq(rec.phases[PHASE_EVAL], 2);
    ck_assert_int_eq(rec.phases[PHASE_ENDED], 1);
    ck_assert_int_eq(rec.last.device_count, 3);
    ck_assert_int_eq(rec.last.step, 8);
    ck_assert_int_eq(rec.last.total_steps, 8);
    ck_assert_int_eq(rec.last.epoch, 2);
    ck_assert_int_eq(rec.last.epoch_step, 4);
    ck_assert(rec.last.eta_s == 0);
    ck_assert(rec.last.samples_per_s > 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(rec.last.devices[i].id.index, i);
        ck_assert(rec.last.devices[i].memory_bytes > 0);
        ck_assert(rec.last.devices[i].samples_per_s > 0);
    }
}
END_TEST

/* Faults */

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

static Suite *control_suite(void)
{
    Suite *suite = suite_create("control");
    TCase *tcase = add_case(suite, "control");
    tcase_add_test(tcase, stop_after_the_step_saves);
    tcase_add_test(tcase, stop_now_does_not_save);
    tcase_add_test(tcase, stop_now_wakes_a_step);
    tcase_add_test(tcase, stop_cuts_an_evaluation_short);
    tcase_add_test(tcase, learning_rate_from_the_next_step_on);
    tcase_add_test(tcase, pause_and_resume);
    tcase_add_test(tcase, stop_ends_a_pause);
    tcase_add_test(tcase, snapshots_follow_the_phases);

    tcase = add_case(suite, "faults");
    tcase_add_loop_test(tcase, failing_device_ends_the_run, 0, 8 * 3);
    tcase_add_test(tcase, device_that_does_not_open);
    tcase_add_test(tcase, failure_in_evaluation);
    tcase_add_test(tcase, failure_inside_an_allreduce);
    tcase_add_loop_test(tcase, hanging_device_is_given_up, 0, 3);
    tcase_add_test(tcase, slow_device_is_waited_for);
    tcase_add_test(tcase, loss_that_is_no_number);
    tcase_add_test(tcase, allreduce_sums_over_all_devices);
    tcase_add_test(tcase, learning_rate_that_is_too_high);
    return suite;
}

int main(void)
{
    return run_suites(control_suite(), NULL);
}
