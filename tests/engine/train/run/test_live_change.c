/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/engine/train/run/fixture.h"
#include "tests/suites.h"

/* Runs that are changed while they train: 2 epochs of 4 steps on the devices of fake_backend.c. */

/* The index-th retune says this; `from` and `to` NAN: it has none. */
static void check_retune(int index, const char *what, long epoch, long step, double from, double to)
{
    const json_t *event = recorder_event(&rec, "retune", index);
    ck_assert_str_eq(recorder_string(event, "what"), what);
    ck_assert_int_eq((long)recorder_number(event, "epoch"), epoch);
    ck_assert_int_eq((long)recorder_number(event, "step"), step);
    ck_assert_int_eq(json_object_get(event, "from") != NULL, !isnan(from));
    ck_assert_int_eq(json_object_get(event, "to") != NULL, !isnan(to));
    if (!isnan(from))
        ck_assert(recorder_number(event, "from") == from && recorder_number(event, "to") == to);
}

/* The event that stands before the index-th retune. */
static const json_t *event_before(int index)
{
    const json_t *retune = recorder_event(&rec, "retune", index);
    for (size_t i = 1; i < json_array_size(rec.events); i++)
        if (json_array_get(rec.events, i) == retune)
            return json_array_get(rec.events, i - 1);
    ck_abort_msg("a retune is the first event");
    return NULL;
}

static void change_lr_twice(struct recorder *recorder, const char *kind, json_t *event)
{
    long step = recorder_step(kind, event);
    if (step == 3 || step == 6)
        atomic_store(&recorder->control.lr, step == 3 ? 0.025 : 0.5);
    if (step == 7)
        atomic_store(&recorder->control.lr, 0.5); /* as it is: no change */
}

START_TEST(each_step_has_the_rate_of_its_time)
{
    static const double expected[] = {0.1, 0.1, 0.1, 0.025, 0.025, 0.025, 0.5, 0.5};
    recorder_init(&rec, LINEAR);
    rec.on_event = change_lr_twice;
    ck_assert(recorder_run(&rec));
    for (int i = 0; i < 8; i++)
        ck_assert(recorder_number(recorder_event(&rec, "step", i), "lr") == expected[i]);
    ck_assert(atomic_load(&rec.control.lr) == 0);
    ck_assert(rec.last.lr == 0.5);
    ck_assert_int_eq(recorder_count(&rec, "retune"), 2);
    check_retune(0, "lr", 1, 3, 0.1, 0.025);
    check_retune(1, "lr", 2, 6, 0.025, 0.5);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq((long)recorder_number(event_before(i), "step"), i == 0 ? 3 : 6);
}
END_TEST

/* With next to no rate the weights stay what they were. */
static void change_lr_at_four(struct recorder *recorder, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == 4)
        atomic_store(&recorder->control.lr, 1e-30);
}

START_TEST(the_rate_counts_in_the_update)
{
    recorder_init(&rec, LINEAR "momentum=0 weight-decay=0 devices=cpu:0-1");
    rec.on_event = change_lr_at_four;
    ck_assert(recorder_run(&rec));
    double first = recorder_number(recorder_event(&rec, "epoch", 0), "test_loss");
    double second = recorder_number(recorder_event(&rec, "epoch", 1), "test_loss");
    ck_assert(first == second);
    recorder_free(&rec);
    run_ok(LINEAR "momentum=0 weight-decay=0 devices=cpu:0-1");
    ck_assert(recorder_number(recorder_event(&rec, "epoch", 0), "test_loss") == first);
    ck_assert(recorder_number(recorder_event(&rec, "epoch", 1), "test_loss") != first);
}
END_TEST

static void change_lr_in_evaluation(struct recorder *recorder, const struct run_progress *progress)
{
    if (progress->phase == PHASE_EVAL && progress->epoch == 1)
        atomic_store(&recorder->control.lr, 0.05);
}

START_TEST(a_rate_set_in_an_evaluation_begins_the_next_epoch)
{
    recorder_init(&rec, LINEAR);
    rec.on_progress = change_lr_in_evaluation;
    ck_assert(recorder_run(&rec));
    check_retune(0, "lr", 1, 4, 0.1, 0.05);
    ck_assert(recorder_number(recorder_event(&rec, "epoch", 0), "lr") == 0.1);
    ck_assert_str_eq(recorder_string(event_before(0), "event"), "epoch");
    ck_assert(recorder_number(recorder_event(&rec, "step", 4), "lr") == 0.05);
}
END_TEST

static void stop_after_epoch_at_two(struct recorder *recorder, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == 2)
        run_control_stop(&recorder->control, RUN_STOP_EPOCH);
}

START_TEST(stop_after_the_epoch)
{
    const char *path = run_stopped_saving(LINEAR, stop_after_epoch_at_two);
    check_retune(0, "stop_after_epoch", 1, 2, NAN, NAN);
    ck_assert_int_eq(recorder_count(&rec, "step"), 4);
    ck_assert_int_eq(recorder_count(&rec, "epoch"), 1);
    const json_t *end = recorder_event(&rec, "end", 0);
    ck_assert(recorder_number(end, "epochs") == 1);
    ck_assert(recorder_number(end, "test_acc") ==
              recorder_number(recorder_event(&rec, "epoch", 0), "test_acc"));
    ck_assert_int_eq(access(path, R_OK), 0);
    /* Too late. */
    ck_assert(!run_control_cancel_stop(&rec.control));
    unlink(path);
}
END_TEST

static void change_mind_at_three(struct recorder *recorder, const char *kind, json_t *event)
{
    stop_after_epoch_at_two(recorder, kind, event);
    if (recorder_step(kind, event) == 3)
        ck_assert(run_control_cancel_stop(&recorder->control));
}

START_TEST(a_stop_after_the_epoch_is_cancelled)
{
    recorder_init(&rec, LINEAR);
    rec.on_event = change_mind_at_three;
    ck_assert(recorder_run(&rec));
    ck_assert_int_eq(recorder_count(&rec, "step"), 8);
    ck_assert_int_eq(recorder_count(&rec, "retune"), 2);
    check_retune(0, "stop_after_epoch", 1, 2, NAN, NAN);
    check_retune(1, "go_on", 1, 3, NAN, NAN);
}
END_TEST

static void stop_after_epoch_at_six(struct recorder *recorder, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == 6)
        run_control_stop(&recorder->control, RUN_STOP_EPOCH);
}

START_TEST(a_stop_after_the_last_epoch_changes_nothing)
{
    recorder_init(&rec, LINEAR);
    rec.on_event = stop_after_epoch_at_six;
    ck_assert(recorder_run(&rec));
    ck_assert_int_eq(recorder_count(&rec, "epoch"), 2);
}
END_TEST

static void urgent_after_all(struct recorder *recorder, const char *kind, json_t *event)
{
    stop_after_epoch_at_two(recorder, kind, event);
    if (recorder_step(kind, event) != 3)
        return;
    run_control_stop(&recorder->control, RUN_STOP_STEP);
    run_control_stop(&recorder->control, RUN_STOP_EPOCH);
    ck_assert(!run_control_cancel_stop(&recorder->control));
}

START_TEST(a_stop_only_becomes_more_urgent)
{
    recorder_init(&rec, LINEAR);
    rec.on_event = urgent_after_all;
    ck_assert(!recorder_run(&rec));
    ck_assert_int_eq(recorder_count(&rec, "step"), 3);
    ck_assert_int_eq(recorder_count(&rec, "epoch"), 0);
}
END_TEST

/* epochs */

static long wanted_epochs, wanted_at;

static void set_epochs(struct recorder *recorder, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == wanted_at)
        ck_assert(run_control_set_epochs(&recorder->control, wanted_epochs));
}

static void run_with_epochs(const char *settings, long at, long epochs)
{
    wanted_at = at;
    wanted_epochs = epochs;
    recorder_init(&rec, settings);
    rec.on_event = set_epochs;
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
}

START_TEST(more_epochs)
{
    run_with_epochs(LINEAR, 3, 5);
    check_retune(0, "epochs", 1, 3, 2, 5);
    ck_assert(recorder_number(recorder_event(&rec, "retune", 0), "total_steps") == 20);
    ck_assert_int_eq(recorder_count(&rec, "step"), 20);
    ck_assert_int_eq(recorder_count(&rec, "epoch"), 5);
    ck_assert_int_eq(rec.last.epochs, 5);
    ck_assert_int_eq(rec.last.total_steps, 20);
    ck_assert(!run_control_set_epochs(&rec.control, 6));
}
END_TEST

START_TEST(fewer_epochs)
{
    run_with_epochs(LINEAR "epochs=9", 6, 3);
    check_retune(0, "epochs", 2, 6, 9, 3);
    ck_assert_int_eq(recorder_count(&rec, "step"), 12);
    ck_assert_int_eq(rec.last.total_steps, 12);
}
END_TEST

START_TEST(an_epoch_that_has_begun_is_finished)
{
    run_with_epochs(LINEAR "epochs=9", 6, 1);
    check_retune(0, "epochs", 2, 6, 9, 2);
    ck_assert_int_eq(recorder_count(&rec, "step"), 8);
    ck_assert_int_eq(recorder_count(&rec, "epoch"), 2);
}
END_TEST

START_TEST(the_same_number_is_no_change)
{
    run_with_epochs(LINEAR, 3, 2);
    ck_assert_int_eq(recorder_count(&rec, "retune"), 0);
}
END_TEST

START_TEST(the_limit_of_steps_holds)
{
    run_with_epochs(LINEAR "max-steps=6", 3, 9);
    ck_assert_int_eq(recorder_count(&rec, "step"), 6);
    ck_assert_int_eq(rec.last.total_steps, 6);
    ck_assert(recorder_number(recorder_event(&rec, "retune", 0), "total_steps") == 6);
}
END_TEST

static void more_in_the_last_evaluation(struct recorder *recorder,
                                        const struct run_progress *progress)
{
    if (progress->phase == PHASE_EVAL && progress->step == progress->total_steps &&
        progress->epochs < 3)
        ck_assert(run_control_set_epochs(&recorder->control, 3));
}

START_TEST(epochs_added_in_the_last_evaluation_are_trained)
{
    recorder_init(&rec, LINEAR);
    rec.on_progress = more_in_the_last_evaluation;
    ck_assert(recorder_run(&rec));
    check_retune(0, "epochs", 2, 8, 2, 3);
    ck_assert_int_eq(recorder_count(&rec, "step"), 12);
    ck_assert_int_eq(recorder_count(&rec, "epoch"), 3);
}
END_TEST

static void try_more_epochs(struct recorder *recorder, const struct run_progress *progress)
{
    if (progress->phase == PHASE_EVAL)
        ck_assert(!run_control_set_epochs(&recorder->control, 3));
}

START_TEST(a_run_of_no_epochs_keeps_to_that)
{
    recorder_init(&rec, LINEAR "epochs=0");
    rec.on_progress = try_more_epochs;
    ck_assert(recorder_run(&rec));
    ck_assert_int_eq(recorder_count(&rec, "step"), 0);
    ck_assert_int_eq(recorder_count(&rec, "retune"), 0);
}
END_TEST

/* pauses */

static int snapshots_in_pause;

static void pause_at_two(struct recorder *recorder, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == 2) {
        snapshots_in_pause = 0;
        atomic_store(&recorder->control.paused, true);
    }
}

static void change_in_pause(struct recorder *recorder, const struct run_progress *progress)
{
    if (!atomic_load(&recorder->control.paused) || progress->step != 2)
        return;
    if (++snapshots_in_pause == 1) {
        atomic_store(&recorder->control.lr, 0.2);
        run_control_stop(&recorder->control, RUN_STOP_EPOCH);
    } else if (snapshots_in_pause == 2) {
        ck_assert(progress->lr == 0.2);
        atomic_store(&recorder->control.paused, false);
    }
}

START_TEST(a_paused_run_takes_changes)
{
    recorder_init(&rec, LINEAR);
    rec.on_event = pause_at_two;
    rec.on_progress = change_in_pause;
    ck_assert(!recorder_run(&rec));
    ck_assert_int_eq(recorder_count(&rec, "retune"), 4);
    check_retune(0, "pause", 1, 2, NAN, NAN);
    check_retune(1, "lr", 1, 2, 0.1, 0.2);
    check_retune(2, "stop_after_epoch", 1, 2, NAN, NAN);
    check_retune(3, "resume", 1, 2, NAN, NAN);
    ck_assert_int_eq(recorder_count(&rec, "step"), 4);
    ck_assert(recorder_number(recorder_event(&rec, "step", 2), "lr") == 0.2);
    /* A quarter of a second of pause is in no figure of speed. */
    const json_t *epoch = recorder_event(&rec, "epoch", 0), *end = recorder_event(&rec, "end", 0);
    ck_assert(recorder_number(epoch, "seconds") < rec.last.elapsed_s - 0.2);
    ck_assert(recorder_number(end, "s_per_epoch") < rec.last.elapsed_s - 0.2);
    ck_assert(recorder_number(epoch, "wait_s") < recorder_number(epoch, "seconds") + 1e-9);
}
END_TEST

START_TEST(the_log_has_the_changes)
{
    const char *path = temporary_path("retuned");
    char settings[700];
    char line[4096];
    snprintf(settings, sizeof settings, LINEAR "log=%s", path);
    recorder_init(&rec, settings);
    rec.on_event = change_lr_twice;
    ck_assert(recorder_run(&rec));
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    size_t lines = 0;
    for (; fgets(line, sizeof line, file); lines++) {
        json_t *event = json_loads(line, 0, NULL);
        const json_t *said = json_array_get(rec.events, lines);
        ck_assert_str_eq(recorder_string(event, "event"), recorder_string(said, "event"));
        if (strcmp(recorder_string(event, "event"), "retune") == 0)
            ck_assert(json_equal(event, (json_t *)(uintptr_t)said));
        json_decref(event);
    }
    ck_assert_uint_eq(lines, json_array_size(rec.events));
    fclose(file);
    unlink(path);
}
END_TEST

static Suite *live_change_suite(void)
{
    Suite *suite = suite_create("live_change");
    TCase *tcase = add_case(suite, "rate and stops");
    tcase_add_test(tcase, each_step_has_the_rate_of_its_time);
    tcase_add_test(tcase, the_rate_counts_in_the_update);
    tcase_add_test(tcase, a_rate_set_in_an_evaluation_begins_the_next_epoch);
    tcase_add_test(tcase, stop_after_the_epoch);
    tcase_add_test(tcase, a_stop_after_the_epoch_is_cancelled);
    tcase_add_test(tcase, a_stop_after_the_last_epoch_changes_nothing);
    tcase_add_test(tcase, a_stop_only_becomes_more_urgent);
    tcase_add_test(tcase, the_log_has_the_changes);
    tcase = add_case(suite, "epochs and pauses");
    tcase_add_test(tcase, more_epochs);
    tcase_add_test(tcase, fewer_epochs);
    tcase_add_test(tcase, an_epoch_that_has_begun_is_finished);
    tcase_add_test(tcase, the_same_number_is_no_change);
    tcase_add_test(tcase, the_limit_of_steps_holds);
    tcase_add_test(tcase, epochs_added_in_the_last_evaluation_are_trained);
    tcase_add_test(tcase, a_run_of_no_epochs_keeps_to_that);
    tcase_add_test(tcase, a_paused_run_takes_changes);
    return suite;
}

int main(void)
{
    return run_suites(live_change_suite(), NULL);
}
