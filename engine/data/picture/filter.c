/* SPDX-License-Identifier: MIT */
#include "engine/data/picture/filter.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "engine/data/picture/filter_avx2.h"

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

/* A pixel of three channels of each row, two input pixels at a time: red beside red, green beside
 * green. */
static void weigh_pixels(const struct filter *filter, const uint8_t *const from[FILTER_ROWS],
                         uint8_t *const out[FILTER_ROWS], size_t to)
{
    const __m128i zero = _mm_setzero_si128(), half = _mm_set1_epi32(HALF);
    __m128i low[4] = {half, half, half, half}, high[4] = {zero, zero, zero, zero};
    size_t at = 3 * (size_t)filter->first;
    for (int i = 0; i < filter->count; i += 2, at += 6) {
        const __m128i of_low = pair_of(filter->low + i), of_high = pair_of(filter->high + i);
#pragma GCC unroll 4
        for (int row = 0; row < FILTER_ROWS; row++) {
            const uint8_t *first = from[row] + at;
            const __m128i both =
                _mm_unpacklo_epi8(_mm_unpacklo_epi8(pixel_at(first), pixel_at(first + 3)), zero);
            low[row] = _mm_add_epi32(low[row], _mm_madd_epi16(both, of_low));
            high[row] = _mm_add_epi32(high[row], _mm_madd_epi16(both, of_high));
        }
    }
    uint8_t pixels[4 * FILTER_ROWS];
    _mm_storeu_si128((__m128i *)pixels, pack(low, high));
    for (int row = 0; row < FILTER_ROWS; row++)
        memcpy(out[row] + to, pixels + 4 * row, 3);
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

#define BYTES_AT_A_TIME 16

static inline __m128i upper(__m128i a)
{
    return _mm_unpackhi_epi64(a, a);
}

/* 48 bytes in three vectors: those of the first half and of the second in turns. */
static inline void interleave(__m128i v[3])
{
    const __m128i a = v[0], b = v[1], c = v[2];
    v[0] = _mm_unpacklo_epi8(a, upper(b));
    v[1] = _mm_unpacklo_epi8(upper(a), c);
    v[2] = _mm_unpacklo_epi8(b, upper(c));
}

/* Byte i goes to place 2i modulo 47 each time, after the fourth to 16i: byte 3k to k. */
static size_t split_pixels(const uint8_t *from, size_t pixels, uint8_t *const out[3])
{
    size_t i = 0;
    for (; i + 16 <= pixels; i += 16) {
        __m128i v[3];
#pragma GCC unroll 3
        for (int k = 0; k < 3; k++)
            v[k] = _mm_loadu_si128((const __m128i *)(from + 3 * i) + k);
#pragma GCC unroll 4
        for (int times = 0; times < 4; times++)
            interleave(v);
#pragma GCC unroll 3
        for (int k = 0; k < 3; k++)
            _mm_storeu_si128((__m128i *)(out[k] + i), v[k]);
    }
    return i;
}

#else

static size_t split_pixels(const uint8_t *from, size_t pixels, uint8_t *const out[3])
{
    (void)from, (void)pixels, (void)out;
    return 0;
}

static void weigh_pixels(const struct filter *filter, const uint8_t *const from[FILTER_ROWS],
                         uint8_t *const out[FILTER_ROWS], size_t to)
{
    for (int row = 0; row < FILTER_ROWS; row++)
        for (size_t c = 0; c < 3; c++)
            out[row][to + c] = weigh(filter, from[row] + 3 * (size_t)filter->first + c, 3);
}

static void weigh_bytes(const struct filter *filter, const uint8_t *from, size_t step, uint8_t *out)
{
    *out = weigh(filter, from, step);
}

#define BYTES_AT_A_TIME 1

#endif

void filter_across(const struct filter *filters, int outputs, int channels,
                   const uint8_t *const from[FILTER_ROWS], uint8_t *const out[FILTER_ROWS])
{
#ifdef FILTER_AVX2
    if (channels == 3 && __builtin_cpu_supports("avx2")) {
        filter_avx2_across(filters, outputs, from, out);
        return;
    }
#endif
    for (size_t i = 0; i < (size_t)outputs; i++) {
        if (channels == 3) {
            weigh_pixels(&filters[i], from, out, 3 * i);
            continue;
        }
        for (int row = 0; row < FILTER_ROWS; row++)
            out[row][i] = weigh(&filters[i], from[row] + filters[i].first, 1);
    }
}

void filter_down(const struct filter *filter, const uint8_t *from, size_t bytes, uint8_t *out)
{
    const uint8_t *first = from + (size_t)filter->first * bytes;
    size_t i = 0;
#ifdef FILTER_AVX2
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
    for (size_t i = split_pixels(from, pixels, out); i < pixels; i++)
        for (size_t c = 0; c < 3; c++)
            out[c][i] = from[3 * i + c];
}
