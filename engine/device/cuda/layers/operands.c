/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/layers/operands.h"

bool cuda_kernel(cudaError_t status, struct error *err)
{
    return status == cudaSuccess || cuda_check(status, "kernel", err);
}

struct tensor_shape cuda_shape(const struct builder *b, int value)
{
    const struct value *v = &b->graph->values[value];
    return (struct tensor_shape){.rows = b->rows,
                                 .h = v->shape.h,
                                 .w = v->shape.w,
                                 .channels = value_channels(v),
                                 .real = v->shape.c};
}

size_t cuda_count(const struct builder *b, int value)
{
    return (size_t)b->rows * value_row(&b->graph->values[value]);
}

float *cuda_param(const struct builder *b, int param)
{
    const struct cuda_replica *r = b->plan->replica;
    if (param == NET_NONE)
        return NULL;
    return (r->places.list[param].statistics ? r->base.statistics : r->base.params) +
           r->places.list[param].offset;
}

const void *cuda_weights(const struct builder *b, int param)
{
    const struct cuda_replica *r = b->plan->replica;
    return r->copies ? (const void *)(r->copies + r->places.list[param].offset)
                     : cuda_param(b, param);
}

float *cuda_grads(struct builder *b, int param)
{
    const struct cuda_replica *r = b->plan->replica;
    if (param == NET_NONE)
        return NULL;
    b->core->gradient_steps[param] = b->time;
    return (r->parts ? r->parts : r->base.grads) + r->places.list[param].offset;
}
