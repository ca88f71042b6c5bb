/* SPDX-License-Identifier: MIT */
#include "tests/engine/train/run/parallel_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/rng.h"
#include "engine/model/file.h"
#include "engine/weights/file.h"
#include "tests/support.h"

enum { SIDE = 8, TRAIN_ROWS = 128, TEST_ROWS = 50, CLASSES = 10 };

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

char *folder;
double (*parallel_clock)(void);
recorder_train *parallel_train;

const int parallel_counts[PARALLEL_COUNTS] = {1, 2, 3, 8};

const struct parallel_split parallel_splits[PARALLEL_SPLITS] = {
    {{"chunk", "chunk", "chunk", "chunk"}, "batch=29 train-rows=92"},
    {{"even", "even", "even", "even"}, "batch=48 train-rows=120"},
    {{"balanced", "balanced", "balanced", "balanced"}, "batch=29 train-rows=92"},
    {{"weighted:1", "weighted:0,1", "weighted:3,0,1", "weighted:0,2,0.5,3,1,1,4,1"},
     "batch=29 train-rows=92"},
};

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

void outcome_free(struct outcome *outcome)
{
    weights_free(&outcome->weights);
    net_free(outcome->net);
}

static long stop_at; /* step */

static void stop_there(struct recorder *rec, const char *kind, json_t *event)
{
    if (recorder_step(kind, event) == stop_at)
        run_control_stop(&rec->control, RUN_STOP_STEP);
}

void parallel_begin(struct recorder *rec, const char *model, const char *settings)
{
    char *all = format("model=%s/%s.conf data=%s/data save=%s/weights lr=0.05 init=default "
                       "devices=cpu:0 cpu-threads=1 %s",
                       folder, model, folder, folder, settings);
    recorder_init(rec, all);
    rec->train = parallel_train;
    if (parallel_clock)
        rec->limits.clock = parallel_clock;
    free(all);
}

struct outcome parallel_outcome(const struct recorder *rec)
{
    struct outcome outcome = {.noise = NAN};
    struct error err = ERROR_INIT;
    struct net_shape shape = {1, SIDE, SIDE};
    ck_assert_msg(net_load(rec->spec.model, shape, CLASSES, &outcome.net, &err) &&
                      weights_create(outcome.net, &outcome.weights, &err) &&
                      weights_read(outcome.net, rec->spec.save, &outcome.weights, &err),
                  "%s", err.text);
    if (rec->err.kind == ERROR_NONE) {
        outcome.test_loss = recorder_number(recorder_event(rec, "end", 0), "test_loss");
        outcome.test_acc = recorder_number(recorder_event(rec, "end", 0), "test_acc");
    }
    outcome.share_changes = recorder_count(rec, "shares");
    if (recorder_count(rec, "epoch")) {
        const json_t *epoch = recorder_event(rec, "epoch", -1);
        outcome.train_loss = recorder_number(epoch, "train_loss");
        outcome.noise = member_number(epoch, "noise_scale");
    }
    return outcome;
}

struct outcome train_until(const char *model, const char *settings, long stop)
{
    struct recorder rec;
    parallel_begin(&rec, model, settings);
    stop_at = stop;
    rec.on_event = stop ? stop_there : NULL;
    ck_assert_msg(recorder_run(&rec) == !stop, "%s: %s", settings, rec.err.text);
    struct outcome outcome = parallel_outcome(&rec);
    recorder_free(&rec);
    return outcome;
}

struct outcome train(const char *model, const char *settings)
{
    return train_until(model, settings, 0);
}

double difference(const struct net_param *param, const float *one, const float *other)
{
    double largest = 0, most = 0;
    for (size_t i = param->offset; i < param->offset + param->count; i++) {
        largest = fmax(largest, fabs((double)one[i]));
        most = fmax(most, fabs((double)one[i] - (double)other[i]));
    }
    return most / fmax(largest, 1e-3);
}

void check_close(const struct outcome *one, const struct outcome *other, double tolerance,
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

void check_same(const struct outcome *one, const struct outcome *other, const char *what)
{
    ck_assert_msg(memcmp(one->weights.values, other->weights.values,
                         one->net->value_count * sizeof(float)) == 0,
                  "%s: not bit-identical", what);
    ck_assert_msg(one->test_loss == other->test_loss && one->train_loss == other->train_loss,
                  "%s: not the same losses", what);
}

TCase *add_parallel_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, setup, teardown);
    suite_add_tcase(suite, tcase);
    return tcase;
}
