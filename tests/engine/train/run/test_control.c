/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/engine/train/run/fixture.h"
#include "tests/suites.h"

/* Runs that are stopped or paused. The devices are those of fake_backend.c. */

static void stop_at_three(struct recorder *recorder, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == 3)
        atomic_store(&recorder->control.stop, RUN_STOP_STEP);
}

START_TEST(stop_after_the_step_saves)
{
    const char *path = run_stopped_saving(LINEAR "devices=cpu:0-1", stop_at_three);
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
    if (recorder_step(kind, event) == 2)
        atomic_store(&recorder->control.stop, RUN_STOP_NOW);
}

START_TEST(stop_now_does_not_save)
{
    const char *path = run_stopped_saving(LINEAR "devices=cpu:0-1", stop_now_at_two);
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
    run_stopped();
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
    run_stopped();
    ck_assert_int_eq(recorder_count(&rec, "step"), 10);
    ck_assert_int_eq(recorder_count(&rec, "epoch"), 0);
}
END_TEST

static int paused_snapshots;

static void pause_at_two(struct recorder *recorder, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == 2) {
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
    /* It did not train any more. */
    ck_assert_int_eq(recorder_count(&rec, "retune"), 1);
    ck_assert_str_eq(recorder_string(recorder_event(&rec, "retune", 0), "what"), "pause");
}
END_TEST

static void check_rows(struct recorder *recorder, const struct run_progress *progress)
{
    (void)recorder;
    for (int i = 0; i < progress->device_count && progress->phase != PHASE_PREPARE; i++)
        ck_assert_int_eq(progress->devices[i].rows, 15);
}

/* The last step of each epoch, and with it the evaluation after it, has 10 rows. */
START_TEST(snapshots_have_the_rows_of_a_full_step)
{
    recorder_init(&rec, LINEAR "devices=cpu:0-1");
    rec.on_progress = check_rows;
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    ck_assert_int_eq(rec.phases[PHASE_EVAL], 2);
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

int main(void)
{
    Suite *suite = suite_create("control");
    TCase *tcase = add_case(suite, "control");
    tcase_add_test(tcase, stop_after_the_step_saves);
    tcase_add_test(tcase, stop_now_does_not_save);
    tcase_add_test(tcase, stop_now_wakes_a_step);
    tcase_add_test(tcase, stop_cuts_an_evaluation_short);
    tcase_add_test(tcase, pause_and_resume);
    tcase_add_test(tcase, stop_ends_a_pause);
    tcase_add_test(tcase, snapshots_have_the_rows_of_a_full_step);
    tcase_add_test(tcase, snapshots_follow_the_phases);
    return run_suites(suite, NULL);
}
