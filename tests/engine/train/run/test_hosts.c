/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/engine/train/run/hosts_fixture.h"
#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/fakes/posing_backend.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * What training over hosts must mean: devices of several hosts do what as many devices of one host
 * do, and one device does. Two devices sum their gradients in the same order wherever they are, so
 * there every bit is the same.
 */

static const char *const methods[] = {"allreduce", "reduce-broadcast", "central"};
static const char *const models[] = {"plain", "normalised"};
enum { METHODS = 3, MODELS = 2 };

/* Of two kinds of runs the one that does more, BatchNorm over hosts: sanitizers see nothing new in
 * the other one. */
#ifdef __SANITIZE_ADDRESS__
enum { BUCKET_RUNS = 1, LAYOUT_MODELS = 1 };
#else
enum { BUCKET_RUNS = 2, LAYOUT_MODELS = 2 };
#endif

static const char two_hosts[] = "devices=h1/cpu:0,h2/cpu:0";

/* What the one does the other must do in every bit, by whatever method. */
static void check_methods(const char *model, const struct outcome *near, const char *other)
{
    for (int i = 0; i < METHODS; i++) {
        char *settings = format("%s sync=%s", other, methods[i]);
        struct outcome far = train(model, settings);
        check_same(near, &far, settings);
        ck_assert(near->test_acc == far.test_acc);
        outcome_free(&far);
        free(settings);
    }
}

static void check_same_runs(const char *model, const char *one, const char *other)
{
    struct outcome near = train(model, one);
    check_methods(model, &near, other);
    outcome_free(&near);
}

/* Two devices of one host, and of two. */
static void check_two_hosts(const char *model, const char *settings)
{
    char *one = format("devices=cpu:0-1 %s", settings);
    char *two = format("%s %s", two_hosts, settings);
    check_same_runs(model, one, two);
    ck_assert_int_eq(hosts_seen.count, 2);
    free(two);
    free(one);
}

START_TEST(two_hosts_equal_two_devices)
{
    const struct parallel_split *split = &parallel_splits[_i / MODELS];
    char *settings = format("max-steps=10 %s split=%s", split->batches, split->rule[1]);
    check_two_hosts(models[_i % MODELS], settings);
    free(settings);
    ck_assert_int_gt(hosts_seen.sums, 0);
}
END_TEST

static const char wide_model[] =
    "input = [ 1, 8, 8 ]; classes = 10; layers = ( { type = \"linear\"; outputs = 1024; },\n"
    "  \"batchnorm\", \"tanh\", { type = \"linear\"; outputs = 1024; }, \"tanh\",\n"
    "  { type = \"linear\"; outputs = \"classes\"; } );\n";

/* Large enough for several buckets, which are summed while the rest is still computed: from the
 * second step on, as the first one makes the plan. The third one is short. */
START_TEST(buckets_are_summed_beside_the_backward_pass)
{
    char *settings = format("max-steps=3 batch=29 train-rows=63 momentum=0.9 sync-bn=%s",
                            _i == 0 ? "yes" : "no");
    char *three = format("%s devices=h1/cpu:0-1,h2/cpu:0", settings);
    put_file(folder, "wide.conf", wide_model, sizeof wide_model - 1);
    check_two_hosts("wide", settings);
    ck_assert_int_ge(hosts_seen.sums, 2 * 3);
    if (_i == 0)
        check_same_runs("wide", three, three);
    free(three);
    free(settings);
}
END_TEST

/* Everything that has numbers of its own, is random, or chooses by what was evaluated. */
static const struct {
    const char *model, *settings;
} kinds[] = {
    {"plain", "max-steps=10 momentum=0.9 weight-decay=0.01"},
    {"normalised", "max-steps=10 optimizer=adam lr=0.001 clip-norm=0.5 ema=0.9"},
    {"normalised", "max-steps=10 sync-bn=yes split=weighted:2,1"},
    {"normalised", "epochs=3 split=weighted:1,0 momentum=0.9"},
    {"normalised", "epochs=3 split=weighted:0,1 sync-bn=yes ema=0.75"},
    {"plain", "max-steps=10 augment=flip-crop label-smoothing=0.1"},
    {"normalised", "epochs=0"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

START_TEST(every_setting_is_the_same_over_hosts)
{
    char *settings = format("batch=29 train-rows=92 %s", kinds[_i].settings);
    check_two_hosts(kinds[_i].model, settings);
    free(settings);
}
END_TEST

/* The weights of the best epoch are in a file of the first host; those to begin with as well. */
START_TEST(chooses_the_same_epoch)
{
    char *init = format("%s/weights", folder);
    char *best = format("%s/best", folder);
    char *begin = format("%s/begin.safetensors", folder);
    struct outcome before = train("normalised", "epochs=2 batch=29");
    ck_assert_int_eq(rename(init, begin), 0);
    char *settings = format("init=%s batch=29 epochs=8 lr=0.2 validation=0.25 patience=2 "
                            "save-best=%s ema=%s",
                            begin, best, _i == 0 ? "0.5" : "0");
    check_two_hosts("normalised", settings);
    outcome_free(&before);
    free(settings);
    free(begin);
    free(best);
    free(init);
}
END_TEST

/* Before any evaluation has passed them round. The hosts hear of the end with the next step. */
START_TEST(stopped_run_saves_the_statistics_of_another_host)
{
    char *settings = format("batch=24 split=weighted:0,1 sync=%s", methods[_i]);
    char *one = format("devices=cpu:0-1 %s", settings);
    char *two = format("%s %s", two_hosts, settings);
    struct outcome near = train_until("normalised", one, 2);
    struct outcome far = train_until("normalised", two, 1);
    check_same(&near, &far, settings);
    outcome_free(&near);
    outcome_free(&far);
    free(two);
    free(one);
    free(settings);
}
END_TEST

static const struct {
    const char *devices, *weights;
} layouts[] = {
    {"h1/cpu:0-1,h2/cpu:0", "weighted:0,1,2"},
    {"h1/cpu:0,h2/cpu:0-2", "weighted:1,0,0,2"},
    {"h1/cpu:0,h2/cpu:0,h3/cpu:0", "weighted:1,0,2"},
    {"h1/cpu:0,h2/cpu:0,h3/cpu:0-1,h4/cpu:7", "weighted:0,2,0.5,1,1"},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* As many devices as there may be: their sums are rounded otherwise, but always alike. */
START_TEST(any_hosts_equal_one_device)
{
    static const struct {
        const char *model, *settings;
        double tolerance;
    } of[] = {
        {"normalised", "sync-bn=yes", NORMALISED_TOLERANCE},
        {"plain", "momentum=0.9 weight-decay=0.01", PLAIN_TOLERANCE},
    };
    const char *model = of[_i / LAYOUTS].model;
    char *common = format("max-steps=10 batch=29 train-rows=92 %s", of[_i / LAYOUTS].settings);
    struct outcome one = train(model, common);
    for (int weighted = 0; weighted < 2; weighted++) {
        char *settings = format("%s devices=%s split=%s", common, layouts[_i % LAYOUTS].devices,
                                weighted ? layouts[_i % LAYOUTS].weights : "chunk");
        struct outcome many = train(model, settings);
        check_close(&one, &many, of[_i / LAYOUTS].tolerance, settings);
        check_methods(model, &many, settings);
        outcome_free(&many);
        free(settings);
    }
    outcome_free(&one);
    free(common);
}
END_TEST

/* Memory that only the backend reaches, and two kinds of devices that lay out values otherwise. */
START_TEST(gradients_of_other_devices_go_through_the_host)
{
    static const char *const devices[][2] = {{"cuda:0-1", "h1/cuda:0,h2/cuda:1"},
                                             {"cpu:0,cuda:1", "h1/cpu:0,h2/cuda:1"},
                                             {"cuda:0,cpu:1", "h1/cuda:0,h2/cpu:1"}};
    for (int i = 0; i < MODELS; i++) {
        char *settings =
            format("max-steps=10 batch=29 train-rows=92 split=weighted:%s", i % 2 ? "2,1" : "0,1");
        char *one = format("devices=%s %s", devices[_i][0], settings);
        char *two = format("devices=%s %s", devices[_i][1], settings);
        check_same_runs(models[i], one, two);
        free(two);
        free(one);
        free(settings);
    }
    ck_assert_int_eq(atomic_load(&posing.misuse), 0);
    ck_assert_int_eq(atomic_load(&posing.opened), atomic_load(&posing.closed));
    ck_assert_int_eq(atomic_load(&posing.stages), 0);
}
END_TEST

/* By times that all hosts are told, so all take the same shares at the same step. */
START_TEST(shares_change_alike_on_all_hosts)
{
    char *settings = format("batch=29 train-rows=92 epochs=6 split=auto sync=%s", methods[_i]);
    char *one = format("devices=cuda:0-1 %s", settings);
    char *two = format("devices=h1/cuda:0,h2/cuda:1 %s", settings);
    posing.row_s[0] = 1;
    posing.row_s[1] = 10;
    parallel_clock = posing_clock;
    struct outcome near = train("normalised", one), far = train("normalised", two);
    ck_assert_int_eq(near.share_changes, 1);
    ck_assert_int_eq(far.share_changes, 1);
    check_same(&near, &far, settings);
    outcome_free(&near);
    outcome_free(&far);
    free(two);
    free(one);
    free(settings);
}
END_TEST

static void reset(void)
{
    posing_reset();
    parallel_clock = NULL;
}

int main(void)
{
    Suite *suite = suite_create("hosts");
    TCase *tcase = add_parallel_case(suite, "hosts");
    parallel_train = train_over_hosts;
    tcase_add_checked_fixture(tcase, reset, NULL);
    tcase_add_loop_test(tcase, two_hosts_equal_two_devices, 0, MODELS * PARALLEL_SPLITS);
    tcase_add_loop_test(tcase, buckets_are_summed_beside_the_backward_pass, 0, BUCKET_RUNS);
    tcase_add_loop_test(tcase, every_setting_is_the_same_over_hosts, 0, KINDS);
    tcase_add_loop_test(tcase, chooses_the_same_epoch, 0, 2);
    tcase_add_loop_test(tcase, stopped_run_saves_the_statistics_of_another_host, 0, METHODS);
    tcase_add_loop_test(tcase, any_hosts_equal_one_device, 0, LAYOUT_MODELS * LAYOUTS);
    tcase_add_loop_test(tcase, gradients_of_other_devices_go_through_the_host, 0, 3);
    tcase_add_loop_test(tcase, shares_change_alike_on_all_hosts, 0, METHODS);
    return run_suites(suite, NULL);
}
