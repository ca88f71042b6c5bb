/* SPDX-License-Identifier: MIT */
/* What the gradient noise scale says of batches, in numbers and words. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "experiment/noise.h"
#include "tests/suites.h"

static char text[300];

START_TEST(laws)
{
    ck_assert_double_eq_tol(noise_waste(1900, 512), 512.0 / 2412, 1e-12);
    ck_assert_double_eq_tol(noise_epochs(1000, 1000, 3000), 2, 1e-12);
    ck_assert_double_eq_tol(noise_epochs(1000, 3000, 1000), 0.5, 1e-12);
    /* Far below the noise in proportion to the batch, far above it not at all. */
    ck_assert_double_eq_tol(noise_lr(1e9, 0.1, 64, 128), 0.2, 1e-6);
    ck_assert_double_eq_tol(noise_lr(1, 0.1, 1e6, 2e6), 0.1, 1e-6);
    ck_assert_double_eq_tol(noise_lr(256, 0.1, 256, 512), 0.1 * 2 / 1.5, 1e-12);
    ck_assert(isnan(noise_lr(NAN, 0.1, 256, 512)));
}
END_TEST

START_TEST(a_scale_in_words)
{
    ck_assert_str_eq(noise_sentence(1904, 512, text, sizeof text),
                     "Noise scale 1900: batches up to about 1900 rows use their rows well; 512 "
                     "wastes 21% of each row");
    ck_assert_str_eq(noise_sentence(1, 8, text, sizeof text),
                     "Noise scale 1: batches up to about 1 row use their rows well; 8 wastes 89% "
                     "of each row");
    ck_assert_str_eq(noise_sentence(NAN, 512, text, sizeof text), "");
    ck_assert_str_eq(noise_sentence(1900, NAN, text, sizeof text), "");
}
END_TEST

static struct outcome outcome(int devices, double low, double median, double high)
{
    return (struct outcome){
        .devices = devices,
        .samples_per_s = {.count = 3, .low = low, .median = median, .high = high}};
}

START_TEST(a_choice_in_words)
{
    const struct outcome one = outcome(1, 99, 100, 101), eight = outcome(8, 546, 610, 672);
    const struct noise_choice base = {&one, 256}, choice = {&eight, 2048};
    struct noise_reach reach = noise_reach(4224, &choice, &base);
    ck_assert_double_eq_tol(reach.epochs, 1.4, 1e-12);
    ck_assert_double_eq_tol(reach.sooner, 6.1 / 1.4, 1e-12);
    ck_assert_str_eq(noise_reach_sentence(&reach, &choice, 0.92, text, sizeof text),
                     "8 devices, batch 2048: 6.1 times as fast per epoch, 1.4 times the epochs: "
                     "4.4 times as fast to 0.92 (3.9-4.8)");
    ck_assert_str_eq(noise_reach_sentence(&reach, &base, NAN, text, sizeof text),
                     "1 device, batch 256: 6.1 times as fast per epoch, 1.4 times the epochs: 4.4 "
                     "times as fast to the same accuracy (3.9-4.8)");
    reach = noise_reach(NAN, &choice, &base);
    ck_assert_str_eq(noise_reach_sentence(&reach, &choice, 0.92, text, sizeof text), "");
}
END_TEST

/* That of its base; else of the smallest batch. */
START_TEST(a_comparison_has_one_scale)
{
    static const struct study_variant variants[] = {{.batch = 512}, {.batch = 256}, {.batch = 128}};
    static struct study study = {.kind = STUDY_SETTINGS, .varied_count = 1, .varied = {"batch"}};
    struct study_table table = {.study = &study, .count = 3, .base = 0};
    for (int i = 0; i < 3; i++)
        table.rows[i] = (struct study_row){.variant = &variants[i],
                                           .outcome = {.noise = i == 0 ? NAN : 100.0 * i}};
    ck_assert_double_eq(noise_of_study(&table), 200);
    table.rows[0].outcome.noise = 50;
    ck_assert_double_eq(noise_of_study(&table), 50);
    table.rows[0].outcome.samples_per_s.median = table.rows[1].outcome.samples_per_s.median = 100;
    ck_assert_double_eq_tol(study_reach(&table, 1).epochs, 306.0 / 562, 1e-12);
    strcpy(study.varied[0], "optimizer"); /* of which the law says nothing */
    ck_assert(isnan(study_reach(&table, 1).epochs));
    table.base = -1;
    ck_assert_double_eq(noise_of_study(&table), 200);
    ck_assert(isnan(study_reach(&table, 1).sooner));
    table.count = 0;
    ck_assert(isnan(noise_of_study(&table)));
}
END_TEST

/* What batches waste adds up over epochs, so small scales count most. */
START_TEST(a_run_has_the_harmonic_mean)
{
    struct measured_epoch epochs[] = {{.noise = 100}, {.noise = NAN}, {.noise = 300}};
    struct measure measure = {.epochs = epochs, .count = 3};
    ck_assert_double_eq_tol(measure_noise(&measure), 150, 1e-9);
    epochs[1].noise = INFINITY; /* measured, and nothing else was found */
    ck_assert_double_eq_tol(measure_noise(&measure), 225, 1e-9);
    measure.count = 0;
    ck_assert(isnan(measure_noise(&measure)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("noise scale");
    TCase *tcase = tcase_create("noise scale");
    tcase_add_test(tcase, laws);
    tcase_add_test(tcase, a_scale_in_words);
    tcase_add_test(tcase, a_choice_in_words);
    tcase_add_test(tcase, a_comparison_has_one_scale);
    tcase_add_test(tcase, a_run_has_the_harmonic_mean);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
