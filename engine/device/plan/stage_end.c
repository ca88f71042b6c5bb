/* SPDX-License-Identifier: MIT */
#include "engine/device/plan/stage_end.h"

#include <string.h>

struct copy {
    const struct buffer *from; /* NULL: zeros */
    struct buffer *to;
    size_t bytes;
};

static size_t bytes_of(const struct builder *b, int value)
{
    return (size_t)b->rows * value_row(&b->graph->values[value]) * sizeof(float);
}

static struct buffer *end_buffer(struct builder *b, enum stage_end end, int value,
                                 struct error *err)
{
    struct buffer *buffer = pool_add(&b->core->pool, BUFFER_END, bytes_of(b, value));
    if (!buffer) {
        error_memory(err, "a plan's buffers");
        return NULL;
    }
    buffer->offset = end;
    return buffer;
}

static bool run_copy(struct plan *plan, void *layer, struct error *err)
{
    const struct copy *copy = layer;
    (void)plan;
    (void)err;
    if (copy->from)
        memcpy(copy->to->data, copy->from->data, copy->bytes);
    else
        memset(copy->to->data, 0, copy->bytes);
    return true;
}

/* A step that copies `from`, of a value, to an end. */
static bool build_copy(struct builder *b, struct buffer *from, int value, enum stage_end end,
                       struct error *err)
{
    struct copy *copy = build_object(b, sizeof *copy, NULL, err);
    if (!copy || !(copy->to = end_buffer(b, end, value, err)))
        return false;
    copy->from = from;
    copy->bytes = bytes_of(b, value);
    if (from)
        build_use(b, from);
    b->label.hands_over = true;
    return build_step(b, NULL, run_copy, copy, err);
}

bool stage_build_input(struct builder *b, struct error *err)
{
    return (b->values[b->graph->input] = end_buffer(b, STAGE_INPUT, b->graph->input, err));
}

bool stage_build_output(struct builder *b, struct error *err)
{
    struct buffer *output = build_value(b, b->graph->output, err);
    return output && build_copy(b, output, b->graph->output, STAGE_OUTPUT, err);
}

bool stage_take_gradient(struct builder *b, struct error *err)
{
    struct buffer *part = end_buffer(b, STAGE_OUTPUT_GRADIENT, b->graph->output, err);
    return part && gradient_give(b, NULL, b->graph->output, part, err);
}

bool stage_give_gradient(struct builder *b, struct error *err)
{
    struct buffer *parts[2];
    return gradient_take(b, NULL, b->graph->input, 1, parts, err) &&
           build_copy(b, parts[0], b->graph->input, STAGE_INPUT_GRADIENT, err);
}
