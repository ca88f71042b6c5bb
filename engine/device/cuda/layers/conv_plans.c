/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/layers/conv_plans.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/device/cuda/dnn/conv/choices.h"
#include "engine/device/cuda/dnn/conv/search.h"
#include "engine/device/cuda/dnn/conv/store.h"
#include "engine/device/cuda/dnn/conv/table.h"

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
                               .autotune = !device->deterministic,
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
                               : conv_search_remembered(&maker, request);
    free(choices);
    free(plans);
    return seconds;
}

bool cuda_conv_sums_pay(const struct builder *b, struct tensor_shape y, double plain, double with)
{
    /* Of a kernel that reads the result: an estimate, from its start and memory of 3 TB/s. */
    const double bytes = (double)tensor_size(y) * (double)cuda_type_size(b->device->storage);
    return isnan(plain) || isnan(with) || with <= plain + 3e-6 + bytes / 3e12;
}
