/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/kinds.h"
#include "engine/device/cpu/core/primitive.h"
#include "engine/device/plan/unary_layer.h"

/*
 * Another name for the same numbers, or the same numbers in another layout. A conversion works on
 * the shape before it; the flat shape after it has them in the same order.
 */
struct conversion {
    struct unary_layer base;
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
    desc_t source = value_desc(b, from, false);
    desc_t destination = value_desc(b, &target, false);
    bool ok = (source && destination) || error_memory(err, "layouts of a conversion");
    if (ok && (ok = dnnl_check(dnnl_reorder_primitive_desc_create(
                                   &desc, source, engine, destination, engine, b->device->attr),
                               "reorder", err))) {
        ok = primitive_make(b, p, desc, err) &&
             primitive_read(b, p, DNNL_ARG_FROM, source, from_buffer, err) &&
             primitive_write(b, p, DNNL_ARG_TO, destination, to_buffer, err);
        dnnl_primitive_desc_destroy(desc);
    }
    compat_desc_free(source);
    compat_desc_free(destination);
    return ok;
}

static bool prepare(struct builder *b, const struct node *node, void *object, struct error *err)
{
    const struct value *values = b->graph->values;
    struct conversion *c = object;
    return make(b, &c->forward, &values[node->input], c->base.x, &values[node->output], c->base.y,
                err);
}

static bool prepare_backward(struct builder *b, const struct node *node, void *object,
                             struct error *err)
{
    struct conversion *c = object;
    const struct value *x = &b->graph->values[node->input];
    struct value flat = b->graph->values[node->output];
    flat.shape = x->shape;
    return make(b, &c->backward, &flat, c->base.dy, x, c->base.dx, err);
}

static const struct unary_kind flatten = {.size = sizeof(struct conversion),
                                          .release = release,
                                          .is_alias = is_alias,
                                          .prepare = prepare,
                                          .prepare_backward = prepare_backward,
                                          .run = run_forward,
                                          .run_backward = run_backward};

const struct layer_kind layer_flatten = {.unary = &flatten};
