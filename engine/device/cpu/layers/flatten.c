/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/primitive.h"
#include "engine/device/cpu/layers/kinds.h"

/*
 * Another name for the same numbers, or the same numbers in another layout. A conversion works on
 * the shape in front of it; the flat shape behind it has them in the same order.
 */
struct conversion {
    struct primitive forward, backward;
};

static void release(void *layer)
{
    struct conversion *c = layer;
    primitive_release(&c->forward);
    primitive_release(&c->backward);
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    return primitive_run(plan->device, &((struct conversion *)layer)->forward, err);
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    return primitive_run(plan->device, &((struct conversion *)layer)->backward, err);
}

static bool is_alias(const struct builder *b, const struct node *node)
{
    return b->graph->values[node->input].block == b->graph->values[node->output].block;
}

static bool make(struct builder *b, struct primitive *p, const struct value *from,
                 struct buffer *from_buffer, const struct value *to, struct buffer *to_buffer,
                 struct error *err)
{
    struct value target = *to;
    dnnl_primitive_desc_t desc;
    dnnl_engine_t engine = b->device->engine;
    target.shape = from->shape;
    desc_t source = value_desc(from, b->rows, false);
    desc_t destination = value_desc(&target, b->rows, false);
    bool ok = (source && destination) || error_memory(err, "layouts of a conversion");
    if (ok && (ok = dnnl_check(dnnl_reorder_primitive_desc_create(
                                   &desc, source, engine, destination, engine, b->device->attr),
                               "reorder", err))) {
        ok = primitive_make(b, p, desc, err) &&
             primitive_bind(b, p, DNNL_ARG_FROM, source, from_buffer, err) &&
             primitive_bind(b, p, DNNL_ARG_TO, destination, to_buffer, err);
        dnnl_primitive_desc_destroy(desc);
    }
    compat_desc_free(source);
    compat_desc_free(destination);
    return ok;
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    const struct value *values = b->graph->values;
    struct buffer *x = build_value(b, node->input, err);
    if (!x)
        return false;
    if (is_alias(b, node)) {
        b->values[node->output] = x;
        return true;
    }
    struct conversion *c = *layer = build_object(b, sizeof *c, release, err);
    struct buffer *y = c ? build_value(b, node->output, err) : NULL;
    return y && make(b, &c->forward, &values[node->input], x, &values[node->output], y, err) &&
           build_step(b, node, run_forward, c, err);
}

static bool convert_gradient(struct builder *b, const struct node *node, struct conversion *c,
                             struct buffer *dy, struct error *err)
{
    const struct value *values = b->graph->values;
    struct value flat = values[node->output];
    struct buffer *dx = gradient_new(b, node->input, err);
    flat.shape = values[node->input].shape;
    return dx && make(b, &c->backward, &flat, dy, &values[node->input], dx, err) &&
           build_step(b, node, run_backward, c, err) &&
           gradient_give(b, node, node->input, dx, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct buffer *dy[2];
    if (!b->graph->values[node->input].wants_grad)
        return true;
    if (!gradient_take(b, node, node->output, 1, dy, err))
        return false;
    bool ok = is_alias(b, node) ? gradient_give(b, node, node->input, dy[0], err)
                                : convert_gradient(b, node, layer, dy[0], err);
    gradient_drop(dy[0]);
    return ok;
}

const struct layer_kind layer_flatten = {forward, backward};
