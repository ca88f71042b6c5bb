/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/primitive.h"

#include <stdio.h>

desc_t value_desc(const struct value *value, int rows, bool filled)
{
    const dnnl_dims_t dims = {rows, filled ? value_channels(value) : value->shape.c, value->shape.h,
                              value->shape.w};
    dnnl_format_tag_t tag = value->block == 16  ? dnnl_nChw16c
                            : value->block == 8 ? dnnl_nChw8c
                                                : dnnl_nchw;
    return compat_desc_make(4, dims, dnnl_f32, tag);
}

desc_t vector_desc(size_t count)
{
    const dnnl_dims_t dims = {(dnnl_dim_t)count};
    return compat_desc_make(1, dims, dnnl_f32, dnnl_a);
}

static bool remember_binding(struct builder *b, dnnl_memory_t memory, const struct buffer *buffer)
{
    struct plan *plan = b->plan;
    if (plan->binding_count == plan->binding_capacity) {
        int capacity = plan->binding_capacity ? 2 * plan->binding_capacity : 64;
        struct binding *list = realloc(plan->bindings, (size_t)capacity * sizeof *list);
        if (!list)
            return false;
        plan->bindings = list;
        plan->binding_capacity = capacity;
    }
    plan->bindings[plan->binding_count++] = (struct binding){memory, buffer};
    return true;
}

static bool stage_bind(struct builder *b, struct stage *stage, int arg, desc_t layout,
                       struct buffer *buffer, struct error *err)
{
    dnnl_memory_t memory;
    if (!dnnl_check(dnnl_memory_create(&memory, layout, b->device->engine, DNNL_MEMORY_NONE),
                    "memory object", err))
        return false;
    if (!remember_binding(b, memory, buffer)) {
        dnnl_memory_destroy(memory);
        return error_memory(err, "memory objects");
    }
    stage->args[stage->count++] = (dnnl_exec_arg_t){arg, memory};
    build_use(b, buffer);
    return true;
}

static bool stage_make(struct builder *b, struct stage *stage, dnnl_primitive_desc_t desc,
                       struct error *err)
{
    if (!dnnl_check(dnnl_primitive_create(&stage->handle, desc), "primitive", err))
        return false;
    desc_t scratchpad = dnnl_primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0);
    size_t bytes = scratchpad ? dnnl_memory_desc_get_size(scratchpad) : 0;
    if (bytes == 0)
        return true;
    struct buffer *buffer = build_scratch(b, bytes, err);
    return buffer && stage_bind(b, stage, DNNL_ARG_SCRATCHPAD, scratchpad, buffer, err);
}

static bool make_reorder(struct builder *b, struct stage *stage, desc_t from,
                         struct buffer *from_buffer, desc_t to, struct buffer *to_buffer,
                         struct error *err)
{
    dnnl_primitive_desc_t desc;
    if (!dnnl_check(dnnl_reorder_primitive_desc_create(&desc, from, b->device->engine, to,
                                                       b->device->engine, b->device->attr),
                    "reorder", err))
        return false;
    bool ok = stage_make(b, stage, desc, err) &&
              stage_bind(b, stage, DNNL_ARG_FROM, from, from_buffer, err) &&
              stage_bind(b, stage, DNNL_ARG_TO, to, to_buffer, err);
    dnnl_primitive_desc_destroy(desc);
    return ok;
}

bool primitive_make(struct builder *b, struct primitive *p, dnnl_primitive_desc_t desc,
                    struct error *err)
{
    return stage_make(b, &p->main, desc, err);
}

bool primitive_bind(struct builder *b, struct primitive *p, int arg, desc_t layout,
                    struct buffer *buffer, struct error *err)
{
    return stage_bind(b, &p->main, arg, layout, buffer, err);
}

bool primitive_input(struct builder *b, struct primitive *p, dnnl_primitive_desc_t desc, int arg,
                     dnnl_query_t query, desc_t stored, struct buffer *buffer, struct error *err)
{
    desc_t wanted = dnnl_primitive_desc_query_md(desc, query, 0);
    if (dnnl_memory_desc_equal(wanted, stored))
        return primitive_bind(b, p, arg, stored, buffer, err);
    struct buffer *copy = build_scratch(b, dnnl_memory_desc_get_size(wanted), err);
    return copy &&
           make_reorder(b, &p->before[p->before_count++], stored, buffer, wanted, copy, err) &&
           primitive_bind(b, p, arg, wanted, copy, err);
}

bool primitive_output(struct builder *b, struct primitive *p, dnnl_primitive_desc_t desc, int arg,
                      dnnl_query_t query, desc_t stored, struct buffer *buffer, struct error *err)
{
    desc_t wanted = dnnl_primitive_desc_query_md(desc, query, 0);
    if (dnnl_memory_desc_equal(wanted, stored))
        return primitive_bind(b, p, arg, stored, buffer, err);
    struct buffer *copy = build_scratch(b, dnnl_memory_desc_get_size(wanted), err);
    return copy &&
           make_reorder(b, &p->after[p->after_count++], wanted, copy, stored, buffer, err) &&
           primitive_bind(b, p, arg, wanted, copy, err);
}

void primitive_label(struct builder *b, enum plan_direction direction, dnnl_primitive_desc_t desc)
{
    const char *name = "";
    char algorithm[80];
    dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name);
    snprintf(algorithm, sizeof algorithm, "oneDNN %s", name);
    build_label(b, direction, algorithm);
}

static bool stage_run(struct device *device, const struct stage *stage, struct error *err)
{
    return dnnl_check(
        dnnl_primitive_execute(stage->handle, device->stream, stage->count, stage->args),
        "execution", err);
}

bool primitive_run(struct device *device, struct primitive *p, struct error *err)
{
    for (int i = 0; i < p->before_count; i++)
        if (!stage_run(device, &p->before[i], err))
            return false;
    if (!stage_run(device, &p->main, err))
        return false;
    for (int i = 0; i < p->after_count; i++)
        if (!stage_run(device, &p->after[i], err))
            return false;
    return true;
}

/* The memory objects belong to the plan's bindings. */
void primitive_release(void *primitive)
{
    struct primitive *p = primitive;
    for (int i = 0; i < p->before_count; i++)
        dnnl_primitive_destroy(p->before[i].handle);
    dnnl_primitive_destroy(p->main.handle);
    for (int i = 0; i < p->after_count; i++)
        dnnl_primitive_destroy(p->after[i].handle);
}
