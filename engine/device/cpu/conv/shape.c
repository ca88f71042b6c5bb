/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/conv/shape.h"

void conv_shape_of(struct conv_shape *shape, const struct graph *graph, const struct node *node,
                   int rows, bool bf16)
{
    const struct net_op *op = &graph->net->ops[node->op];
    const struct value *in = &graph->values[node->input], *out = &graph->values[node->output];
    *shape = (struct conv_shape){0};
    shape->rows = rows;
    shape->groups = op->groups;
    shape->in = op->groups > 1 ? in->shape.c : value_channels(in);
    shape->in_h = in->shape.h;
    shape->in_w = in->shape.w;
    shape->in_block = in->block;
    shape->out = op->groups > 1 ? out->shape.c : value_channels(out);
    shape->out_h = out->shape.h;
    shape->out_w = out->shape.w;
    shape->out_block = out->block;
    shape->kernel_h = op->kernel_h;
    shape->kernel_w = op->kernel_w;
    shape->stride_h = op->stride_h;
    shape->stride_w = op->stride_w;
    shape->pad_h = op->pad_h;
    shape->pad_w = op->pad_w;
    shape->dilation_h = op->dilation_h;
    shape->dilation_w = op->dilation_w;
    shape->bias = node->bias != NET_NONE;
    shape->relu = node->relu;
    shape->add = node->residual != NET_NONE;
    shape->bf16 = bf16;
}

struct filters conv_filters(const struct conv_shape *s)
{
    return (struct filters){.groups = s->groups,
                            .out = s->out,
                            .in = s->in / s->groups,
                            .kernel_h = s->kernel_h,
                            .kernel_w = s->kernel_w};
}

desc_t conv_weights_desc(const struct conv_shape *s)
{
    const struct filters filters = conv_filters(s);
    return filters_desc(&filters, dnnl_f32, s->in_block == 16 ? dnnl_OIhw16i16o : dnnl_OIhw8i8o,
                        dnnl_format_tag_undef);
}
