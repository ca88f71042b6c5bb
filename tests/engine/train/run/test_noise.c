/* SPDX-License-Identifier: MIT */
/* The gradient noise scale that runs report: of gradients that are known, whoever sums them. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "tests/engine/train/run/hosts_fixture.h"
#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/fakes/posing_backend.h"
#include "tests/suites.h"
#include "tests/support.h"

static const char *const methods[] = {"allreduce", "reduce-broadcast", "central"};
enum { METHODS = 3 };

/* Of the last epoch; NAN: not told. */
static double noise_of(const char *model, const char *settings)
{
    struct outcome outcome = train(model, settings);
    outcome_free(&outcome);
    return outcome.noise;
}

static double noise_with(const char *model, const char *common, const char *more)
{
    char *settings = format("%s %s", common, more);
    const double rows = noise_of(model, settings);
    free(settings);
    return rows;
}

static void check_equal(double noise, double expected, const char *what)
{
    ck_assert_msg(fabs(noise - expected) <= 1e-3 * fabs(expected), "%s: %g, not %g", what, noise,
                  expected);
}

/* What a step of plain descent with rate 1 takes off the weights is the gradient. */
static double *gradient_of(const char *settings, size_t *count)
{
    char *still = format("%s lr=0 max-steps=1", settings),
         *moving = format("%s lr=1 momentum=0 max-steps=1", settings);
    struct outcome before = train("plain", still), after = train("plain", moving);
    *count = before.net->value_count;
    double *gradient = calloc(*count, sizeof *gradient);
    ck_assert_ptr_nonnull(gradient);
    for (size_t i = 0; i < *count; i++)
        gradient[i] = (double)before.weights.values[i] - (double)after.weights.values[i];
    outcome_free(&before);
    outcome_free(&after);
    free(moving);
    free(still);
    return gradient;
}

/* B_simple by the paper's formulas for two sizes of batches, (A.2), from 32 rows and their parts of
 * 12 and 20: |G|^2 and tr(S) are linear in the norms of the parts, whose means are then taken by
 * rows. */
static double expected_noise(void)
{
    size_t count;
    double *whole = gradient_of("batch=32 order=sequential", &count);
    double *first = gradient_of("batch=12 train-rows=12 order=sequential", &count);
    double all = 0, parts = 0;
    for (size_t i = 0; i < count; i++) {
        const double second = (32 * whole[i] - 12 * first[i]) / 20;
        all += whole[i] * whole[i];
        parts += (12 * first[i] * first[i] + 20 * second * second) / 32;
    }
    free(whole);
    free(first);
    /* E parts = |G|^2 + 2 tr(S) / 32, E all = |G|^2 + tr(S) / 32. */
    const double variance = 32 * (parts - all);
    return variance / (all - variance / 32);
}

static const char of_step[] = "batch=32 order=sequential max-steps=1 split=weighted:3,5";

START_TEST(a_step_tells_what_its_gradients_are)
{
    const double expected = expected_noise();
    ck_assert_double_gt(expected, 1);
    for (int method = 0; method < METHODS; method++) {
        static const char *const places[] = {"devices=cpu:0-1", "devices=cuda:0-1",
                                             "devices=cuda:0,cpu:0", "devices=h1/cpu:0,h2/cpu:0"};
        posing_reset();
        posing.has_collective = method != 1;
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            char *settings = format("%s sync=%s", places[i], methods[method]);
            check_equal(noise_with("plain", of_step, settings), expected, settings);
            free(settings);
        }
    }
    check_equal(noise_of("plain", "devices=cpu:0-2 batch=32 order=sequential max-steps=1 "
                                  "split=weighted:3,0,5"),
                expected, "a device without rows");
}
END_TEST

/* Steps of several sizes, smoothed, over hosts with several devices. */
START_TEST(hosts_tell_what_devices_tell)
{
    const char *common = "epochs=2 batch=30 split=weighted:1,2,1,1";
    for (int method = 0; method < METHODS; method++) {
        char *near = format("%s devices=cpu:0-3 sync=%s", common, methods[method]);
        char *far = format("%s devices=h1/cpu:0-2,h2/cpu:0 sync=%s", common, methods[method]);
        check_equal(noise_of("normalised", far), noise_of("normalised", near), far);
        free(far);
        free(near);
    }
}
END_TEST

/* Two devices with equal shards are two halves, BatchNorm's statistics included. */
START_TEST(one_device_measures_by_halves)
{
    for (int i = 0; i < 2; i++) {
        /* Whose weights are then no longer those of two devices, whose BatchNorms see their shards.
         */
        const char *model = i == 0 ? "plain" : "normalised";
        const char *common = i == 0 ? "epochs=2 batch=32" : "max-steps=1 batch=32";
        const double two = noise_with(model, common, "devices=cpu:0-1");
        posing_reset();
        check_equal(noise_with(model, common, "noise-every=1"), two, model);
        check_equal(noise_with(model, common, "devices=cuda:0 noise-every=1"), two,
                    "in the device's memory");
        ck_assert(isnan(noise_with(model, common, "")));
    }
    ck_assert_double_gt(noise_with("normalised", "epochs=4 batch=29", "noise-every=3"), 0);
    ck_assert(isnan(noise_with("normalised", "batch=1 train-rows=8", "noise-every=1")));
}
END_TEST

START_TEST(measuring_changes_no_bit)
{
    const char *settings = "max-steps=10 batch=29 momentum=0.9 augment=flip-crop";
    char *measured = format("%s noise-every=2", settings);
    struct outcome without = train("normalised", settings), with = train("normalised", measured);
    check_same(&without, &with, measured);
    outcome_free(&without);
    outcome_free(&with);
    free(measured);
}
END_TEST

/* What is smoothed begins where it was. */
START_TEST(a_resumed_run_continues_the_scale)
{
    struct recorder rec;
    char *kept = format("%s/checkpoints", folder);
    parallel_begin(&rec, "plain", "devices=cpu:0-1 batch=32 epochs=2");
    rec.keep.checkpoints = kept;
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    rec.spec.epochs = 4;
    rec.keep.resumes = true;
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    const struct outcome resumed = parallel_outcome(&rec);
    check_equal(resumed.noise, noise_of("plain", "devices=cpu:0-1 batch=32 epochs=4"), "resumed");
    recorder_free(&rec);
    struct outcome done = resumed;
    outcome_free(&done);
    free(kept);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("noise of runs");
    TCase *tcase = add_parallel_case(suite, "noise of runs");
    parallel_train = train_over_hosts;
    tcase_add_test(tcase, a_step_tells_what_its_gradients_are);
    tcase_add_test(tcase, hosts_tell_what_devices_tell);
    tcase_add_test(tcase, one_device_measures_by_halves);
    tcase_add_test(tcase, measuring_changes_no_bit);
    tcase_add_test(tcase, a_resumed_run_continues_the_scale);
    return run_suites(suite, NULL);
}
