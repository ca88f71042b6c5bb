/* SPDX-License-Identifier: MIT */

/*
 * The weights and the products of winograd/kernels.h for values of bf16, for blocks of one vector:
 * V and U are integers of 16 bits with a scale, as processors multiply these twice as fast as f32.
 * Included like winograd/blocked.h.
 *
 * As bf16, V and U would have 8 binary digits, which the sums of the last step, whose terms cancel,
 * leave too few of. As integers they have some 12: a tile's V at a point is divided by the most
 * that it can be, which is the largest number of its window times what the map adds up to. Weights
 * are scaled for each output channel, CHUNK input channels and point such that no sum of their
 * products with V can leave 32 bits, however large each value is. Sums over a chunk are exact;
 * beyond it they are f32. Numbers that share a scale share its digits: where channels are of very
 * different sizes, the small ones have fewer than bf16 would give them.
 *
 *     V: [point][in / L][T][L] numbers of 16 bits
 *     U: [point][in / CHUNK] of [W * L] scales and [CHUNK / 2][W * L] pairs of numbers of 16 bits,
 * those of the channels 2i and 2i + 1
 */

#include <math.h>
#include <string.h>

#include "engine/device/cpu/winograd/maps.h"

#define CHUNK   128 /* input channels whose products are added up as integers */
#define PAIRS   (LANES / 2)
#define STEP    (CHUNK / LANES)
#define V_BLOCK (GROUP * PAIRS)
#define U_STEP  ((1 + CHUNK / 2) * VECTORS * LANES)

/* Of U; of V, and of U over a chunk: their product, with all roundings, has 31 bits. V hardly ever
 * comes near its bound, so over many channels it has half a bit less, and U half a bit more. */
#define MOST          32600.0F
#define MOST_V(job)   ((job)->in >= CHUNK ? 23000.0F : MOST)
#define MOST_SUM(job) ((job)->in >= CHUNK ? 92000.0F : 65000.0F)

#define LEAST 1e-30F /* of a scale: smaller values are taken for zero */

/* Of a scale of values: the maps could leave f32. Results are NaN, also where there is an infinity:
 * the signs of infinite ones would be lost, and a ReLU would hide some. */
#define TOO_LARGE 1e32F

/* The most that the maps of a tile of 3 and of 4 make of values between -1 and 1, at each point.
 * What stands for the point that is skipped is not used. */
static const float most_of[2][WINOGRAD_TILE] = {
    {3 + ROOT + HALF_ROOT, 1.5F + 6 * HALF_ROOT, 1.5F + 2 * HALF_ROOT, 3 * ROOT, 1,
     1.5F + 1.5F * ROOT},
    {4.5F, 3 + 3 * HALF_ROOT, 3 + 3 * HALF_ROOT, 1.5F + 1.5F * ROOT, 1.5F + 1.5F * ROOT, 4.5F}};

/* Bits of numbers without their signs are ordered as they are, NaN beyond infinity. */
struct largest {
    v_words halves; /* of bf16 as they are stored */
    v_words words;  /* of f32 */
};

/* What a pixel of a block is read as: copy_window makes the same of it. */
INLINE vector normed(const struct winograd *job, int in_block, const number *pixel)
{
    const ptrdiff_t channel = (ptrdiff_t)in_block * LANES;
    const vector value = n_load(pixel);
    if (!job->norm)
        return value;
    return n_rounded(
        v_max(v_fma(value, v_load(job->norm->scale + channel), v_load(job->norm->shift + channel)),
              v_zero()));
}

/* The largest of a window of a block, which begins at (top, left). */
INLINE void largest_of_window(const struct winograd *job, const struct winograd_group *group,
                              int in_block, const struct place *at, struct largest *most)
{
    const ptrdiff_t line = (ptrdiff_t)job->in_w * LANES;
    const number *image =
        (const number *)job->x + (at->row * (job->in / LANES) + in_block) * job->in_h * line;
    const int top = at->top - job->pad_h, left = at->left - job->pad_w;
    const int bottom = top + group->h.size + 2, right = left + group->w.size + 2;
    const int last = right < job->in_w ? right : job->in_w;
    for (int i = top > 0 ? top : 0; i < bottom && i < job->in_h; i++) {
        const number *pixel = image + i * line;
        int j = left > 0 ? left : 0;
        for (; !job->norm && j + 1 < last; j += 2)
            most->halves = v_largest_16(most->halves, v_load_words(pixel + j * LANES));
        for (; j < last; j++)
            most->words = v_largest_32(most->words, normed(job, in_block, pixel + j * LANES));
    }
}

static float largest_number(const struct largest *most)
{
    uint16_t halves[2 * LANES];
    uint32_t words[LANES], bits = 0;
    float result;
    memcpy(halves, &most->halves, sizeof halves);
    memcpy(words, &most->words, sizeof words);
    for (int i = 0; i < LANES; i++) {
        const uint16_t half = halves[i] > halves[LANES + i] ? halves[i] : halves[LANES + i];
        const uint32_t word = (uint32_t)half << 16 > words[i] ? (uint32_t)half << 16 : words[i];
        bits = bits > word ? bits : word;
    }
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* Scales of a group: of its tiles, of all points, then what values are multiplied by. */
#define POINT_SCALES(scales)  ((scales) + GROUP)
#define FACTORS(scales, tile) (POINT_SCALES(scales) + (ptrdiff_t)WINOGRAD_POINTS * (1 + (tile)))
/* Whole cache lines: what follows is loaded by vectors. */
#define SCALES                  ((GROUP + (1 + GROUP) * WINOGRAD_POINTS + 15) / 16 * 16)
#define SCALED(y, scales, tile) ((y)*v_all((scales)[tile]))
#define SCALE                   scale

static TARGET void scale(const struct winograd *job, const struct winograd_group *group,
                         float *scales)
{
    const float *high = most_of[group->h.size == 4], *wide = most_of[group->w.size == 4];
    struct place at = place_of(group, 0);
    for (int i = 0; i < WINOGRAD_POINTS; i++)
        POINT_SCALES(scales)[i] = high[i / WINOGRAD_TILE] * wide[i % WINOGRAD_TILE];
    for (int t = 0; t < group->tiles; t++, place_next(group, &at)) {
        struct largest most = {0};
        for (int block = 0; block < job->in / LANES; block++)
            largest_of_window(job, group, block, &at, &most);
        scales[t] = largest_number(&most) / MOST_V(job);
        if (scales[t] < LEAST)
            scales[t] = LEAST;
        if (!(scales[t] < TOO_LARGE))
            scales[t] = NAN;
        for (int i = 0; i < WINOGRAD_POINTS; i++)
            FACTORS(scales, t)[i] = 1 / (scales[t] * POINT_SCALES(scales)[i]);
    }
}

/* The scales of U for the channels of `blocks` blocks, and what turns weights into U. */
INLINE void weights_scales(const struct winograd *job, int in_block, int blocks, int out_block,
                           float *u, size_t stride, float *inverse)
{
    float turned[TAPS * SQUARE] __attribute__((aligned(64)));
    float tile[WINOGRAD_POINTS * LANES] __attribute__((aligned(64)));
    vector sum[WINOGRAD_POINTS], most[WINOGRAD_POINTS];
    for (int i = 0; i < WINOGRAD_POINTS; i++)
        sum[i] = most[i] = v_zero();
    for (int b = 0; b < blocks; b++) {
        const float *taps = taps_between(job, in_block + b, out_block, turned);
        for (int k = 0; k < LANES; k++) {
            tile_weights(taps + (ptrdiff_t)k * LANES, tile, LANES);
            for (int i = 0; i < WINOGRAD_POINTS; i++) {
                const vector value = v_abs(v_load(tile + i * LANES));
                sum[i] += value;
                most[i] = v_max(most[i], value);
            }
        }
    }
    for (int i = 0; i < WINOGRAD_POINTS; i++) {
        const vector by_sum = v_all(1 / MOST_SUM(job)) * sum[i],
                     by_most = v_all(1 / MOST) * most[i];
        const vector scale = v_max(v_max(by_sum, by_most), v_all(LEAST));
        v_store(u + (ptrdiff_t)i * (ptrdiff_t)stride, scale);
        v_store(inverse + i * LANES, v_all(1) / scale);
    }
}

static TARGET void weights(const struct winograd *job, int in_block, int blocks, int out_block,
                           int vectors, float *u, size_t stride)
{
    float turned[TAPS * SQUARE] __attribute__((aligned(64)));
    float inverse[WINOGRAD_POINTS * LANES] __attribute__((aligned(64)));
    float tiles[2][WINOGRAD_POINTS * LANES] __attribute__((aligned(64)));
    for (int g = 0; g < vectors; g++) {
        float *to = u + (ptrdiff_t)g * LANES;
        weights_scales(job, in_block, blocks, out_block + g, to, stride, inverse);
        const float *taps = NULL;
        for (int k = 0; k < blocks * LANES; k += 2) {
            if (k % LANES == 0)
                taps = taps_between(job, in_block + k / LANES, out_block + g, turned);
            tile_weights(taps + (ptrdiff_t)(k % LANES) * LANES, tiles[0], LANES);
            tile_weights(taps + (ptrdiff_t)(k % LANES + 1) * LANES, tiles[1], LANES);
            to += (ptrdiff_t)vectors * LANES;
            for (int i = 0; i < WINOGRAD_POINTS; i++) {
                const vector factor = v_load(inverse + i * LANES);
                v_store_words(to + i * (ptrdiff_t)stride,
                              v_pairs(v_load(tiles[0] + i * LANES) * factor,
                                      v_load(tiles[1] + i * LANES) * factor));
            }
        }
    }
}

/* `tiles` and `vectors` are constants here. */
INLINE void multiply_group(const struct winograd_product *p, const int tiles, const int vectors)
{
    const int32_t *v = (const int32_t *)p->v, *next = (const int32_t *)p->next; /* pairs */
    const float *u = p->u;
    const vector at_point = v_all(POINT_SCALES(p->scales)[p->point]);
    for (int first = 0; first < p->in; first += CHUNK) {
        const int last = first + CHUNK < p->in ? first + CHUNK : p->in;
        const bool add = p->add || first > 0;
        vector scales[VECTORS];
        v_words sum[GROUP][VECTORS];
#pragma GCC unroll 2
        for (int g = 0; g < vectors; g++)
            scales[g] = at_point * v_load(u + (ptrdiff_t)g * LANES);
#pragma GCC unroll 16
        for (int t = 0; t < tiles; t++)
#pragma GCC unroll 2
            for (int g = 0; g < vectors; g++)
                sum[t][g] = v_all_words(0);
        u += (ptrdiff_t)vectors * LANES;
        for (int c = first; c < last; c += LANES, v += V_BLOCK, next += V_BLOCK) {
#pragma GCC unroll 2
            for (int k = 0; k < PAIRS; k++, u += (ptrdiff_t)vectors * LANES) {
                v_words w[VECTORS];
#pragma GCC unroll 2
                for (int g = 0; g < vectors; g++)
                    w[g] = v_load_words(u + (ptrdiff_t)g * LANES);
                __builtin_prefetch(next + (ptrdiff_t)k * GROUP);
#pragma GCC unroll 16
                for (int t = 0; t < tiles; t++) {
                    const v_words value = v_all_pairs(v + t * PAIRS + k);
#pragma GCC unroll 2
                    for (int g = 0; g < vectors; g++)
                        sum[t][g] = v_dot(sum[t][g], w[g], value);
                }
            }
        }
#pragma GCC unroll 16
        for (int t = 0; t < tiles; t++)
#pragma GCC unroll 2
            for (int g = 0; g < vectors; g++) {
                float *to = p->m + (ptrdiff_t)(t * vectors + g) * LANES;
                v_store(to, v_fma(v_of_words(sum[t][g]), scales[g], add ? v_load(to) : v_zero()));
            }
    }
}
