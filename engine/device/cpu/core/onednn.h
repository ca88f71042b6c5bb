/* SPDX-License-Identifier: MIT */
#pragma once

#include <dnnl.h>
#include <dnnl_version.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/*
 * One set of calls for oneDNN 2.6 and later and for 3.x, whose C interfaces differ: memory
 * descriptors are plain structs there and opaque handles here, operation descriptors were folded
 * into primitive descriptors, attributes moved to the end of the argument lists.
 *
 * A `desc_t` is a borrowed memory descriptor in both. The make and copy functions return one that
 * the caller owns and gives to compat_desc_free, NULL when memory ran out or the layout is
 * impossible.
 */

/* ERROR_FAILED "oneDNN: WHAT: REASON" unless status is success. */
bool dnnl_check(dnnl_status_t status, const char *what, struct error *err);

/* Whether the library uses these instruction sets here, which it can be told not to. */
static inline bool library_uses(dnnl_cpu_isa_t isa)
{
    return ((unsigned)dnnl_get_effective_cpu_isa() & (unsigned)isa) == (unsigned)isa;
}

struct conv_geometry {
    /* Height, width; of a dilated window the numbers left out between two that it reads. */
    dnnl_dims_t stride, pad, left_out;
};

/* A function of single numbers; alpha and beta are its constants where it has any. */
struct eltwise {
    dnnl_alg_kind_t algorithm;
    float alpha, beta;
};

#if DNNL_VERSION_MAJOR >= 3

typedef const_dnnl_memory_desc_t desc_t;

static inline desc_t compat_desc_make(int ndim, const dnnl_dims_t dims, dnnl_data_type_t type,
                                      dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t desc;
    return dnnl_memory_desc_create_with_tag(&desc, ndim, dims, type, tag) ? NULL : desc;
}

static inline desc_t compat_desc_copy(desc_t from)
{
    dnnl_memory_desc_t desc;
    return dnnl_memory_desc_clone(&desc, from) ? NULL : desc;
}

static inline void compat_desc_free(desc_t desc)
{
    if (desc)
        dnnl_memory_desc_destroy((dnnl_memory_desc_t)desc);
}

static inline dnnl_status_t compat_append_eltwise(dnnl_post_ops_t ops, dnnl_alg_kind_t kind)
{
    return dnnl_post_ops_append_eltwise(ops, kind, 0, 0);
}

static inline dnnl_status_t compat_append_sum(dnnl_post_ops_t ops)
{
    return dnnl_post_ops_append_sum(ops, 1, 0, dnnl_data_type_undef);
}

static inline dnnl_status_t compat_conv(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                        dnnl_prop_kind_t kind, dnnl_alg_kind_t algorithm,
                                        desc_t src, desc_t weights, desc_t bias, desc_t dst,
                                        const struct conv_geometry *at, dnnl_primitive_desc_t hint,
                                        const_dnnl_primitive_attr_t attr)
{
    switch (kind) {
    case dnnl_backward_data:
        return dnnl_convolution_backward_data_primitive_desc_create(
            out, engine, algorithm, src, weights, dst, at->stride, at->left_out, at->pad, at->pad,
            hint, attr);
    case dnnl_backward_weights:
        return dnnl_convolution_backward_weights_primitive_desc_create(
            out, engine, algorithm, src, weights, bias, dst, at->stride, at->left_out, at->pad,
            at->pad, hint, attr);
    default:
        return dnnl_convolution_forward_primitive_desc_create(
            out, engine, dnnl_forward_training, algorithm, src, weights, bias, dst, at->stride,
            at->left_out, at->pad, at->pad, attr);
    }
}

static inline dnnl_status_t compat_eltwise(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                           const struct eltwise *f, desc_t data,
                                           dnnl_primitive_desc_t hint,
                                           const_dnnl_primitive_attr_t attr)
{
    if (hint)
        return dnnl_eltwise_backward_primitive_desc_create(out, engine, f->algorithm, data, data,
                                                           data, f->alpha, f->beta, hint, attr);
    return dnnl_eltwise_forward_primitive_desc_create(
        out, engine, dnnl_forward_training, f->algorithm, data, data, f->alpha, f->beta, attr);
}

static inline dnnl_status_t compat_matmul(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                          desc_t left, desc_t right, desc_t bias, desc_t result,
                                          const_dnnl_primitive_attr_t attr)
{
    return dnnl_matmul_primitive_desc_create(out, engine, left, right, bias, result, attr);
}

static inline dnnl_status_t compat_pool(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                        dnnl_prop_kind_t kind, dnnl_alg_kind_t algorithm,
                                        desc_t src, desc_t dst, const dnnl_dims_t stride,
                                        const dnnl_dims_t kernel, const dnnl_dims_t pad,
                                        dnnl_primitive_desc_t hint,
                                        const_dnnl_primitive_attr_t attr)
{
    const dnnl_dims_t dense = {0};
    if (hint)
        return dnnl_pooling_backward_primitive_desc_create(out, engine, algorithm, src, dst, stride,
                                                           kernel, dense, pad, pad, hint, attr);
    return dnnl_pooling_forward_primitive_desc_create(out, engine, kind, algorithm, src, dst,
                                                      stride, kernel, dense, pad, pad, attr);
}

#else

typedef const dnnl_memory_desc_t *desc_t;

static inline desc_t compat_desc_make(int ndim, const dnnl_dims_t dims, dnnl_data_type_t type,
                                      dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t *desc = malloc(sizeof *desc);
    if (desc && dnnl_memory_desc_init_by_tag(desc, ndim, dims, type, tag)) {
        free(desc);
        return NULL;
    }
    return desc;
}

static inline desc_t compat_desc_copy(desc_t from)
{
    dnnl_memory_desc_t *desc = malloc(sizeof *desc);
    if (desc)
        memcpy(desc, from, sizeof *desc);
    return desc;
}

static inline void compat_desc_free(desc_t desc)
{
    free((void *)desc);
}

static inline dnnl_status_t compat_append_eltwise(dnnl_post_ops_t ops, dnnl_alg_kind_t kind)
{
    return dnnl_post_ops_append_eltwise(ops, 1, kind, 0, 0);
}

static inline dnnl_status_t compat_append_sum(dnnl_post_ops_t ops)
{
    return dnnl_post_ops_append_sum(ops, 1);
}

static inline dnnl_status_t compat_conv(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                        dnnl_prop_kind_t kind, dnnl_alg_kind_t algorithm,
                                        desc_t src, desc_t weights, desc_t bias, desc_t dst,
                                        const struct conv_geometry *at, dnnl_primitive_desc_t hint,
                                        const_dnnl_primitive_attr_t attr)
{
    dnnl_convolution_desc_t desc;
    dnnl_status_t status;
    if (kind == dnnl_forward_training)
        status = dnnl_dilated_convolution_forward_desc_init(&desc, dnnl_forward_training, algorithm,
                                                            src, weights, bias, dst, at->stride,
                                                            at->left_out, at->pad, at->pad);
    else if (kind == dnnl_backward_data)
        status = dnnl_dilated_convolution_backward_data_desc_init(
            &desc, algorithm, src, weights, dst, at->stride, at->left_out, at->pad, at->pad);
    else
        status = dnnl_dilated_convolution_backward_weights_desc_init(
            &desc, algorithm, src, weights, bias, dst, at->stride, at->left_out, at->pad, at->pad);
    return status ? status : dnnl_primitive_desc_create(out, &desc, attr, engine, hint);
}

static inline dnnl_status_t compat_eltwise(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                           const struct eltwise *f, desc_t data,
                                           dnnl_primitive_desc_t hint,
                                           const_dnnl_primitive_attr_t attr)
{
    dnnl_eltwise_desc_t desc;
    dnnl_status_t status =
        hint ? dnnl_eltwise_backward_desc_init(&desc, f->algorithm, data, data, f->alpha, f->beta)
             : dnnl_eltwise_forward_desc_init(&desc, dnnl_forward_training, f->algorithm, data,
                                              f->alpha, f->beta);
    return status ? status : dnnl_primitive_desc_create(out, &desc, attr, engine, hint);
}

static inline dnnl_status_t compat_matmul(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                          desc_t left, desc_t right, desc_t bias, desc_t result,
                                          const_dnnl_primitive_attr_t attr)
{
    dnnl_matmul_desc_t desc;
    dnnl_status_t status = dnnl_matmul_desc_init(&desc, left, right, bias, result);
    return status ? status : dnnl_primitive_desc_create(out, &desc, attr, engine, NULL);
}

static inline dnnl_status_t compat_pool(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                        dnnl_prop_kind_t kind, dnnl_alg_kind_t algorithm,
                                        desc_t src, desc_t dst, const dnnl_dims_t stride,
                                        const dnnl_dims_t kernel, const dnnl_dims_t pad,
                                        dnnl_primitive_desc_t hint,
                                        const_dnnl_primitive_attr_t attr)
{
    dnnl_pooling_desc_t desc;
    dnnl_status_t status =
        hint ? dnnl_pooling_backward_desc_init(&desc, algorithm, src, dst, stride, kernel, pad, pad)
             : dnnl_pooling_forward_desc_init(&desc, kind, algorithm, src, dst, stride, kernel, pad,
                                              pad);
    return status ? status : dnnl_primitive_desc_create(out, &desc, attr, engine, hint);
}

#endif
