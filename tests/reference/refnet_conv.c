/* SPDX-License-Identifier: MIT */
#include "tests/reference/refnet_conv.h"

/* The places o of the output for which o * stride + offset lies inside 0..size-1. */
struct range {
    int begin, end;
};

static struct range inside(int outputs, int size, int stride, int offset)
{
    struct range range = {0, outputs};
    while (range.begin < range.end && range.begin * stride + offset < 0)
        range.begin++;
    while (range.end > range.begin && (range.end - 1) * stride + offset >= size)
        range.end--;
    return range;
}

/*
 * Of one row of a plane: `count` outputs, whose inputs lie `step` apart. Most of the reference's
 * time is spent here, which sanitizers would multiply; what is read and written lies where inside()
 * says.
 */
#define UNCHECKED __attribute__((no_sanitize("address"), no_sanitize("undefined")))

UNCHECKED static void tap_forward(const double *restrict x, int count, int step, double weight,
                                  double *restrict y)
{
#pragma omp simd
    for (int i = 0; i < count; i++)
        y[i] += weight * x[i * step];
}

UNCHECKED static double tap_back(const double *restrict x, const double *restrict dy, int count,
                                 int step, double weight, double *restrict dx)
{
    double dweight = 0;
#pragma omp simd reduction(+ : dweight)
    for (int i = 0; i < count; i++) {
        dx[i * step] += weight * dy[i];
        dweight += x[i * step] * dy[i];
    }
    return dweight;
}

/* A place in the kernels, and the outputs for which it meets the input and not its padding. */
struct tap {
    int kh, kw;
    int h, w; /* where it reads, from the output's place times the stride */
    struct range hs, ws;
};

/*
 * One weight of a convolution: y = y + weight * x over one channel of one row, for all places of
 * the tap. With `back` the gradients: of x, by the weight; of the weight, by x.
 */
static void conv_weight(const struct ref_op *o, int row, int out_c, int in_c, const struct tap *tap,
                        bool back)
{
    const struct net_op *op = o->op;
    int step = op->stride_w, count = tap->ws.end - tap->ws.begin;
    const int each = o->in.c / op->groups; /* input channels of a group */
    size_t i = (((size_t)out_c * (size_t)each + (size_t)(in_c % each)) * (size_t)op->kernel_h +
                (size_t)tap->kh) *
                   (size_t)op->kernel_w +
               (size_t)tap->kw;
    double weight = o->weight[i], dweight = 0;
    for (int h = tap->hs.begin; h < tap->hs.end; h++) {
        size_t x =
            ref_at(&o->in, row, in_c, h * op->stride_h + tap->h, tap->ws.begin * step + tap->w);
        size_t y = ref_at(&o->out, row, out_c, h, tap->ws.begin);
        if (back)
            dweight += tap_back(&o->x[x], &o->dy[y], count, step, weight, &o->dx[x]);
        else
            tap_forward(&o->x[x], count, step, weight, &o->y[y]);
    }
    if (back)
        o->dweight[i] += dweight;
}

static void conv_tap(const struct ref_op *o, int kh, int kw, bool back)
{
    const struct net_op *op = o->op;
    const int h = kh * op->dilation_h - op->pad_h, w = kw * op->dilation_w - op->pad_w;
    const struct tap tap = {.kh = kh,
                            .kw = kw,
                            .h = h,
                            .w = w,
                            .hs = inside(o->out.h, o->in.h, op->stride_h, h),
                            .ws = inside(o->out.w, o->in.w, op->stride_w, w)};
    if (tap.hs.begin == tap.hs.end || tap.ws.begin == tap.ws.end)
        return;
    for (int row = 0; row < o->rows; row++)
        for (int out_c = 0; out_c < o->out.c; out_c++)
            for (int in_c = 0; in_c < o->in.c; in_c++)
                if (in_c / (o->in.c / op->groups) == out_c / (o->out.c / op->groups))
                    conv_weight(o, row, out_c, in_c, &tap, back);
}

static void conv_taps(const struct ref_op *o, bool back)
{
    for (int kh = 0; kh < o->op->kernel_h; kh++)
        for (int kw = 0; kw < o->op->kernel_w; kw++)
            conv_tap(o, kh, kw, back);
}

void conv_forward(const struct ref_op *o)
{
    size_t plane = (size_t)o->out.h * (size_t)o->out.w;
    for (size_t i = 0; i < ref_values(o); i++)
        o->y[i] = o->bias ? o->bias[i / plane % (size_t)o->out.c] : 0;
    conv_taps(o, false);
}

void conv_backward(const struct ref_op *o)
{
    size_t plane = (size_t)o->out.h * (size_t)o->out.w;
    for (size_t i = 0; i < ref_values(o) && o->bias; i++)
        o->dbias[i / plane % (size_t)o->out.c] += o->dy[i];
    conv_taps(o, true);
}
