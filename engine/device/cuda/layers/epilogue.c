/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/layers/epilogue.h"

#include "engine/device/cuda/layers/operands.h"

void epilogue_describe(struct epilogue *e, const struct builder *b, const struct node *node,
                       enum cuda_type type)
{
    e->shape = cuda_shape(b, node->output);
    e->type = type;
    e->relu = node->relu;
    e->bias = cuda_param(b, node->bias);
}

const char *epilogue_fused(const struct epilogue *e)
{
    if (!e->fused)
        return "";
    if (!e->relu)
        return " + bias";
    return e->bias ? " + bias + relu" : " + relu";
}

static bool run_forward(struct plan *plan, void *epilogue, struct error *err)
{
    const struct epilogue *e = epilogue;
    cudaStream_t stream = plan->device->stream;
    void *y = e->y->data;
    return cuda_kernel(
        e->relu ? kernel_activation(stream, e->type, ACTIVATION_RELU, e->shape, y, e->bias, y)
                : kernel_bias(stream, e->type, e->shape, y, e->bias, y),
        err);
}

static bool run_mask(struct plan *plan, void *epilogue, struct error *err)
{
    const struct epilogue *e = epilogue;
    return cuda_kernel(kernel_activation_backward(plan->device->stream, plan->device->storage,
                                                  ACTIVATION_RELU, e->shape, e->y->data,
                                                  e->dy->data, e->masked->data),
                       err);
}

static bool run_bias_gradient(struct plan *plan, void *epilogue, struct error *err)
{
    const struct epilogue *e = epilogue;
    return cuda_kernel(
        kernel_channel_sums(plan->device->stream, plan->device->storage, e->shape, e->masked->data,
                            (struct sums_memory){e->partials->data, plan->replica->counters},
                            e->dbias),
        err);
}

bool epilogue_forward(struct builder *b, const struct node *node, struct epilogue *e,
                      struct error *err)
{
    if (e->fused || (!e->bias && !e->relu))
        return true;
    build_use(b, b->values[node->output]);
    build_label_apart(b, PLAN_FORWARD, "own kernel");
    return build_step(b, node, run_forward, e, err);
}

static bool build_mask(struct builder *b, const struct node *node, struct epilogue *e,
                       struct buffer *dy, struct error *err)
{
    e->dy = e->masked = dy;
    if (!e->relu)
        return true;
    e->masked = gradient_result(b, dy, node->output, err);
    if (!e->masked)
        return false;
    build_use(b, b->values[node->output]);
    if (e->masked != dy) {
        gradient_drop(dy);
        e->masked->holders++;
    }
    build_label(b, PLAN_BACKWARD_RELU, "");
    return build_step(b, node, run_mask, e, err);
}

static bool build_bias_gradient(struct builder *b, const struct node *node, struct epilogue *e,
                                struct error *err)
{
    e->dbias = cuda_grads(b, node->bias);
    if (!e->dbias)
        return true;
    build_use(b, e->masked);
    e->partials = build_scratch(b, kernel_sums_scratch(e->shape), err);
    build_label_apart(b, PLAN_BACKWARD_WEIGHTS, "own kernel");
    return e->partials && build_step(b, node, run_bias_gradient, e, err);
}

bool epilogue_backward(struct builder *b, const struct node *node, struct epilogue *e,
                       struct error *err)
{
    struct buffer *dy[2];
    return gradient_take(b, node, node->output, 1, dy, err) && build_mask(b, node, e, dy[0], err) &&
           build_bias_gradient(b, node, e, err);
}
