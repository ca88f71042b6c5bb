/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/layers/conv_run.h"

#include "engine/device/cpu/autotune/choose.h"

/* Bind the arguments: two of source, weights and destination are read, the third is computed. */
static bool attach(struct builder *b, struct primitive *p, enum conv_direction direction,
                   dnnl_primitive_desc_t desc, const struct conv_stored *s,
                   const struct conv_buffers *at, bool adds, struct error *err)
{
    const struct conv_arguments *a = conv_arguments(direction);
    const struct {
        enum conv_direction computed_by;
        struct argument argument;
    } list[] = {{CONV_BACKWARD_DATA, {ARGUMENT_VALUE, a->src.arg, a->src.query, s->src, at->src}},
                {CONV_BACKWARD_WEIGHTS,
                 {ARGUMENT_WEIGHTS, a->weights.arg, a->weights.query, s->weights, at->weights}},
                {CONV_FORWARD, {ARGUMENT_VALUE, a->dst.arg, a->dst.query, s->dst, at->dst}}};
    for (int i = 0; i < 3; i++)
        if (!(list[i].computed_by == direction
                  ? primitive_output(b, p, desc, &list[i].argument, adds, err)
                  : primitive_input(b, p, desc, &list[i].argument, err)))
            return false;
    return !at->bias || direction == CONV_BACKWARD_DATA ||
           primitive_bind(b, p, a->bias, s->bias, at->bias, err);
}

static enum plan_direction label_of(enum conv_direction direction)
{
    static const enum plan_direction labels[] = {[CONV_FORWARD] = PLAN_FORWARD,
                                                 [CONV_BACKWARD_DATA] = PLAN_BACKWARD_DATA,
                                                 [CONV_BACKWARD_WEIGHTS] = PLAN_BACKWARD_WEIGHTS};
    return labels[direction];
}

static bool make_primitive(struct builder *b, struct conv_run *run, enum conv_direction direction,
                           enum library_algorithm algorithm, const struct conv_stored *stored,
                           struct error *err)
{
    struct primitive *p = &run->primitive;
    dnnl_primitive_desc_t desc;
    if (!conv_describe_best(b->device, run->shape, direction, algorithm, &desc, err))
        return false;
    primitive_label(b, label_of(direction), desc);
    const bool ok = primitive_make(b, p, desc, err) &&
                    attach(b, p, direction, desc, stored, &run->at,
                           direction == CONV_FORWARD && run->shape->add, err);
    dnnl_primitive_desc_destroy(desc);
    return ok;
}

static bool make_own(struct builder *b, struct conv_run *run, struct error *err)
{
    build_label(b, label_of(run->kernel->direction), run->kernel->name);
    size_t bytes = run->kernel->scratch(run->shape, run->kernel->direction, b->device->threads);
    /* A buffer starts somewhere in a page. */
    run->scratch = build_scratch(b, bytes + CONV_SCRATCH_ALIGN, err);
    if (!run->scratch)
        return false;
    build_use(b, run->at.src);
    build_use(b, run->at.weights);
    build_use(b, run->at.dst);
    if (run->at.bias)
        build_use(b, run->at.bias);
    return true;
}

bool conv_run_make(struct builder *b, struct conv_run *run, const struct conv_shape *shape,
                   enum conv_direction direction, const struct conv_stored *stored,
                   const struct conv_buffers *at, struct error *err)
{
    struct conv_algorithm algorithm;
    if (!conv_choose(b->device, shape, direction, &algorithm, err))
        return false;
    run->kernel = algorithm.kernel;
    run->shape = shape;
    run->at = *at;
    return algorithm.kernel ? make_own(b, run, err)
                            : make_primitive(b, run, direction, algorithm.library, stored, err);
}

static void run_own(const struct device *device, const struct conv_run *run)
{
    const struct conv_buffers *at = &run->at;
    const uintptr_t scratch = (uintptr_t)run->scratch->data;
    const struct fused_norm *fused = run->fused.norm;
    struct conv_norm norm;
    struct conv_pass pass = {.shape = run->shape,
                             .threads = device->threads,
                             .scratch = (void *)((scratch + CONV_SCRATCH_ALIGN - 1) /
                                                 CONV_SCRATCH_ALIGN * CONV_SCRATCH_ALIGN)};
    conv_pass_point(&pass, run->kernel->direction, at->src->data, at->weights->data,
                    at->bias ? at->bias->data : NULL, at->dst->data);
    if (run->fused.moments)
        pass.moments = run->fused.moments->data;
    if (fused) {
        const float *stats = fused->stats->data;
        norm = (struct conv_norm){.scale = stats + fused->scale, .shift = stats + fused->shift};
        pass.norm = &norm;
    }
    run->kernel->run(&pass);
}

bool conv_run(struct device *device, struct conv_run *run, struct error *err)
{
    if (!run->kernel)
        return primitive_run(device, &run->primitive, err);
    run_own(device, run);
    return true;
}

void conv_run_release(struct conv_run *run)
{
    primitive_release(&run->primitive);
}
