/* SPDX-License-Identifier: MIT */
#include "engine/data/picture/filter.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "engine/data/picture/filter_vectors.h"

#define HALF (1 << (FILTER_BITS - 1))

static uint8_t to_byte(int32_t sum)
{
    return (uint8_t)(sum < 0 ? 0 : sum >> FILTER_BITS > 255 ? 255 : sum >> FILTER_BITS);
}

/* One sum: of `count` bytes that are `step` apart. */
static uint8_t weigh(const struct filter *filter, const uint8_t *from, size_t step)
{
    int32_t low = HALF, high = 0;
    for (int i = 0; i < filter->count; i++, from += step) {
        low += filter->low[i] * *from;
        high += filter->high[i] * *from;
    }
    return to_byte(high * 2048 + low);
}

#ifdef __SSE2__

/* Two weights for all pairs of numbers in a vector. */
static inline __m128i pair_of(const int16_t *weights)
{
    int32_t pair;
    memcpy(&pair, weights, sizeof pair);
    return _mm_set1_epi32(pair);
}

static inline __m128i pixel_at(const uint8_t *from)
{
    int32_t pixel;
    memcpy(&pixel, from, sizeof pixel);
    return _mm_cvtsi32_si128(pixel);
}

/* The bytes that sums in four vectors come to. */
static inline __m128i pack(const __m128i low[4], const __m128i high[4])
{
    __m128i sum[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        sum[i] = _mm_srai_epi32(_mm_add_epi32(_mm_slli_epi32(high[i], 11), low[i]), FILTER_BITS);
    return _mm_packus_epi16(_mm_packs_epi32(sum[0], sum[1]), _mm_packs_epi32(sum[2], sum[3]));
}

/* A pixel of up to four bytes, from two input pixels at a time: red beside red, green beside green.
 */
static int32_t weigh_pixel(const struct filter *filter, size_t bytes, const uint8_t *row)
{
    const __m128i zero = _mm_setzero_si128();
    __m128i low[4] = {_mm_set1_epi32(HALF), zero, zero, zero}, high[4] = {zero, zero, zero, zero};
    row += bytes * (size_t)filter->first;
    for (int i = 0; i < filter->count; i += 2, row += 2 * bytes) {
        const __m128i both =
            _mm_unpacklo_epi8(_mm_unpacklo_epi8(pixel_at(row), pixel_at(row + bytes)), zero);
        low[0] = _mm_add_epi32(low[0], _mm_madd_epi16(both, pair_of(filter->low + i)));
        high[0] = _mm_add_epi32(high[0], _mm_madd_epi16(both, pair_of(filter->high + i)));
    }
    return _mm_cvtsi128_si32(pack(low, high));
}

/* Sixteen bytes of a row, two input rows at a time. */
static void weigh_bytes(const struct filter *filter, const uint8_t *from, size_t step, uint8_t *out)
{
    const __m128i zero = _mm_setzero_si128(), half = _mm_set1_epi32(HALF);
    __m128i low[4] = {half, half, half, half}, high[4] = {zero, zero, zero, zero};
    for (int i = 0; i < filter->count; i += 2, from += 2 * step) {
        /* After the last row the same again, times 0. */
        const uint8_t *next = i + 1 < filter->count ? from + step : from;
        const __m128i a = _mm_loadu_si128((const __m128i *)from);
        const __m128i b = _mm_loadu_si128((const __m128i *)next);
        const __m128i near = _mm_unpacklo_epi8(a, b), far = _mm_unpackhi_epi8(a, b);
        const __m128i pairs[4] = {_mm_unpacklo_epi8(near, zero), _mm_unpackhi_epi8(near, zero),
                                  _mm_unpacklo_epi8(far, zero), _mm_unpackhi_epi8(far, zero)};
        const __m128i of_low = pair_of(filter->low + i), of_high = pair_of(filter->high + i);
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) {
            low[k] = _mm_add_epi32(low[k], _mm_madd_epi16(pairs[k], of_low));
            high[k] = _mm_add_epi32(high[k], _mm_madd_epi16(pairs[k], of_high));
        }
    }
    _mm_storeu_si128((__m128i *)out, pack(low, high));
}

/* Sixteen pixels at a time: returns how many. */
static size_t weave(const uint8_t *const from[FILTER_WOVEN], size_t pixels, uint8_t *out)
{
    size_t i = 0;
    for (; i + 16 <= pixels; i += 16) {
        __m128i v[4];
#pragma GCC unroll 4
        for (int row = 0; row < 4; row++)
            v[row] = _mm_loadu_si128((const __m128i *)(from[row] + i));
        const __m128i near = _mm_unpacklo_epi8(v[0], v[1]), far = _mm_unpackhi_epi8(v[0], v[1]);
        const __m128i near_2 = _mm_unpacklo_epi8(v[2], v[3]), far_2 = _mm_unpackhi_epi8(v[2], v[3]);
        __m128i *to = (__m128i *)(out + 4 * i);
        _mm_storeu_si128(to, _mm_unpacklo_epi16(near, near_2));
        _mm_storeu_si128(to + 1, _mm_unpackhi_epi16(near, near_2));
        _mm_storeu_si128(to + 2, _mm_unpacklo_epi16(far, far_2));
        _mm_storeu_si128(to + 3, _mm_unpackhi_epi16(far, far_2));
    }
    return i;
}

#define BYTES_AT_A_TIME 16

#else

static size_t weave(const uint8_t *const from[FILTER_WOVEN], size_t pixels, uint8_t *out)
{
    (void)from, (void)pixels, (void)out;
    return 0;
}

static int32_t weigh_pixel(const struct filter *filter, size_t bytes, const uint8_t *row)
{
    uint8_t pixel[4] = {0};
    int32_t out;
    for (size_t c = 0; c < bytes; c++)
        pixel[c] = weigh(filter, row + bytes * (size_t)filter->first + c, bytes);
    memcpy(&out, pixel, sizeof out);
    return out;
}

static void weigh_bytes(const struct filter *filter, const uint8_t *from, size_t step, uint8_t *out)
{
    *out = weigh(filter, from, step);
}

#define BYTES_AT_A_TIME 1

#endif

/* By the widest vectors that there are: false if there are none, or not for such filters. */
static bool across_by_vectors(const struct filter *filters, int outputs, int bytes,
                              const struct strip *from, uint8_t *out, size_t out_step)
{
#ifdef FILTER_VECTORS
    if (filter_has_avx512() && filter_avx512_across(filters, outputs, bytes, from, out, out_step))
        return true;
    if (__builtin_cpu_supports("avx2"))
        return filter_avx2_across(filters, outputs, bytes, from, out, out_step);
#else
    (void)filters, (void)outputs, (void)bytes, (void)from, (void)out, (void)out_step;
#endif
    return false;
}

void filter_across(const struct filter *filters, int outputs, const struct strip *from,
                   uint8_t *out, size_t out_step)
{
    const uint8_t *row = from->bytes;
    if (across_by_vectors(filters, outputs, 3, from, out, out_step))
        return;
    for (int y = 0; y < from->rows; y++, row += from->step, out += out_step)
        for (size_t i = 0; i < (size_t)outputs; i++) {
            const int32_t pixel = weigh_pixel(&filters[i], 3, row);
            memcpy(out + 3 * i, &pixel, 3);
        }
}

void filter_across_woven(const struct filter *filters, int outputs, const struct strip *from,
                         uint8_t *out, size_t out_step)
{
    const uint8_t *row = from->bytes;
    if (across_by_vectors(filters, outputs, FILTER_WOVEN, from, out, out_step))
        return;
    for (int y = 0; y < from->rows; y++, row += from->step, out += FILTER_WOVEN * out_step)
        for (size_t i = 0; i < (size_t)outputs; i++) {
            const int32_t pixel = weigh_pixel(&filters[i], FILTER_WOVEN, row);
            for (size_t k = 0; k < FILTER_WOVEN; k++)
                memcpy(out + k * out_step + i, (const uint8_t *)&pixel + k, 1);
        }
}

void filter_weave(const uint8_t *const from[FILTER_WOVEN], size_t pixels, uint8_t *out)
{
    for (size_t i = weave(from, pixels, out); i < pixels; i++)
        for (size_t row = 0; row < FILTER_WOVEN; row++)
            out[FILTER_WOVEN * i + row] = from[row][i];
}

void filter_down(const struct filter *filter, const uint8_t *from, size_t bytes, uint8_t *out)
{
    const uint8_t *first = from + (size_t)filter->first * bytes;
    size_t i = 0;
#ifdef FILTER_VECTORS
    if (filter_has_avx512()) {
        filter_avx512_down(filter, first, bytes, out);
        return;
    }
    if (__builtin_cpu_supports("avx2"))
        i = filter_avx2_down(filter, first, bytes, out);
#endif
    for (; i + BYTES_AT_A_TIME <= bytes; i += BYTES_AT_A_TIME)
        weigh_bytes(filter, first + i, bytes, out + i);
    for (; i < bytes; i++)
        out[i] = weigh(filter, first + i, bytes);
}

void filter_planes(const uint8_t *from, size_t pixels, uint8_t *const out[3])
{
    size_t i = 0;
#ifdef FILTER_VECTORS
    if (filter_has_avx512()) {
        filter_avx512_planes(from, pixels, out);
        return;
    }
    if (__builtin_cpu_supports("avx2"))
        i = filter_avx2_planes(from, pixels, out);
#endif
    for (; i < pixels; i++)
        for (size_t c = 0; c < 3; c++)
            out[c][i] = from[3 * i + c];
}
