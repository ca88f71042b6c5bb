/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/file.h"
#include "engine/net/net.h"
#include "tests/suites.h"
#include "tests/support.h"

static struct net *net;
static struct error err;

static void setup(void)
{
    err = (struct error)ERROR_INIT;
    net = NULL;
}

static void teardown(void)
{
    net_free(net);
}

static void load_shipped(const char *name, struct net_shape input, int classes)
{
    char *file = shipped_model(name);
    bool ok =
        input.c ? net_load(file, input, classes, &net, &err) : net_load_default(file, &net, &err);
    ck_assert_msg(ok, "%s", err.text);
    free(file);
}

static const struct net_shape own_input = {0, 0, 0};

static const struct net_param *param_named(const char *name)
{
    for (int i = 0; i < net->param_count; i++)
        if (strcmp(net->params[i].name, name) == 0)
            return &net->params[i];
    return NULL;
}

static const struct net_op *op_named(const char *name)
{
    for (int i = 0; i < net->op_count; i++)
        if (strcmp(net->ops[i].name, name) == 0)
            return &net->ops[i];
    return NULL;
}

static const struct {
    const char *name;
    struct net_shape input;
    int classes, ops, params;
    size_t trainable;
    double flops;
    int normalised;
} models[] = {
    {"resnet18", {1, 28, 28}, 10, 65, 110, 11175818, 911601664, 0},
    {"alexnet", {1, 28, 28}, 10, 21, 16, 5824202, 438598656, 0},
    {"mobilenet-small", {1, 28, 28}, 10, 57, 97, 44434, 7271024, 0},
    {"smallnet", {1, 28, 28}, 10, 10, 14, 20586, 2063488, 0},
    {"cifar-cnn", {3, 32, 32}, 10, 12, 10, 62006, 1303440, 1},
    {"lenet", {1, 28, 28}, 10, 12, 10, 61706, 833040, 0},
    {"linear", {5, 1, 1}, 2, 1, 2, 12, 20, 0},
};

START_TEST(shipped_models_are_what_they_claim)
{
    load_shipped(models[_i].name, own_input, 0);
    ck_assert_str_eq(net->name, models[_i].name);
    ck_assert_mem_eq(&net->input, &models[_i].input, sizeof net->input);
    ck_assert_int_eq(net->classes, models[_i].classes);
    ck_assert_int_eq(net->op_count, models[_i].ops);
    ck_assert_int_eq(net->param_count, models[_i].params);
    ck_assert_uint_eq(net->trainable_count, models[_i].trainable);
    ck_assert_double_eq(net_forward_flops(net), models[_i].flops);
    ck_assert_double_eq(net_training_flops(net), 3 * models[_i].flops);
    ck_assert_int_eq(net->mean_count, models[_i].normalised);
    ck_assert_int_eq(net->std_count, models[_i].normalised);
}
END_TEST

/* What every backend relies on. */
START_TEST(structure_is_consistent)
{
    size_t offset = 0, trainable = 0;
    load_shipped(models[_i].name, own_input, 0);
    ck_assert_int_eq(net->tensor_count, net->op_count + 1);
    ck_assert_int_eq(net->tensors[0].producer, -1);
    int *readers = calloc((size_t)net->tensor_count, sizeof *readers);
    for (int i = 0; i < net->op_count; i++) {
        const struct net_op *op = &net->ops[i];
        ck_assert_int_eq(net->tensors[op->output].producer, i);
        ck_assert_int_gt(op->line, 0);
        for (int k = 0; k < (op->kind == NET_ADD ? 2 : 1); k++) {
            ck_assert_int_lt(net->tensors[op->inputs[k]].producer, i);
            readers[op->inputs[k]]++;
        }
    }
    for (int i = 0; i < net->tensor_count; i++)
        ck_assert_int_eq(net->tensors[i].readers, readers[i]);
    ck_assert_int_eq(net->tensors[net->output].readers, 0);
    for (int i = 0; i < net->param_count; i++) {
        const struct net_param *param = &net->params[i];
        size_t count = 1;
        for (int k = 0; k < param->ndim; k++)
            count *= (size_t)param->dims[k];
        ck_assert_uint_eq(param->count, count);
        ck_assert_uint_eq(param->offset, offset);
        offset += count;
        trainable += net_is_trained(param) ? count : 0;
    }
    ck_assert_uint_eq(net->value_count, offset);
    ck_assert_uint_eq(net->trainable_count, trainable);
    free(readers);
}
END_TEST

static void expect_param(const char *name, enum net_role role, int ndim, const int *dims,
                         int fan_in)
{
    const struct net_param *param = param_named(name);
    ck_assert_msg(param != NULL, "no param %s", name);
    ck_assert_int_eq(param->role, role);
    ck_assert_int_eq(param->ndim, ndim);
    ck_assert_mem_eq(param->dims, dims, (size_t)ndim * sizeof *dims);
    ck_assert_int_eq(param->fan_in, fan_in);
}

START_TEST(resnet18_is_the_tutorials)
{
    /* state_dict order of a unit with a shortcut, and of one without */
    static const char *const order[] = {
        "resnet_block2.0.conv1.weight",     "resnet_block2.0.conv1.bias",
        "resnet_block2.0.conv2.weight",     "resnet_block2.0.conv2.bias",
        "resnet_block2.0.conv3.weight",     "resnet_block2.0.conv3.bias",
        "resnet_block2.0.bn1.weight",       "resnet_block2.0.bn1.bias",
        "resnet_block2.0.bn1.running_mean", "resnet_block2.0.bn1.running_var",
        "resnet_block2.0.bn2.weight",       "resnet_block2.0.bn2.bias",
        "resnet_block2.0.bn2.running_mean", "resnet_block2.0.bn2.running_var",
        "resnet_block2.1.conv1.weight",     "resnet_block2.1.conv1.bias",
        "resnet_block2.1.conv2.weight",     "resnet_block2.1.conv2.bias",
        "resnet_block2.1.bn1.weight",
    };
    int batchnorms = 0, trained = 0;
    load_shipped("resnet18", own_input, 0);
    for (int i = 0; i < net->param_count; i++) {
        batchnorms += net->params[i].role == NET_BN_WEIGHT;
        trained += net_is_trained(&net->params[i]);
    }
    ck_assert_int_eq(net->param_count + batchnorms, 127); /* with num_batches_tracked */
    ck_assert_int_eq(trained, 76);
    ck_assert_double_eq_tol(net_forward_flops(net), 0.912e9, 0.0005e9);
    ck_assert_double_eq_tol(net_training_flops(net), 2.735e9, 0.0005e9);
    long first = param_named(order[0]) - net->params;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        ck_assert_str_eq(net->params[(size_t)first + i].name, order[i]);
    ck_assert_str_eq(net->params[0].name, "0.weight");
    ck_assert_str_eq(net->params[net->param_count - 1].name, "fc.1.bias");
    expect_param("0.weight", NET_WEIGHT, 4, (const int[]){64, 1, 3, 3}, 9);
    expect_param("1.running_var", NET_RUNNING_VAR, 1, (const int[]){64}, 0);
    expect_param("resnet_block4.0.conv3.weight", NET_WEIGHT, 4, (const int[]){512, 256, 1, 1}, 256);
    expect_param("fc.1.weight", NET_WEIGHT, 2, (const int[]){10, 512}, 512);
    expect_param("fc.1.bias", NET_BIAS, 1, (const int[]){10}, 512);
    ck_assert_ptr_null(param_named("resnet_block1.0.conv3.weight"));
    const struct net_op *sum = op_named("resnet_block2.0");
    ck_assert_int_eq(sum->kind, NET_ADD);
    ck_assert_str_eq(net->ops[net->tensors[sum->inputs[0]].producer].name, "resnet_block2.0.bn2");
    ck_assert_str_eq(net->ops[net->tensors[sum->inputs[1]].producer].name, "resnet_block2.0.conv3");
    const struct net_op *bn = op_named("1");
    ck_assert_double_eq(bn->eps, 1e-5);
    ck_assert_double_eq(bn->momentum, 0.1);
}
END_TEST

/* The names that PyTorch files of these networks hold. */
START_TEST(other_models_have_pytorchs_names)
{
    static const struct {
        const char *model, *names[8];
    } expected[] = {
        {"alexnet",
         {"0.weight", "3.bias", "6.weight", "8.weight", "10.weight", "14.weight", "17.bias",
          "20.weight"}},
        {"mobilenet-small",
         {"0.weight", "3.weight", "6.weight", "unit1.0.0.weight", "unit1.1.3.weight",
          "unit2.1.7.running_var", "22.bias"}},
        {"smallnet", {"0.weight", "1.running_mean", "4.bias", "5.weight", "9.weight"}},
        {"cifar-cnn", {"conv1.weight", "conv2.bias", "fc1.weight", "fc2.weight", "fc3.bias"}},
        {"lenet", {"0.weight", "3.weight", "7.weight", "9.weight", "11.bias"}},
        {"linear", {"fc.weight", "fc.bias"}},
    };
    load_shipped(expected[_i].model, own_input, 0);
    for (int i = 0; i < 8 && expected[_i].names[i]; i++)
        ck_assert_msg(param_named(expected[_i].names[i]) != NULL, "%s", expected[_i].names[i]);
}
END_TEST

START_TEST(models_adapt_to_their_data)
{
    load_shipped("resnet18", (struct net_shape){3, 32, 32}, 100);
    expect_param("0.weight", NET_WEIGHT, 4, (const int[]){64, 3, 3, 3}, 27);
    expect_param("fc.1.weight", NET_WEIGHT, 2, (const int[]){100, 512}, 512);
    struct net_shape last = net->tensors[op_named("resnet_block4.1")->output].shape;
    ck_assert_mem_eq(&last, (&(struct net_shape){512, 4, 4}), sizeof last);
    net_free(net);
    load_shipped("linear", (struct net_shape){7, 1, 1}, 2);
    expect_param("fc.weight", NET_WEIGHT, 2, (const int[]){2, 7}, 7);
    net_free(net);
    load_shipped("linear", (struct net_shape){1, 28, 28}, 10);
    expect_param("fc.weight", NET_WEIGHT, 2, (const int[]){10, 784}, 784);
}
END_TEST

START_TEST(data_that_do_not_fit_are_refused)
{
    char *file = shipped_model("lenet");
    ck_assert(!net_load(file, (struct net_shape){1, 8, 8}, 10, &net, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "lenet.conf:21: conv: the 5x5 window does not fit into "
                                           "its input of 4x4"));
    ck_assert(!net_load(file, (struct net_shape){0, 8, 8}, 10, &net, &err));
    ck_assert_ptr_null(net);
    free(file);
}
END_TEST

START_TEST(sums_are_those_of_the_operations)
{
    load_shipped("smallnet", own_input, 0);
    const struct net_op *norm = &net->ops[5];
    const struct net_shape shape = net->tensors[norm->output].shape;
    size_t trained = 0, of_norm = 0;
    double flops = 0;
    for (int i = 0; i < net->op_count; i++)
        flops += net_op_flops(net, i);
    ck_assert_double_eq(flops, net_forward_flops(net));
    for (int i = 0; i < net->param_count; i++) {
        size_t count = net_is_trained(&net->params[i]) ? net->params[i].count : 0;
        trained += count;
        of_norm += net->params[i].op == 5 ? count : 0;
    }
    ck_assert_uint_eq(trained, net->trainable_count);
    ck_assert_str_eq(norm->name, "5");
    ck_assert_str_eq(net_kind_name(norm->kind), "batchnorm");
    ck_assert(shape.c == 32 && shape.h == 14 && shape.w == 14);
    ck_assert_uint_eq(of_norm, 64);
    ck_assert_double_eq(net_op_flops(net, 5), 0);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

int main(void)
{
    Suite *suite = suite_create("net");
    TCase *tcase = tcase_create("models");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, shipped_models_are_what_they_claim, 0, COUNT(models));
    tcase_add_loop_test(tcase, structure_is_consistent, 0, COUNT(models));
    tcase_add_test(tcase, resnet18_is_the_tutorials);
    tcase_add_loop_test(tcase, other_models_have_pytorchs_names, 0, 6);
    tcase_add_test(tcase, models_adapt_to_their_data);
    tcase_add_test(tcase, data_that_do_not_fit_are_refused);
    tcase_add_test(tcase, sums_are_those_of_the_operations);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
