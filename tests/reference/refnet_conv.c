/* SPDX-License-Identifier: MIT */
#include "tests/reference/refnet_conv.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unchecked.h"

/*
 * What a kernel meets at a place of the output is copied into an array, in the order of the weights
 * and with zeros for the padding: its patch. An output is the sum of the products of patch and
 * weights, which both lie in a row then.
 */
enum { MOST_PLACES = 64 }; /* patches that are made at a time, of all outputs of all rows */

struct patches {
    const struct ref_op *o;
    int group, channels; /* channels: of the group's input */
    size_t size;         /* of a patch */
    size_t first;        /* place of patch 0, counted through all rows */
    int count;
    double *values, *grads; /* grads NULL: forward */
};

UNCHECKED static double dot(const double *restrict a, const double *restrict b, size_t count)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

UNCHECKED static void add(double *restrict to, double factor, const double *restrict values,
                          size_t count)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++)
        to[i] += factor * values[i];
}

/* Where patch p is: which row, which place of the output. */
static size_t locate(const struct patches *p, int index, int *h, int *w)
{
    const struct net_shape *out = &p->o->out;
    const size_t place = p->first + (size_t)index, plane = (size_t)out->h * (size_t)out->w;
    *h = (int)(place % plane) / out->w;
    *w = (int)(place % plane) % out->w;
    return place / plane;
}

/* From x into the patches, or with `back` their gradients into that of x. */
static void copy(const struct patches *p, int index, bool back)
{
    const struct ref_op *o = p->o;
    const struct net_op *op = o->op;
    int h, w;
    const int row = (int)locate(p, index, &h, &w);
    size_t at = (size_t)index * p->size;
    for (int c = p->group * p->channels; c < (p->group + 1) * p->channels; c++)
        for (int kh = 0; kh < op->kernel_h; kh++)
            for (int kw = 0; kw < op->kernel_w; kw++, at++) {
                const int ih = h * op->stride_h - op->pad_h + kh * op->dilation_h;
                const int iw = w * op->stride_w - op->pad_w + kw * op->dilation_w;
                const bool inside = ih >= 0 && ih < o->in.h && iw >= 0 && iw < o->in.w;
                if (!back)
                    p->values[at] = inside ? o->x[ref_at(&o->in, row, c, ih, iw)] : 0;
                else if (inside)
                    o->dx[ref_at(&o->in, row, c, ih, iw)] += p->grads[at];
            }
}

/* One channel of the output at the places of the patches. */
static void channel(const struct patches *p, int out_c)
{
    const struct ref_op *o = p->o;
    for (int i = 0; i < p->count; i++) {
        int h, w;
        const int row = (int)locate(p, i, &h, &w);
        const size_t y = ref_at(&o->out, row, out_c, h, w), at = (size_t)i * p->size,
                     weights = (size_t)out_c * p->size;
        if (!p->grads) {
            o->y[y] =
                (o->bias ? o->bias[out_c] : 0) + dot(o->weight + weights, p->values + at, p->size);
            continue;
        }
        add(o->dweight + weights, o->dy[y], p->values + at, p->size);
        add(p->grads + at, o->dy[y], o->weight + weights, p->size);
        if (o->bias)
            o->dbias[out_c] += o->dy[y];
    }
}

static void group(struct patches *p)
{
    const int each = p->o->out.c / p->o->op->groups; /* channels of the group's output */
    for (int i = 0; i < p->count; i++)
        copy(p, i, false);
    if (p->grads)
        memset(p->grads, 0, (size_t)p->count * p->size * sizeof *p->grads);
    for (int out_c = p->group * each; out_c < (p->group + 1) * each; out_c++)
        channel(p, out_c);
    for (int i = 0; p->grads && i < p->count; i++)
        copy(p, i, true);
}

static double *numbers(size_t count)
{
    double *memory = malloc((count + 1) * sizeof *memory);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

static void convolution(const struct ref_op *o, bool back)
{
    const struct net_op *op = o->op;
    const size_t places = (size_t)o->rows * (size_t)o->out.h * (size_t)o->out.w;
    struct patches p = {.o = o, .channels = o->in.c / op->groups};
    p.size = (size_t)p.channels * (size_t)op->kernel_h * (size_t)op->kernel_w;
    p.values = numbers(MOST_PLACES * p.size);
    p.grads = back ? numbers(MOST_PLACES * p.size) : NULL;
    for (p.first = 0; p.first < places; p.first += MOST_PLACES) {
        p.count = places - p.first < MOST_PLACES ? (int)(places - p.first) : MOST_PLACES;
        for (p.group = 0; p.group < op->groups; p.group++)
            group(&p);
    }
    free(p.grads);
    free(p.values);
}

void conv_forward(const struct ref_op *o)
{
    convolution(o, false);
}

void conv_backward(const struct ref_op *o)
{
    convolution(o, true);
}
