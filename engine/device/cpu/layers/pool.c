/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/kinds.h"
#include "engine/device/cpu/core/primitive.h"
#include "engine/device/plan/unary_layer.h"

/* Max and average pooling by the library; the former remembers where each maximum stood. */
struct pool_layer {
    struct unary_layer base;
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
    const dnnl_alg_kind_t algorithm = node->kind == NET_MAXPOOL ? dnnl_pooling_max
                                      : op->count_include_pad   ? dnnl_pooling_avg_include_padding
                                                                : dnnl_pooling_avg_exclude_padding;
    const dnnl_dims_t stride = {op->stride_h, op->stride_w}, pad = {op->pad_h, op->pad_w},
                      kernel = {op->kernel_h, op->kernel_w};
    return dnnl_check(compat_pool(out, b->device->engine,
                                  b->training ? dnnl_forward_training : dnnl_forward_inference,
                                  algorithm, src, dst, stride, kernel, pad, hint, b->device->attr),
                      "pooling", err);
}

static bool attach_forward(struct builder *b, struct pool_layer *p, dnnl_primitive_desc_t desc,
                           desc_t src, desc_t dst, struct error *err)
{
    if (!primitive_make(b, &p->forward, desc, err) ||
        !primitive_read(b, &p->forward, DNNL_ARG_SRC, src, p->base.x, err) ||
        !primitive_write(b, &p->forward, DNNL_ARG_DST, dst, p->base.y, err))
        return false;
    desc_t places = dnnl_primitive_desc_query_md(desc, dnnl_query_workspace_md, 0);
    if (!places || dnnl_memory_desc_get_size(places) == 0)
        return true;
    p->places = build_buffer(b, dnnl_memory_desc_get_size(places), err);
    return p->places && primitive_bind(b, &p->forward, DNNL_ARG_WORKSPACE, places, p->places, err);
}

static bool attach_backward(struct builder *b, struct pool_layer *p, dnnl_primitive_desc_t desc,
                            desc_t src, desc_t dst, struct error *err)
{
    desc_t places = dnnl_primitive_desc_query_md(desc, dnnl_query_workspace_md, 0);
    return primitive_make(b, &p->backward, desc, err) &&
           primitive_read(b, &p->backward, DNNL_ARG_DIFF_DST, dst, p->base.dy, err) &&
           primitive_write(b, &p->backward, DNNL_ARG_DIFF_SRC, src, p->base.dx, err) &&
           (!p->places ||
            primitive_bind(b, &p->backward, DNNL_ARG_WORKSPACE, places, p->places, err));
}

static bool prepare(struct builder *b, const struct node *node, void *object, struct error *err)
{
    dnnl_primitive_desc_t desc = NULL;
    desc_t src = value_desc(b, &b->graph->values[node->input], true);
    desc_t dst = value_desc(b, &b->graph->values[node->output], true);
    bool ok = ((src && dst) || error_memory(err, "layouts of a pooling")) &&
              describe(b, node, src, dst, NULL, &desc, err) &&
              attach_forward(b, object, desc, src, dst, err);
    dnnl_primitive_desc_destroy(desc);
    compat_desc_free(src);
    compat_desc_free(dst);
    return ok;
}

static bool prepare_backward(struct builder *b, const struct node *node, void *object,
                             struct error *err)
{
    dnnl_primitive_desc_t hint = NULL, desc = NULL;
    desc_t src = value_desc(b, &b->graph->values[node->input], true);
    desc_t dst = value_desc(b, &b->graph->values[node->output], true);
    bool ok = ((src && dst) || error_memory(err, "layouts of a pooling")) &&
              describe(b, node, src, dst, NULL, &hint, err) &&
              describe(b, node, src, dst, hint, &desc, err) &&
              attach_backward(b, object, desc, src, dst, err);
    dnnl_primitive_desc_destroy(desc);
    dnnl_primitive_desc_destroy(hint);
    compat_desc_free(src);
    compat_desc_free(dst);
    return ok;
}

static const struct unary_kind pool = {.size = sizeof(struct pool_layer),
                                       .release = release,
                                       .prepare = prepare,
                                       .prepare_backward = prepare_backward,
                                       .run = run_forward,
                                       .run_backward = run_backward};

const struct layer_kind layer_maxpool = {.unary = &pool}, layer_avgpool = {.unary = &pool};
