/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/plan.h"

/* Max and average pooling; the former remembers in a byte where in its window each maximum stood.
 */
#define MOST_TAPS 256

struct pool_layer {
    const struct buffer *x, *y, *dy, *dx;
    struct buffer *winners;
    struct pool_args args;
    bool max;
};

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct pool_layer *p = layer;
    cudaStream_t stream = plan->device->stream;
    enum cuda_type type = plan->device->storage;
    uint8_t *winners = p->winners ? p->winners->data : NULL;
    return cuda_kernel(p->max
                           ? kernel_maxpool(stream, type, &p->args, p->x->data, p->y->data, winners)
                           : kernel_avgpool(stream, type, &p->args, p->x->data, p->y->data),
                       err);
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct pool_layer *p = layer;
    cudaStream_t stream = plan->device->stream;
    enum cuda_type type = plan->device->storage;
    return cuda_kernel(
        p->max ? kernel_maxpool_backward(stream, type, &p->args, p->dy->data, p->winners->data,
                                         p->dx->data)
               : kernel_avgpool_backward(stream, type, &p->args, p->dy->data, p->dx->data),
        err);
}

static bool make_winners(struct builder *b, struct pool_layer *p, struct error *err)
{
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

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    struct pool_layer *p = *layer = build_object(b, sizeof *p, NULL, err);
    if (!p)
        return false;
    p->max = node->kind == NET_MAXPOOL;
    p->args = (struct pool_args){.x = cuda_shape(b, node->input),
                                 .y = cuda_shape(b, node->output),
                                 .kernel_h = op->kernel_h,
                                 .kernel_w = op->kernel_w,
                                 .stride_h = op->stride_h,
                                 .stride_w = op->stride_w,
                                 .pad_h = op->pad_h,
                                 .pad_w = op->pad_w};
    p->x = build_value(b, node->input, err);
    p->y = p->x ? build_value(b, node->output, err) : NULL;
    return p->y && (!p->max || make_winners(b, p, err)) && build_step(b, node, run_forward, p, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct pool_layer *p = layer;
    struct buffer *dy[2];
    if (!gradient_take(b, node, node->output, 1, dy, err))
        return false;
    struct buffer *dx = gradient_new(b, node->input, err);
    if (!dx)
        return false;
    p->dy = dy[0];
    p->dx = dx;
    if (p->winners)
        build_use(b, p->winners);
    if (!build_step(b, node, run_backward, p, err) || !gradient_give(b, node, node->input, dx, err))
        return false;
    gradient_drop(dy[0]);
    return true;
}

const struct layer_kind cuda_layer_pool = {forward, backward};
