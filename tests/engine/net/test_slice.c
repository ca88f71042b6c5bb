/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "engine/net/slice.h"
#include "tests/reference/trial.h"
#include "tests/suites.h"

/* Networks divided inside their layers. */

static struct error err;

static void setup(void)
{
    err = (struct error)ERROR_INIT;
}

#define CONV(c) "{ type = \"conv\"; channels = " c "; kernel = 3; pad = 1; }"
#define LINEAR  "{ type = \"linear\"; outputs = 4; }"

static void make(struct trial *trial, const char *model)
{
    if (model[0] == '{' || model[0] == '"')
        trial_make(trial, model, (struct net_shape){2, 8, 8}, 4, 1, false, 1);
    else
        trial_make_shipped(trial, model, (struct net_shape){1, 28, 28}, 1, 1);
}

static const struct {
    const char *model;
    int count;
} divided[] = {
    {"linear", 1},
    {"linear", 2},
    {"lenet", 2},
    {"lenet", 3},
    {"smallnet", 4},
    {"resnet18", 2},
    {"resnet18", 3},
    {"mobilenet-small", 2},
    {"alexnet", 2},
    {CONV("16") ", { type = \"dropout\"; p = 0.5; }, \"batchnorm\", " LINEAR, 2},
    {CONV("5") ", { type = \"groupnorm\"; groups = 5; }, \"relu\", " LINEAR, 4},
};

enum { DIVIDED = sizeof divided / sizeof *divided };

/* Each number of the whole network is in one slice, and comes back to its place. */
START_TEST(every_number_is_in_one_slice)
{
    struct trial trial;
    make(&trial, divided[_i].model);
    const size_t count = trial.net->value_count;
    float *whole = calloc(count, sizeof *whole), *back = calloc(count, sizeof *back);
    double flops = 0;
    size_t numbers = 0;
    ck_assert(whole && back);
    for (size_t i = 0; i < count; i++)
        whole[i] = (float)(i + 1);
    for (int k = 0; k < divided[_i].count; k++) {
        struct net_slice slice;
        ck_assert_msg(
            net_slice_make(trial.net, NET_DIVIDE_LAYERS, k, divided[_i].count, &slice, &err), "%s",
            err.text);
        float *own = calloc(slice.net->value_count, sizeof *own);
        ck_assert(own);
        net_slice_take(&slice, whole, own);
        net_slice_put(&slice, own, true, back);
        net_slice_put(&slice, own, false, back);
        flops += net_training_flops(slice.net);
        numbers += slice.net->value_count;
        free(own);
        net_slice_free(&slice);
    }
    ck_assert_mem_eq(whole, back, count * sizeof *whole);
    ck_assert_uint_eq(numbers, count);
    ck_assert_double_eq_tol(flops, net_training_flops(trial.net), 1e-9 * flops);
    free(whole);
    free(back);
    trial_free(&trial);
}
END_TEST

/* What every device sends and is sent for a batch of 256 rows of resnet18: the values that
 * convolutions and the linear layer read, without the input, and the gradients of these. */
START_TEST(gathers_of_resnet18_are_known)
{
    struct trial trial;
    struct net_slice slice;
    make(&trial, "resnet18");
    ck_assert_msg(net_slice_make(trial.net, NET_DIVIDE_LAYERS, 1, 2, &slice, &err), "%s", err.text);
    double values = 0;
    /* The stem's, then of each of eight units the first convolution's and its output. */
    static const struct net_shape shapes[] = {
        {64, 28, 28},  {64, 28, 28},  {64, 28, 28},  {64, 28, 28}, {64, 28, 28}, {128, 14, 14},
        {128, 14, 14}, {128, 14, 14}, {128, 14, 14}, {256, 7, 7},  {256, 7, 7},  {256, 7, 7},
        {256, 7, 7},   {512, 4, 4},   {512, 4, 4},   {512, 4, 4}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        values += (double)net_shape_size(shapes[i]);
    /* After the pool 512 numbers; logits have no gradient to be added up. */
    ck_assert_double_eq(slice.gather_numbers, 2 * values + 2 * 512 + 10);
    ck_assert_int_eq(slice.gather_count, 16 + 2);
    net_slice_free(&slice);
    trial_free(&trial);
}
END_TEST

/* Neighbouring channels go together, in blocks where there are enough. */
START_TEST(channels_are_divided_in_blocks)
{
    static const int expected[3][2] = {{16, 16}, {16, 32}, {32, 32}};
    struct trial trial;
    make(&trial, CONV("64") ", \"relu\", " CONV("80") ", " LINEAR);
    for (int k = 0; k < 3; k++) {
        struct net_slice slice;
        ck_assert(net_slice_make(trial.net, NET_DIVIDE_LAYERS, k, 3, &slice, &err));
        int outputs[2], found = 0;
        for (int i = 0; i < slice.net->op_count; i++)
            if (slice.net->ops[i].kind == NET_CONV)
                outputs[found++] = slice.net->ops[i].outputs;
        ck_assert_int_eq(found, 2);
        ck_assert_mem_eq(outputs, expected[k], sizeof outputs);
        net_slice_free(&slice);
    }
    trial_free(&trial);
}
END_TEST

static const struct {
    const char *model, *reason;
} undivided[] = {
    {CONV("1") ", " LINEAR, "over 2 devices: conv 0 has fewer outputs than there are devices"},
    {"\"batchnorm\", " LINEAR, "batchnorm 0 reads what every device has whole"},
    {CONV("6") ", { type = \"groupnorm\"; groups = 1; }, " LINEAR, "groupnorm 1 has groups that"},
    {"{ type = \"conv\"; channels = 4; kernel = 1; groups = 2; }, " LINEAR,
     "conv 0 reads groups of what every device has whole"},
    {CONV("4") ", { type = \"conv\"; channels = 12; kernel = 1; groups = 1; }, "
               "{ type = \"conv\"; channels = 6; kernel = 1; groups = 3; }, " LINEAR,
     "conv 2 has groups that"},
};

enum { UNDIVIDED = sizeof undivided / sizeof *undivided };

START_TEST(layers_that_cannot_be_divided_are_named)
{
    struct trial trial;
    struct net_slice slice;
    make(&trial, undivided[_i].model);
    ck_assert(!net_slice_make(trial.net, NET_DIVIDE_LAYERS, 0, 2, &slice, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_msg(strstr(err.text, undivided[_i].reason), "%s", err.text);
    ck_assert(net_slice_make(trial.net, NET_DIVIDE_LAYERS, 0, 1, &slice, &err));
    ck_assert_int_eq(slice.gather_count, 0);
    net_slice_free(&slice);
    trial_free(&trial);
}
END_TEST

static const struct {
    const char *model;
    int count;
} mixed[] = {
    {"lenet", 1},
    {"lenet", 3},
    {"smallnet", 2},
    {"alexnet", 4},
    {CONV("5") ", { type = \"dropout\"; p = 0.5; }, \"batchnorm\", " LINEAR ", \"relu\", " LINEAR,
     2},
};

enum { MIXED = sizeof mixed / sizeof *mixed };

/* What is before the first linear layer each slice has, and the first gives it back. */
START_TEST(convolutions_are_replicated)
{
    struct trial trial;
    make(&trial, mixed[_i].model);
    const size_t count = trial.net->value_count;
    const int slices = mixed[_i].count;
    float *whole = calloc(count, sizeof *whole), *back = calloc(count, sizeof *back);
    size_t numbers = 0, replicated = 0;
    ck_assert(whole && back);
    for (size_t i = 0; i < count; i++)
        whole[i] = (float)(i + 1);
    for (int k = slices; k-- > 0;) {
        struct net_slice slice;
        ck_assert_msg(net_slice_make(trial.net, NET_DIVIDE_LINEAR, k, slices, &slice, &err), "%s",
                      err.text);
        float *own = calloc(slice.net->value_count, sizeof *own);
        ck_assert(own);
        net_slice_take(&slice, whole, own);
        replicated = 0;
        for (int i = 0; i < slice.net->param_count; i++) {
            const struct net_param *param = &slice.net->params[i];
            const enum net_kind kind = slice.net->ops[param->op].kind;
            ck_assert_int_eq(slice.replicated[i], slices > 1 && kind != NET_LINEAR);
            replicated += slice.replicated[i] ? param->count : 0;
            /* As long as it is not the first that gives them back, nothing is there. */
            for (size_t n = 0; k > 0 && slice.replicated[i] && n < param->count; n++)
                ck_assert_double_eq((double)back[slice.offsets[i] + n], 0);
        }
        net_slice_put(&slice, own, true, back);
        net_slice_put(&slice, own, false, back);
        numbers += slice.net->value_count;
        free(own);
        net_slice_free(&slice);
    }
    ck_assert_mem_eq(whole, back, count * sizeof *whole);
    ck_assert_uint_eq(numbers, count + (size_t)(slices - 1) * replicated);
    free(whole);
    free(back);
    trial_free(&trial);
}
END_TEST

/* Rows are gathered once, in front of the first linear layer. */
START_TEST(gathers_of_alexnet_are_known)
{
    struct trial trial;
    struct net_slice slice;
    make(&trial, "alexnet");
    ck_assert_msg(net_slice_make(trial.net, NET_DIVIDE_LINEAR, 1, 2, &slice, &err), "%s", err.text);
    int rows = 0;
    for (int i = 0; i < slice.net->op_count; i++) {
        const struct net_op *op = &slice.net->ops[i];
        rows += op->kind == NET_GATHER_ROWS;
        ck_assert_int_eq(op->global_batch, rows > 0 && op->kind != NET_GATHER_ROWS);
        ck_assert_int_eq(op->parts, op->kind == NET_GATHER_ROWS ||
                                        (op->kind == NET_GATHER && op->outputs != 10));
    }
    ck_assert_int_eq(rows, 1);
    ck_assert_int_eq(slice.gather_count, 4);
    /* 256 of 2 x 2 pixels, the outputs of two layers, and the logits, which have no gradient to be
     * added up. */
    ck_assert_double_eq(slice.gather_numbers, 2 * (256 * 4 + 2 * 1024) + 10);
    net_slice_free(&slice);
    trial_free(&trial);
}
END_TEST

static const struct {
    const char *model, *reason;
} unmixed[] = {
    {CONV("4") ", \"global_avgpool\", \"flatten\"", "has no linear layer to divide over 2 devices"},
    {LINEAR ", \"relu\", " LINEAR, "linear 0 reads the network's input"},
    {CONV("4") ", { type = \"linear\"; outputs = 8; }, \"batchnorm\", " LINEAR,
     "batchnorm 2 comes after a linear layer"},
    {CONV("4") ", { type = \"linear\"; outputs = 1; }, " LINEAR,
     "linear 1 has fewer outputs than there are devices"},
};

enum { UNMIXED = sizeof unmixed / sizeof *unmixed };

START_TEST(networks_that_mixed_does_not_suit_are_named)
{
    struct trial trial;
    struct net_slice slice;
    make(&trial, unmixed[_i].model);
    ck_assert(!net_slice_make(trial.net, NET_DIVIDE_LINEAR, 0, 2, &slice, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_msg(strstr(err.text, unmixed[_i].reason), "%s", err.text);
    trial_free(&trial);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("slice");
    TCase *tc = tcase_create("slice");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_loop_test(tc, every_number_is_in_one_slice, 0, DIVIDED);
    tcase_add_test(tc, gathers_of_resnet18_are_known);
    tcase_add_test(tc, channels_are_divided_in_blocks);
    tcase_add_loop_test(tc, layers_that_cannot_be_divided_are_named, 0, UNDIVIDED);
    tcase_add_loop_test(tc, convolutions_are_replicated, 0, MIXED);
    tcase_add_test(tc, gathers_of_alexnet_are_known);
    tcase_add_loop_test(tc, networks_that_mixed_does_not_suit_are_named, 0, UNMIXED);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
