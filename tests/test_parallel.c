/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "engine/net/net.h"
#include "engine/net/weights.h"
#include "engine/rng.h"
#include "tests/recorder.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * What data-parallel training must mean: k devices do what one device does, whatever the split and
 * the method of synchronisation. Real CPU devices, small pictures made here.
 */

enum { SIDE = 8, TRAIN_ROWS = 128, TEST_ROWS = 50, CLASSES = 10 };

/*
 * Weights after ten steps may differ from one device's by this much, relative to the largest weight
 * of the same array: sums of single-precision numbers (eps 6e-8) in another order, carried through
 * ten steps. With BatchNorm, whose statistics divide by small variances, differences grow faster.
 */
static const double PLAIN_TOLERANCE = 2e-6, NORMALISED_TOLERANCE = 1e-5;

static const char plain_model[] =
    "input = [ 1, 8, 8 ]; classes = 10;\n"
    "layers = ( { type = \"conv\"; channels = 8; kernel = 3; pad = 1; }, \"tanh\",\n"
    "  { type = \"maxpool\"; kernel = 2; }, { type = \"linear\"; outputs = 16; }, \"sigmoid\",\n"
    "  { type = \"linear\"; outputs = \"classes\"; } );\n";

static const char normalised_model[] =
    "input = [ 1, 8, 8 ]; classes = 10;\n"
    "layers = ( { type = \"conv\"; channels = 8; kernel = 3; pad = 1; }, \"batchnorm\", \"relu\",\n"
    "  { type = \"residual\"; name = \"unit\"; layers = (\n"
    "      { type = \"conv\"; name = \"conv1\"; channels = 8; kernel = 3; pad = 1; },\n"
    "      { type = \"batchnorm\"; name = \"bn1\"; } ); after = ( \"relu\" ); },\n"
    "  { type = \"maxpool\"; kernel = 2; }, { type = \"linear\"; outputs = \"classes\"; } );\n";

static char *folder;

static void put_idx(const char *name, int rows, bool pictures, uint32_t part)
{
    size_t header = pictures ? 16 : 8, row_size = pictures ? SIDE * SIDE : 1;
    size_t length = header + (size_t)rows * row_size;
    uint8_t *bytes = calloc(length, 1);
    ck_assert_ptr_nonnull(bytes);
    bytes[2] = 8;
    bytes[3] = pictures ? 3 : 1;
    bytes[6] = (uint8_t)(rows >> 8);
    bytes[7] = (uint8_t)rows;
    if (pictures)
        bytes[11] = bytes[15] = SIDE;
    struct rng_stream stream = rng_stream(7, RNG_RANDOM_DATA, part, 0, 0);
    for (int i = 0; i < rows; i++)
        for (size_t j = 0; j < row_size; j++)
            /* A bright row of pixels tells the class, in noise. */
            bytes[header + (size_t)i * row_size + j] =
                pictures ? (uint8_t)(rng_word(&stream, (size_t)i * row_size + j) % 128 +
                                     (j / SIDE == (size_t)(i * 7 % CLASSES) % SIDE ? 127 : 0))
                         : (uint8_t)(i * 7 % CLASSES);
    put_file(folder, name, bytes, length);
    free(bytes);
}

static void setup(void)
{
    folder = temporary_folder();
    put_idx("data/train-images-idx3-ubyte", TRAIN_ROWS, true, 1);
    put_idx("data/train-labels-idx1-ubyte", TRAIN_ROWS, false, 1);
    put_idx("data/t10k-images-idx3-ubyte", TEST_ROWS, true, 2);
    put_idx("data/t10k-labels-idx1-ubyte", TEST_ROWS, false, 2);
    put_file(folder, "plain.conf", plain_model, strlen(plain_model));
    put_file(folder, "normalised.conf", normalised_model, strlen(normalised_model));
}

static void teardown(void)
{
    remove_tree(folder);
}

/* What a run leaves: its weights and its last figures. */
struct outcome {
    struct net *net;
    struct weights weights;
    double train_loss, test_loss, test_acc;
};

static void outcome_free(struct outcome *outcome)
{
    weights_free(&outcome->weights);
    net_free(outcome->net);
}

static void stop_after_first(struct recorder *rec, const char *kind, json_t *event)
{
    (void)event;
    if (strcmp(kind, "step") == 0)
        atomic_store(&rec->control.stop, RUN_STOP_STEP);
}

/* A run to its end, or stopped after its first step, when it has not evaluated anything yet. */
static struct outcome train_until(const char *model, const char *settings, bool stop)
{
    struct outcome outcome = {.net = NULL};
    struct recorder rec;
    struct error err = ERROR_INIT;
    char *path = format("%s/%s.conf", folder, model);
    char *file = format("%s/weights", folder);
    char *all = format("model=%s data=%s/data save=%s lr=0.05 init=default cpu-threads=1 %s", path,
                       folder, file, settings);
    recorder_init(&rec, all);
    rec.on_event = stop ? stop_after_first : NULL;
    ck_assert_msg(recorder_run(&rec) != stop, "%s: %s", all, rec.err.text);
    struct net_shape shape = {1, SIDE, SIDE};
    ck_assert_msg(net_load(path, shape, CLASSES, &outcome.net, &err) &&
                      weights_create(outcome.net, &outcome.weights, &err) &&
                      weights_read(outcome.net, file, &outcome.weights, &err),
                  "%s", err.text);
    if (!stop) {
        outcome.test_loss = recorder_number(recorder_event(&rec, "end", 0), "test_loss");
        outcome.test_acc = recorder_number(recorder_event(&rec, "end", 0), "test_acc");
    }
    if (recorder_count(&rec, "epoch"))
        outcome.train_loss = recorder_number(recorder_event(&rec, "epoch", -1), "train_loss");
    recorder_free(&rec);
    free(all);
    free(file);
    free(path);
    return outcome;
}

static struct outcome train(const char *model, const char *settings)
{
    return train_until(model, settings, false);
}

/* Largest difference of one array's numbers, relative to the largest of them. */
static double difference(const struct net_param *param, const float *one, const float *other)
{
    double largest = 0, most = 0;
    for (size_t i = param->offset; i < param->offset + param->count; i++) {
        largest = fmax(largest, fabs((double)one[i]));
        most = fmax(most, fabs((double)one[i] - (double)other[i]));
    }
    return most / fmax(largest, 1e-3);
}

static void check_close(const struct outcome *one, const struct outcome *other, double tolerance,
                        const char *what)
{
    for (int i = 0; i < one->net->param_count; i++) {
        const struct net_param *param = &one->net->params[i];
        double off = difference(param, one->weights.values, other->weights.values);
        ck_assert_msg(off < tolerance, "%s: %s is off by %g", what, param->name, off);
    }
    ck_assert_double_eq_tol(one->train_loss, other->train_loss, tolerance);
    ck_assert_double_eq_tol(one->test_loss, other->test_loss, 10 * tolerance);
}

static void check_same(const struct outcome *one, const struct outcome *other, const char *what)
{
    ck_assert_msg(memcmp(one->weights.values, other->weights.values,
                         one->net->value_count * sizeof(float)) == 0,
                  "%s: not the same bits", what);
    ck_assert_msg(one->test_loss == other->test_loss && one->train_loss == other->train_loss,
                  "%s: not the same losses", what);
}

static const int device_counts[] = {1, 2, 3, 8};

static const struct {
    const char *rule[4]; /* for each number of devices */
    const char *batches; /* full and short last ones that the rule can split */
} splits[] = {
    {{"chunk", "chunk", "chunk", "chunk"}, "batch=29 train-rows=92"},
    {{"even", "even", "even", "even"}, "batch=48 train-rows=120"},
    {{"balanced", "balanced", "balanced", "balanced"}, "batch=29 train-rows=92"},
    {{"weighted:1", "weighted:0,1", "weighted:3,0,1", "weighted:0,2,0.5,3,1,1,4,1"},
     "batch=29 train-rows=92"},
};

static const struct {
    const char *model, *settings;
} kinds[] = {
    {"plain", ""},
    {"plain", "momentum=0.9 weight-decay=0.01"},
    {"normalised", "sync-bn=yes"},
    {"normalised", "sync-bn=yes momentum=0.9 weight-decay=0.01"},
};

enum { SPLITS = sizeof splits / sizeof splits[0], KINDS = sizeof kinds / sizeof kinds[0] };

/* 92 rows in batches of 29 end with one of 5: idle devices under every rule but even. */
START_TEST(devices_equal_one_device)
{
    int split = _i % SPLITS, kind = _i / SPLITS;
    double tolerance = kind < 2 ? PLAIN_TOLERANCE : NORMALISED_TOLERANCE;
    const char *model = kinds[kind].model;
    char *common = format("max-steps=10 %s %s", splits[split].batches, kinds[kind].settings);
    struct outcome one = train(model, common);
    for (int i = 0; i < 4; i++) {
        static const char *const methods[] = {"allreduce", "reduce-broadcast", "central"};
        struct outcome first = {.net = NULL};
        for (int method = 0; method < 3; method++) {
            char *settings = format("%s devices=cpu:0-%d split=%s sync=%s", common,
                                    device_counts[i] - 1, splits[split].rule[i], methods[method]);
            struct outcome many = train(model, settings);
            check_close(&one, &many, tolerance, settings);
            if (device_counts[i] == 1)
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
    struct outcome all = train_until("normalised", many, true);
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
    ck_assert(weights_write(many.net, file, &many.weights, &err));
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
    TCase *tcase = tcase_create("parallel");
    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, devices_equal_one_device, 0, SPLITS * KINDS);
    tcase_add_test(tcase, ten_steps_change_the_weights);
    tcase_add_test(tcase, same_seed_same_devices_same_bits);
    tcase_add_loop_test(tcase, running_statistics_of_the_first_device_with_rows, 0, 4);
    tcase_add_loop_test(tcase, stopped_run_saves_those_statistics, 0, 2);
    tcase_add_loop_test(tcase, evaluation_agrees_with_saved_weights, 0, 3);
    tcase_add_test(tcase, shards_of_thirty_rows_on_eight_devices);
    tcase_add_test(tcase, diverging_run_says_so);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
