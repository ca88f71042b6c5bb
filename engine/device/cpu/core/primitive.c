/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/primitive.h"

#include <stdio.h>

desc_t value_desc(const struct builder *b, const struct value *value, bool filled)
{
    const dnnl_dims_t dims = {b->rows, filled ? value_channels(value) : value->shape.c,
                              value->shape.h, value->shape.w};
    dnnl_format_tag_t tag = value->block == 16  ? dnnl_nChw16c
                            : value->block == 8 ? dnnl_nChw8c
                                                : dnnl_nchw;
    return compat_desc_make(4, dims, library_type(b->device, b->plan->bf16), tag);
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

/* Whether values are of a type that the library does not have. */
static bool converts(const struct builder *b)
{
    return b->plan->bf16 && !b->device->library_bf16;
}

/* A stage that converts as many numbers as `layout`, which is of f32, has room for. */
static void make_conversion(struct builder *b, struct stage *stage, number_conversion *convert,
                            struct buffer *from, struct buffer *to, desc_t layout)
{
    build_use(b, from);
    build_use(b, to);
    *stage = (struct stage){.convert = convert,
                            .from = from,
                            .to = to,
                            .numbers = dnnl_memory_desc_get_size(layout) / sizeof(float)};
}

/* What the library reads instead of an argument. NULL: no memory. */
static struct buffer *source_of(struct builder *b, struct primitive *p, const struct argument *a,
                                struct error *err)
{
    if (!converts(b))
        return a->buffer;
    struct buffer *copy = build_scratch(b, dnnl_memory_desc_get_size(a->stored), err);
    if (copy)
        make_conversion(b, &p->before[p->before_count++],
                        a->kind == ARGUMENT_VALUE ? numbers_widen : numbers_round, a->buffer, copy,
                        a->stored);
    return copy;
}

/* What it writes instead of one. Gradients of weights are f32 anyway. */
static struct buffer *result_of(struct builder *b, struct primitive *p, const struct argument *a,
                                bool adds, struct error *err)
{
    if (!converts(b) || a->kind == ARGUMENT_WEIGHTS)
        return a->buffer;
    return adds ? source_of(b, p, a, err)
                : build_scratch(b, dnnl_memory_desc_get_size(a->stored), err);
}

bool primitive_input(struct builder *b, struct primitive *p, dnnl_primitive_desc_t desc,
                     const struct argument *a, struct error *err)
{
    desc_t wanted = dnnl_primitive_desc_query_md(desc, a->query, 0);
    struct buffer *from = source_of(b, p, a, err), *copy;
    if (!from || dnnl_memory_desc_equal(wanted, a->stored))
        return from && primitive_bind(b, p, a->arg, a->stored, from, err);
    copy = build_scratch(b, dnnl_memory_desc_get_size(wanted), err);
    return copy &&
           make_reorder(b, &p->before[p->before_count++], a->stored, from, wanted, copy, err) &&
           primitive_bind(b, p, a->arg, wanted, copy, err);
}

/* Bind the argument to where the library writes it. */
static bool bind_result(struct builder *b, struct primitive *p, dnnl_primitive_desc_t desc,
                        const struct argument *a, struct buffer *to, struct error *err)
{
    desc_t wanted = dnnl_primitive_desc_query_md(desc, a->query, 0);
    if (dnnl_memory_desc_equal(wanted, a->stored))
        return primitive_bind(b, p, a->arg, a->stored, to, err);
    struct buffer *copy = build_scratch(b, dnnl_memory_desc_get_size(wanted), err);
    return copy && make_reorder(b, &p->after[p->after_count++], wanted, copy, a->stored, to, err) &&
           primitive_bind(b, p, a->arg, wanted, copy, err);
}

static void keep_result(struct builder *b, struct primitive *p, const struct argument *a,
                        struct buffer *result)
{
    if (result != a->buffer)
        make_conversion(b, &p->after[p->after_count++], numbers_narrow, result, a->buffer,
                        a->stored);
}

bool primitive_output(struct builder *b, struct primitive *p, dnnl_primitive_desc_t desc,
                      const struct argument *a, bool adds, struct error *err)
{
    struct buffer *to = result_of(b, p, a, adds, err);
    if (!to || !bind_result(b, p, desc, a, to, err))
        return false;
    keep_result(b, p, a, to);
    return true;
}

bool primitive_read(struct builder *b, struct primitive *p, int arg, desc_t layout,
                    struct buffer *buffer, struct error *err)
{
    const struct argument a = {.kind = ARGUMENT_VALUE, .stored = layout, .buffer = buffer};
    struct buffer *from = source_of(b, p, &a, err);
    return from && primitive_bind(b, p, arg, layout, from, err);
}

bool primitive_write(struct builder *b, struct primitive *p, int arg, desc_t layout,
                     struct buffer *buffer, struct error *err)
{
    const struct argument a = {.kind = ARGUMENT_VALUE, .stored = layout, .buffer = buffer};
    struct buffer *to = result_of(b, p, &a, false, err);
    if (!to || !primitive_bind(b, p, arg, layout, to, err))
        return false;
    keep_result(b, p, &a, to);
    return true;
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
    if (!stage->handle) {
        stage->convert(stage->from->data, stage->to->data, stage->numbers);
        return true;
    }
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
