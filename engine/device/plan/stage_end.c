/* SPDX-License-Identifier: MIT */
#include "engine/device/plan/stage_end.h"

/* All that a stage takes or gives in one direction. */
struct copies {
    bool (*run)(struct plan *plan, void *to, const void *from, size_t bytes, struct error *err);
    int count;
    struct copy {
        const struct buffer *from; /* NULL: zeros */
        struct buffer *to;
        size_t bytes;
    } list[NET_CUT_TENSORS];
};

/* A buffer for each value of an end of the graph, or its gradient. */
typedef struct buffer *end_buffers[NET_CUT_TENSORS];

static size_t bytes_of(const struct builder *b, int value)
{
    return (size_t)b->rows * value_row(&b->graph->values[value]) * b->backend->number_size;
}

/* Those where the stage meets its neighbour. */
static bool add_outside(struct builder *b, enum stage_end where, const struct graph_end *end,
                        end_buffers outside, struct error *err)
{
    size_t offset = 0;
    for (int i = 0; i < end->count; i++) {
        const size_t bytes = bytes_of(b, end->value[i]);
        outside[i] = pool_add(&b->core->pool, BUFFER_END, bytes);
        if (!outside[i])
            return error_memory(err, "a plan's buffers");
        outside[i]->end = where;
        outside[i]->offset = offset;
        offset += bytes;
    }
    return true;
}

static bool run_copies(struct plan *plan, void *layer, struct error *err)
{
    const struct copies *copies = layer;
    for (int i = 0; i < copies->count; i++) {
        const struct copy *copy = &copies->list[i];
        if (!copies->run(plan, copy->to->data, copy->from ? copy->from->data : NULL, copy->bytes,
                         err))
            return false;
    }
    return true;
}

/* A step that copies from one to the other; from[i] NULL: zeros. */
static bool build_copies(struct builder *b, const struct graph_end *end, struct buffer *const *from,
                         struct buffer *const *to, struct error *err)
{
    struct copies *copies = build_object(b, sizeof *copies, NULL, err);
    if (!copies)
        return false;
    copies->run = b->backend->copy;
    copies->count = end->count;
    for (int i = 0; i < end->count; i++) {
        copies->list[i] = (struct copy){from[i], to[i], bytes_of(b, end->value[i])};
        if (from[i])
            build_use(b, from[i]);
        build_use(b, to[i]);
    }
    b->label.hands_over = true;
    return build_step(b, NULL, run_copies, copies, err);
}

static bool take_values(struct builder *b, const struct graph_end *end, end_buffers values,
                        struct error *err)
{
    for (int i = 0; i < end->count; i++)
        if (!(values[i] = build_value(b, end->value[i], err)))
            return false;
    return true;
}

bool stage_build_input(struct builder *b, struct error *err)
{
    const struct graph_end *end = &b->graph->entry;
    end_buffers outside, values;
    if (!add_outside(b, STAGE_INPUT, end, outside, err))
        return false;
    if (b->backend->copies_ends)
        return take_values(b, end, values, err) && build_copies(b, end, outside, values, err);
    for (int i = 0; i < end->count; i++)
        b->values[end->value[i]] = outside[i];
    return true;
}

bool stage_build_output(struct builder *b, struct error *err)
{
    const struct graph_end *end = &b->graph->exit;
    end_buffers outside, values;
    return add_outside(b, STAGE_OUTPUT, end, outside, err) && take_values(b, end, values, err) &&
           build_copies(b, end, values, outside, err);
}

static bool make_parts(struct builder *b, const struct graph_end *end, end_buffers parts,
                       struct error *err)
{
    for (int i = 0; i < end->count; i++)
        if (!(parts[i] = gradient_new(b, end->value[i], err)))
            return false;
    return true;
}

bool stage_take_gradient(struct builder *b, struct error *err)
{
    const struct graph_end *end = &b->graph->exit;
    end_buffers outside, copies;
    struct buffer **parts = outside;
    if (!add_outside(b, STAGE_OUTPUT_GRADIENT, end, outside, err))
        return false;
    if (b->backend->copies_ends) {
        parts = copies;
        if (!make_parts(b, end, copies, err) || !build_copies(b, end, outside, copies, err))
            return false;
    }
    for (int i = 0; i < end->count; i++)
        if (!gradient_give(b, NULL, end->value[i], parts[i], err))
            return false;
    return true;
}

bool stage_give_gradient(struct builder *b, struct error *err)
{
    const struct graph_end *end = &b->graph->entry;
    end_buffers outside, sums;
    if (!add_outside(b, STAGE_INPUT_GRADIENT, end, outside, err))
        return false;
    for (int i = 0; i < end->count; i++) {
        struct buffer *parts[2];
        b->label.hands_over = true; /* the sum, where this takes one */
        if (!gradient_take(b, NULL, end->value[i], 1, parts, err))
            return false;
        sums[i] = parts[0];
    }
    if (!build_copies(b, end, sums, outside, err))
        return false;
    /* Not sooner: two values may have one gradient, over which no sum may be written. */
    for (int i = 0; i < end->count; i++)
        if (sums[i])
            gradient_drop(sums[i]);
    return true;
}
