/* SPDX-License-Identifier: MIT */
#include "engine/device/plan/stage_end.h"

struct copy {
    bool (*run)(struct plan *plan, void *to, const void *from, size_t bytes, struct error *err);
    const struct buffer *from; /* NULL: zeros */
    struct buffer *to;
    size_t bytes;
};

static size_t bytes_of(const struct builder *b, int value)
{
    return (size_t)b->rows * value_row(&b->graph->values[value]) * b->backend->number_size;
}

static struct buffer *end_buffer(struct builder *b, enum stage_end end, int value,
                                 struct error *err)
{
    struct buffer *buffer = pool_add(&b->core->pool, BUFFER_END, bytes_of(b, value));
    if (buffer)
        buffer->offset = end;
    return error_if_null(buffer, err, "a plan's buffers");
}

static bool run_copy(struct plan *plan, void *layer, struct error *err)
{
    const struct copy *copy = layer;
    return copy->run(plan, copy->to->data, copy->from ? copy->from->data : NULL, copy->bytes, err);
}

/* A step that copies a value, or its gradient; `from` NULL: zeros. */
static bool build_copy(struct builder *b, struct buffer *from, struct buffer *to, int value,
                       struct error *err)
{
    struct copy *copy = to ? build_object(b, sizeof *copy, NULL, err) : NULL;
    if (!copy)
        return false;
    *copy = (struct copy){b->backend->copy, from, to, bytes_of(b, value)};
    if (from)
        build_use(b, from);
    build_use(b, to);
    b->label.hands_over = true;
    return build_step(b, NULL, run_copy, copy, err);
}

bool stage_build_input(struct builder *b, struct error *err)
{
    const int input = b->graph->input;
    struct buffer *end = end_buffer(b, STAGE_INPUT, input, err);
    if (end && b->backend->copies_ends)
        return build_copy(b, end, build_value(b, input, err), input, err);
    b->values[input] = end;
    return end;
}

bool stage_build_output(struct builder *b, struct error *err)
{
    const int output = b->graph->output;
    struct buffer *value = build_value(b, output, err);
    return value && build_copy(b, value, end_buffer(b, STAGE_OUTPUT, output, err), output, err);
}

bool stage_take_gradient(struct builder *b, struct error *err)
{
    const int output = b->graph->output;
    struct buffer *end = end_buffer(b, STAGE_OUTPUT_GRADIENT, output, err), *part = end;
    if (end && b->backend->copies_ends) {
        part = gradient_new(b, output, err);
        if (!build_copy(b, end, part, output, err))
            return false;
    }
    return part && gradient_give(b, NULL, output, part, err);
}

bool stage_give_gradient(struct builder *b, struct error *err)
{
    const int input = b->graph->input;
    struct buffer *parts[2];
    return gradient_take(b, NULL, input, 1, parts, err) &&
           build_copy(b, parts[0], end_buffer(b, STAGE_INPUT_GRADIENT, input, err), input, err);
}
