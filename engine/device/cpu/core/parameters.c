/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/parameters.h"

#include "engine/device/cpu/core/plan.h"

float *param_values(const struct builder *b, int param)
{
    if (param == NET_NONE)
        return NULL;
    const struct param_place *place = &b->plan->replica->places.list[param];
    float *arena =
        place->statistics ? b->plan->replica->base.statistics : b->plan->replica->base.params;
    return arena + place->offset;
}

float *param_grads(const struct builder *b, int param)
{
    return param == NET_NONE
               ? NULL
               : b->plan->replica->base.grads + b->plan->replica->places.list[param].offset;
}
