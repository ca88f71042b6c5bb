/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/layers/conv_plans.h"
#include "engine/device/cuda/layers/epilogue.h"
#include "engine/device/cuda/layers/kinds.h"
#include "engine/device/cuda/layers/operands.h"
#include "engine/device/cuda/layers/widen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/device/cuda/dnn/conv/table.h"

/*
 * A convolution. Each direction is one plan of the library, or, in groups, a kernel of ours; what
 * cannot be joined to the forward pass, bias and ReLU, is a kernel after it. Where a BatchNorm
 * follows, the sums that it wants may come with the forward pass. In bf16 the gradient of the
 * filters is rounded once, when the library writes it, and later widened into the arena (widen.h).
 */
struct conv {
    struct conv_table *table; /* the device's, of which the plans are */
    const struct conv_plan *forward, *weights, *data;
    struct epilogue epilogue;
    const struct buffer *x;
    struct buffer *dx;
    struct buffer *workspaces[3], *rounded;
    struct widening *widening;
    struct value_sums sums;
    void *w;
    float *dw;
    size_t weight_count;
    struct conv_request request; /* what all directions have in common */
    struct grouped_conv grouped; /* where there are several groups */
};

static void release(void *layer)
{
    struct conv *c = layer;
    conv_table_give(c->table, c->forward);
    conv_table_give(c->table, c->weights);
    conv_table_give(c->table, c->data);
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct conv *c = layer;
    const struct device *device = plan->device;
    if (c->grouped.in)
        return cuda_kernel(kernel_grouped_conv(device->stream, device->storage, &c->grouped,
                                               c->x->data, c->w, c->epilogue.y->data),
                           err);
    const struct conv_tensors tensors = {.x = c->x->data,
                                         .w = c->w,
                                         .y = c->epilogue.y->data,
                                         .bias = c->epilogue.bias,
                                         .sums = c->sums.sums ? c->sums.sums->data : NULL,
                                         .squares = c->sums.sums ? c->sums.squares->data : NULL};
    return conv_plan_run(c->forward, device->dnn, &tensors, c->workspaces[0]->data, err);
}

static bool run_weights(struct plan *plan, void *layer, struct error *err)
{
    const struct conv *c = layer;
    const struct device *device = plan->device;
    if (c->grouped.in)
        return cuda_kernel(kernel_grouped_conv_weights(device->stream, device->storage, &c->grouped,
                                                       c->x->data, c->epilogue.masked->data, c->dw),
                           err);
    const struct conv_tensors tensors = {
        .x = c->x->data, .w = c->rounded ? c->rounded->data : c->dw, .y = c->epilogue.masked->data};
    return conv_plan_run(c->weights, device->dnn, &tensors, c->workspaces[1]->data, err) &&
           (!c->widening || widening_run(plan, c->widening, err));
}

static bool run_data(struct plan *plan, void *layer, struct error *err)
{
    const struct conv *c = layer;
    if (c->grouped.in)
        return cuda_kernel(kernel_grouped_conv_data(plan->device->stream, plan->device->storage,
                                                    &c->grouped, c->epilogue.masked->data, c->w,
                                                    c->dx->data),
                           err);
    const struct conv_tensors tensors = {
        .x = c->dx->data, .w = c->w, .y = c->epilogue.masked->data};
    return conv_plan_run(c->data, plan->device->dnn, &tensors, c->workspaces[2]->data, err);
}

static void describe(struct conv *c, const struct builder *b, const struct node *node)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    const struct value *x = &b->graph->values[node->input], *y = &b->graph->values[node->output];
    c->request = (struct conv_request){.type = b->device->type,
                                       .rows = b->rows,
                                       .in = value_channels(x),
                                       .in_h = x->shape.h,
                                       .in_w = x->shape.w,
                                       .out = value_channels(y),
                                       .out_h = y->shape.h,
                                       .out_w = y->shape.w,
                                       .kernel_h = 1,
                                       .kernel_w = 1,
                                       .stride_h = 1,
                                       .stride_w = 1,
                                       .dilation_h = 1,
                                       .dilation_w = 1,
                                       .deterministic = b->device->deterministic};
    if (!node->columns) {
        c->request.kernel_h = op->kernel_h;
        c->request.kernel_w = op->kernel_w;
        c->request.stride_h = op->stride_h;
        c->request.stride_w = op->stride_w;
        c->request.pad_h = op->pad_h;
        c->request.pad_w = op->pad_w;
        c->request.dilation_h = op->dilation_h;
        c->request.dilation_w = op->dilation_w;
    }
    c->weight_count = (size_t)c->request.out * (size_t)c->request.kernel_h *
                      (size_t)c->request.kernel_w * (size_t)c->request.in;
    epilogue_describe(&c->epilogue, b, node, b->device->storage);
    c->w = (void *)(uintptr_t)cuda_weights(b, op->weight); /* only read */
}

static void describe_groups(struct conv *c, const struct builder *b, const struct node *node)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    c->grouped = (struct grouped_conv){.x = cuda_shape(b, node->input),
                                       .y = c->epilogue.shape,
                                       .in = b->graph->values[node->input].shape.c / op->groups,
                                       .out = op->outputs / op->groups,
                                       .kernel_h = op->kernel_h,
                                       .kernel_w = op->kernel_w,
                                       .stride_h = op->stride_h,
                                       .stride_w = op->stride_w,
                                       .pad_h = op->pad_h,
                                       .pad_w = op->pad_w,
                                       .dilation_h = op->dilation_h,
                                       .dilation_w = op->dilation_w};
}

static struct conv_request request_of(const struct conv *c, enum conv_pattern pattern)
{
    struct conv_request request = c->request;
    request.pattern = pattern;
    request.relu = pattern == CONV_FORWARD_BIAS && c->epilogue.relu;
    return request;
}

static bool make_plan(struct builder *b, struct conv *c, enum conv_pattern pattern,
                      const struct conv_plan **out, struct error *err)
{
    const struct conv_request request = request_of(c, pattern);
    const bool ok = cuda_conv_plan(b->plan, &request, out, err);
    c->table = b->device->convs;
    return ok;
}

/* The plan of a pass and its workspace; in groups there is none. */
static bool plan_pass(struct builder *b, struct conv *c, enum conv_pattern pattern,
                      const struct conv_plan **plan, struct buffer **workspace, struct error *err)
{
    if (c->grouped.in)
        return true;
    if (!make_plan(b, c, pattern, plan, err))
        return false;
    *workspace = build_scratch(b, conv_plan_workspace(*plan), err);
    return *workspace != NULL;
}

/* Whether a BatchNorm reads the result and would use its sums. */
static bool sums_wanted(const struct builder *b, const struct node *node)
{
    if (!b->training || b->device->type != TYPE_BF16 || node->bias != NET_NONE || node->relu)
        return false;
    for (int i = 0; i < b->graph->node_count; i++)
        if (b->graph->nodes[i].kind == NET_BATCHNORM && b->graph->nodes[i].input == node->output)
            return true;
    return false;
}

/* Which of the two forward passes is not worth building, from what was measured at another time. */
static void forget_slower(const struct builder *b, const struct conv *c, bool *plain, bool *with)
{
    const struct conv_request plain_request = request_of(c, CONV_FORWARD);
    const struct conv_request with_request = request_of(c, CONV_FORWARD_STATS);
    const double plain_s = cuda_conv_seconds(b->plan, &plain_request);
    const double with_s = cuda_conv_seconds(b->plan, &with_request);
    if (isnan(plain_s) || isnan(with_s))
        return;
    *with = cuda_conv_sums_pay(b, c->epilogue.shape, plain_s, with_s);
    *plain = !*with;
}

static bool bind_sums(struct builder *b, const struct node *node, struct conv *c, struct error *err)
{
    const size_t bytes = (size_t)c->epilogue.shape.channels * sizeof(float);
    c->sums.sums = build_buffer(b, bytes, err);
    c->sums.squares = c->sums.sums ? build_buffer(b, bytes, err) : NULL;
    if (!c->sums.squares)
        return false;
    build_use(b, c->sums.sums);
    build_use(b, c->sums.squares);
    b->plan->sums[node->output] = c->sums;
    return true;
}

/* The plain forward pass, or the one that makes the sums which a BatchNorm wants. */
static bool make_unbiased(struct builder *b, const struct node *node, struct conv *c,
                          struct error *err)
{
    struct error why = ERROR_INIT;
    const struct conv_plan *with_sums = NULL;
    bool plain = true, with = sums_wanted(b, node);
    if (with)
        forget_slower(b, c, &plain, &with);
    with = with && make_plan(b, c, CONV_FORWARD_STATS, &with_sums, &why);
    if ((plain || !with) && !make_plan(b, c, CONV_FORWARD, &c->forward, err)) {
        conv_table_give(c->table, with_sums);
        return false;
    }
    if (!with)
        return true;
    if (c->forward && !cuda_conv_sums_pay(b, c->epilogue.shape, conv_plan_seconds(c->forward),
                                          conv_plan_seconds(with_sums))) {
        conv_table_give(c->table, with_sums);
        return true;
    }
    conv_table_give(c->table, c->forward);
    c->forward = with_sums;
    return bind_sums(b, node, c, err);
}

static bool make_forward(struct builder *b, const struct node *node, struct conv *c,
                         struct error *err)
{
    struct error why = ERROR_INIT;
    if (c->grouped.in)
        return true;
    c->epilogue.fused = c->epilogue.bias && make_plan(b, c, CONV_FORWARD_BIAS, &c->forward, &why);
    if (!c->epilogue.fused && !make_unbiased(b, node, c, err))
        return false;
    c->workspaces[0] = build_scratch(b, conv_plan_workspace(c->forward), err);
    return c->workspaces[0] != NULL;
}

/* The library's name for the engine, without its knobs, and what is fused with it. NULL: it has no
 * part in it. */
static void label(struct builder *b, enum plan_direction direction, const struct conv_plan *plan,
                  const char *fused)
{
    const char *name = plan ? conv_plan_name(plan) : "own kernel";
    char method[64];
    snprintf(method, sizeof method, "%s%.*s%s", plan ? "cuDNN " : "", (int)strcspn(name, "{"), name,
             fused);
    build_label(b, direction, method);
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    struct conv *c = *layer = build_object(b, sizeof *c, release, err);
    if (!c)
        return false;
    describe(c, b, node);
    if (b->graph->net->ops[node->op].groups > 1)
        describe_groups(c, b, node);
    c->x = build_value(b, node->input, err);
    c->epilogue.y = c->x ? build_value(b, node->output, err) : NULL;
    if (!c->epilogue.y || !make_forward(b, node, c, err))
        return false;
    label(b, PLAN_FORWARD, c->forward, c->sums.sums ? " + sums" : epilogue_fused(&c->epilogue));
    return build_step(b, node, run_forward, c, err) && epilogue_forward(b, node, &c->epilogue, err);
}

static bool build_weights(struct builder *b, const struct node *node, struct conv *c,
                          struct error *err)
{
    build_use(b, c->epilogue.masked);
    build_use(b, b->values[node->input]);
    c->dw = cuda_grads(b, b->graph->net->ops[node->op].weight);
    if (!plan_pass(b, c, CONV_WEIGHTS, &c->weights, &c->workspaces[1], err))
        return false;
    if (b->device->storage != CUDA_F32 && !c->grouped.in) {
        c->rounded = widening_add(b, node, c->dw, c->weight_count, &c->widening, err);
        if (!c->rounded)
            return false;
    }
    label(b, PLAN_BACKWARD_WEIGHTS, c->weights, "");
    return build_step(b, node, run_weights, c, err);
}

static bool build_data(struct builder *b, const struct node *node, struct conv *c,
                       struct error *err)
{
    c->dx = gradient_new(b, node->input, err);
    if (!c->dx || !plan_pass(b, c, CONV_DATA, &c->data, &c->workspaces[2], err))
        return false;
    build_use(b, c->epilogue.masked);
    label(b, PLAN_BACKWARD_DATA, c->data, "");
    return build_step(b, node, run_data, c, err) && gradient_give(b, node, node->input, c->dx, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct conv *c = layer;
    if (!epilogue_backward(b, node, &c->epilogue, err) || !build_weights(b, node, c, err) ||
        (b->graph->values[node->input].wants_grad && !build_data(b, node, c, err)))
        return false;
    gradient_drop(c->epilogue.masked);
    return true;
}

const struct layer_kind cuda_layer_conv = {.forward = forward, .backward = backward};
