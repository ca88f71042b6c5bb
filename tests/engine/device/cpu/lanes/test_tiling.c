/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "engine/device/cpu/lanes/pack.h"
#include "engine/device/cpu/lanes/tiling.h"
#include "tests/suites.h"

/* Convolutions of lanes.h in tiles (lanes/winograd.h) against the same done plainly, in all three
 * directions and for each instruction set. */

/* Of the largest number of a result. */
#define TOLERANCE 1e-5

/* Rows shorter than a tile, tiles that reach over the edge, borders, and enough channels that
 * points are made in several bands. */
static const struct {
    int in, out, kernel_h, kernel_w, h, w, pad_h, pad_w; /* h, w: of y */
} cases[] = {{1, 1, 1, 3, 1, 1, 0, 0},     {2, 3, 3, 3, 6, 6, 1, 1},   {3, 7, 3, 3, 5, 13, 0, 2},
             {16, 9, 3, 3, 28, 28, 1, 1},  {1, 6, 5, 5, 28, 28, 2, 2}, {6, 16, 5, 5, 10, 10, 0, 0},
             {33, 40, 5, 5, 12, 11, 2, 1}, {4, 2, 2, 5, 7, 3, 0, 3},   {5, 17, 7, 5, 9, 21, 3, 2},
             {48, 3, 4, 3, 15, 7, 2, 0}};

#define CASES (int)(sizeof cases / sizeof cases[0])

static const struct lanes_kernels *const sets[] = {
#if defined(__x86_64__)
    &lanes_avx512, &lanes_avx2,
#endif
    &lanes_plain};

#define SETS (int)(sizeof sets / sizeof sets[0])

static float *make(size_t count)
{
    float *x = malloc(count * sizeof *x);
    ck_assert_ptr_nonnull(x);
    return x;
}

static float *make_random(size_t count, uint32_t stream)
{
    const struct rng_stream numbers = rng_stream(7, RNG_RANDOM_DATA, stream, 0, 0);
    float *x = make(count);
    for (size_t i = 0; i < count; i++)
        x[i] = (float)rng_word(&numbers, i) / 2147483648.0F - 1;
    return x;
}

static void clear(float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = 0;
}

/* An image of random numbers within a border of zeros. */
static float *make_image(const struct lanes_image *image, int lanes, uint32_t stream)
{
    const size_t count = (size_t)(lanes_size(image) * lanes);
    float *x = make_random(count, stream);
    for (int c = 0; c < image->c; c++)
        for (int h = 0; h < image->h + 2 * image->pad_h; h++)
            for (int w = 0; w < image->w + 2 * image->pad_w; w++)
                if (h < image->pad_h || h >= image->pad_h + image->h || w < image->pad_w ||
                    w >= image->pad_w + image->w)
                    clear(x + (c * lanes_plane(image) + h * lanes_row(image) + w) * lanes,
                          (size_t)lanes);
    return x;
}

static void compare(const float *got, const float *right, size_t count, const char *what, int which)
{
    double most = 0, off = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs((double)right[i]));
        const double distance = fabs((double)got[i] - (double)right[i]);
        off = distance <= off ? off : distance; /* and a NaN stays */
    }
    ck_assert_msg(off <= TOLERANCE * most, "case %d, %s: %g off, of %g", which, what, off, most);
}

/* What a convolution makes of the same numbers, either way. */
struct outcome {
    float *y, *dw, *dx;
};

static float *make_scratch(const struct lanes_conv *c, const struct lanes_kernels *k)
{
    const size_t count = c->tile > 0 ? lanes_conv_scratch(c, k) : 1;
    float *scratch = make(count);
    for (size_t i = 0; i < count; i++)
        scratch[i] = NAN;
    return scratch;
}

/* Gradients of weights, lane by lane, from sums that were there before. */
static void weigh(const struct lanes_conv *c, const struct lanes_kernels *k, const float *x,
                  const float *dy, float *scratch, float *dw)
{
    const size_t lanes = (size_t)k->lanes, count = lanes_conv_weights(c),
                 rows = count / LANES_POINTS;
    float *sums = make(count * lanes);
    clear(sums, count * lanes);
    k->conv_weights(c, x, dy, sums, scratch);
    k->conv_weights(c, x, dy, sums, scratch);
    for (size_t i = 0; c->tile == 0 && i < count * lanes; i++)
        dw[i / lanes + i % lanes * count] = sums[i];
    for (size_t lane = 0; c->tile > 0 && lane < lanes; lane++)
        for (size_t i = 0; i < rows; i++) {
            float v[LANES_POINTS];
            for (size_t p = 0; p < LANES_POINTS; p++)
                v[p] = sums[(p * rows + i) * lanes + lane];
            lanes_weights_from_points(c->kernel_w, v, dw + (lane * rows + i) * (size_t)c->kernel_w);
        }
    free(sums);
}

static struct outcome compute(const struct lanes_conv *c, const struct lanes_kernels *k)
{
    const size_t lanes = (size_t)k->lanes, x_count = (size_t)lanes_size(&c->x) * lanes,
                 y_count = (size_t)lanes_size(&c->y) * lanes,
                 weights = (size_t)c->x.c * (size_t)c->y.c * (size_t)(c->kernel_h * c->kernel_w);
    const struct outcome out = {make(y_count), make(weights * lanes), make_random(x_count, 5)};
    float *x = make_image(&c->x, k->lanes, 1), *dy = make_image(&c->y, k->lanes, 2);
    float *w = make_random(weights, 3), *bias = make_random((size_t)c->y.c, 4);
    float *packed = make(lanes_conv_weights(c)), *scratch = make_scratch(c, k);
    lanes_pack_conv(k, c, w, packed, scratch);
    k->conv(c, x, packed, bias, out.y, scratch);
    weigh(c, k, x, dy, scratch, out.dw);
    lanes_pack_data(k, c, w, packed, scratch);
    k->conv_data(c, dy, packed, out.dx, scratch);
    free(x);
    free(dy);
    free(w);
    free(bias);
    free(packed);
    free(scratch);
    return out;
}

static void outcome_drop(struct outcome *out)
{
    free(out->y);
    free(out->dw);
    free(out->dx);
}

START_TEST(tiles_are_what_is_computed_plainly)
{
    const struct lanes_kernels *k = sets[_i / CASES];
    const int which = _i % CASES, in = cases[which].in, out = cases[which].out;
    struct lanes_conv c = {.kernel_h = cases[which].kernel_h, .kernel_w = cases[which].kernel_w};
    c.y = (struct lanes_image){out, cases[which].h, cases[which].w, which % 3, which % 2};
    c.x = (struct lanes_image){in, c.y.h + c.kernel_h - 1 - 2 * cases[which].pad_h,
                               c.y.w + c.kernel_w - 1 - 2 * cases[which].pad_w, cases[which].pad_h,
                               cases[which].pad_w};
    if (k != &lanes_plain && lanes_find(k->lanes) != k)
        return;
    const size_t lanes = (size_t)k->lanes,
                 weights = (size_t)in * (size_t)out * (size_t)(c.kernel_h * c.kernel_w);
    struct outcome right = compute(&c, k);
    c.tile = LANES_POINTS + 1 - c.kernel_w;
    struct outcome got = compute(&c, k);
    compare(got.y, right.y, (size_t)lanes_size(&c.y) * lanes, "y", which);
    compare(got.dw, right.dw, weights * lanes, "dw", which);
    compare(got.dx, right.dx, (size_t)lanes_size(&c.x) * lanes, "dx", which);
    outcome_drop(&right);
    outcome_drop(&got);
}
END_TEST

/* Which convolutions are worth it: not with few channels, nor where tiles stay empty. */
START_TEST(tiles_are_made_where_they_save)
{
    struct lanes_conv c = {.kernel_h = 5, .kernel_w = 5, .x = {.c = 6}, .y = {.c = 16, .w = 10}};
    ck_assert_int_eq(lanes_conv_tile(&c), 4);
    c.y.w = 1;
    ck_assert_int_eq(lanes_conv_tile(&c), 0);
    c = (struct lanes_conv){.kernel_h = 3, .kernel_w = 3, .x = {.c = 16}, .y = {.c = 32, .w = 24}};
    ck_assert_int_eq(lanes_conv_tile(&c), 6);
    c.x.c = 1;
    ck_assert_int_eq(lanes_conv_tile(&c), 0);
    c = (struct lanes_conv){.kernel_h = 7, .kernel_w = 7, .x = {.c = 16}, .y = {.c = 32, .w = 24}};
    ck_assert_int_eq(lanes_conv_tile(&c), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("convolutions with rows side by side");
    TCase *tc = tcase_create("tiles");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, tiles_are_what_is_computed_plainly, 0, SETS * CASES);
    tcase_add_test(tc, tiles_are_made_where_they_save);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
