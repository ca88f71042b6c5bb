/* SPDX-License-Identifier: MIT */
/* The energy of runs: what of their epochs counts, and when a comparison speaks of it. */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "experiment/outcome.h"
#include "experiment/sentence.h"
#include "tests/suites.h"

/* An epoch as its event tells it; energy 0: not known. */
static void add(struct measure *measure, int epoch, double seconds, double energy_j, double acc)
{
    struct error err = ERROR_INIT;
    json_t *event =
        json_pack("{s:i, s:f, s:f, s:f, s:f, s:f}", "epoch", epoch, "seconds", seconds,
                  "samples_per_s", 1000 / seconds, "test_acc", acc, "sync_s", 0.0, "wait_s", 0.0);
    if (energy_j > 0) {
        json_object_set_new(event, "energy_j", json_real(energy_j));
        json_object_set_new(event, "samples_per_j", json_real(1000 / energy_j));
    }
    ck_assert(measure_add(measure, event, &err));
    json_decref(event);
}

START_TEST(epochs_that_count_and_tell)
{
    struct measure measure = {0};
    ck_assert(isnan(measure_energy(&measure).joules));
    add(&measure, 1, 9, 900, 0.1); /* warm-up */
    ck_assert_double_eq(measure_energy(&measure).joules, 900);
    add(&measure, 2, 1, 100, 0.5);
    add(&measure, 3, 1, 0, 0.6);
    add(&measure, 4, 1, 300, 0.7);
    struct measured_energy energy = measure_energy(&measure);
    ck_assert_double_eq(energy.joules, 200);
    ck_assert_double_eq_tol(energy.samples_per_j, 2000.0 / 400, 1e-9);
    /* The warm-up took energy like the others, and of the third nobody knows. */
    ck_assert_double_eq(measure_energy_to(&measure, 0.5), 1000);
    ck_assert(isnan(measure_energy_to(&measure, 0.7)));
    ck_assert(isnan(measure_energy_to(&measure, 0.9)));
    measure_free(&measure);
}
END_TEST

/* `show` tells every so many epochs of a long run; each stands for those before it. */
START_TEST(epochs_of_a_long_run)
{
    struct measure measure = {0};
    add(&measure, 1, 2, 20, 0.1);
    add(&measure, 6, 1, 10, 0.5);
    add(&measure, 11, 1, 10, 0.7);
    ck_assert_double_eq(measure_seconds(&measure), 12);
    ck_assert_double_eq(measure_seconds_to(&measure, 0.5), 7);
    ck_assert_double_eq(measure_energy_to(&measure, 0.7), 120);
    measure_free(&measure);
}
END_TEST

START_TEST(epochs_on_other_devices)
{
    struct measure measure = {.measured_from = 3};
    char note[200];
    ck_assert_str_eq(sentence_of_resume(&measure, note, sizeof note),
                     "Epochs before 3 do not count as speed: the run was resumed on other devices "
                     "or with settings that change how long a step takes");
    add(&measure, 1, 9, 900, 0.1);
    add(&measure, 2, 8, 800, 0.5);
    ck_assert(isnan(measure_energy(&measure).joules));
    ck_assert(!measure_is_warm_up(&measure));
    add(&measure, 3, 2, 30, 0.6);
    ck_assert(measure_is_warm_up(&measure));
    ck_assert_double_eq(measure_energy(&measure).joules, 30);
    add(&measure, 4, 1, 10, 0.7);
    ck_assert_double_eq(measure_energy(&measure).joules, 10);
    ck_assert_double_eq_tol(measure_time(&measure).seconds, 1, 1e-12);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(measure_counts(&measure, i), i == 3);
    /* Nobody's time to an accuracy. */
    ck_assert(isnan(measure_seconds_to(&measure, 0.5)) && isnan(measure_energy_to(&measure, 0.5)));
    measure.measured_from = 0;
    ck_assert_double_eq(measure_seconds_to(&measure, 0.5), 17);
    ck_assert_str_eq(sentence_of_resume(&measure, note, sizeof note), "");
    measure_free(&measure);
}
END_TEST

/* What a comparison of one device with two says of their energy in an epoch, and in two. */
static const char *sentence(double one_j, double two_j, double target)
{
    static char text[SENTENCE_SIZE];
    struct error err = ERROR_INIT;
    struct measure measures[2] = {{0}};
    struct outcome outcomes[2];
    for (int i = 0; i < 2; i++) {
        const struct measure *only = &measures[i];
        add(&measures[i], 1, i ? 1 : 1.8, i ? two_j : one_j, 0.4);
        add(&measures[i], 2, i ? 1 : 1.8, i ? two_j : one_j, i ? 0.5 : 0.7);
        add(&measures[i], 3, i ? 1 : 1.8, i ? two_j : one_j, 0.7);
        ck_assert(outcome_make(&outcomes[i], &only, 1, target, &err));
        outcomes[i].devices = i + 1;
        measure_free(&measures[i]);
    }
    outcome_compare(&outcomes[0], &outcomes[0]);
    outcome_compare(&outcomes[1], &outcomes[0]);
    return sentence_of_devices(&outcomes[1], &outcomes[0], 8, text, sizeof text);
}

START_TEST(more_devices_that_cost_more)
{
    const char *said = sentence(50, 60, NAN);
    ck_assert_msg(strstr(said, "; 2 devices use 1.20 times the energy per epoch"), "%s", said);
    ck_assert_msg(!strstr(said, "same accuracy"), "%s", said);
    said = sentence(50, 60, 0.6);
    ck_assert_msg(strstr(said, "; 2 devices use 1.20 times the energy per epoch, and 1.80 times to "
                               "the same accuracy"),
                  "%s", said);
    /* An epoch costs no more, but there are more of them. */
    said = sentence(50, 50, 0.6);
    ck_assert_msg(strstr(said, "use 1.00 times the energy per epoch, and 1.50 times to the same"),
                  "%s", said);
}
END_TEST

START_TEST(nothing_is_said_where_there_is_nothing)
{
    ck_assert_ptr_null(strstr(sentence(50, 51, NAN), "energy"));
    ck_assert_ptr_null(strstr(sentence(60, 50, NAN), "energy"));
    ck_assert_ptr_null(strstr(sentence(0, 50, NAN), "energy"));
    ck_assert_ptr_null(strstr(sentence(50, 0, 0.6), "energy"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("energy");
    TCase *tc = tcase_create("comparisons");
    tcase_add_test(tc, epochs_that_count_and_tell);
    tcase_add_test(tc, epochs_of_a_long_run);
    tcase_add_test(tc, epochs_on_other_devices);
    tcase_add_test(tc, more_devices_that_cost_more);
    tcase_add_test(tc, nothing_is_said_where_there_is_nothing);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
