/* SPDX-License-Identifier: MIT */
#include "tests/engine/device/cuda/dnn/conv_cases.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "engine/device/cuda/kernels/kernels.h"
#include "engine/model/file.h"
#include "engine/net/net.h"
#include "tests/support.h"

static const struct {
    const char *name;
    struct net_shape input;
} models[] = {
    {"resnet18", {1, 28, 28}}, {"resnet18", {3, 32, 32}},  {"smallnet", {1, 28, 28}},
    {"lenet", {1, 28, 28}},    {"cifar-cnn", {3, 32, 32}},
};

struct conv_request conv_case_request(const struct net *net, const struct net_op *op)
{
    struct net_shape x = net->tensors[op->inputs[0]].shape, y = net->tensors[op->output].shape;
    struct conv_request r = {
        .in = cuda_padded(x.c),
        .in_h = x.h,
        .in_w = x.w,
        .out = cuda_padded(y.c),
        .out_h = y.h,
        .out_w = y.w,
        .kernel_h = op->kernel_h,
        .kernel_w = op->kernel_w,
        .stride_h = op->stride_h,
        .stride_w = op->stride_w,
        .pad_h = op->pad_h,
        .pad_w = op->pad_w,
        .dilation_h = op->dilation_h,
        .dilation_w = op->dilation_w,
    };
    if (op->inputs[0] == 0) {
        r.in = cuda_padded(x.c * op->kernel_h * op->kernel_w);
        r.in_h = y.h;
        r.in_w = y.w;
        r.kernel_h = r.kernel_w = r.stride_h = r.stride_w = 1;
        r.pad_h = r.pad_w = 0;
    }
    return r;
}

static void keep_new(struct conv_cases *cases, const struct conv_case *one)
{
    char text[256], other[256];
    conv_request_text(&one->request, text, sizeof text);
    for (int i = 0; i < cases->count; i++)
        if (strcmp(text, conv_request_text(&cases->list[i].request, other, sizeof other)) == 0)
            return;
    ck_assert_int_lt(cases->count, CONV_CASES_LIMIT);
    cases->list[cases->count++] = *one;
}

static void add_model(struct conv_cases *cases, const char *name, struct net_shape input)
{
    struct error err = ERROR_INIT;
    struct net *net = NULL;
    char *path = shipped_model(name);
    ck_assert_msg(net_load(path, input, 10, &net, &err), "%s", err.text);
    for (int i = 0; i < net->op_count; i++) {
        const struct net_op *op = &net->ops[i];
        if (op->kind != NET_CONV)
            continue;
        struct conv_case one = {
            .request = conv_case_request(net, op),
            .first = op->inputs[0] == 0,
            .h = input.h,
        };
        snprintf(one.model, sizeof one.model, "%s", name);
        keep_new(cases, &one);
    }
    net_free(net);
    free(path);
}

void conv_cases_find(struct conv_cases *cases)
{
    cases->count = 0;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        add_model(cases, models[i].name, models[i].input);
}

char *conv_described_gpu(void)
{
    const char *top = getenv("top_srcdir");
    struct error err = ERROR_INIT;
    size_t length;
    char *text, *path = format("%s/tests/fixtures/h200.json", top ? top : "..");
    ck_assert_msg(file_read(path, 4096, &text, &length, &err), "%s", err.text);
    free(path);
    return text;
}
