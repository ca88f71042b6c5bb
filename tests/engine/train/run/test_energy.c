/* SPDX-License-Identifier: MIT */
/* What runs report of the energy that somebody measures for them. */
#include <math.h>

#include "tests/engine/train/run/fixture.h"
#include "tests/suites.h"

static int begun, ended;
static double answers[4];

static void energy_begin(void *context)
{
    (void)context;
    ck_assert_int_eq(begun++, ended);
}

static double energy_end(void *context)
{
    (void)context;
    ck_assert_int_eq(begun, ended + 1);
    return answers[ended++];
}

static bool train_measured(struct recorder *recorder, const struct run_sink *sink)
{
    struct run_sink measured = *sink;
    measured.energy_begin = energy_begin;
    measured.energy_end = energy_end;
    begun = ended = 0;
    return run_train_within(&recorder->limits, &recorder->spec, 12, &recorder->keep,
                            &recorder->control, &measured, &recorder->err);
}

static void train(const char *settings)
{
    recorder_init(&rec, settings);
    rec.train = train_measured;
}

static const json_t *member(int epoch, const char *key)
{
    return json_object_get(recorder_event(&rec, "epoch", epoch), key);
}

START_TEST(each_epoch_has_its_own)
{
    train(LINEAR);
    answers[0] = 50;
    answers[1] = 40;
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    ck_assert_int_eq(ended, 2);
    ck_assert_double_eq(json_number_value(member(0, "energy_j")), 50);
    ck_assert_double_eq(json_number_value(member(0, "samples_per_j")), 2);
    ck_assert_double_eq(json_number_value(member(1, "energy_j")), 40);
}
END_TEST

START_TEST(what_is_not_known_is_absent)
{
    train(LINEAR);
    answers[0] = NAN;
    answers[1] = 0; /* a counter that stands still */
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    for (int i = 0; i < 2; i++) {
        ck_assert_ptr_null(member(i, "energy_j"));
        ck_assert_ptr_null(member(i, "samples_per_j"));
    }
    recorder_free(&rec);
    run_ok(LINEAR); /* nobody measures */
    ck_assert_ptr_null(member(0, "energy_j"));
}
END_TEST

static void pause_at_two(struct recorder *recorder, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == 2)
        atomic_store(&recorder->control.paused, true);
}

static void unpause(struct recorder *recorder, const struct run_progress *progress)
{
    (void)progress;
    atomic_store(&recorder->control.paused, false);
}

START_TEST(an_epoch_with_a_pause_tells_nothing)
{
    train(LINEAR);
    rec.on_event = pause_at_two;
    rec.on_progress = unpause;
    answers[0] = answers[1] = 50;
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    ck_assert_str_eq(recorder_string(recorder_event(&rec, "retune", 0), "what"), "pause");
    ck_assert_ptr_null(member(0, "energy_j"));
    ck_assert_double_eq(json_number_value(member(1, "energy_j")), 50);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("energy");
    TCase *tcase = add_case(suite, "epochs");
    tcase_add_test(tcase, each_epoch_has_its_own);
    tcase_add_test(tcase, what_is_not_known_is_absent);
    tcase_add_test(tcase, an_epoch_with_a_pause_tells_nothing);
    return run_suites(suite, NULL);
}
