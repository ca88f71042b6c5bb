/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/plan.h"

#include <stdio.h>
#include <stdlib.h>

/* What the layers have in common. */

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
    return (r->places[param].kind == PLACE_STATE ? r->base.state : r->base.params) +
           r->places[param].offset;
}

const void *cuda_weights(const struct builder *b, int param)
{
    const struct cuda_replica *r = b->plan->replica;
    return r->copies ? (const void *)(r->copies + r->places[param].offset) : cuda_param(b, param);
}

float *cuda_grads(struct builder *b, int param)
{
    const struct cuda_replica *r = b->plan->replica;
    if (param == NET_NONE)
        return NULL;
    b->plan->done[param] = b->time;
    return r->base.grads + r->places[param].offset;
}

bool cuda_conv_plan(struct plan *plan, const struct conv_request *request, struct conv_plan **out,
                    struct error *err)
{
    const struct device *device = plan->device;
    struct error none = ERROR_INIT;
    char *choices = conv_choices_path(&none); /* a convenience: plans are as good without */
    struct conv_maker maker = {.api = device->cudnn,
                               .handle = device->dnn,
                               .stream = device->stream,
                               .tune = !request->deterministic,
                               .device_name = device->model,
                               .cache_path = choices,
                               .workspace_limit = CUDA_WORKSPACE_LIMIT};
    const bool ok = conv_plan_create(&maker, request, out, err);
    free(choices);
    if (maker.cache_error.kind != ERROR_NONE)
        snprintf(plan->note, sizeof plan->note, "%s", maker.cache_error.text);
    return ok;
}
