/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/device/cuda/dnn/conv_store.h"
#include "engine/device/cuda/dnn/conv_table.h"

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
    b->plan->done[param] = b->time;
    return r->base.grads + r->places.list[param].offset;
}

/* Where the device's convolutions are planned; the paths are the caller's to free. What cannot be
 * kept is a convenience: plans are as good without. */
static struct conv_maker maker_of(const struct device *device, char **choices, char **plans)
{
    struct error none = ERROR_INIT;
    *choices = conv_choices_path(&none);
    *plans = conv_store_path(&none);
    return (struct conv_maker){.api = device->cudnn,
                               .handle = device->dnn,
                               .stream = device->stream,
                               .tune = !device->deterministic,
                               .device_name = device->model,
                               .cache_path = *choices,
                               .store_path = *plans,
                               .workspace_limit = CUDA_WORKSPACE_LIMIT};
}

bool cuda_conv_plan(struct plan *plan, const struct conv_request *request,
                    const struct conv_plan **out, struct error *err)
{
    char *choices, *plans;
    struct device *device = plan->device;
    struct conv_maker maker = maker_of(device, &choices, &plans);
    if (!device->convs)
        device->convs = conv_table_create(err);
    const bool ok = device->convs && conv_table_take(device->convs, &maker, request, out, err);
    free(choices);
    free(plans);
    if (maker.cache_error.kind != ERROR_NONE)
        snprintf(plan->note, sizeof plan->note, "%s", maker.cache_error.text);
    return ok;
}

double cuda_conv_seconds(const struct plan *plan, const struct conv_request *request)
{
    char *choices, *plans;
    const struct conv_maker maker = maker_of(plan->device, &choices, &plans);
    const double seconds = plan->device->convs
                               ? conv_table_seconds(plan->device->convs, &maker, request)
                               : conv_plan_remembered(&maker, request);
    free(choices);
    free(plans);
    return seconds;
}
