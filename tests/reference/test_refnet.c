/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/rng.h"
#include "engine/model/file.h"
#include "tests/reference/refnet.h"
#include "tests/suites.h"
#include "tests/support.h"

#define MAX_ROWS 4

static char *directory;
static struct net *net;
static struct refnet *ref;
static const uint8_t labels[MAX_ROWS] = {1, 0, 2, 0};
static const uint32_t row_numbers[MAX_ROWS] = {70, 3, 11, 5};

static void setup(void)
{
    directory = temporary_folder();
    net = NULL;
    ref = NULL;
}

static void teardown(void)
{
    refnet_free(ref);
    net_free(net);
    remove_tree(directory);
}

/* These layers and a linear one after them. */
static void make(const char *input, int classes, const char *layers)
{
    struct error err = ERROR_INIT;
    char *path = path_join(directory, "model.conf");
    char *text = format("default_input = %s; default_classes = %d;\nlayers = (\n%s%s"
                        "{ type = \"linear\"; name = \"last\"; outputs = \"classes\"; } );\n",
                        input, classes, layers, *layers ? "," : "");
    put_file(directory, "model.conf", text, strlen(text));
    ck_assert_msg(net_load_default(path, &net, &err), "%s", err.text);
    ref = refnet_create(net, NULL);
    free(text);
    free(path);
}

/* Numbers N(0,1) of stream `index`. */
static void fill(double *values, size_t count, uint32_t index)
{
    struct rng_stream stream = rng_stream(11, RNG_RANDOM_DATA, index, 0, 0);
    for (size_t i = 0; i < count; i++)
        values[i] = rng_normal(&stream, i);
}

static struct refnet_batch batch_of(const double *input, int rows)
{
    return (struct refnet_batch){
        .input = input,
        .labels = labels,
        .index = row_numbers,
        .rows = rows,
        .global_rows = rows,
        .seed = 5,
        .epoch = 2,
    };
}

/* One row through the first operation by hand: its params in canonical order, then its output. */
static const struct {
    const char *input, *layer, *x, *params, *y;
} by_hand[] = {
    {"[1,3,3]", "{ type = \"conv\"; channels = 1; kernel = 2; }", "1 2 3 4 5 6 7 8 9", "1 2 3 4 10",
     "47 57 77 87"},
    {"[1,3,3]", "{ type = \"conv\"; channels = 1; kernel = 2; stride = 2; pad = 1; }",
     "1 2 3 4 5 6 7 8 9", "1 2 3 4 10", "14 28 46 87"},
    {"[2,1,2]", "{ type = \"conv\"; channels = 2; kernel = [1,2]; bias = false; }", "1 2 3 4",
     "1 2 3 4 5 6 7 8", "30 70"},
    {"[2,2,1]", "{ type = \"conv\"; channels = 1; kernel = 1; }", "1 2 3 4", "10 100 5", "315 425"},
    {"[1,3,3]", "{ type = \"maxpool\"; kernel = 2; stride = 1; }", "1 2 3 4 5 6 7 8 9", "",
     "5 6 8 9"},
    {"[1,3,3]", "{ type = \"maxpool\"; kernel = 3; stride = 2; pad = 1; }",
     "-1 -2 -3 -4 -5 -6 -7 -8 -9", "", "-1 -2 -4 -5"},
    {"[1,3,4]", "{ type = \"conv\"; channels = 1; kernel = 2; dilation = [2,3]; }",
     "1 2 3 4 5 6 7 8 9 10 11 12", "1 10 100 1000 0.5", "12941.5"},
    {"[4,1,2]", "{ type = \"conv\"; channels = 2; kernel = 1; groups = 2; bias = false; }",
     "1 2 3 4 5 6 7 8", "1 10 100 1000", "31 42 7500 8600"},
    {"[1,3,3]", "{ type = \"maxpool\"; kernel = 2; }", "1 2 3 4 5 6 7 8 9", "", "5"},
    {"[1,3,3]", "{ type = \"avgpool\"; kernel = 2; stride = 1; }", "1 2 3 4 5 6 7 8 9", "",
     "3 4 6 7"},
    {"[1,3,3]", "{ type = \"avgpool\"; kernel = 2; pad = 1; }", "1 2 3 4 5 6 7 8 9", "",
     "0.25 1.25 2.75 7"},
    {"[1,3,3]", "{ type = \"avgpool\"; kernel = 2; pad = 1; count_include_pad = false; }",
     "1 2 3 4 5 6 7 8 9", "", "1 2.5 5.5 7"},
    {"[2,2,2]", "\"global_avgpool\"", "1 2 3 4 5 6 7 9", "", "2.5 6.75"},
    {"[2,2,2]", "\"flatten\"", "1 2 3 4 5 6 7 9", "", "1 2 3 4 5 6 7 9"},
    {"[1,1,3]", "\"relu\"", "-1 0 2", "", "0 0 2"},
    {"[1,1,3]", "\"leaky_relu\"", "-1 0 2", "", "-0.01 0 2"},
    {"[1,1,3]", "{ type = \"leaky_relu\"; negative_slope = 0.5; }", "-1 0 2", "", "-0.5 0 2"},
    {"[1,1,3]", "\"sigmoid\"", "0 1.0986122886681098 -1.0986122886681098", "", "0.5 0.75 0.25"},
    {"[1,1,3]", "\"gelu\"", "0 1 -2", "", "0 0.8413447460685429 -0.04550026389635842"},
    {"[1,1,3]", "{ type = \"gelu\"; approximate = \"tanh\"; }", "0 1 -2", "",
     "0 0.8411919906082768 -0.04540230591222124"},
    {"[1,1,3]", "\"silu\"", "0 1.0986122886681098 -1.0986122886681098", "",
     "0 0.8239592165010823 -0.27465307216702745"},
    {"[1,1,5]", "\"hardswish\"", "-4 -3 1.5 3 4", "", "0 0 1.125 3 4"},
    {"[1,1,2]", "\"tanh\"", "0 0.5493061443340549", "", "0 0.5"},
    {"[1,1,3]", "{ type = \"linear\"; outputs = 2; }", "1 2 3", "1 2 3 4 5 6 0.5 -0.5",
     "14.5 31.5"},
    /* gamma, beta, running mean and variance (not used in training); variance + eps is 4 */
    {"[1,1,2]", "{ type = \"batchnorm\"; eps = 0.75; }", "1 4.605551275463989", "2 1 7 7",
     "-0.8027756377319946 2.8027756377319946"},
};

/* The numbers of a text, at most 16. */
static size_t numbers(const char *text, double *out)
{
    size_t count = 0;
    for (char *end; *text; text = end)
        out[count++] = strtod(text, &end);
    return count;
}

START_TEST(forward_is_what_a_hand_computes)
{
    struct batch_result result;
    double x[16], y[16];
    make(by_hand[_i].input, 3, by_hand[_i].layer);
    ck_assert_uint_eq(numbers(by_hand[_i].x, x), net_shape_size(net->input));
    ck_assert_uint_eq(numbers(by_hand[_i].y, y), net_shape_size(net->tensors[1].shape));
    numbers(by_hand[_i].params, ref->values);
    struct refnet_batch batch = batch_of(x, 1);
    refnet_train(ref, &batch, &result);
    for (size_t i = 0; i < net_shape_size(net->tensors[1].shape); i++)
        ck_assert_double_eq_tol(ref->tensors[1][i], y[i], 1e-12);
}
END_TEST

START_TEST(batchnorm_has_two_modes)
{
    /* Channel 0: mean 2, biased variance 1, unbiased 4/3; channel 1 is constant. */
    static const double x[] = {1, 1, 5, 5, 3, 3, 5, 5};
    static const double start[] = {1, 1, 0, 0, 0.5, 0, 1, 2}; /* gamma, beta, mean, variance */
    struct batch_result result;
    make("[2,1,2]", 3, "{ type = \"batchnorm\"; momentum = 0.25; }");
    struct refnet_batch batch = batch_of(x, 2);
    memcpy(ref->values, start, sizeof start);
    refnet_eval(ref, &batch, &result);
    ck_assert_double_eq_tol(ref->tensors[1][0], 0.5 / sqrt(1 + 1e-5), 1e-12);
    ck_assert_double_eq_tol(ref->tensors[1][2], 5 / sqrt(2 + 1e-5), 1e-12);
    ck_assert_mem_eq(ref->values, start, sizeof start);
    refnet_train(ref, &batch, &result);
    ck_assert_double_eq_tol(ref->tensors[1][0], -1 / sqrt(1 + 1e-5), 1e-12);
    ck_assert_double_eq_tol(ref->tensors[1][4], 1 / sqrt(1 + 1e-5), 1e-12);
    ck_assert_double_eq_tol(ref->tensors[1][2], 0, 1e-12);
    ck_assert_double_eq_tol(ref->values[4], 0.75 * 0.5 + 0.25 * 2, 1e-12);
    ck_assert_double_eq_tol(ref->values[5], 0.25 * 5, 1e-12);
    ck_assert_double_eq_tol(ref->values[6], 0.75 * 1 + 0.25 * 4 / 3, 1e-12);
    ck_assert_double_eq_tol(ref->values[7], 0.75 * 2, 1e-12);
}
END_TEST

START_TEST(residual_adds_its_shortcut)
{
    static const double x[] = {-1, 2};
    struct batch_result result;
    make("[2,1,1]", 3, "{ type = \"residual\"; layers = ( \"relu\" ); }");
    struct refnet_batch batch = batch_of(x, 1);
    refnet_train(ref, &batch, &result);
    ck_assert_double_eq(ref->tensors[2][0], -1);
    ck_assert_double_eq(ref->tensors[2][1], 4);
}
END_TEST

START_TEST(dropout_follows_the_row_not_its_place)
{
    enum { SIZE = 100 };
    static const uint32_t swapped[2] = {3, 70};
    double x[2 * SIZE], first[2 * SIZE];
    struct batch_result result;
    for (int i = 0; i < 2 * SIZE; i++)
        x[i] = 3;
    make("[4,5,5]", 3, "\"relu\", { type = \"dropout\"; p = 0.25; }");
    struct refnet_batch batch = batch_of(x, 2);
    refnet_train(ref, &batch, &result);
    memcpy(first, ref->tensors[2], sizeof first);
    int dropped = 0;
    struct rng_stream stream = rng_stream(5, RNG_DROPOUT, 1, 70, 2);
    for (uint64_t i = 0; i < SIZE; i++) {
        bool drops = rng_uniform(&stream, i) < 0.25;
        dropped += drops;
        ck_assert_double_eq(first[i], drops ? 0 : 4);
    }
    ck_assert_int_ge(dropped, 10);
    ck_assert_int_le(dropped, 40);
    batch.index = swapped;
    refnet_train(ref, &batch, &result);
    ck_assert_mem_eq(ref->tensors[2], first + SIZE, SIZE * sizeof(double));
    ck_assert_mem_eq(ref->tensors[2] + SIZE, first, SIZE * sizeof(double));
    batch.epoch++;
    refnet_train(ref, &batch, &result);
    ck_assert_mem_ne(ref->tensors[2], first + SIZE, SIZE * sizeof(double));
    refnet_eval(ref, &batch, &result);
    ck_assert_mem_eq(ref->tensors[2], x, sizeof x);
}
END_TEST

START_TEST(loss_is_cross_entropy)
{
    static const double x[MAX_ROWS] = {1, 1, 1, 1};
    static const double bias[] = {0.6931471805599453, 0, 0}; /* softmax 1/2, 1/4, 1/4 */
    struct batch_result result;
    make("[1,1,1]", 3, "");
    struct refnet_batch batch = batch_of(x, MAX_ROWS);
    batch.global_rows = 8;
    memcpy(ref->values + 3, bias, sizeof bias);
    refnet_train(ref, &batch, &result);
    ck_assert_double_eq_tol(result.loss_sum, 2 * log(2) + 2 * log(4), 1e-12);
    ck_assert_int_eq(result.correct, 2);
    /* Sum over the rows of softmax - onehot, by 8. */
    ck_assert_double_eq_tol(ref->grads[3], (4 * 0.5 - 2) / 8, 1e-12);
    ck_assert_double_eq_tol(ref->grads[4], (4 * 0.25 - 1) / 8, 1e-12);
    memset(ref->values, 0, net->value_count * sizeof(double));
    refnet_eval(ref, &batch, &result);
    ck_assert_double_eq_tol(result.loss_sum, 4 * log(3), 1e-12);
    ck_assert_int_eq(result.correct, 2); /* equal logits: the first class */
}
END_TEST

/* Softmax 1/2, 1/4, 1/4; targets 0.8, 0.1, 0.1. */
START_TEST(labels_can_be_smoothed)
{
    static const double x[] = {1}, bias[] = {0.6931471805599453, 0, 0};
    static const uint8_t first[] = {0};
    struct batch_result result;
    make("[1,1,1]", 3, "");
    struct refnet_batch batch = batch_of(x, 1);
    batch.labels = first;
    batch.label_smoothing = 0.3;
    memcpy(ref->values + 3, bias, sizeof bias);
    refnet_train(ref, &batch, &result);
    ck_assert_double_eq_tol(result.loss_sum, 0.8 * log(2) + 0.2 * log(4), 1e-12);
    ck_assert_double_eq_tol(ref->grads[3], 0.5 - 0.8, 1e-12);
    ck_assert_double_eq_tol(ref->grads[4], 0.25 - 0.1, 1e-12);
    refnet_eval(ref, &batch, &result);
    ck_assert_double_eq_tol(result.loss_sum, log(2), 1e-12);
}
END_TEST

/* Loss of the mini-batch as the gradients are scaled. */
static double loss_at(const struct refnet_batch *batch)
{
    struct batch_result result;
    refnet_train(ref, batch, &result);
    return result.loss_sum / (double)batch->global_rows;
}

/* Central differences: exact up to about step^2 + 1e-16/step. */
static double slope(double *value, const struct refnet_batch *batch)
{
    const double step = 1e-5, here = *value;
    *value = here + step;
    double above = loss_at(batch);
    *value = here - step;
    double below = loss_at(batch);
    *value = here;
    return (above - below) / (2 * step);
}

static void expect_slopes(double *values, const double *grads, size_t count,
                          const struct refnet_batch *batch, const char *what)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        double expected = slope(&values[i], batch);
        largest = fmax(largest, fabs(expected));
        ck_assert_msg(fabs(grads[i] - expected) < 1e-8 + 1e-6 * fabs(expected),
                      "%s, number %zu: gradient %.12g, difference %.12g", what, i, grads[i],
                      expected);
    }
    ck_assert_msg(largest > 1e-4, "%s: the loss does not depend on it", what);
}

/* Each kind of operation between layers with params, on 2x5x4 and 3 classes. */
#define CONV "{ type = \"conv\"; channels = 3; kernel = 3; pad = 1; },"
static const char *const differentiable[] = {
    "",
    CONV "\"flatten\"",
    CONV "{ type = \"conv\"; channels = 2; kernel = [3,2]; stride = [2,1]; pad = [2,0]; }",
    CONV "{ type = \"conv\"; channels = 2; kernel = 1; stride = 2; bias = false; }",
    CONV
    "{ type = \"conv\"; channels = 2; kernel = 2; stride = [1,2]; dilation = [3,2]; pad = 1; }",
    "{ type = \"conv\"; channels = 6; kernel = 2; groups = 2; }, { type = \"conv\"; channels = 6;"
    " kernel = [3,2]; groups = 6; dilation = [1,2]; pad = 1; }",
    CONV "\"batchnorm\", \"relu\"",
    "{ type = \"conv\"; channels = 4; kernel = 2; }, { type = \"groupnorm\"; groups = 2; }",
    "{ type = \"groupnorm\"; groups = 1; }, \"tanh\"",
    CONV "\"relu\"",
    CONV "\"leaky_relu\"",
    CONV "\"sigmoid\"",
    CONV "\"tanh\"",
    CONV "\"gelu\"",
    CONV "{ type = \"gelu\"; approximate = \"tanh\"; }",
    CONV "\"silu\"",
    CONV "\"hardswish\"",
    CONV "{ type = \"maxpool\"; kernel = 3; stride = 2; pad = 1; }",
    CONV "{ type = \"avgpool\"; kernel = [3,2]; stride = [1,2]; pad = 1; }",
    CONV "{ type = \"avgpool\"; kernel = 3; stride = 2; pad = 1; count_include_pad = false; }",
    CONV "\"global_avgpool\"",
    "{ type = \"linear\"; outputs = 4; }, \"tanh\"",
    "{ type = \"linear\"; outputs = 4; bias = false; }, \"batchnorm\"",
    CONV "{ type = \"dropout\"; p = 0.3; }",
    CONV "{ type = \"residual\"; layers = ( { type = \"conv\"; channels = 3; kernel = 1; },"
         " \"batchnorm\" ); after = ( \"relu\" ); }",
    "{ type = \"residual\"; layers = ( { type = \"conv\"; channels = 3; kernel = 3; stride = 2;"
    " pad = 1; }, \"batchnorm\", \"tanh\" ); shortcut = ( { type = \"conv\"; channels = 3;"
    " kernel = 1; stride = 2; } ); }",
};

START_TEST(gradients_are_the_slopes_of_the_loss)
{
    double input[MAX_ROWS * 2 * 5 * 4];
    make("[2,5,4]", 3, differentiable[_i]);
    struct refnet_batch batch = batch_of(input, MAX_ROWS);
    batch.global_rows = 7;
    fill(input, sizeof input / sizeof *input, 0);
    fill(ref->values, net->value_count, 1);
    loss_at(&batch);
    double *grads = calloc(net->value_count, sizeof *grads), *input_grads = malloc(sizeof input);
    ck_assert(grads && input_grads);
    memcpy(grads, ref->grads, net->value_count * sizeof *grads);
    memcpy(input_grads, ref->tensor_grads[0], sizeof input);
    expect_slopes(input, input_grads, sizeof input / sizeof *input, &batch, "input");
    for (int i = 0; i < net->param_count; i++) {
        const struct net_param *param = &net->params[i];
        bool before_norm = param->role == NET_BIAS && param->op + 1 < net->op_count &&
                           net->ops[param->op + 1].kind == NET_BATCHNORM;
        if (!net_is_trained(param))
            ck_assert_double_eq(grads[param->offset], 0);
        else if (before_norm) /* what BatchNorm takes off again */
            ck_assert_double_eq_tol(grads[param->offset], 0, 1e-12);
        else
            expect_slopes(ref->values + param->offset, grads + param->offset, param->count, &batch,
                          param->name);
    }
    free(grads);
    free(input_grads);
}
END_TEST

START_TEST(every_operation_has_slopes)
{
    bool found[NET_KINDS] = {false};
    for (size_t i = 0; i < sizeof differentiable / sizeof *differentiable; i++) {
        make("[2,5,4]", 3, differentiable[i]);
        for (int op = 0; op < net->op_count; op++)
            found[net->ops[op].kind] = true;
        refnet_free(ref);
        net_free(net);
    }
    ref = NULL;
    net = NULL;
    for (int i = 0; i < NET_KINDS; i++)
        ck_assert_msg(found[i], "no case has '%s'", net_kind_name((enum net_kind)i));
}
END_TEST

START_TEST(shards_add_up)
{
    double input[MAX_ROWS * 2 * 5 * 4];
    struct batch_result whole, part;
    make("[2,5,4]", 3, CONV "\"relu\", { type = \"dropout\"; }");
    fill(input, sizeof input / sizeof *input, 0);
    fill(ref->values, net->value_count, 1);
    struct refnet_batch batch = batch_of(input, MAX_ROWS);
    refnet_train(ref, &batch, &whole);
    double *grads = calloc(net->value_count, sizeof *grads), loss = 0;
    ck_assert_ptr_nonnull(grads);
    memcpy(grads, ref->grads, net->value_count * sizeof *grads);
    static const int sizes[] = {1, 0, 3};
    for (int i = 0, first = 0; i < 3; first += sizes[i++]) {
        struct refnet_batch shard = batch;
        shard.input += first * 40;
        shard.labels += first;
        shard.index += first;
        shard.rows = sizes[i];
        refnet_train(ref, &shard, &part);
        loss += part.loss_sum;
        for (size_t k = 0; k < net->value_count; k++)
            grads[k] -= ref->grads[k];
    }
    ck_assert_double_eq_tol(loss, whole.loss_sum, 1e-12);
    for (size_t k = 0; k < net->value_count; k++)
        ck_assert_double_eq_tol(grads[k], 0, 1e-12);
    free(grads);
}
END_TEST

START_TEST(no_rows_change_nothing)
{
    struct batch_result result;
    make("[2,5,4]", 3, CONV "\"batchnorm\", \"global_avgpool\"");
    fill(ref->values, net->value_count, 1);
    struct refnet *before = refnet_create(net, NULL);
    memcpy(before->values, ref->values, net->value_count * sizeof(double));
    struct refnet_batch batch = batch_of(NULL, 0);
    batch.global_rows = 4;
    refnet_train(ref, &batch, &result);
    ck_assert_double_eq(result.loss_sum, 0);
    ck_assert_mem_eq(ref->values, before->values, net->value_count * sizeof(double));
    ck_assert_mem_eq(ref->grads, before->grads, net->value_count * sizeof(double));
    refnet_free(before);
}
END_TEST

START_TEST(input_is_scaled_and_normalised)
{
    uint8_t pixels[] = {0, 255, 51, 102, 10, 20, 30, 40};
    struct dataset data = {.rows = 2, .channels = 2, .height = 1, .width = 2, .classes = 3};
    const uint32_t index[] = {1, 0};
    data.pixels = pixels;
    make("[2,1,2]", 3, "");
    double *input = refnet_input(net, &data, index, 2);
    ck_assert_double_eq(input[0], 10 / 255.0);
    ck_assert_double_eq(input[5], 1);
    free(input);
    net->mean_count = net->std_count = 2;
    net->mean[0] = 0.5F, net->mean[1] = 0.25F;
    net->std[0] = 0.5F, net->std[1] = 2;
    input = refnet_input(net, &data, index, 2);
    ck_assert_double_eq(input[4], -1);
    ck_assert_double_eq(input[5], 1);
    ck_assert_double_eq(input[6], (0.2 - 0.25) / 2);
    free(input);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

int main(void)
{
    Suite *suite = suite_create("refnet");
    TCase *tcase = tcase_create("refnet");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, forward_is_what_a_hand_computes, 0, COUNT(by_hand));
    tcase_add_test(tcase, batchnorm_has_two_modes);
    tcase_add_test(tcase, residual_adds_its_shortcut);
    tcase_add_test(tcase, dropout_follows_the_row_not_its_place);
    tcase_add_test(tcase, loss_is_cross_entropy);
    tcase_add_test(tcase, labels_can_be_smoothed);
    tcase_add_loop_test(tcase, gradients_are_the_slopes_of_the_loss, 0, COUNT(differentiable));
    tcase_add_test(tcase, every_operation_has_slopes);
    tcase_add_test(tcase, shards_add_up);
    tcase_add_test(tcase, no_rows_change_nothing);
    tcase_add_test(tcase, input_is_scaled_and_normalised);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
