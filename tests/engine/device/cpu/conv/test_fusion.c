/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <dnnl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "engine/device/bf16.h"
#include "engine/device/cpu/autotune/algorithms.h"
#include "engine/device/cpu/core/device.h"
#include "engine/device/cpu/core/number.h"
#include "tests/engine/device/cpu/conv/run_kernel.h"
#include "tests/reference/conformance.h"
#include "tests/suites.h"

/* Convolutions fused with BatchNorms: the kernels by themselves, against what the
 * BatchNorm does on its own, and whole passes, against the reference. */

/* --- kernels --- */

static const struct kind kinds[] = {
    {1, 1, 4, 4, 3, 1, 1},  {2, 3, 7, 7, 3, 1, 1},  {3, 2, 5, 9, 3, 1, 1}, {1, 2, 14, 14, 3, 1, 1},
    {5, 1, 1, 1, 3, 1, 1},  {2, 2, 3, 13, 3, 1, 0}, {4, 4, 8, 8, 3, 1, 1}, {2, 2, 6, 11, 3, 1, 2},
    {33, 2, 4, 4, 3, 1, 1}, {3, 19, 2, 3, 3, 1, 1},
};

static struct conv_shape shape_of(const struct kind *kind, int block, int rows, bool bf16)
{
    struct conv_shape shape = kind_shape(kind, block, rows);
    shape.bf16 = bf16;
    return shape;
}

/* All that the passes of a shape work on. Inputs far from zero make sums of squares hard. */
struct trial_conv {
    struct conv_shape shape;
    const struct conv_kernel *kernel;
    int threads;
    size_t src_count, dst_count, weight_count;
    void *x, *normed, *dst, *result; /* values of the shape's type */
    float *weights, *scale, *shift;
};

/* Numbers about `mean`; those of a seed are made once, for all cases of a test. */
static float *numbers(size_t count, int seed, float mean)
{
    static struct {
        float *numbers;
        size_t count;
    } made[10];
    const struct rng_stream stream = rng_stream((uint64_t)seed, RNG_RANDOM_DATA, 0, 0, 0);
    float *p = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64);
    if (made[seed].count < count)
        made[seed].numbers = realloc(made[seed].numbers, count * sizeof(float));
    ck_assert(p && made[seed].numbers);
    for (; made[seed].count < count; made[seed].count++)
        made[seed].numbers[made[seed].count] = (float)rng_normal(&stream, made[seed].count);
    for (size_t i = 0; i < count; i++)
        p[i] = mean + made[seed].numbers[i];
    return p;
}

/* The same in the type of the shape's values. */
static void *values(const struct conv_shape *s, size_t count, int seed, float mean)
{
    float *list = numbers(count, seed, mean);
    if (!s->bf16)
        return list;
    uint16_t *rounded = aligned_alloc(64, (count * sizeof *rounded + 63) / 64 * 64);
    ck_assert_ptr_nonnull(rounded);
    for (size_t i = 0; i < count; i++)
        rounded[i] = bf16_round(list[i]);
    free(list);
    return rounded;
}

static void trial_conv_make(struct trial_conv *t, const struct conv_kernel *kernel,
                            const struct conv_shape *shape, int threads, float mean)
{
    const struct conv_shape s = *shape;
    const struct kernels *norm = kernels_find(kernel->block, s.bf16);
    const size_t pixels = (size_t)s.in_h * (size_t)s.in_w;
    t->shape = s;
    t->kernel = kernel;
    t->threads = threads;
    t->src_count = (size_t)s.rows * (size_t)s.in * pixels;
    t->dst_count = (size_t)s.rows * (size_t)s.out * (size_t)s.out_h * (size_t)s.out_w;
    t->weight_count = (size_t)s.in * (size_t)s.out * 9;
    t->x = values(&s, t->src_count, 1, mean);
    t->normed = values(&s, t->src_count, 2, 0);
    t->weights = numbers(t->weight_count, 3, 0);
    t->scale = numbers((size_t)s.in, 4, 1);
    t->shift = numbers((size_t)s.in, 5, 0.5F);
    t->dst = values(&s, t->dst_count, 6, 0);
    t->result = values(&s, t->dst_count, 7, 0);
    for (int block = 0; block < s.in / kernel->block; block++) {
        const size_t start = (size_t)block * pixels * (size_t)kernel->block;
        const struct norm_forward args = {.slab = {(size_t)s.rows, pixels, (size_t)s.in * pixels},
                                          .x = number_at(t->x, start, norm->bf16),
                                          .y = number_at(t->normed, start, norm->bf16),
                                          .scale = t->scale + block * kernel->block,
                                          .shift = t->shift + block * kernel->block,
                                          .relu = true};
        norm->norm_forward(&args);
    }
}

static void trial_conv_free(struct trial_conv *t)
{
    void *const list[] = {t->x, t->normed, t->weights, t->scale, t->shift, t->dst, t->result};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        free(list[i]);
}

static void run(const struct trial_conv *t, struct conv_pass pass)
{
    run_kernel(t->kernel, &t->shape, t->threads, pass);
}

static size_t dst_bytes(const struct trial_conv *t)
{
    return t->dst_count * (t->shape.bf16 ? sizeof(uint16_t) : sizeof(float));
}

/* x with its BatchNorm inside gives the bits that the BatchNorm's result gives. */
static void check_norm(struct trial_conv *t)
{
    const struct conv_norm norm = {t->scale, t->shift};
    const bool forward = t->kernel->direction == CONV_FORWARD;
    float *dw[2] = {numbers(t->weight_count, 8, 0), numbers(t->weight_count, 9, 0)};
    for (int inside = 0; inside < 2; inside++) {
        struct conv_pass pass = {.x = inside ? t->x : t->normed, .norm = inside ? &norm : NULL};
        if (forward) {
            pass.w = t->weights;
            pass.y = inside ? t->dst : t->result;
        } else {
            pass.dy = t->dst;
            pass.dw = dw[inside];
        }
        run(t, pass);
    }
    if (forward)
        ck_assert_mem_eq(t->dst, t->result, dst_bytes(t));
    else
        ck_assert_mem_eq(dw[0], dw[1], t->weight_count * sizeof(float));
    free(dw[0]);
    free(dw[1]);
}

/* Each kernel that can, forward and of the weights, for each block that this processor has. */
static void each_kernel(bool forward_alone, void (*check)(struct trial_conv *), float mean)
{
    static const enum conv_direction directions[] = {CONV_FORWARD, CONV_BACKWARD_WEIGHTS};
    static const int rows[] = {1, 3, 17};
    for (int i = 0; i < (forward_alone ? 1 : 2) * 2; i++) {
        const struct conv_kernel *const *m = conv_kernels(directions[i / 2], i % 2 ? 16 : 8);
        for (; *m; m++)
            for (size_t k = 0; (*m)->fuses && k < sizeof kinds / sizeof *kinds; k++)
                for (int r = 0; r < 3 * 2; r++) {
                    const struct conv_shape s =
                        shape_of(&kinds[k], (*m)->block, rows[r / 2], r % 2);
                    struct trial_conv t;
                    if (!(*m)->fits(&s))
                        continue;
                    trial_conv_make(&t, *m, &s, r / 2 + 1, mean);
                    check(&t);
                    trial_conv_free(&t);
                }
    }
}

START_TEST(fused_norms_change_no_bit)
{
    each_kernel(false, check_norm, 0);
}
END_TEST

/* Mean and variance of a channel from sums about an origin. */
struct moments {
    double mean, variance;
};

static struct moments moments_of(double sum, double square, double origin, double count)
{
    const double offset = sum / count;
    return (struct moments){origin + offset, square / count - offset * offset};
}

/* The same of channel `k` of a block, in two passes in double precision. */
static struct moments exact_moments(const struct trial_conv *t, int block, int k)
{
    const struct conv_shape *s = &t->shape;
    const size_t pixels = (size_t)s->out_h * (size_t)s->out_w, width = (size_t)s->out_block;
    const double count = (double)s->rows * (double)pixels;
    struct moments m = {0, 0};
    for (int pass = 0; pass < 2; pass++) {
        double sum = 0;
        for (int n = 0; n < s->rows; n++)
            for (size_t i = 0; i < pixels; i++) {
                const size_t plane = (size_t)n * (size_t)(s->out / s->out_block) + (size_t)block;
                const size_t at = (plane * pixels + i) * width + (size_t)k;
                const double y = (double)((const float *)t->result)[at];
                sum += pass ? (y - m.mean) * (y - m.mean) : y;
            }
        *(pass ? &m.variance : &m.mean) = sum / count;
    }
    return m;
}

/* Errors of a channel's moments, in parts of its standard deviation and variance. */
static double error_of(struct moments got, struct moments exact)
{
    return fabs(got.mean - exact.mean) / sqrt(exact.variance) +
           fabs(got.variance - exact.variance) / exact.variance;
}

/* What BatchNorm finds when it reads the result itself, and what the convolution summed up. */
static void compare_moments(const struct trial_conv *t, const struct conv_moments *fused)
{
    const struct conv_shape *s = &t->shape;
    const int blocks = s->out / s->out_block;
    const size_t pixels = (size_t)s->out_h * (size_t)s->out_w, width = (size_t)s->out_block;
    const double count = (double)s->rows * (double)pixels;
    const struct slab slab = {(size_t)s->rows, pixels, (size_t)s->out * pixels};
    double own_error = 0, error = 0;
    for (int b = 0; count > 1 && b < blocks; b++) {
        const float *y = (const float *)t->result + (size_t)b * pixels * width;
        double own[2 * KERNELS_MAX_BLOCK], sums[2 * KERNELS_MAX_BLOCK];
        float origin[KERNELS_MAX_BLOCK];
        kernels_find(s->out_block, false)->norm_sums(&slab, y, y, own);
        conv_moments_join(fused + b, blocks, t->threads, s->out_block, sums, origin);
        for (size_t k = 0; k < width; k++) {
            const struct moments exact = exact_moments(t, b, (int)k);
            own_error += error_of(moments_of(own[k], own[width + k], (double)y[k], count), exact);
            error +=
                error_of(moments_of(sums[k], sums[width + k], (double)origin[k], count), exact);
        }
    }
    ck_assert_msg(error <= 2 * own_error + 1e-6 * s->out, "error of %g, %g when read", error,
                  own_error);
}

static size_t moments_bytes(const struct trial_conv *t)
{
    const size_t blocks = (size_t)(t->shape.out / t->shape.out_block);
    return blocks * (size_t)t->threads * sizeof(struct conv_moments);
}

static struct conv_moments *moments_make(const struct trial_conv *t)
{
    struct conv_moments *moments = malloc(moments_bytes(t));
    ck_assert_ptr_nonnull(moments);
    memset(moments, 0xff, moments_bytes(t));
    return moments;
}

/*
 * Of bf16 they are those of numbers that differ from the stored ones by their rounding: neither
 * mean nor deviation can be further from those of the stored numbers than the largest rounding.
 */
static void compare_with_stored(const struct trial_conv *t, const struct conv_moments *fused)
{
    const struct conv_shape *s = &t->shape;
    const int blocks = s->out / s->out_block;
    const double count = (double)s->rows * (double)s->out_h * (double)s->out_w;
    struct trial_conv stored = *t;
    float *y = numbers(t->dst_count, 7, 0);
    stored.result = y;
    for (size_t i = 0; i < t->dst_count; i++)
        y[i] = bf16_widen(((const uint16_t *)t->result)[i]);
    double most = 0;
    for (size_t i = 0; i < t->dst_count; i++)
        most = fmax(most, fabs((double)y[i]));
    const double rounding = most * (0x1p-8 + 1e-5);
    for (int b = 0; b < blocks; b++) {
        double sums[2 * KERNELS_MAX_BLOCK];
        float origin[KERNELS_MAX_BLOCK];
        conv_moments_join(fused + b, blocks, t->threads, s->out_block, sums, origin);
        for (int k = 0; k < s->out_block; k++) {
            const struct moments right = exact_moments(&stored, b, k);
            const struct moments got =
                moments_of(sums[k], sums[s->out_block + k], (double)origin[k], count);
            ck_assert_double_le(fabs(got.mean - right.mean), rounding);
            ck_assert_double_le(fabs(sqrt(fmax(got.variance, 0)) - sqrt(right.variance)), rounding);
        }
    }
    free(y);
}

static void check_moments(struct trial_conv *t)
{
    const int blocks = t->shape.out / t->shape.out_block;
    struct conv_moments *moments = moments_make(t);
    run(t, (struct conv_pass){.x = t->x, .w = t->weights, .y = t->dst});
    run(t, (struct conv_pass){.x = t->x, .w = t->weights, .y = t->result, .moments = moments});
    ck_assert_mem_eq(t->dst, t->result, dst_bytes(t));
    for (int b = 0; b < blocks; b++) {
        long found = 0;
        for (int thread = 0; thread < t->threads; thread++)
            found += moments[thread * blocks + b].count;
        ck_assert_int_eq(found, (long)t->shape.rows * t->shape.out_h * t->shape.out_w);
    }
    if (t->shape.bf16)
        compare_with_stored(t, moments);
    else
        compare_moments(t, moments);
    free(moments);
}

START_TEST(moments_are_as_good_as_those_of_a_pass)
{
    each_kernel(true, check_moments, 0);
    each_kernel(true, check_moments, 100);
}
END_TEST

/* --- passes --- */

START_TEST(passes_agree_with_the_reference)
{
    for (int threads = 1; threads <= 3; threads++) {
        const struct trial_device device = trial_cpu_by_own_kernels(threads);
        conform_net(&device, _i, threads == 1 ? 1 : threads == 2 ? 17 : 5);
    }
}
END_TEST

START_TEST(passes_agree_with_avx2)
{
    const struct trial_device device = trial_cpu_by_own_kernels(2);
    if (dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2) == dnnl_success)
        conform_net(&device, _i, 5);
}
END_TEST

START_TEST(models_agree_with_the_reference)
{
    const struct trial_device device = trial_cpu_by_own_kernels(2);
    conform_model(&device, _i);
}
END_TEST

START_TEST(synchronised_devices_equal_one)
{
    const struct trial_device devices[] = {trial_cpu_by_own_kernels(1),
                                           trial_cpu_by_own_kernels(2)};
    conform_synchronised(devices, _i);
}
END_TEST

/* A device that fuses its convolutions and one that does not. */
START_TEST(unlike_devices_equal_one)
{
    const struct trial_device devices[] = {trial_cpu_by_own_kernels(2), trial_cpu_by_layers(2)};
    conform_synchronised(devices, _i);
}
END_TEST

START_TEST(passes_repeat)
{
    const struct trial_device device = trial_cpu_by_own_kernels(2);
    conform_no_rows(&device);
    conform_side_by_side(&device);
}
END_TEST

#define CONV(c, k) "{ type = \"conv\"; channels = " #c "; kernel = " #k "; pad = 1; }"
#define NORM       "\"batchnorm\", \"relu\""

/* Steps of a plan's passes that recompute a BatchNorm's result. */
static int recompute_steps(const struct trial *trial, const struct trial_device *device)
{
    const struct plan_request request = {.mode = PLAN_TRAIN, .rows = trial->rows, .profile = true};
    struct rig rig;
    int count, recomputed = 0;
    rig_open(&rig, trial, device);
    struct plan *plan = rig_plan(&rig, &request);
    const struct plan_time *times = rig.backend->plan_profile(plan, &count);
    for (int i = 0; i < count; i++)
        recomputed += times[i].direction == PLAN_FORWARD_AGAIN;
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
    return recomputed;
}

/* Of these three the first is read by a residual unit's end as well, the second by a convolution
 * alone, and the third by one that has no such kernel. */
START_TEST(results_that_convolutions_make_are_kept_nowhere)
{
    const struct trial_device by_library = trial_cpu_by_layers(2),
                              by_kernels = trial_cpu_by_own_kernels(2);
    struct trial trial;
    trial_make(
        &trial,
        CONV(32, 3) ", " NORM ", { type = \"residual\"; layers = (" CONV(32, 3) ", " NORM ", " CONV(
            32, 3) "); }, " CONV(32, 3) ", " NORM
                                        ", " CONV(8, 5) ", { type = \"linear\"; outputs = 4; }",
        (struct net_shape){1, 8, 8}, 4, 16, false, 1);
    ck_assert_int_eq(recompute_steps(&trial, &by_library), 3);
    const bool vectors = *conv_kernels(CONV_FORWARD, 16) || *conv_kernels(CONV_FORWARD, 8);
    ck_assert_int_eq(recompute_steps(&trial, &by_kernels), vectors ? 2 : 3);
    trial_free(&trial);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fusion of convolutions");
    TCase *tc = tcase_create("fusion");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, fused_norms_change_no_bit);
    tcase_add_test(tc, moments_are_as_good_as_those_of_a_pass);
    tcase_add_loop_test(tc, passes_agree_with_the_reference, 0, conformance_nets);
    tcase_add_loop_test(tc, passes_agree_with_avx2, 0, conformance_nets);
    tcase_add_loop_test(tc, models_agree_with_the_reference, 0, conformance_models);
    tcase_add_loop_test(tc, synchronised_devices_equal_one, 0, conformance_splits);
    tcase_add_loop_test(tc, unlike_devices_equal_one, 0, conformance_splits);
    tcase_add_test(tc, passes_repeat);
    tcase_add_test(tc, results_that_convolutions_make_are_kept_nowhere);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
