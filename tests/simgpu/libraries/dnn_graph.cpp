/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <set>

#include "tests/simgpu/libraries/dnn.hpp"

/* Which of cuDNN's descriptors are possible: tensors, operations, graphs. */

using namespace simgpu;

namespace
{
#define ATTR(NAME) CUDNN_ATTR_OPERATION_##NAME
#define KIND(NAME) CUDNN_BACKEND_OPERATION_##NAME##_DESCRIPTOR
const dnn_signature signatures[] = {
    {KIND(CONVOLUTION_FORWARD),
     {ATTR(CONVOLUTION_FORWARD_X), ATTR(CONVOLUTION_FORWARD_W)},
     {ATTR(CONVOLUTION_FORWARD_Y)}},
    {KIND(CONVOLUTION_BACKWARD_DATA),
     {ATTR(CONVOLUTION_BWD_DATA_DY), ATTR(CONVOLUTION_BWD_DATA_W)},
     {ATTR(CONVOLUTION_BWD_DATA_DX)}},
    {KIND(CONVOLUTION_BACKWARD_FILTER),
     {ATTR(CONVOLUTION_BWD_FILTER_X), ATTR(CONVOLUTION_BWD_FILTER_DY)},
     {ATTR(CONVOLUTION_BWD_FILTER_DW)}},
    {KIND(POINTWISE), {ATTR(POINTWISE_XDESC), ATTR(POINTWISE_BDESC)}, {ATTR(POINTWISE_YDESC)}},
    {KIND(GEN_STATS), {ATTR(GENSTATS_XDESC)}, {ATTR(GENSTATS_SUMDESC), ATTR(GENSTATS_SQSUMDESC)}},
};

cudnnStatus_t check_tensor(const dnn_descriptor &d)
{
    auto dims = d.values<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
    auto strides = d.values<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
    auto type = d.value(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_INT8);
    int64_t alignment = d.value<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 0);
    for (int64_t n : dims)
        if (n < 1)
            return dnn_say(CUDNN_STATUS_BAD_PARAM, "a tensor with an empty dimension");
    if (type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_BFLOAT16)
        return dnn_say(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "a tensor of data type %d", type);
    const int64_t channels_last[4] = {dims[1] * dims[2] * dims[3], 1, dims[1] * dims[3], dims[1]};
    if (!std::equal(strides.begin(), strides.end(), channels_last))
        return dnn_say(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT, "a tensor that is not channels-last");
    if (dims[1] % 8)
        return dnn_say(CUDNN_STATUS_NOT_SUPPORTED_SHAPE, "a tensor of %d channels",
                       static_cast<int>(dims[1]));
    if (alignment < 4 || alignment & (alignment - 1))
        return dnn_say(CUDNN_STATUS_BAD_PARAM, "a tensor's alignment of %d bytes",
                       static_cast<int>(alignment));
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_convolution(const dnn_descriptor &d)
{
    auto one_or_more = [&](cudnnBackendAttributeName_t name) {
        auto list = d.values<int64_t>(name);
        return std::all_of(list.begin(), list.end(), [](int64_t n) { return n >= 1; });
    };
    if (d.value<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0) != 2 ||
        d.value(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CONVOLUTION) != CUDNN_CROSS_CORRELATION ||
        !one_or_more(CUDNN_ATTR_CONVOLUTION_DILATIONS) ||
        !one_or_more(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES))
        return dnn_say(CUDNN_STATUS_NOT_SUPPORTED, "no convolution of this kind");
    return d.value(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_INT8) == CUDNN_DATA_FLOAT
               ? CUDNN_STATUS_SUCCESS
               : dnn_say(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "sums that are not f32");
}

bool sizes_fit(const dnn_descriptor &geometry, size_t axis, int64_t x, int64_t w, int64_t y)
{
    auto at = [&](cudnnBackendAttributeName_t name) {
        return geometry.values<int64_t>(name)[axis];
    };
    int64_t span = at(CUDNN_ATTR_CONVOLUTION_DILATIONS) * (w - 1) + 1;
    int64_t padded =
        x + at(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS) + at(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
    return padded >= span && y == (padded - span) / at(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES) + 1;
}

cudnnStatus_t check_convolution_operation(const dnn_descriptor &geometry, const dnn_descriptor *x_,
                                          const dnn_descriptor *w_, const dnn_descriptor *y_)
{
    dnn_tensor x = dnn_tensor_of(*x_), w = dnn_tensor_of(*w_), y = dnn_tensor_of(*y_);
    if (x.n != y.n || w.n != y.c || w.c != x.c || !sizes_fit(geometry, 0, x.h, w.h, y.h) ||
        !sizes_fit(geometry, 1, x.w, w.w, y.w))
        return dnn_say(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
                       "the sizes of a convolution's tensors do not fit together");
    return CUDNN_STATUS_SUCCESS;
}

bool broadcasts(const dnn_tensor &b, const dnn_tensor &x)
{
    auto fits = [](int64_t of_b, int64_t of_x) { return of_b == of_x || of_b == 1; };
    return fits(b.n, x.n) && fits(b.c, x.c) && fits(b.h, x.h) && fits(b.w, x.w);
}

bool same_shape(const dnn_tensor &a, const dnn_tensor &b)
{
    return a.n == b.n && a.c == b.c && a.h == b.h && a.w == b.w;
}

cudnnStatus_t check_pointwise(const dnn_descriptor &d)
{
    auto mode = d.part(ATTR(POINTWISE_PW_DESCRIPTOR))
                    ->value(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_IDENTITY);
    if (mode != CUDNN_POINTWISE_ADD && mode != CUDNN_POINTWISE_IDENTITY &&
        mode != CUDNN_POINTWISE_RELU_FWD)
        return dnn_say(CUDNN_STATUS_NOT_SUPPORTED, "pointwise mode %d", mode);
    const dnn_descriptor *second = d.part(ATTR(POINTWISE_BDESC));
    if ((mode == CUDNN_POINTWISE_ADD) != (second != nullptr))
        return dnn_say(CUDNN_STATUS_BAD_PARAM, "pointwise mode %d with other tensors", mode);
    dnn_tensor x = dnn_tensor_of(*d.part(ATTR(POINTWISE_XDESC)));
    if (!same_shape(x, dnn_tensor_of(*d.part(ATTR(POINTWISE_YDESC)))) ||
        (second && !broadcasts(dnn_tensor_of(*second), x)))
        return dnn_say(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "pointwise mode %d: sizes", mode);
    return CUDNN_STATUS_SUCCESS;
}

/* A result of one number for each channel, f32. */
cudnnStatus_t check_sums(const dnn_descriptor *x, const dnn_descriptor *result)
{
    dnn_tensor sums = dnn_tensor_of(*result);
    if (sums.n != 1 || sums.h != 1 || sums.w != 1 || sums.c != dnn_tensor_of(*x).c || sums.bf16)
        return dnn_say(CUDNN_STATUS_NOT_SUPPORTED, "sums that are not f32 by channels");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_gen_stats(const dnn_descriptor &d)
{
    const dnn_descriptor *x = d.part(ATTR(GENSTATS_XDESC));
    if (cudnnStatus_t status = check_sums(x, d.part(ATTR(GENSTATS_SUMDESC))))
        return status;
    return check_sums(x, d.part(ATTR(GENSTATS_SQSUMDESC)));
}

/* Operations in order: what is virtual is made before it is read, nothing is made twice, an id is
 * one tensor. */
cudnnStatus_t check_graph(const dnn_descriptor &d)
{
    std::set<int64_t> made;
    std::map<int64_t, dnn_tensor> known;
    for (const auto &operation : d.attributes.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).parts) {
        const dnn_signature *s = dnn_signature_of(*operation);
        if (!s)
            return dnn_say(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "a graph of descriptors %d",
                           operation->type);
        auto meet = [&](const dnn_tensor &t) {
            auto [place, fresh] = known.emplace(t.id, t);
            return fresh || (same_shape(place->second, t) && place->second.bf16 == t.bf16 &&
                             place->second.is_virtual == t.is_virtual);
        };
        for (auto name : s->reads)
            if (const dnn_descriptor *part = operation->part(name)) {
                dnn_tensor t = dnn_tensor_of(*part);
                if (!meet(t) || (t.is_virtual && !made.count(t.id)))
                    return dnn_say(CUDNN_STATUS_BAD_PARAM,
                                   "tensor %d is read before it is made, or is two",
                                   static_cast<int>(t.id));
            }
        for (auto name : s->writes)
            if (const dnn_descriptor *part = operation->part(name)) {
                dnn_tensor t = dnn_tensor_of(*part);
                if (!meet(t) || !made.insert(t.id).second)
                    return dnn_say(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES,
                                   "tensor %d is made twice, or is two", static_cast<int>(t.id));
            }
    }
    return CUDNN_STATUS_SUCCESS;
}
} // namespace

const dnn_signature *simgpu::dnn_signature_of(const dnn_descriptor &operation)
{
    for (const dnn_signature &s : signatures)
        if (s.type == operation.type)
            return &s;
    return nullptr;
}

dnn_tensor simgpu::dnn_tensor_of(const dnn_descriptor &d)
{
    auto dims = d.values<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
    dnn_tensor t;
    t.id = d.value<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
    t.n = dims.at(0);
    t.c = dims.at(1);
    t.h = dims.at(2);
    t.w = dims.at(3);
    t.bf16 = d.value(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT) == CUDNN_DATA_BFLOAT16;
    t.is_virtual = d.value<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL, false);
    t.alignment = d.value<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 16);
    return t;
}

cudnnStatus_t simgpu::dnn_check(const dnn_descriptor &d)
{
    switch (d.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
        return check_tensor(d);
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
        return check_convolution(d);
    case KIND(CONVOLUTION_FORWARD):
        return check_convolution_operation(
            *d.part(ATTR(CONVOLUTION_FORWARD_CONV_DESC)), d.part(ATTR(CONVOLUTION_FORWARD_X)),
            d.part(ATTR(CONVOLUTION_FORWARD_W)), d.part(ATTR(CONVOLUTION_FORWARD_Y)));
    case KIND(CONVOLUTION_BACKWARD_DATA):
        return check_convolution_operation(
            *d.part(ATTR(CONVOLUTION_BWD_DATA_CONV_DESC)), d.part(ATTR(CONVOLUTION_BWD_DATA_DX)),
            d.part(ATTR(CONVOLUTION_BWD_DATA_W)), d.part(ATTR(CONVOLUTION_BWD_DATA_DY)));
    case KIND(CONVOLUTION_BACKWARD_FILTER):
        return check_convolution_operation(
            *d.part(ATTR(CONVOLUTION_BWD_FILTER_CONV_DESC)), d.part(ATTR(CONVOLUTION_BWD_FILTER_X)),
            d.part(ATTR(CONVOLUTION_BWD_FILTER_DW)), d.part(ATTR(CONVOLUTION_BWD_FILTER_DY)));
    case KIND(POINTWISE):
        return check_pointwise(d);
    case KIND(GEN_STATS):
        return check_gen_stats(d);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
        return check_graph(d);
    default:
        return dnn_check_plan(d);
    }
}
