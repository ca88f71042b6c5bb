/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/primitive.h"
#include "engine/device/cpu/layers/kinds.h"

/* Max and average pooling by the library; the former remembers where each maximum stood. */
struct pool_layer {
    struct primitive forward, backward;
    struct buffer *places;
};

static void release(void *layer)
{
    struct pool_layer *p = layer;
    primitive_release(&p->forward);
    primitive_release(&p->backward);
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    return primitive_run(plan->device, &((struct pool_layer *)layer)->forward, err);
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    return primitive_run(plan->device, &((struct pool_layer *)layer)->backward, err);
}

static bool describe(struct builder *b, const struct node *node, desc_t src, desc_t dst,
                     dnnl_primitive_desc_t hint, dnnl_primitive_desc_t *out, struct error *err)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    const dnnl_dims_t stride = {op->stride_h, op->stride_w}, pad = {op->pad_h, op->pad_w},
                      kernel = {op->kernel_h, op->kernel_w};
    return dnnl_check(
        compat_pool(out, b->device->engine,
                    b->training ? dnnl_forward_training : dnnl_forward_inference,
                    op->kind == NET_MAXPOOL ? dnnl_pooling_max : dnnl_pooling_avg_include_padding,
                    src, dst, stride, kernel, pad, hint, b->device->attr),
        "pooling", err);
}

static bool attach_forward(struct builder *b, const struct node *node, struct pool_layer *p,
                           dnnl_primitive_desc_t desc, desc_t src, desc_t dst, struct error *err)
{
    struct buffer *x = build_value(b, node->input, err);
    struct buffer *y = x ? build_value(b, node->output, err) : NULL;
    if (!y || !primitive_make(b, &p->forward, desc, err) ||
        !primitive_bind(b, &p->forward, DNNL_ARG_SRC, src, x, err) ||
        !primitive_bind(b, &p->forward, DNNL_ARG_DST, dst, y, err))
        return false;
    desc_t places = dnnl_primitive_desc_query_md(desc, dnnl_query_workspace_md, 0);
    if (!places || dnnl_memory_desc_get_size(places) == 0)
        return true;
    p->places = build_buffer(b, dnnl_memory_desc_get_size(places), err);
    return p->places && primitive_bind(b, &p->forward, DNNL_ARG_WORKSPACE, places, p->places, err);
}

static bool attach_backward(struct builder *b, struct pool_layer *p, dnnl_primitive_desc_t desc,
                            desc_t src, desc_t dst, struct buffer *dy, struct buffer *dx,
                            struct error *err)
{
    desc_t places = dnnl_primitive_desc_query_md(desc, dnnl_query_workspace_md, 0);
    return primitive_make(b, &p->backward, desc, err) &&
           primitive_bind(b, &p->backward, DNNL_ARG_DIFF_DST, dst, dy, err) &&
           primitive_bind(b, &p->backward, DNNL_ARG_DIFF_SRC, src, dx, err) &&
           (!p->places ||
            primitive_bind(b, &p->backward, DNNL_ARG_WORKSPACE, places, p->places, err));
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    struct pool_layer *p = *layer = build_object(b, sizeof *p, release, err);
    dnnl_primitive_desc_t desc = NULL;
    if (!p)
        return false;
    desc_t src = value_desc(&b->graph->values[node->input], b->rows, true);
    desc_t dst = value_desc(&b->graph->values[node->output], b->rows, true);
    bool ok = ((src && dst) || error_memory(err, "layouts of a pooling")) &&
              describe(b, node, src, dst, NULL, &desc, err) &&
              attach_forward(b, node, p, desc, src, dst, err) &&
              build_step(b, node, run_forward, p, err);
    dnnl_primitive_desc_destroy(desc);
    compat_desc_free(src);
    compat_desc_free(dst);
    return ok;
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct pool_layer *p = layer;
    struct buffer *dy[2];
    dnnl_primitive_desc_t hint = NULL, desc = NULL;
    if (!gradient_take(b, node, node->output, 1, dy, err))
        return false;
    struct buffer *dx = gradient_new(b, node->input, err);
    desc_t src = value_desc(&b->graph->values[node->input], b->rows, true);
    desc_t dst = value_desc(&b->graph->values[node->output], b->rows, true);
    bool ok = dx && ((src && dst) || error_memory(err, "layouts of a pooling")) &&
              describe(b, node, src, dst, NULL, &hint, err) &&
              describe(b, node, src, dst, hint, &desc, err) &&
              attach_backward(b, p, desc, src, dst, dy[0], dx, err) &&
              build_step(b, node, run_backward, p, err) &&
              gradient_give(b, node, node->input, dx, err);
    dnnl_primitive_desc_destroy(desc);
    dnnl_primitive_desc_destroy(hint);
    compat_desc_free(src);
    compat_desc_free(dst);
    gradient_drop(dy[0]);
    return ok;
}

const struct layer_kind layer_pool = {forward, backward};
