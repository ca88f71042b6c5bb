/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "engine/weights/file.h"
#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/recorder.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * What data-parallel training must mean: k devices do what one device does, whatever the split and
 * the method of synchronisation. Real CPU devices, small pictures made here.
 */

static const struct {
    const char *model, *settings;
} kinds[] = {
    {"plain", ""},
    {"plain", "momentum=0.9 weight-decay=0.01"},
    {"normalised", "sync-bn=yes"},
    {"normalised", "sync-bn=yes momentum=0.9 weight-decay=0.01"},
};

enum { SPLITS = PARALLEL_SPLITS, KINDS = sizeof kinds / sizeof kinds[0] };

/* 92 rows in batches of 29 end with one of 5: idle devices under every rule but even. */
START_TEST(devices_equal_one_device)
{
    int split = _i % SPLITS, kind = _i / SPLITS;
    double tolerance = kind < 2 ? PLAIN_TOLERANCE : NORMALISED_TOLERANCE;
    const char *model = kinds[kind].model;
    char *common =
        format("max-steps=10 %s %s", parallel_splits[split].batches, kinds[kind].settings);
    struct outcome one = train(model, common);
    for (int i = 0; i < PARALLEL_COUNTS; i++) {
        static const char *const methods[] = {"allreduce", "reduce-broadcast", "central"};
        struct outcome first = {.net = NULL};
        for (int method = 0; method < 3; method++) {
            char *settings =
                format("%s devices=cpu:0-%d split=%s sync=%s", common, parallel_counts[i] - 1,
                       parallel_splits[split].rule[i], methods[method]);
            struct outcome many = train(model, settings);
            check_close(&one, &many, tolerance, settings);
            if (parallel_counts[i] == 1)
                check_same(&one, &many, settings);
            if (method == 0) {
                first = many;
            } else {
                check_same(&first, &many, settings);
                outcome_free(&many);
            }
            free(settings);
        }
        outcome_free(&first);
    }
    outcome_free(&one);
    free(common);
}
END_TEST

/* Bit-identical by all methods, and up to rounding what one device does. */
START_TEST(every_optimizer_is_the_same_on_all_devices)
{
    static const char *const optimizers[] = {"nesterov momentum=0.9", "adam weight-decay=0.01",
                                             "adamw", "rmsprop momentum=0.5"};
    static const char *const methods[] = {"allreduce", "central", "reduce-broadcast"};
    char *common =
        format("max-steps=10 batch=29 train-rows=92 lr=0.001 optimizer=%s", optimizers[_i]);
    struct outcome one = train("plain", common), many[3];
    for (int i = 0; i < 3; i++) {
        char *settings =
            format("%s devices=cpu:0-2 split=weighted:3,0,1 sync=%s", common, methods[i]);
        many[i] = train("plain", settings);
        check_close(&one, &many[i], PLAIN_TOLERANCE, settings);
        check_same(&many[0], &many[i], settings);
        free(settings);
    }
    for (int i = 0; i < 3; i++)
        outcome_free(&many[i]);
    outcome_free(&one);
    free(common);
}
END_TEST

/* The same pictures, mirrored and moved, whatever device gets them; and not those as stored. */
START_TEST(augmented_pictures_are_the_same_on_all_devices)
{
    static const char *const divided[] = {"devices=cpu:0-1", "devices=cpu:0-2 split=weighted:3,0,1",
                                          "devices=cpu:0-7 split=balanced sync=central"};
    static const char common[] = "max-steps=10 batch=29 train-rows=92 augment=flip-crop "
                                 "label-smoothing=0.1";
    struct outcome one = train("plain", common);
    struct outcome stored =
        train("plain", "max-steps=10 batch=29 train-rows=92 label-smoothing=0.1");
    const struct net_param *last = &one.net->params[one.net->param_count - 1];
    ck_assert(difference(last, one.weights.values, stored.weights.values) > 1000 * PLAIN_TOLERANCE);
    for (size_t i = 0; i < sizeof divided / sizeof *divided; i++) {
        char *settings = format("%s %s", common, divided[i]);
        struct outcome many = train("plain", settings);
        check_close(&one, &many, PLAIN_TOLERANCE, settings);
        outcome_free(&many);
        free(settings);
    }
    outcome_free(&stored);
    outcome_free(&one);
}
END_TEST

START_TEST(ten_steps_change_the_weights)
{
    /* So that the agreement above means something. */
    struct outcome before = train("plain", "epochs=0");
    struct outcome after = train("plain", "max-steps=10 batch=29 train-rows=92");
    const struct net_param *last = &before.net->params[before.net->param_count - 1];
    ck_assert(difference(last, before.weights.values, after.weights.values) >
              1000 * PLAIN_TOLERANCE);
    outcome_free(&before);
    outcome_free(&after);
}
END_TEST

START_TEST(same_seed_same_devices_same_bits)
{
    const char *settings = "devices=cpu:0-2 batch=29 epochs=2 momentum=0.9";
    struct outcome one = train("normalised", settings), two = train("normalised", settings);
    check_same(&one, &two, "again");
    outcome_free(&one);
    outcome_free(&two);
}
END_TEST

/* Without synchronised BatchNorm the running statistics are the first device's: those of its
 * shard alone. (A rate of 0 keeps the weights.) */
START_TEST(running_statistics_of_the_first_device_with_rows)
{
    static const char *const splits_of_24[] = {"devices=cpu:0-1 split=chunk",
                                               "devices=cpu:0-2 split=weighted:0,1,1"};
    char *many = format("%s batch=24 order=sequential max-steps=1 lr=0 sync=%s",
                        splits_of_24[_i % 2], _i / 2 ? "central" : "allreduce");
    struct outcome all = train("normalised", many);
    struct outcome shard =
        train("normalised", "batch=12 train-rows=12 order=sequential max-steps=1 lr=0");
    for (int i = 0; i < all.net->param_count; i++)
        ck_assert_double_le(
            difference(&all.net->params[i], all.weights.values, shard.weights.values), 1e-6);
    ck_assert_double_eq_tol(all.test_loss, shard.test_loss, 1e-6);
    ck_assert_int_eq(all.weights.batches_tracked, 1);
    outcome_free(&all);
    outcome_free(&shard);
    free(many);
}
END_TEST

/* The same in a run that is stopped, where no evaluation has passed the statistics round. */
START_TEST(stopped_run_saves_those_statistics)
{
    char *many = format("batch=24 order=sequential lr=0 devices=cpu:0-2 split=weighted:0,1,1 "
                        "sync=%s",
                        _i ? "central" : "allreduce");
    struct outcome all = train_until("normalised", many, 1);
    struct outcome shard =
        train("normalised", "batch=12 train-rows=12 order=sequential max-steps=1 lr=0");
    for (int i = 0; i < all.net->param_count; i++)
        ck_assert_double_le(
            difference(&all.net->params[i], all.weights.values, shard.weights.values), 1e-6);
    outcome_free(&all);
    outcome_free(&shard);
    free(many);
}
END_TEST

/* Every device evaluates with what is saved: one device with those weights finds the same. */
START_TEST(evaluation_agrees_with_saved_weights)
{
    static const char *const methods[] = {"allreduce", "reduce-broadcast", "central"};
    char *settings =
        format("devices=cpu:0-2 split=weighted:0,1,3 batch=29 epochs=2 sync=%s", methods[_i]);
    struct outcome many = train("normalised", settings);
    struct error err = ERROR_INIT;
    char *file = format("%s/kept.safetensors", folder);
    ck_assert(weights_write(many.net, file, &many.weights, NULL, &err));
    char *again = format("epochs=0 init=%s", file);
    struct recorder rec;
    char *all = format("model=%s/normalised.conf data=%s/data %s", folder, folder, again);
    recorder_init(&rec, all);
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    const json_t *end = recorder_event(&rec, "end", 0);
    ck_assert_double_eq_tol(recorder_number(end, "test_loss"), many.test_loss, 1e-5);
    ck_assert(recorder_number(end, "test_acc") == many.test_acc);
    ck_assert_int_eq(many.weights.batches_tracked, 10);
    recorder_free(&rec);
    outcome_free(&many);
    free(all);
    free(again);
    free(file);
    free(settings);
}
END_TEST

START_TEST(shards_of_thirty_rows_on_eight_devices)
{
    struct recorder rec;
    recorder_init(&rec, "model=linear data=random:100x5 batch=30 epochs=1 devices=cpu:0-7");
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    ck_assert_int_eq(recorder_count(&rec, "step"), 4);
    for (int i = 0; i < 4; i++) {
        char *text =
            json_dumps(json_object_get(recorder_event(&rec, "step", i), "shards"), JSON_COMPACT);
        ck_assert_str_eq(text, i < 3 ? "[4,4,4,4,4,4,4,2]" : "[2,2,2,2,2]");
        free(text);
    }
    recorder_free(&rec);
}
END_TEST

START_TEST(diverging_run_says_so)
{
    struct recorder rec;
    char *settings = format("model=%s/plain.conf data=%s/data lr=1e6 weight-decay=1000 momentum=1 "
                            "epochs=20 devices=cpu:0-1",
                            folder, folder);
    recorder_init(&rec, settings);
    ck_assert(!recorder_run(&rec));
    ck_assert_msg(strstr(rec.err.text, "diverged"), "%s", rec.err.text);
    recorder_free(&rec);
    free(settings);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parallel");
    TCase *tcase = add_parallel_case(suite, "parallel");
    tcase_add_loop_test(tcase, devices_equal_one_device, 0, SPLITS * KINDS);
    tcase_add_loop_test(tcase, every_optimizer_is_the_same_on_all_devices, 0, 4);
    tcase_add_test(tcase, augmented_pictures_are_the_same_on_all_devices);
    tcase_add_test(tcase, ten_steps_change_the_weights);
    tcase_add_test(tcase, same_seed_same_devices_same_bits);
    tcase_add_loop_test(tcase, running_statistics_of_the_first_device_with_rows, 0, 4);
    tcase_add_loop_test(tcase, stopped_run_saves_those_statistics, 0, 2);
    tcase_add_loop_test(tcase, evaluation_agrees_with_saved_weights, 0, 3);
    tcase_add_test(tcase, shards_of_thirty_rows_on_eight_devices);
    tcase_add_test(tcase, diverging_run_says_so);
    return run_suites(suite, NULL);
}
