/* SPDX-License-Identifier: MIT */
#include "engine/device/plan/unary_layer.h"

bool unary_layer_forward(struct builder *b, const struct node *node, const struct unary_kind *kind,
                         void **object, struct error *err)
{
    struct buffer *x = build_value(b, node->input, err);
    if (!x)
        return false;
    if (kind->is_alias && kind->is_alias(b, node)) {
        b->values[node->output] = x;
        return true;
    }
    struct unary_layer *layer = *object = build_object(b, kind->size, kind->release, err);
    if (!layer)
        return false;
    layer->x = x;
    layer->y = build_value(b, node->output, err);
    return layer->y && (!kind->prepare || kind->prepare(b, node, layer, err)) &&
           build_step(b, node, kind->run, layer, err);
}

static bool pass_back(struct builder *b, const struct node *node, const struct unary_kind *kind,
                      struct unary_layer *layer, struct buffer *dy, struct error *err)
{
    struct buffer *dx = kind->in_place ? gradient_result(b, dy, node->input, err)
                                       : gradient_new(b, node->input, err);
    layer->dy = dy;
    layer->dx = dx;
    if (!dx)
        return false;
    if (kind->keeps_input)
        build_use(b, layer->x);
    if (kind->keeps_output)
        build_use(b, layer->y);
    return (!kind->prepare_backward || kind->prepare_backward(b, node, layer, err)) &&
           build_step(b, node, kind->run_backward, layer, err) &&
           gradient_give(b, node, node->input, dx, err);
}

bool unary_layer_backward(struct builder *b, const struct node *node, const struct unary_kind *kind,
                          void *object, struct error *err)
{
    struct buffer *dy[2];
    if (!gradient_take(b, node, node->output, 1, dy, err))
        return false;
    bool ok = kind->is_alias && kind->is_alias(b, node)
                  ? gradient_give(b, node, node->input, dy[0], err)
                  : pass_back(b, node, kind, object, dy[0], err);
    gradient_drop(dy[0]);
    return ok;
}
