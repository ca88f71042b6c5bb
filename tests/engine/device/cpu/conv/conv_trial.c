/* SPDX-License-Identifier: MIT */
#include "tests/engine/device/cpu/conv/conv_trial.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "tests/engine/device/cpu/conv/run_kernel.h"
#include "tests/unchecked.h"

#define GUARD 64 /* numbers behind each result that must stay as they are */

UNCHECKED static size_t src_at(const struct conv_shape *s, int n, int c, int h, int w)
{
    int b = s->in_block;
    return ((((size_t)n * (s->in / b) + c / b) * s->in_h + h) * s->in_w + w) * b + c % b;
}

UNCHECKED static size_t dst_at(const struct conv_shape *s, int n, int c, int h, int w)
{
    int b = s->out_block;
    return ((((size_t)n * (s->out / b) + c / b) * s->out_h + h) * s->out_w + w) * b + c % b;
}

UNCHECKED static size_t weight_at(const struct conv_shape *s, int o, int i, int h, int w)
{
    int b = s->in_block;
    size_t square = ((((size_t)(o / b) * (s->in / b) + i / b) * s->kernel_h + h) * s->kernel_w + w);
    return (square * b + i % b) * b + o % b;
}

enum { SRC, DST, WEIGHTS, BIAS, SEEDS };

/* The first `count` numbers of a seed at least: each is made once, for all cases of a test. */
static const float *numbers_of(int seed, size_t count)
{
    static struct {
        float *numbers;
        size_t count;
    } made[SEEDS];
    const struct rng_stream stream = rng_stream((uint64_t)seed + 1, RNG_RANDOM_DATA, 0, 0, 0);
    if (made[seed].count < count) {
        made[seed].numbers = realloc(made[seed].numbers, count * sizeof(float));
        ck_assert_ptr_nonnull(made[seed].numbers);
    }
    for (; made[seed].count < count; made[seed].count++)
        made[seed].numbers[made[seed].count] = (float)rng_normal(&stream, made[seed].count);
    return made[seed].numbers;
}

void array_reset(struct array *a)
{
    if (!a->bf16)
        memcpy(a->data, a->before, array_bytes(a, a->count + GUARD));
    else
        for (size_t i = 0; i < a->count + GUARD; i++)
            ((uint16_t *)a->data)[i] = bf16_round(a->before[i]);
}

static void array_make(struct array *a, size_t count, int seed, bool bf16)
{
    const float *numbers = numbers_of(seed, count + GUARD);
    a->count = count;
    a->bf16 = bf16;
    a->data = aligned_alloc(64, (array_bytes(a, count + GUARD) + 63) / 64 * 64);
    a->before = malloc((count + GUARD) * sizeof(float));
    a->expected = calloc(count, sizeof(double));
    ck_assert(a->data && a->before && a->expected);
    for (size_t i = 0; i < count + GUARD; i++)
        a->before[i] = bf16 ? bf16_widen(bf16_round(numbers[i])) : numbers[i];
    array_reset(a);
}

static void array_free(struct array *a)
{
    free(a->data);
    free(a->before);
    free(a->expected);
}

/* With weights that are bf16, for kernels that round them, or any others. */
void trial_make(struct trial *t, const struct conv_shape *s, bool rounded)
{
    t->shape = *s;
    array_make(&t->src, (size_t)s->rows * s->in * s->in_h * s->in_w, SRC, s->bf16);
    array_make(&t->dst, (size_t)s->rows * s->out * s->out_h * s->out_w, DST, s->bf16);
    array_make(&t->weights, (size_t)s->in * s->out * s->kernel_h * s->kernel_w, WEIGHTS, false);
    array_make(&t->bias, (size_t)s->out, BIAS, false);
    for (size_t i = 0; rounded && i < t->weights.count; i++)
        t->weights.before[i] = bf16_widen(bf16_round(t->weights.before[i]));
    array_reset(&t->weights);
}

void trial_free(struct trial *t)
{
    array_free(&t->src);
    array_free(&t->dst);
    array_free(&t->weights);
    array_free(&t->bias);
}

/* One number of the source and a block of the destination's, which lie together as weights do. */
UNCHECKED static void add_block(struct trial *t, enum conv_direction direction, size_t src,
                                size_t dst, size_t weight)
{
    const size_t block = (size_t)t->shape.out_block;
    const double x = (double)t->src.before[src];
    const float *y = t->dst.before + dst, *w = t->weights.before + weight;
    double *to_dst = t->dst.expected + dst, *to_weights = t->weights.expected + weight, sum = 0;
    switch (direction) {
    case CONV_FORWARD:
#pragma omp simd
        for (size_t k = 0; k < block; k++)
            to_dst[k] += x * (double)w[k];
        break;
    case CONV_BACKWARD_DATA:
#pragma omp simd reduction(+ : sum)
        for (size_t k = 0; k < block; k++)
            sum += (double)y[k] * (double)w[k];
        t->src.expected[src] += sum;
        break;
    case CONV_BACKWARD_WEIGHTS:
#pragma omp simd
        for (size_t k = 0; k < block; k++)
            to_weights[k] += x * (double)y[k];
        break;
    }
}

/* A block of the source's channels and one of the destination's, in one row: what each pair of
 * pixels gives to the result of the direction. */
UNCHECKED static void add_products(struct trial *t, enum conv_direction direction, int n, int i,
                                   int o)
{
    const struct conv_shape *s = &t->shape;
    for (int tap = 0; tap < s->kernel_h * s->kernel_w; tap++) {
        const int kh = tap / s->kernel_w, kw = tap % s->kernel_w;
        const size_t weight = weight_at(s, o, i, kh, kw);
        for (int pixel = 0; pixel < s->out_h * s->out_w; pixel++) {
            const int oh = pixel / s->out_w, ow = pixel % s->out_w;
            const int h = oh * s->stride_h - s->pad_h + kh, w = ow * s->stride_w - s->pad_w + kw;
            if (h < 0 || h >= s->in_h || w < 0 || w >= s->in_w)
                continue;
            const size_t src = src_at(s, n, i, h, w), dst = dst_at(s, n, o, oh, ow);
            for (int c = 0; c < s->in_block; c++)
                add_block(t, direction, src + c, dst, weight + c * s->out_block);
        }
    }
}

/* What is done around the products: bias, addition, ReLU; the gradient of the bias. */
UNCHECKED static void finish_expected(struct trial *t, enum conv_direction direction)
{
    const struct conv_shape *s = &t->shape;
    for (int n = 0; n < s->rows; n++)
        for (int o = 0; o < s->out; o++)
            for (int pixel = 0; pixel < s->out_h * s->out_w; pixel++) {
                const size_t at = dst_at(s, n, o, pixel / s->out_w, pixel % s->out_w);
                double *y = &t->dst.expected[at];
                if (direction == CONV_BACKWARD_WEIGHTS) {
                    t->bias.expected[o] += (double)t->dst.before[at];
                    continue;
                }
                *y += s->bias ? (double)t->bias.before[o] : 0;
                *y += s->add ? (double)t->dst.before[at] : 0;
                *y = s->relu && *y < 0 ? 0 : *y;
            }
}

void trial_expect(struct trial *t, enum conv_direction direction)
{
    const struct conv_shape *s = &t->shape;
    for (int n = 0; n < s->rows; n++)
        for (int o = 0; o < s->out; o += s->out_block)
            for (int i = 0; i < s->in; i += s->in_block)
                add_products(t, direction, n, i, o);
    finish_expected(t, direction);
}

double array_error(const struct array *a, const struct array *direct, size_t from, size_t to)
{
    double off = 0, rounding = 0;
    for (size_t i = from; i < to; i++) {
        const double rounded = (double)bf16_widen(bf16_round((float)direct->expected[i]));
        off += pow((double)number_at(a, i) - a->expected[i], 2);
        rounding += pow(rounded - a->expected[i], 2);
    }
    return off == 0 ? 0 : sqrt(off / rounding);
}

void array_check_guard(const struct array *a, const char *what)
{
    for (size_t i = a->count; i < a->count + GUARD; i++)
        ck_assert_msg(number_at(a, i) == a->before[i], "%s: written past its end", what);
}

void trial_run(struct trial *t, const struct conv_kernel *kernel, int threads)
{
    struct conv_pass pass = {0};
    conv_pass_point(&pass, kernel->direction, t->src.data, t->weights.data,
                    t->shape.bias ? t->bias.data : NULL, t->dst.data);
    run_kernel(kernel, &t->shape, threads, pass);
}

struct array *trial_result(struct trial *t, enum conv_direction direction)
{
    return direction == CONV_FORWARD         ? &t->dst
           : direction == CONV_BACKWARD_DATA ? &t->src
                                             : &t->weights;
}
