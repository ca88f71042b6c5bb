/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/parameters.h"

#include "engine/device/cpu/core/plan.h"

desc_t filters_desc(const struct filters *f, dnnl_data_type_t type, dnnl_format_tag_t plain,
                    dnnl_format_tag_t grouped)
{
    const dnnl_dims_t one = {f->out, f->in, f->kernel_h, f->kernel_w};
    const dnnl_dims_t several = {f->groups, f->out / f->groups, f->in, f->kernel_h, f->kernel_w};
    return f->groups == 1 ? compat_desc_make(4, one, type, plain)
                          : compat_desc_make(5, several, type, grouped);
}

float *param_values(const struct builder *b, int param)
{
    if (param == NET_NONE)
        return NULL;
    const struct param_place *place = &b->plan->replica->places.list[param];
    float *arena =
        place->statistics ? b->plan->replica->base.statistics : b->plan->replica->base.params;
    return arena + place->offset;
}

double *param_moments(const struct builder *b, int param)
{
    const struct cpu_replica *r = b->plan->replica;
    return r->moments ? r->moments + r->places.list[param].offset : NULL;
}

float *param_grads(struct builder *b, int param)
{
    if (param == NET_NONE)
        return NULL;
    b->core->gradient_steps[param] = b->time;
    return b->plan->replica->base.grads + b->plan->replica->places.list[param].offset;
}
