/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/dnn/conv/request.h"

#include <stdint.h>
#include <stdio.h>

#include "spec/names.h"

static const char *const pattern_names[CONV_PATTERNS] = {
    [CONV_FORWARD] = "forward",
    [CONV_FORWARD_STATS] = "forward with sums",
    [CONV_FORWARD_BIAS] = "forward + bias",
    [CONV_DATA] = "data",
    [CONV_WEIGHTS] = "weights",
};

/* " dilation 2x2 pad 2x0", without dilation 1 and the padding that keeps the size at stride 1. */
static const char *more_text(const struct conv_request *r, char *buffer, size_t size)
{
    int used = 0;
    buffer[0] = '\0';
    if (r->dilation_h != 1 || r->dilation_w != 1)
        used = snprintf(buffer, size, " dilation %dx%d", r->dilation_h, r->dilation_w);
    if (r->pad_h != r->dilation_h * (r->kernel_h - 1) / 2 ||
        r->pad_w != r->dilation_w * (r->kernel_w - 1) / 2)
        snprintf(buffer + used, size - (size_t)used, " pad %dx%d", r->pad_h, r->pad_w);
    return buffer;
}

const char *conv_request_text(const struct conv_request *request, char *buffer, size_t size)
{
    const struct conv_request *r = request;
    char stride[32], more[64];
    if (r->stride_h == r->stride_w)
        snprintf(stride, sizeof stride, "%d", r->stride_h);
    else
        snprintf(stride, sizeof stride, "%dx%d", r->stride_h, r->stride_w);
    bool known = (unsigned)r->pattern < CONV_PATTERNS;
    snprintf(buffer, size, "conv %dx%d/%s%s %dx%dx%d -> %d, %d rows, %s, %s%s%s", r->kernel_h,
             r->kernel_w, stride, more_text(r, more, sizeof more), r->in, r->in_h, r->in_w, r->out,
             r->rows, number_type_name(r->type), known ? pattern_names[r->pattern] : "?",
             r->relu ? " + ReLU" : "", r->deterministic ? ", deterministic" : "");
    return buffer;
}

static int size_out(int in, int kernel, int stride, int pad, int dilation)
{
    return (in + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
}

static const char *complaint(const struct conv_request *r)
{
    if ((unsigned)r->pattern >= CONV_PATTERNS)
        return "no such pattern";
    if (r->type != TYPE_F32 && r->type != TYPE_TF32 && r->type != TYPE_BF16)
        return "no number type";
    if (r->rows < 1 || r->in < 1 || r->out < 1 || r->in_h < 1 || r->in_w < 1)
        return "an empty tensor";
    if (r->kernel_h < 1 || r->kernel_w < 1 || r->stride_h < 1 || r->stride_w < 1 || r->pad_h < 0 ||
        r->pad_w < 0 || r->dilation_h < 1 || r->dilation_w < 1)
        return "no kernel, stride, padding or dilation";
    if (r->in % 8 || r->out % 8)
        return "channels that are not filled up to a multiple of 8";
    if (r->out_h != size_out(r->in_h, r->kernel_h, r->stride_h, r->pad_h, r->dilation_h) ||
        r->out_w != size_out(r->in_w, r->kernel_w, r->stride_w, r->pad_w, r->dilation_w) ||
        r->out_h < 1 || r->out_w < 1)
        return "an output of another size than the convolution has";
    if (r->relu && r->pattern != CONV_FORWARD_BIAS)
        return "a ReLU that this pattern has not";
    return NULL;
}

bool conv_request_check(const struct conv_request *request, struct error *err)
{
    char text[256];
    const char *what = complaint(request);
    return !what || error_set(err, ERROR_FAILED, "%s: asks for %s",
                              conv_request_text(request, text, sizeof text), what);
}

bool conv_role_used(const struct conv_request *request, enum conv_role role)
{
    switch (role) {
    case CONV_X:
    case CONV_W:
    case CONV_Y:
        return true;
    case CONV_BIAS:
        return request->pattern == CONV_FORWARD_BIAS;
    case CONV_SUMS:
    case CONV_SQUARES:
        return request->pattern == CONV_FORWARD_STATS;
    case CONV_ROLES:
        break;
    }
    return false;
}

bool conv_role_written(const struct conv_request *request, enum conv_role role)
{
    if (role == CONV_SUMS || role == CONV_SQUARES)
        return true;
    if (request->pattern == CONV_WEIGHTS)
        return role == CONV_W;
    return role == (request->pattern == CONV_DATA ? CONV_X : CONV_Y);
}

void conv_role_dims(const struct conv_request *request, enum conv_role role, int64_t dims[4])
{
    const struct conv_request *r = request;
    bool of_x = role == CONV_X;
    dims[0] = r->rows;
    switch (role) {
    case CONV_W:
        dims[0] = r->out;
        dims[1] = r->in;
        dims[2] = r->kernel_h;
        dims[3] = r->kernel_w;
        return;
    case CONV_BIAS:
    case CONV_SUMS:
    case CONV_SQUARES:
        dims[0] = dims[2] = dims[3] = 1;
        dims[1] = r->out;
        return;
    default:
        break;
    }
    dims[1] = of_x ? r->in : r->out;
    dims[2] = of_x ? r->in_h : r->out_h;
    dims[3] = of_x ? r->in_w : r->out_w;
}

enum cuda_type conv_role_type(const struct conv_request *request, enum conv_role role)
{
    if (role == CONV_BIAS || role == CONV_SUMS || role == CONV_SQUARES)
        return CUDA_F32;
    return request->type == TYPE_BF16 ? CUDA_BF16 : CUDA_F32;
}

size_t conv_role_bytes(const struct conv_request *request, enum conv_role role)
{
    int64_t dims[4];
    conv_role_dims(request, role, dims);
    return (size_t)dims[0] * (size_t)dims[1] * (size_t)dims[2] * (size_t)dims[3] *
           cuda_type_size(conv_role_type(request, role));
}

const char *conv_role_name(enum conv_role role)
{
    static const char *const names[CONV_ROLES] = {
        "", "x", "w", "y", "bias", "sums", "squares",
    };
    return names[role];
}
