/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/layers/product.h"

/* Layouts in memory, and as the library is to see them. */
struct descs {
    desc_t left, right, result, bias;
    desc_t left_wanted, right_wanted;
};

static desc_t desc_of(const struct matrix *m, dnnl_data_type_t type, bool any)
{
    const dnnl_dims_t dims = {m->rows, m->columns};
    return compat_desc_make(2, dims, type,
                            any             ? dnnl_format_tag_any
                            : m->transposed ? dnnl_ba
                                            : dnnl_ab);
}

static desc_t stored_desc(const struct builder *b, const struct matrix *m)
{
    return desc_of(m, m->kind == ARGUMENT_VALUE ? library_type(b->device, true) : dnnl_f32, false);
}

/* Weights in whatever layout is the fastest, since they have to be converted anyway. */
static desc_t wanted_desc(const struct builder *b, const struct matrix *m)
{
    return desc_of(m, library_type(b->device, true), m->kind == ARGUMENT_WEIGHTS);
}

static bool descs_make(struct descs *d, const struct builder *b, const struct matrix *left,
                       const struct matrix *right, const struct buffer *bias,
                       const struct matrix *result)
{
    const dnnl_dims_t row = {1, result->columns};
    *d = (struct descs){.left = stored_desc(b, left),
                        .right = stored_desc(b, right),
                        .result = stored_desc(b, result),
                        .bias = bias ? compat_desc_make(2, row, dnnl_f32, dnnl_ab) : NULL,
                        .left_wanted = wanted_desc(b, left),
                        .right_wanted = wanted_desc(b, right)};
    return d->left && d->right && d->result && d->left_wanted && d->right_wanted &&
           (d->bias || !bias);
}

static void descs_free(struct descs *d)
{
    compat_desc_free(d->left);
    compat_desc_free(d->right);
    compat_desc_free(d->result);
    compat_desc_free(d->bias);
    compat_desc_free(d->left_wanted);
    compat_desc_free(d->right_wanted);
}

static bool attach(struct builder *b, struct primitive *p, dnnl_primitive_desc_t desc,
                   const struct descs *d, const struct matrix *left, const struct matrix *right,
                   struct buffer *bias, const struct matrix *result, struct error *err)
{
    const struct argument arguments[] = {
        {left->kind, DNNL_ARG_SRC, dnnl_query_src_md, d->left, left->buffer},
        {right->kind, DNNL_ARG_WEIGHTS, dnnl_query_weights_md, d->right, right->buffer},
        {result->kind, DNNL_ARG_DST, dnnl_query_dst_md, d->result, result->buffer}};
    return primitive_make(b, p, desc, err) && primitive_input(b, p, desc, &arguments[0], err) &&
           primitive_input(b, p, desc, &arguments[1], err) &&
           primitive_output(b, p, desc, &arguments[2], false, err) &&
           (!bias || primitive_bind(b, p, DNNL_ARG_BIAS, d->bias, bias, err));
}

bool product_make(struct builder *b, struct primitive *p, enum plan_direction direction,
                  const struct matrix *left, const struct matrix *right, struct buffer *bias,
                  const struct matrix *result, struct error *err)
{
    struct descs d;
    dnnl_primitive_desc_t desc = NULL;
    bool ok = (descs_make(&d, b, left, right, bias, result) ||
               error_memory(err, "layouts of a matrix product")) &&
              dnnl_check(compat_matmul(&desc, b->device->engine, d.left_wanted, d.right_wanted,
                                       d.bias, d.result, b->device->attr),
                         "matrix multiplication", err);
    if (ok) {
        primitive_label(b, direction, desc);
        ok = attach(b, p, desc, &d, left, right, bias, result, err);
        dnnl_primitive_desc_destroy(desc);
    }
    descs_free(&d);
    return ok;
}
