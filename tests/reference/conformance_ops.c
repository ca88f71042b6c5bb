/* SPDX-License-Identifier: MIT */
#include "tests/reference/conformance.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Single precision's, over a few layers. BatchNorms over a handful of numbers magnify it: what they
 * pass back is the small difference of large terms. */
#define TOLERANCE       2e-5
#define TOLERANCE_NORMS 5e-3

static const struct {
    const char *layers;
    struct net_shape input;
    int classes;
    bool numbers;
    double tolerance;
} nets[] = {
    /* convolutions: odd channel counts, strides, paddings, windows, no bias, with and without what
     * can be fused after them */
    {"{ type = 'conv'; channels = 5; kernel = 3; pad = 1; }, 'tanh',"
     "{ type = 'conv'; channels = 17; kernel = [3, 2]; stride = [2, 1]; pad = [1, 0]; }, 'flatten',"
     "{ type = 'linear'; outputs = 'classes'; }",
     {1, 9, 7},
     4,
     false,
     TOLERANCE},
    {"{ type = 'conv'; channels = 16; kernel = 1; bias = false; }, 'relu',"
     "{ type = 'conv'; channels = 6; kernel = 5; stride = 2; pad = 2; }, 'relu',"
     "{ type = 'conv'; channels = 3; kernel = [1, 3]; }, 'flatten', { type = 'linear'; outputs = "
     "3; }",
     {3, 8, 11},
     3,
     false,
     TOLERANCE},
    {"{ type = 'conv'; channels = 64; kernel = 3; pad = 1; }, 'batchnorm', 'relu',"
     "{ type = 'conv'; channels = 64; kernel = 3; pad = 1; }, 'batchnorm', 'relu',"
     "{ type = 'conv'; channels = 'classes'; kernel = 1; }, 'global_avgpool', 'flatten'",
     {2, 6, 5},
     10,
     false,
     TOLERANCE},
    {"{ type = 'conv'; channels = 7; kernel = 2; stride = 3; pad = 1; bias = false; }, 'batchnorm',"
     "{ type = 'conv'; channels = 33; kernel = 3; pad = 2; }, 'batchnorm', 'sigmoid', 'flatten',"
     "{ type = 'linear'; outputs = 5; }",
     {5, 10, 10},
     5,
     false,
     TOLERANCE},
    {"{ type = 'conv'; channels = 16; kernel = 7; stride = 4; pad = 3; }, 'relu',"
     "{ type = 'conv'; channels = 16; kernel = 3; stride = 2; pad = 2; }, 'relu', 'flatten',"
     "{ type = 'linear'; outputs = 2; }",
     {4, 13, 12},
     2,
     false,
     TOLERANCE},
    /* element-wise operations by themselves, on blocked and flat values */
    {"{ type = 'conv'; channels = 6; kernel = 3; }, 'sigmoid', 'relu', 'tanh',"
     "{ type = 'conv'; channels = 5; kernel = 1; }, 'flatten', 'relu', 'sigmoid',"
     "{ type = 'linear'; outputs = 9; }, 'tanh', { type = 'linear'; outputs = 3; }",
     {1, 7, 7},
     3,
     false,
     TOLERANCE},
    /* pooling */
    {"{ type = 'conv'; channels = 6; kernel = 3; pad = 1; }, { type = 'maxpool'; kernel = 2; },"
     "{ type = 'conv'; channels = 16; kernel = 3; pad = 1; },"
     "{ type = 'maxpool'; kernel = 3; stride = 2; pad = 1; }, 'flatten',"
     "{ type = 'linear'; outputs = 4; }",
     {3, 11, 9},
     4,
     false,
     TOLERANCE},
    {"{ type = 'conv'; channels = 5; kernel = 3; pad = 1; },"
     "{ type = 'avgpool'; kernel = [3, 2]; stride = 2; pad = 1; },"
     "{ type = 'conv'; channels = 20; kernel = 1; }, 'relu', { type = 'avgpool'; kernel = 2; },"
     "'global_avgpool', { type = 'linear'; outputs = 4; }",
     {2, 10, 9},
     4,
     false,
     TOLERANCE},
    {"{ type = 'maxpool'; kernel = 2; stride = 1; }, { type = 'avgpool'; kernel = 2; },"
     "{ type = 'linear'; outputs = 4; }",
     {3, 7, 7},
     4,
     false,
     TOLERANCE},
    /* batchnorm on the input, on flat values, after pooling; followed by nothing or by dropout */
    {"'batchnorm', { type = 'conv'; channels = 8; kernel = 3; }, { type = 'maxpool'; kernel = 2; },"
     "'batchnorm', 'relu', 'flatten', 'batchnorm', { type = 'linear'; outputs = 12; },"
     "'batchnorm', 'relu', { type = 'linear'; outputs = 3; }",
     {3, 8, 8},
     3,
     false,
     TOLERANCE_NORMS},
    {"{ type = 'linear'; outputs = 31; }, 'relu', { type = 'dropout'; p = 0.25; },"
     "{ type = 'linear'; outputs = 17; bias = false; }, 'batchnorm', { type = 'dropout'; },"
     "{ type = 'linear'; outputs = 6; }",
     {5, 1, 1},
     6,
     true,
     TOLERANCE},
    {"{ type = 'conv'; channels = 6; kernel = 3; }, 'relu', { type = 'dropout'; p = 0.4; },"
     "{ type = 'conv'; channels = 18; kernel = 3; stride = 2; }, 'flatten', { type = 'dropout'; },"
     "{ type = 'linear'; outputs = 4; }",
     {1, 9, 9},
     4,
     false,
     TOLERANCE},
    /* residual units of all kinds: fused, with shortcut, with BatchNorm on it, without any, nested,
     * on the input, doubling, ending in the logits */
    {"{ type = 'conv'; channels = 16; kernel = 3; pad = 1; }, 'batchnorm', 'relu',"
     "{ type = 'residual'; repeat = 2; layers = ({ type = 'conv'; channels = 16; kernel = 3; pad = "
     "1; },"
     "'batchnorm', 'relu', { type = 'conv'; channels = 16; kernel = 3; pad = 1; }, 'batchnorm');"
     "after = ('relu'); }, { type = 'residual'; layers = ({ type = 'conv'; channels = 24; kernel = "
     "3;"
     "stride = 2; pad = 1; }, 'batchnorm', 'relu', { type = 'conv'; channels = 24; kernel = 3; pad "
     "= 1; },"
     "'batchnorm'); shortcut = ({ type = 'conv'; channels = 24; kernel = 1; stride = 2; });"
     "after = ('relu'); }, 'global_avgpool', { type = 'linear'; outputs = 5; }",
     {1, 8, 8},
     5,
     false,
     TOLERANCE},
    {"{ type = 'conv'; channels = 5; kernel = 3; pad = 1; }, { type = 'residual'; layers = ("
     "{ type = 'conv'; channels = 9; kernel = 3; pad = 1; }, 'batchnorm');"
     "shortcut = ({ type = 'conv'; channels = 9; kernel = 1; }, 'batchnorm'); after = ('relu'); },"
     "{ type = 'residual'; layers = ({ type = 'conv'; channels = 9; kernel = 3; pad = 1; }, "
     "'relu');"
     "}, { type = 'residual'; layers = ({ type = 'conv'; channels = 9; kernel = 1; });"
     "after = ('relu'); }, 'flatten', { type = 'linear'; outputs = 3; }",
     {2, 6, 6},
     3,
     false,
     TOLERANCE},
    {"{ type = 'residual'; layers = ({ type = 'conv'; channels = 3; kernel = 3; pad = 1; }); },"
     "{ type = 'residual'; layers = ({ type = 'residual'; layers = ({ type = 'conv'; channels = 3;"
     "kernel = 1; }, 'tanh'); }, 'batchnorm'); after = ('relu'); }, 'flatten',"
     "{ type = 'residual'; layers = ({ type = 'linear'; outputs = 75; }, 'relu'); },"
     "{ type = 'linear'; outputs = 4; }, { type = 'residual'; layers = ('tanh'); }",
     {3, 5, 5},
     4,
     false,
     TOLERANCE},
    {"'batchnorm', { type = 'residual'; layers = ('batchnorm'); after = ('relu'); },"
     "{ type = 'residual'; layers = ('relu'); }, { type = 'linear'; outputs = 2; }",
     {5, 4, 3},
     2,
     true,
     TOLERANCE},
    {"{ type = 'conv'; channels = 6; kernel = 3; }, 'leaky_relu',"
     "{ type = 'conv'; channels = 5; kernel = 1; }, { type = 'leaky_relu'; negative_slope = 0.2; },"
     "'flatten', { type = 'linear'; outputs = 9; }, 'leaky_relu', { type = 'linear'; outputs = 3; "
     "}",
     {1, 7, 7},
     3,
     false,
     TOLERANCE},
    {"{ type = 'conv'; channels = 6; kernel = 3; }, 'gelu', { type = 'gelu'; approximate = 'tanh'; "
     "}, { type = 'conv'; channels = 21; kernel = 1; }, 'batchnorm', 'hardswish',"
     "{ type = 'residual'; layers = ('silu', { type = 'conv'; channels = 21; kernel = 1; }); },"
     "'flatten', 'gelu', { type = 'linear'; outputs = 9; }, 'hardswish', 'silu',"
     "{ type = 'linear'; outputs = 3; }",
     {1, 7, 7},
     3,
     false,
     TOLERANCE},
    /* groupnorm: on the input, groups that begin within a block of channels, one group, as many as
     * channels, on flat values */
    {"{ type = 'groupnorm'; groups = 3; }, { type = 'conv'; channels = 36; kernel = 3; },"
     "{ type = 'groupnorm'; groups = 4; eps = 1e-3; }, 'relu',"
     "{ type = 'conv'; channels = 21; kernel = 3; stride = 2; pad = 1; },"
     "{ type = 'groupnorm'; groups = 7; }, { type = 'residual'; layers = ('tanh',"
     "{ type = 'groupnorm'; groups = 1; }); }, 'flatten', { type = 'linear'; outputs = 20; },"
     "{ type = 'groupnorm'; groups = 5; }, { type = 'linear'; outputs = 3; }",
     {6, 8, 7},
     3,
     false,
     TOLERANCE_NORMS},
    {"{ type = 'conv'; channels = 16; kernel = 3; pad = 1; }, { type = 'groupnorm'; groups = 16; },"
     "'relu', { type = 'maxpool'; kernel = 2; }, 'flatten', { type = 'groupnorm'; groups = 4; },"
     "{ type = 'linear'; outputs = 4; }",
     {2, 9, 8},
     4,
     false,
     TOLERANCE_NORMS},
    {"{ type = 'conv'; channels = 5; kernel = 3; },"
     "{ type = 'avgpool'; kernel = [3, 2]; stride = 2; pad = 1; count_include_pad = false; },"
     "{ type = 'conv'; channels = 20; kernel = 1; }, 'tanh',"
     "{ type = 'avgpool'; kernel = 3; stride = 1; pad = 1; count_include_pad = false; }, 'flatten',"
     "{ type = 'linear'; outputs = 4; }",
     {2, 10, 9},
     4,
     false,
     TOLERANCE},
    /* dilation, also on the input, with strides and padding, before a BatchNorm */
    {"{ type = 'conv'; channels = 6; kernel = 3; dilation = 2; pad = 2; }, 'relu',"
     "{ type = 'conv'; channels = 21; kernel = [3, 2]; dilation = [1, 3]; stride = [2, 1];"
     "bias = false; }, 'batchnorm', { type = 'conv'; channels = 17; kernel = 2; dilation = 3;"
     "pad = [1, 0]; }, 'flatten', { type = 'linear'; outputs = 4; }",
     {2, 9, 10},
     4,
     false,
     TOLERANCE_NORMS},
    /* groups: on the input, which end within a block of channels, with dilation, before an addition
     * with a ReLU */
    {"{ type = 'conv'; channels = 9; kernel = 3; groups = 3; }, 'tanh',"
     "{ type = 'conv'; channels = 15; kernel = 3; groups = 3; pad = 2; dilation = 2; },"
     "{ type = 'residual'; layers = ({ type = 'conv'; channels = 15; kernel = 1; groups = 5; });"
     "after = ('relu'); }, { type = 'conv'; channels = 32; kernel = 2; groups = 1; }, 'relu',"
     "{ type = 'conv'; channels = 48; kernel = 2; groups = 2; stride = [1, 2]; }, 'flatten',"
     "{ type = 'linear'; outputs = 4; }",
     {3, 8, 9},
     4,
     false,
     TOLERANCE},
    /* depthwise: several and one output for each channel, whole blocks and not, between BatchNorms
     */
    {"{ type = 'conv'; channels = 4; kernel = 3; groups = 2; }, { type = 'conv'; channels = 24;"
     "kernel = 3; pad = 1; }, 'batchnorm', 'relu', { type = 'conv'; channels = 24; kernel = 3;"
     "groups = 24; pad = 1; bias = false; }, 'batchnorm', 'relu', { type = 'conv'; channels = 13;"
     "kernel = 1; }, { type = 'conv'; channels = 13; kernel = 3; groups = 13; stride = 2; pad = 1;"
     "bias = false; }, 'batchnorm', 'hardswish', { type = 'conv'; channels = 26; kernel = [2, 1];"
     "groups = 13; }, 'relu', 'flatten', { type = 'linear'; outputs = 4; }",
     {2, 10, 9},
     4,
     false,
     TOLERANCE_NORMS},
    /* residual units of several layers: what they begin with is read again two layers and more
     * later, on pictures and on flat values of an odd length */
    {"{ type = 'conv'; channels = 17; kernel = 3; }, 'relu', { type = 'residual'; layers = ("
     "{ type = 'conv'; channels = 8; kernel = 1; }, 'batchnorm', 'relu',"
     "{ type = 'conv'; channels = 8; kernel = 3; pad = 1; }, 'batchnorm', 'relu',"
     "{ type = 'conv'; channels = 17; kernel = 1; }, 'batchnorm'); after = ('relu'); },"
     "'global_avgpool', { type = 'residual'; layers = ({ type = 'linear'; outputs = 9; }, 'relu',"
     "{ type = 'linear'; outputs = 7; }, 'tanh', { type = 'linear'; outputs = 17; }); },"
     "{ type = 'linear'; outputs = 4; }",
     {2, 8, 7},
     4,
     false,
     TOLERANCE_NORMS},
    /* a unit within a unit, both of which begin with the same value */
    {"{ type = 'conv'; channels = 17; kernel = 3; }, 'relu', { type = 'residual'; layers = ("
     "{ type = 'residual'; layers = ({ type = 'conv'; channels = 17; kernel = 3; pad = 1; }, "
     "'relu', { type = 'conv'; channels = 17; kernel = 1; bias = false; }, 'batchnorm');"
     "after = ('relu'); }, { type = 'conv'; channels = 17; kernel = 1; }); },"
     "'flatten', { type = 'linear'; outputs = 3; }",
     {2, 7, 8},
     3,
     false,
     TOLERANCE_NORMS},
};

const int conformance_nets = (int)(sizeof nets / sizeof nets[0]);

/* The model file's quotes, which are tiresome to write in C. */
void conformance_net_make(struct trial *trial, int net, int rows)
{
    char layers[2048];
    size_t at = 0;
    for (const char *p = nets[net].layers; *p && at + 1 < sizeof layers; p++)
        layers[at++] = *p == '\'' ? '"' : *p;
    layers[at] = '\0';
    trial_make(trial, layers, nets[net].input, nets[net].classes, rows, nets[net].numbers,
               100 * (uint64_t)net + (uint64_t)rows);
}

static void conform_trial(const struct trial_device *device, const struct trial *trial, int net,
                          int rows)
{
    for (enum plan_mode mode = PLAN_TRAIN; mode <= PLAN_EVAL; mode++) {
        struct outcome got, expected;
        char what[64];
        snprintf(what, sizeof what, "net %d, %d rows, %s", net, rows,
                 mode == PLAN_TRAIN ? "train" : "eval");
        trial_run(trial, device, mode, &got);
        trial_reference(trial, mode, &expected);
        outcome_compare(trial, &got, &expected, mode, nets[net].tolerance, what);
        outcome_free(&got);
        outcome_free(&expected);
    }
}

void conform_net(const struct trial_device *device, int net, int rows)
{
    struct trial trial;
    conformance_net_make(&trial, net, rows);
    conform_trial(device, &trial, net, rows);
    trial_free(&trial);
}

void conform_smoothing(const struct trial_device *device, int net)
{
    struct trial trial;
    conformance_net_make(&trial, net, 19);
    trial.label_smoothing = 0.3;
    conform_trial(device, &trial, net, trial.rows);
    trial_free(&trial);
}

void conform_covers_operations(void)
{
    bool found[NET_KINDS] = {false};
    for (int net = 0; net < conformance_nets; net++) {
        struct trial trial;
        conformance_net_make(&trial, net, 1);
        for (int i = 0; i < trial.net->op_count; i++)
            found[trial.net->ops[i].kind] = true;
        trial_free(&trial);
    }
    for (int i = 0; i < NET_KINDS; i++)
        ck_assert_msg(found[i], "no network of these cases has '%s'",
                      net_kind_name((enum net_kind)i));
}

void conform_slopes_of(const struct trial *trial, const float *grads, const char *what)
{
    const double step = 1e-5;
    for (int i = 0; i < trial->net->param_count; i++) {
        const struct net_param *p = &trial->net->params[i];
        double largest = 0;
        for (size_t k = 0; k < p->count; k++)
            largest = fmax(largest, fabs((double)grads[p->offset + k]));
        for (size_t k = 0; net_is_trained(p) && k < p->count; k += p->count / 3 + 1) {
            size_t at = p->offset + k;
            double slope =
                (trial_loss_moved(trial, at, step) - trial_loss_moved(trial, at, -step)) /
                (2 * step);
            ck_assert_msg(fabs(slope - (double)grads[at]) <= 2e-3 * largest + 1e-6,
                          "%s: %s[%zu]: gradient %g, slope %g", what, p->name, k, (double)grads[at],
                          slope);
        }
    }
}

void conform_slopes(const struct trial_device *device, int net)
{
    struct trial trial;
    struct outcome got;
    char what[32];
    snprintf(what, sizeof what, "net %d", net);
    conformance_net_make(&trial, net, 3);
    trial_run(&trial, device, PLAN_TRAIN, &got);
    conform_slopes_of(&trial, got.grads, what);
    outcome_free(&got);
    trial_free(&trial);
}

/* By what the logits say after the same pass. */
static void check_predictions(const struct trial_device *device, const struct trial *trial,
                              int rows)
{
    struct error err = ERROR_INIT;
    struct batch_result result;
    struct rig rig;
    const int classes = trial->net->classes;
    const struct batch batch = {
        .data = &trial->data, .index = trial->index, .rows = rows, .global_rows = rows};
    float *logits = calloc((size_t)rows * (size_t)classes, sizeof *logits), *x = logits;
    long correct = 0;
    ck_assert_ptr_nonnull(logits);
    rig_open(&rig, trial, device);
    struct plan *plan = rig_plan(
        &rig, &(struct plan_request){.mode = PLAN_EVAL, .rows = rows, .predictions = true});
    ck_assert_msg(rig.backend->plan_run(rig.device, plan, &batch, &result, &err), "%s", err.text);
    ck_assert_ptr_nonnull(result.predicted);
    ck_assert_msg(rig.backend->plan_logits(rig.device, plan, logits, &err), "%s", err.text);
    for (int n = 0; n < rows; n++, x += classes) {
        int largest = 0;
        for (int k = 1; k < classes; k++)
            largest = x[k] > x[largest] ? k : largest;
        ck_assert_int_eq(result.predicted[n], largest);
        correct += trial->data.labels[trial->index[n]] == largest;
    }
    ck_assert_int_eq(result.correct, correct);
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
    free(logits);
}

void conform_predictions(const struct trial_device *device, int net)
{
    struct trial trial;
    conformance_net_make(&trial, net, 19);
    check_predictions(device, &trial, 19);
    memset(trial.weights.values, 0, trial.net->value_count * sizeof(float));
    check_predictions(device, &trial, 3); /* all logits are equal */
    for (size_t i = 0; i < trial.net->value_count; i++)
        trial.weights.values[i] = NAN;
    check_predictions(device, &trial, 3);
    trial_free(&trial);
}
