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

static size_t bytes_of(const struct builder *b, int value)
{
    return (size_t)b->rows * value_row(&b->graph->values[value]) * b->backend->number_size;
}

/* The buffers of a cut's values, or of their gradients, one behind the other. */
static bool end_buffers(struct builder *b, enum stage_end end, const struct graph_cut *cut,
                        struct buffer *buffers[NET_CUT_TENSORS], struct error *err)
{
    size_t offset = 0;
    for (int i = 0; i < cut->count; i++) {
        const size_t bytes = bytes_of(b, cut->value[i]);
        buffers[i] = pool_add(&b->core->pool, BUFFER_END, bytes);
        if (!buffers[i])
            return error_memory(err, "a plan's buffers");
        buffers[i]->end = end;
        buffers[i]->offset = offset;
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

/* A step that copies a cut's values, or their gradients; from[i] NULL: zeros. */
static bool build_copies(struct builder *b, const struct graph_cut *cut, struct buffer *const *from,
                         struct buffer *const *to, struct error *err)
{
    struct copies *copies = build_object(b, sizeof *copies, NULL, err);
    if (!copies)
        return false;
    copies->run = b->backend->copy;
    copies->count = cut->count;
    for (int i = 0; i < cut->count; i++) {
        copies->list[i] = (struct copy){from[i], to[i], bytes_of(b, cut->value[i])};
        if (from[i])
            build_use(b, from[i]);
        build_use(b, to[i]);
    }
    b->label.hands_over = true;
    return build_step(b, NULL, run_copies, copies, err);
}

static bool take_values(struct builder *b, const struct graph_cut *cut,
                        struct buffer *values[NET_CUT_TENSORS], struct error *err)
{
    for (int i = 0; i < cut->count; i++)
        if (!(values[i] = build_value(b, cut->value[i], err)))
            return false;
    return true;
}

bool stage_build_input(struct builder *b, struct error *err)
{
    const struct graph_cut *cut = &b->graph->entry;
    struct buffer *end[NET_CUT_TENSORS], *values[NET_CUT_TENSORS];
    if (!end_buffers(b, STAGE_INPUT, cut, end, err))
        return false;
    if (b->backend->copies_ends)
        return take_values(b, cut, values, err) && build_copies(b, cut, end, values, err);
    for (int i = 0; i < cut->count; i++)
        b->values[cut->value[i]] = end[i];
    return true;
}

bool stage_build_output(struct builder *b, struct error *err)
{
    const struct graph_cut *cut = &b->graph->exit;
    struct buffer *end[NET_CUT_TENSORS], *values[NET_CUT_TENSORS];
    return end_buffers(b, STAGE_OUTPUT, cut, end, err) && take_values(b, cut, values, err) &&
           build_copies(b, cut, values, end, err);
}

bool stage_take_gradient(struct builder *b, struct error *err)
{
    const struct graph_cut *cut = &b->graph->exit;
    struct buffer *end[NET_CUT_TENSORS], *part[NET_CUT_TENSORS];
    if (!end_buffers(b, STAGE_OUTPUT_GRADIENT, cut, end, err))
        return false;
    for (int i = 0; i < cut->count; i++)
        if (!(part[i] = b->backend->copies_ends ? gradient_new(b, cut->value[i], err) : end[i]))
            return false;
    if (b->backend->copies_ends && !build_copies(b, cut, end, part, err))
        return false;
    for (int i = 0; i < cut->count; i++)
        if (!gradient_give(b, NULL, cut->value[i], part[i], err))
            return false;
    return true;
}

bool stage_give_gradient(struct builder *b, struct error *err)
{
    const struct graph_cut *cut = &b->graph->entry;
    struct buffer *end[NET_CUT_TENSORS], *sums[NET_CUT_TENSORS];
    if (!end_buffers(b, STAGE_INPUT_GRADIENT, cut, end, err))
        return false;
    for (int i = 0; i < cut->count; i++) {
        struct buffer *parts[2];
        if (!gradient_take(b, NULL, cut->value[i], 1, parts, err))
            return false;
        sums[i] = parts[0];
    }
    return build_copies(b, cut, sums, end, err);
}
