/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/layers/kinds.h"
#include "engine/device/cuda/layers/operands.h"
#include "engine/device/plan/unary_layer.h"

/* Max and average pooling; the former remembers in a byte where in its window each maximum stood.
 */
#define MOST_TAPS 256

struct pool_layer {
    struct unary_layer base;
    struct buffer *winners;
    struct pool_args args;
};

static bool run_max(struct plan *plan, void *layer, struct error *err)
{
    const struct pool_layer *p = layer;
    return cuda_kernel(kernel_maxpool(plan->device->stream, plan->device->storage, &p->args,
                                      p->base.x->data, p->base.y->data,
                                      p->winners ? p->winners->data : NULL),
                       err);
}

static bool run_max_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct pool_layer *p = layer;
    return cuda_kernel(kernel_maxpool_backward(plan->device->stream, plan->device->storage,
                                               &p->args, p->base.dy->data, p->winners->data,
                                               p->base.dx->data),
                       err);
}

static bool run_average(struct plan *plan, void *layer, struct error *err)
{
    const struct pool_layer *p = layer;
    return cuda_kernel(kernel_avgpool(plan->device->stream, plan->device->storage, &p->args,
                                      p->base.x->data, p->base.y->data),
                       err);
}

static bool run_average_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct pool_layer *p = layer;
    return cuda_kernel(kernel_avgpool_backward(plan->device->stream, plan->device->storage,
                                               &p->args, p->base.dy->data, p->base.dx->data),
                       err);
}

static bool prepare(struct builder *b, const struct node *node, void *object, struct error *err)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    (void)err;
    ((struct pool_layer *)object)->args = (struct pool_args){.x = cuda_shape(b, node->input),
                                                             .y = cuda_shape(b, node->output),
                                                             .kernel_h = op->kernel_h,
                                                             .kernel_w = op->kernel_w,
                                                             .stride_h = op->stride_h,
                                                             .stride_w = op->stride_w,
                                                             .pad_h = op->pad_h,
                                                             .pad_w = op->pad_w,
                                                             .exclude_pad = !op->count_include_pad};
    return true;
}

static bool prepare_max(struct builder *b, const struct node *node, void *object, struct error *err)
{
    struct pool_layer *p = object;
    prepare(b, node, object, err);
    if ((long)p->args.kernel_h * p->args.kernel_w > MOST_TAPS)
        return error_set(err, ERROR_FAILED,
                         "windows of %d x %d; GPUs take the maximum of up to %d numbers",
                         p->args.kernel_h, p->args.kernel_w, MOST_TAPS);
    if (!b->training)
        return true;
    p->winners = build_buffer(b, tensor_size(p->args.y), err);
    if (p->winners)
        build_use(b, p->winners);
    return p->winners != NULL;
}

static bool prepare_max_backward(struct builder *b, const struct node *node, void *object,
                                 struct error *err)
{
    (void)node;
    (void)err;
    build_use(b, ((struct pool_layer *)object)->winners);
    return true;
}

static const struct unary_kind maxpool = {.size = sizeof(struct pool_layer),
                                          .prepare = prepare_max,
                                          .prepare_backward = prepare_max_backward,
                                          .run = run_max,
                                          .run_backward = run_max_backward},
                               avgpool = {.size = sizeof(struct pool_layer),
                                          .prepare = prepare,
                                          .run = run_average,
                                          .run_backward = run_average_backward};

const struct layer_kind cuda_layer_maxpool = {.unary = &maxpool};
const struct layer_kind cuda_layer_avgpool = {.unary = &avgpool};
