/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/dnn/conv/graph.h"

#include "engine/device/cuda/dnn/desc.h"

/* UNIQUE_IDs of tensors inside the graph begin here. */
#define INNER_BASE 100

typedef cudnnBackendDescriptor_t descriptor;

/* While a graph is being built. What fails gives NULL, and what is given NULL does nothing and
 * gives NULL, so that a pattern can be written down in one go; err keeps the first reason. */
struct builder {
    struct conv_graph *out;
    const struct conv_request *request;
    struct error *err;
};

static descriptor add(struct builder *b, cudnnBackendDescriptorType_t type, const char *what,
                      const struct dnn_attribute *attributes, size_t count)
{
    struct conv_graph *out = b->out;
    /* Attributes that are descriptors: one that could not be made ends it here. */
    for (size_t i = 0; i < count; i++)
        if (attributes[i].type == CUDNN_TYPE_BACKEND_DESCRIPTOR &&
            !*(const descriptor *)attributes[i].value)
            return NULL;
    if (out->part_count == CONV_GRAPH_PARTS) {
        error_set(b->err, ERROR_FAILED, "%s: a graph of too many parts", what);
        return NULL;
    }
    descriptor made = dnn_make(out->api, type, what, attributes, count, NULL, b->err);
    if (made)
        out->parts[out->part_count++] = made;
    return made;
}

static bool operate(struct builder *b, descriptor operation)
{
    struct conv_graph *out = b->out;
    if (!operation)
        return false;
    if (out->operation_count == CONV_GRAPH_OPERATIONS)
        return error_set(b->err, ERROR_FAILED, "a graph of too many operations");
    out->operations[out->operation_count++] = operation;
    return true;
}

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof *(ARRAY))

static descriptor add_tensor(struct builder *b, const int64_t dims[4], enum cuda_type type,
                             int64_t id, bool inner)
{
    cudnnDataType_t data_type = type == CUDA_BF16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
    /* Channels last: NHWC, for filters KRSC. */
    int64_t strides[4] = {dims[1] * dims[2] * dims[3], 1, dims[1] * dims[3], dims[1]};
    int64_t alignment = 16;
    const struct dnn_attribute attributes[] = {
        {CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &data_type},
        {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dims},
        {CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides},
        {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment},
        {CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id},
        {CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &inner},
    };
    return add(b, CUDNN_BACKEND_TENSOR_DESCRIPTOR, "a tensor for cuDNN", attributes,
               COUNT(attributes));
}

/* A tensor that the caller gives. */
static descriptor outer(struct builder *b, enum conv_role role)
{
    int64_t dims[4];
    conv_role_dims(b->request, role, dims);
    return add_tensor(b, dims, conv_role_type(b->request, role), role, false);
}

/* A tensor inside the graph, f32, as large as the one with that role. */
static descriptor inner(struct builder *b, enum conv_role like)
{
    int64_t dims[4];
    conv_role_dims(b->request, like, dims);
    return add_tensor(b, dims, CUDA_F32, INNER_BASE + b->out->inner++, true);
}

static descriptor convolution_geometry(struct builder *b)
{
    const struct conv_request *r = b->request;
    int64_t dimensions = 2;
    int64_t pads[2] = {r->pad_h, r->pad_w}, strides[2] = {r->stride_h, r->stride_w};
    int64_t dilations[2] = {r->dilation_h, r->dilation_w};
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const struct dnn_attribute attributes[] = {
        {CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &dimensions},
        {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type},
        {CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode},
        {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, pads},
        {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, pads},
        {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, dilations},
        {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, strides},
    };
    return add(b, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, "a convolution for cuDNN", attributes,
               COUNT(attributes));
}

/* The three directions are three kinds of operations, each with its own attribute names. */
struct direction {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t alpha, beta, geometry, x, w, y;
};

static const struct direction forward = {
    CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
};

static const struct direction backward_data = {
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
};

static const struct direction backward_weights = {
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
};

static bool convolve(struct builder *b, const struct direction *to, descriptor x, descriptor w,
                     descriptor y)
{
    float alpha = 1, beta = 0;
    descriptor geometry = convolution_geometry(b);
    const struct dnn_attribute attributes[] = {
        {to->alpha, CUDNN_TYPE_FLOAT, 1, &alpha},
        {to->beta, CUDNN_TYPE_FLOAT, 1, &beta},
        {to->geometry, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &geometry},
        {to->x, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x},
        {to->w, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &w},
        {to->y, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &y},
    };
    return operate(b, add(b, to->type, "a convolution for cuDNN", attributes, COUNT(attributes)));
}

static descriptor pointwise_mode(struct builder *b, cudnnPointwiseMode_t mode)
{
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    const struct dnn_attribute attributes[] = {
        {CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode},
        {CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &type},
    };
    return add(b, CUDNN_BACKEND_POINTWISE_DESCRIPTOR, "a function for cuDNN", attributes,
               COUNT(attributes));
}

/* y = f(x), or f(x, second) for modes that take two. */
static bool pointwise(struct builder *b, cudnnPointwiseMode_t mode, descriptor x, descriptor y,
                      const descriptor *second)
{
    descriptor function = pointwise_mode(b, mode);
    const struct dnn_attribute attributes[] = {
        {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &function},
        {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x},
        {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &y},
        {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, second},
    };
    return operate(b, add(b, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, "a function for cuDNN",
                          attributes, COUNT(attributes) - (second ? 0 : 1)));
}

static bool sums_and_squares(struct builder *b, descriptor x, descriptor sums, descriptor squares)
{
    cudnnGenStatsMode_t mode = CUDNN_GENSTATS_SUM_SQSUM;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    const struct dnn_attribute attributes[] = {
        {CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_TYPE_GENSTATS_MODE, 1, &mode},
        {CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &type},
        {CUDNN_ATTR_OPERATION_GENSTATS_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x},
        {CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &sums},
        {CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &squares},
    };
    return operate(b, add(b, CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR,
                          "sums by channel for cuDNN", attributes, COUNT(attributes)));
}

static bool build_plain(struct builder *b, const struct direction *to)
{
    return convolve(b, to, outer(b, CONV_X), outer(b, CONV_W), outer(b, CONV_Y));
}

/* The sums are of what has not been rounded yet: y is a separate copy, not what they read. */
static bool build_forward_stats(struct builder *b)
{
    descriptor exact = inner(b, CONV_Y);
    return convolve(b, &forward, outer(b, CONV_X), outer(b, CONV_W), exact) &&
           pointwise(b, CUDNN_POINTWISE_IDENTITY, exact, outer(b, CONV_Y), NULL) &&
           sums_and_squares(b, exact, outer(b, CONV_SUMS), outer(b, CONV_SQUARES));
}

static bool build_forward_bias(struct builder *b)
{
    const bool relu = b->request->relu;
    descriptor product = inner(b, CONV_Y), bias = outer(b, CONV_BIAS);
    descriptor with_bias = relu ? inner(b, CONV_Y) : outer(b, CONV_Y);
    return convolve(b, &forward, outer(b, CONV_X), outer(b, CONV_W), product) &&
           pointwise(b, CUDNN_POINTWISE_ADD, product, with_bias, &bias) &&
           (!relu || pointwise(b, CUDNN_POINTWISE_RELU_FWD, with_bias, outer(b, CONV_Y), NULL));
}

static bool build_operations(struct builder *b)
{
    switch (b->request->pattern) {
    case CONV_FORWARD:
        return build_plain(b, &forward);
    case CONV_FORWARD_STATS:
        return build_forward_stats(b);
    case CONV_FORWARD_BIAS:
        return build_forward_bias(b);
    case CONV_DATA:
        return build_plain(b, &backward_data);
    case CONV_WEIGHTS:
        return build_plain(b, &backward_weights);
    case CONV_PATTERNS:
        break;
    }
    return error_set(b->err, ERROR_FAILED, "no such pattern of a convolution");
}

/* cuDNN's sums and squares of a convolution add as blocks of the GPU come along. */
static bool check_order(const struct conv_request *r, struct error *err)
{
    return !r->deterministic || r->pattern != CONV_FORWARD_STATS ||
           error_set(err, ERROR_FAILED,
                     "cuDNN adds these sums in no fixed order: use a separate pass");
}

bool conv_graph_build(struct conv_graph *graph, const struct cudnn_api *api, cudnnHandle_t handle,
                      const struct conv_request *request, struct error *err)
{
    *graph = (struct conv_graph){.api = api};
    struct builder b = {.out = graph, .request = request, .err = err};
    if (!check_order(request, err) || !build_operations(&b))
        return false;
    const struct dnn_attribute attributes[] = {
        {CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, graph->operation_count,
         graph->operations},
        {CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle},
    };
    graph->graph = dnn_make(api, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, "cuDNN's graph",
                            attributes, COUNT(attributes) - (handle ? 0 : 1), NULL, err);
    return graph->graph != NULL;
}

void conv_graph_free(struct conv_graph *graph)
{
    if (graph->graph)
        dnn_release(graph->api, &graph->graph, 1);
    dnn_release(graph->api, graph->parts, graph->part_count);
    graph->part_count = graph->operation_count = 0;
}
