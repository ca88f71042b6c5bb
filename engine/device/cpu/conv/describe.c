/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/conv/describe.h"

#include <string.h>

static dnnl_format_tag_t tag_of(int block, bool free_layout)
{
    if (free_layout)
        return dnnl_format_tag_any;
    return block == 16 ? dnnl_nChw16c : block == 8 ? dnnl_nChw8c : dnnl_nchw;
}

struct descs {
    desc_t src, weights, dweights, bias, dst;
};

static void free_descs(struct descs *d)
{
    compat_desc_free(d->src);
    compat_desc_free(d->weights);
    compat_desc_free(d->dweights);
    compat_desc_free(d->bias);
    compat_desc_free(d->dst);
}

/* Weights that are read are of the values' type, their gradient is f32. */
static bool make_descs(const struct device *device, const struct conv_shape *s, bool free_layout,
                       struct descs *d)
{
    const dnnl_data_type_t type = library_type(device, s->bf16);
    const dnnl_dims_t src = {s->rows, s->in, s->in_h, s->in_w};
    const struct filters filters = conv_filters(s);
    const dnnl_dims_t dst = {s->rows, s->out, s->out_h, s->out_w};
    const dnnl_dims_t bias = {s->out};
    *d = (struct descs){
        .src = compat_desc_make(4, src, type, tag_of(s->in_block, free_layout)),
        .weights = filters_desc(&filters, type, dnnl_format_tag_any, dnnl_format_tag_any),
        .dweights = filters_desc(&filters, dnnl_f32, dnnl_format_tag_any, dnnl_format_tag_any),
        .bias = s->bias ? compat_desc_make(1, bias, dnnl_f32, dnnl_a) : NULL,
        .dst = compat_desc_make(4, dst, type, tag_of(s->out_block, free_layout))};
    return d->src && d->weights && d->dweights && d->dst && (d->bias || !s->bias);
}

/* The library counts the numbers left out between two that are read. */
static struct conv_geometry geometry_of(const struct conv_shape *s)
{
    return (struct conv_geometry){
        {s->stride_h, s->stride_w}, {s->pad_h, s->pad_w}, {s->dilation_h - 1, s->dilation_w - 1}};
}

/* The device's attributes, with what is done to the result after the products. */
static dnnl_status_t result_attr(struct device *device, const struct conv_shape *shape,
                                 dnnl_primitive_attr_t *out)
{
    dnnl_post_ops_t ops = NULL;
    dnnl_status_t status = dnnl_primitive_attr_clone(out, device->attr);
    if (status)
        return status;
    status = dnnl_post_ops_create(&ops);
    if (!status && shape->add)
        status = compat_append_sum(ops);
    if (!status && shape->relu)
        status = compat_append_eltwise(ops, dnnl_eltwise_relu);
    if (!status)
        status = dnnl_primitive_attr_set_post_ops(*out, ops);
    dnnl_post_ops_destroy(ops);
    if (status)
        dnnl_primitive_attr_destroy(*out);
    return status;
}

static dnnl_status_t describe_forward(struct device *device, const struct conv_shape *shape,
                                      dnnl_alg_kind_t algorithm, const struct descs *d, bool result,
                                      dnnl_primitive_desc_t *out)
{
    const struct conv_geometry at = geometry_of(shape);
    dnnl_primitive_attr_t attr = device->attr;
    dnnl_status_t status = result ? result_attr(device, shape, &attr) : dnnl_success;
    if (status)
        return status;
    status = compat_conv(out, device->engine, dnnl_forward_training, algorithm, d->src, d->weights,
                         d->bias, d->dst, &at, NULL, attr);
    if (result)
        dnnl_primitive_attr_destroy(attr);
    return status;
}

static dnnl_prop_kind_t prop_kind(enum conv_direction direction)
{
    return direction == CONV_FORWARD         ? dnnl_forward_training
           : direction == CONV_BACKWARD_DATA ? dnnl_backward_data
                                             : dnnl_backward_weights;
}

dnnl_status_t conv_describe(struct device *device, const struct conv_shape *shape,
                            enum conv_direction direction, enum library_algorithm algorithm,
                            bool free_layout, dnnl_primitive_desc_t *out)
{
    const struct conv_geometry at = geometry_of(shape);
    dnnl_alg_kind_t kind =
        algorithm == LIBRARY_WINOGRAD ? dnnl_convolution_winograd : dnnl_convolution_direct;
    struct descs d;
    dnnl_primitive_desc_t forward = NULL;
    dnnl_status_t status = dnnl_out_of_memory;
    if (make_descs(device, shape, free_layout, &d))
        status =
            describe_forward(device, shape, kind, &d,
                             (shape->relu || shape->add) && direction == CONV_FORWARD, &forward);
    if (!status && direction == CONV_FORWARD) {
        *out = forward;
    } else if (!status) {
        const bool weights = direction == CONV_BACKWARD_WEIGHTS;
        status = compat_conv(out, device->engine, prop_kind(direction), kind, d.src,
                             weights ? d.dweights : d.weights, weights ? d.bias : NULL, d.dst, &at,
                             forward, device->attr);
        dnnl_primitive_desc_destroy(forward);
    }
    free_descs(&d);
    return status;
}

/* Whether the library has nothing better than its unoptimised loops. */
static bool is_reference(dnnl_primitive_desc_t desc)
{
    const char *name = "";
    dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name);
    return strncmp(name, "ref", 3) == 0 || strncmp(name, "simple", 6) == 0;
}

bool conv_describe_best(struct device *device, const struct conv_shape *shape,
                        enum conv_direction direction, enum library_algorithm algorithm,
                        dnnl_primitive_desc_t *out, struct error *err)
{
    dnnl_primitive_desc_t plain = NULL;
    dnnl_status_t status = dnnl_unimplemented;
    if (algorithm != LIBRARY_DIRECT)
        status = conv_describe(device, shape, direction, algorithm, false, out);
    if (!status)
        return true;
    if (!dnnl_check(conv_describe(device, shape, direction, LIBRARY_DIRECT, false, &plain),
                    "convolution", err))
        return false;
    *out = plain;
    /* What is added is there in the stored layout alone. */
    if (!is_reference(plain) || shape->add)
        return true;
    if (conv_describe(device, shape, direction, LIBRARY_DIRECT, true, out) == dnnl_success) {
        if (!is_reference(*out)) {
            dnnl_primitive_desc_destroy(plain);
            return true;
        }
        dnnl_primitive_desc_destroy(*out);
    }
    *out = plain;
    return true;
}

const struct conv_arguments *conv_arguments(enum conv_direction direction)
{
    static const struct conv_arguments arguments[] = {
        [CONV_FORWARD] = {.src = {DNNL_ARG_SRC, dnnl_query_src_md},
                          .weights = {DNNL_ARG_WEIGHTS, dnnl_query_weights_md},
                          .dst = {DNNL_ARG_DST, dnnl_query_dst_md},
                          .bias = DNNL_ARG_BIAS},
        [CONV_BACKWARD_DATA] = {.src = {DNNL_ARG_DIFF_SRC, dnnl_query_diff_src_md},
                                .weights = {DNNL_ARG_WEIGHTS, dnnl_query_weights_md},
                                .dst = {DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md}},
        [CONV_BACKWARD_WEIGHTS] = {.src = {DNNL_ARG_SRC, dnnl_query_src_md},
                                   .weights = {DNNL_ARG_DIFF_WEIGHTS, dnnl_query_diff_weights_md},
                                   .dst = {DNNL_ARG_DIFF_DST, dnnl_query_diff_dst_md},
                                   .bias = DNNL_ARG_DIFF_BIAS},
    };
    return &arguments[direction];
}
