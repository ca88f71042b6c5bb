/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/dnn/conv/reference.h"

#include <math.h>

size_t conv_role_count(const struct conv_request *request, enum conv_role role)
{
    return conv_role_bytes(request, role) / cuda_type_size(conv_role_type(request, role));
}

static void add_term(struct conv_sum *sum, double a, double b)
{
    sum->value += a * b;
    sum->magnitude += fabs(a * b);
    sum->squares += a * b * a * b;
}

static double number(const struct conv_inputs *inputs, enum conv_role role, size_t at)
{
    return (double)inputs->numbers[role][at % inputs->period];
}

static size_t x_at(const struct conv_request *r, int row, int h, int w, int c)
{
    return (((size_t)row * (size_t)r->in_h + (size_t)h) * (size_t)r->in_w + (size_t)w) *
               (size_t)r->in +
           (size_t)c;
}

static size_t y_at(const struct conv_request *r, int row, int h, int w, int c)
{
    return (((size_t)row * (size_t)r->out_h + (size_t)h) * (size_t)r->out_w + (size_t)w) *
               (size_t)r->out +
           (size_t)c;
}

static size_t w_at(const struct conv_request *r, int out, int kh, int kw, int in)
{
    return (((size_t)out * (size_t)r->kernel_h + (size_t)kh) * (size_t)r->kernel_w + (size_t)kw) *
               (size_t)r->in +
           (size_t)in;
}

/* The place in x that tap (kh, kw) of output (oh, ow) reads; false: in the padding. */
static bool tap(const struct conv_request *r, int oh, int ow, int kh, int kw, int *h, int *w)
{
    *h = oh * r->stride_h + kh * r->dilation_h - r->pad_h;
    *w = ow * r->stride_w + kw * r->dilation_w - r->pad_w;
    return *h >= 0 && *h < r->in_h && *w >= 0 && *w < r->in_w;
}

/* Which number of output `out`'s window reads place `in`, along one side; -1: none does. */
static int window_index(int in, int out, int stride, int pad, int dilation)
{
    const int at = in + pad - out * stride;
    return at < 0 || at % dilation ? -1 : at / dilation;
}

/* Where an element of a tensor with these sizes lies: row, h, w, channel. */
struct place {
    int row, h, w, c;
};

static struct place place_of(size_t at, int h, int w, int channels)
{
    struct place p;
    p.c = (int)(at % (size_t)channels);
    at /= (size_t)channels;
    p.w = (int)(at % (size_t)w);
    at /= (size_t)w;
    p.h = (int)(at % (size_t)h);
    p.row = (int)(at / (size_t)h);
    return p;
}

static struct conv_sum forward(const struct conv_request *r, const struct conv_inputs *inputs,
                               size_t at)
{
    struct place p = place_of(at, r->out_h, r->out_w, r->out);
    struct conv_sum sum = {0};
    for (int kh = 0; kh < r->kernel_h; kh++)
        for (int kw = 0; kw < r->kernel_w; kw++) {
            int h, w;
            if (!tap(r, p.h, p.w, kh, kw, &h, &w))
                continue;
            for (int c = 0; c < r->in; c++)
                add_term(&sum, number(inputs, CONV_X, x_at(r, p.row, h, w, c)),
                         number(inputs, CONV_W, w_at(r, p.c, kh, kw, c)));
        }
    if (r->pattern != CONV_FORWARD_BIAS)
        return sum;
    add_term(&sum, number(inputs, CONV_BIAS, p.c), 1);
    if (r->relu && sum.value < 0)
        sum.value = 0;
    return sum;
}

static struct conv_sum backward_data(const struct conv_request *r, const struct conv_inputs *inputs,
                                     size_t at)
{
    struct place p = place_of(at, r->in_h, r->in_w, r->in);
    struct conv_sum sum = {0};
    for (int oh = 0; oh < r->out_h; oh++)
        for (int ow = 0; ow < r->out_w; ow++) {
            const int kh = window_index(p.h, oh, r->stride_h, r->pad_h, r->dilation_h);
            const int kw = window_index(p.w, ow, r->stride_w, r->pad_w, r->dilation_w);
            if (kh < 0 || kh >= r->kernel_h || kw < 0 || kw >= r->kernel_w)
                continue;
            for (int c = 0; c < r->out; c++)
                add_term(&sum, number(inputs, CONV_Y, y_at(r, p.row, oh, ow, c)),
                         number(inputs, CONV_W, w_at(r, c, kh, kw, p.c)));
        }
    return sum;
}

static struct conv_sum backward_weights(const struct conv_request *r,
                                        const struct conv_inputs *inputs, size_t at)
{
    struct place p = place_of(at, r->kernel_h, r->kernel_w, r->in);
    struct conv_sum sum = {0};
    for (int row = 0; row < r->rows; row++)
        for (int oh = 0; oh < r->out_h; oh++)
            for (int ow = 0; ow < r->out_w; ow++) {
                int h, w;
                if (tap(r, oh, ow, p.h, p.w, &h, &w))
                    add_term(&sum, number(inputs, CONV_X, x_at(r, row, h, w, p.c)),
                             number(inputs, CONV_Y, y_at(r, row, oh, ow, p.row)));
            }
    return sum;
}

/* Sums, or sums of squares, over all but the channel. */
static struct conv_sum over_channel(const struct conv_request *r, const struct conv_inputs *inputs,
                                    bool squares, size_t channel)
{
    const size_t channels = (size_t)r->out, count = conv_role_count(r, CONV_Y);
    struct conv_sum sum = {0};
    for (size_t at = channel; at < count; at += channels) {
        const struct conv_sum one = forward(r, inputs, at);
        sum.value += one.value * (squares ? one.value : 1);
        sum.magnitude += one.magnitude * (squares ? fabs(one.value) + one.magnitude : 1);
        sum.squares += one.squares * (squares ? one.value * one.value : 1);
    }
    return sum;
}

struct conv_sum conv_reference(const struct conv_request *request, const struct conv_inputs *inputs,
                               enum conv_role role, size_t at)
{
    if (role == CONV_SUMS || role == CONV_SQUARES)
        return over_channel(request, inputs, role == CONV_SQUARES, at);
    if (role == CONV_W)
        return backward_weights(request, inputs, at);
    return role == CONV_X ? backward_data(request, inputs, at) : forward(request, inputs, at);
}
