/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/engine/train/run/fixture.h"
#include "tests/suites.h"

/* Learning rates that change by a schedule: 2 epochs of 4 steps on the devices of fake_backend.c.
 */

/* The share of the learning rate that the step after `step` others of `steps` has. */
static double share(const char *schedule, double warmup, long steps, long step)
{
    struct error err = ERROR_INIT;
    struct lr_schedule parsed = {.warmup = warmup};
    ck_assert_msg(lr_schedule_parse(&parsed, schedule, &err), "%s", err.text);
    return lr_share(&parsed, (struct lr_length){4, steps}, step);
}

static void begin(const char *schedule, double warmup, const char *more)
{
    char settings[300];
    snprintf(settings, sizeof settings, LINEAR "lr=0.2 lr-schedule=%s warmup=%g %s", schedule,
             warmup, more);
    recorder_init(&rec, settings);
}

static double step_lr(int index)
{
    return recorder_number(recorder_event(&rec, "step", index), "lr");
}

static const struct {
    const char *schedule;
    double warmup;
} cases[] = {
    {"constant", 1.25}, {"step:1:0.5", 0},  {"step:0.5:0.5", 0.5}, {"multistep:0.5,1.5", 0},
    {"cosine", 0},      {"cosine:0.1", 1},  {"linear", 0.5},       {"linear:0.5", 0},
    {"one-cycle", 0},   {"one-cycle", 0.5}, {"triangle:0.5", 0},
};

START_TEST(steps_and_epochs_say_their_rate)
{
    const char *schedule = cases[_i].schedule;
    double warmup = cases[_i].warmup;
    begin(schedule, warmup, "devices=cpu:0-1");
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    for (int i = 0; i < 8; i++)
        ck_assert(step_lr(i) == 0.2 * share(schedule, warmup, 8, i));
    for (int i = 0; i < 2; i++)
        ck_assert(recorder_number(recorder_event(&rec, "epoch", i), "lr") == step_lr(4 * i + 3));
    const json_t *run = recorder_event(&rec, "run", 0);
    ck_assert(recorder_number(run, "lr") == 0.2 && recorder_number(run, "warmup") == warmup);
    ck_assert_str_eq(recorder_string(run, "lr_schedule"), schedule);
    ck_assert(rec.last.lr == step_lr(7) && rec.last.run_lr == 0.2);
}
END_TEST

/* With next to no rate in the second epoch the weights stay what they were. */
START_TEST(the_rate_counts_in_the_update)
{
    double loss[2][2];
    for (int i = 0; i < 2; i++) {
        begin(i ? "step:1:1e-6" : "constant", 0, "lr=1e-3 momentum=0");
        ck_assert(recorder_run(&rec));
        for (int epoch = 0; epoch < 2; epoch++)
            loss[i][epoch] = recorder_number(recorder_event(&rec, "epoch", epoch), "test_loss");
        recorder_free(&rec);
    }
    ck_assert(loss[0][0] == loss[1][0]);
    double moved = fabs(loss[0][1] - loss[0][0]);
    ck_assert_double_gt(moved, 0);
    ck_assert_double_lt(fabs(loss[1][1] - loss[1][0]), moved / 1000);
}
END_TEST

static void change_lr(struct recorder *recorder, const char *kind, json_t *event)
{
    long step = recorder_step(kind, event);
    if (step == 3)
        atomic_store(&recorder->control.lr, 0.05);
    if (step == 6)
        atomic_store(&recorder->control.lr, 0.5);
}

START_TEST(a_live_change_scales_the_rest)
{
    static const int at[] = {0, 3, 6, 8};
    double lr = 0.2;
    begin("cosine:0.05", 1, "");
    rec.on_event = change_lr;
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    ck_assert_int_eq(recorder_count(&rec, "retune"), 2);
    for (int part = 0; part < 3; part++) {
        if (part > 0) {
            const json_t *retune = recorder_event(&rec, "retune", part - 1);
            double planned = share("cosine:0.05", 1, 8, at[part]), to = part == 1 ? 0.05 : 0.5;
            ck_assert_double_eq_tol(recorder_number(retune, "from"), lr * planned, 1e-12);
            ck_assert_double_eq_tol(recorder_number(retune, "to"), to, 1e-12);
            ck_assert_double_eq_tol(recorder_number(retune, "scale"), to / (lr * planned), 1e-9);
            lr = to / planned;
        }
        for (int i = at[part]; i < at[part + 1]; i++)
            ck_assert_double_eq_tol(step_lr(i), lr * share("cosine:0.05", 1, 8, i), 1e-12);
    }
    ck_assert_double_eq_tol(rec.last.run_lr, lr, 1e-9);
}
END_TEST

/* A share near 0 makes no learning rate that a checkpoint could not hold. */
static void raise_the_last(struct recorder *recorder, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == 7)
        atomic_store(&recorder->control.lr, 1000);
}

START_TEST(a_scaled_rate_has_a_bound)
{
    begin("triangle", 0, "momentum=0");
    rec.on_event = raise_the_last;
    recorder_run(&rec);
    ck_assert(rec.last.run_lr == SPEC_MAX_LR);
    const json_t *retune = recorder_event(&rec, "retune", 0);
    ck_assert(recorder_number(retune, "to") == SPEC_MAX_LR * share("triangle", 0, 8, 7));
    ck_assert(step_lr(7) == recorder_number(retune, "to"));
}
END_TEST

static void change_both(struct recorder *recorder, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) != 5)
        return;
    ck_assert(run_control_set_epochs(&recorder->control, 4));
    atomic_store(&recorder->control.lr, 0.1);
}

/* The rate is that of the next step by the new length. */
START_TEST(the_length_follows_the_epochs)
{
    begin("linear", 0, "");
    rec.on_event = change_both;
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    ck_assert_int_eq(recorder_count(&rec, "step"), 16);
    for (int i = 0; i < 5; i++)
        ck_assert(step_lr(i) == 0.2 * share("linear", 0, 8, i));
    double lr = 0.1 / share("linear", 0, 16, 5);
    for (int i = 5; i < 16; i++)
        ck_assert_double_eq_tol(step_lr(i), lr * share("linear", 0, 16, i), 1e-12);
    ck_assert_str_eq(recorder_string(recorder_event(&rec, "retune", 0), "what"), "epochs");
    ck_assert_ptr_null(json_object_get(recorder_event(&rec, "retune", 0), "scale"));
    ck_assert_double_eq_tol(recorder_number(recorder_event(&rec, "retune", 1), "from"),
                            0.2 * share("linear", 0, 16, 5), 1e-12);
}
END_TEST

START_TEST(a_limit_of_steps_shortens_it)
{
    begin("cosine", 0, "max-steps=5");
    ck_assert(recorder_run(&rec));
    ck_assert_int_eq(recorder_count(&rec, "step"), 5);
    for (int i = 0; i < 5; i++)
        ck_assert(step_lr(i) == 0.2 * share("cosine", 0, 5, i));
    const char *reason = recorder_string(recorder_event(&rec, "end", 0), "reason");
    ck_assert_msg(strstr(reason, "max-steps 5, where ") && strstr(reason, "epochs would take "),
                  "%s", reason);
    recorder_free(&rec);
    begin("cosine", 0, "max-steps=50000");
    ck_assert(recorder_run(&rec));
    ck_assert_ptr_null(json_object_get(recorder_event(&rec, "end", 0), "reason"));
}
END_TEST

/* Without a schedule a change has no scale, and the rate is what was given, to the bit. */
START_TEST(no_schedule_is_no_news)
{
    begin("constant", 0, "");
    rec.on_event = change_lr;
    ck_assert(recorder_run(&rec));
    ck_assert_int_eq(recorder_count(&rec, "retune"), 2);
    ck_assert_ptr_null(json_object_get(recorder_event(&rec, "retune", 0), "scale"));
    ck_assert_int_eq(recorder_count(&rec, "warning"), 0);
    ck_assert(step_lr(2) == 0.2 && step_lr(3) == 0.05 && step_lr(7) == 0.5);
}
END_TEST

static void check_warning(const char *settings, const char *says)
{
    run_ok(settings);
    ck_assert_int_eq(recorder_count(&rec, "warning"), says != NULL);
    if (says)
        ck_assert_msg(strstr(recorder_string(recorder_event(&rec, "warning", 0), "text"), says) !=
                          NULL,
                      "%s", recorder_string(recorder_event(&rec, "warning", 0), "text"));
    recorder_free(&rec);
}

START_TEST(what_the_run_does_not_reach)
{
    check_warning(
        LINEAR "lr-schedule=multistep:1,2,3",
        "would change after epoch 2, but the run ends with epoch 2: choose an earlier epoch");
    check_warning(LINEAR "lr-schedule=step:1.75", NULL);
    check_warning(LINEAR "lr-schedule=step:30",
                  "change after epoch 30, but the run ends with epoch 2");
    check_warning(LINEAR "warmup=2", NULL);
    check_warning(LINEAR "warmup=2 max-steps=6",
                  "warmup 2: the run ends after 6 steps, within its warm-up");
    check_warning(LINEAR "epochs=0 warmup=2 lr-schedule=step:3", NULL);
}
END_TEST

START_TEST(a_warmup_that_is_too_long_is_refused)
{
    recorder_init(&rec, LINEAR "warmup=2.5");
    ck_assert(!recorder_run(&rec));
    ck_assert_int_eq(rec.err.kind, ERROR_USAGE);
    ck_assert_msg(strstr(rec.err.text, "warmup 2.5 is longer than the run of 2 epochs") != NULL,
                  "%s", rec.err.text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("schedule");
    TCase *tcase = add_case(suite, "schedule");
    tcase_add_loop_test(tcase, steps_and_epochs_say_their_rate, 0,
                        (int)(sizeof cases / sizeof cases[0]));
    tcase_add_test(tcase, the_rate_counts_in_the_update);
    tcase_add_test(tcase, a_live_change_scales_the_rest);
    tcase_add_test(tcase, a_scaled_rate_has_a_bound);
    tcase_add_test(tcase, the_length_follows_the_epochs);
    tcase_add_test(tcase, a_limit_of_steps_shortens_it);
    tcase_add_test(tcase, no_schedule_is_no_news);
    tcase_add_test(tcase, what_the_run_does_not_reach);
    tcase_add_test(tcase, a_warmup_that_is_too_long_is_refused);
    return run_suites(suite, NULL);
}
