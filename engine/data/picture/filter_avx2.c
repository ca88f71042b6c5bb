/* SPDX-License-Identifier: MIT */
#include "engine/data/picture/filter_avx2.h"

#ifdef FILTER_AVX2

#include <immintrin.h>
#include <string.h>

#define HALF   (1 << (FILTER_BITS - 1))
#define AVX2   __attribute__((target("avx2")))
#define INLINE __attribute__((always_inline))

/* Weights i and i + 1 in the lower half, the next two in the upper one, for each pair of numbers.
 */
AVX2 static inline __m256i weights_of_four(const int16_t *weights)
{
    const __m256i four = _mm256_castsi128_si256(_mm_loadl_epi64((const __m128i *)weights));
    return _mm256_permutevar8x32_epi32(four, _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1));
}

static inline void put_pixel(int pixel, uint8_t *to)
{
    memcpy(to, &pixel, 2);
    to[2] = (uint8_t)(pixel >> 16);
}

/* A pixel of each row, four input pixels at a time: red beside red, green beside green, two pixels
 * in each half. */
INLINE AVX2 static inline void weigh_pixels(const struct filter *filter,
                                            const uint8_t *const from[FILTER_ROWS],
                                            uint8_t *const out[FILTER_ROWS], size_t to)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i places =
        _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1, 6, -1, 9, -1, 7,
                         -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1);
    __m256i low[FILTER_ROWS] = {zero, zero, zero, zero};
    __m256i high[FILTER_ROWS] = {zero, zero, zero, zero};
    size_t at = 3 * (size_t)filter->first;
    for (int i = 0; i < filter->count; i += 4, at += 12) {
        const __m256i of_low = weights_of_four(filter->low + i),
                      of_high = weights_of_four(filter->high + i);
#pragma GCC unroll 4
        for (int row = 0; row < FILTER_ROWS; row++) {
            const __m128i bytes = _mm_loadu_si128((const __m128i *)(from[row] + at));
            const __m256i both = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytes), places);
            low[row] = _mm256_add_epi32(low[row], _mm256_madd_epi16(both, of_low));
            high[row] = _mm256_add_epi32(high[row], _mm256_madd_epi16(both, of_high));
        }
    }
    __m128i sum[FILTER_ROWS];
#pragma GCC unroll 4
    for (int row = 0; row < FILTER_ROWS; row++) {
        const __m256i halves = _mm256_add_epi32(_mm256_slli_epi32(high[row], 11), low[row]);
        const __m128i whole =
            _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
        sum[row] = _mm_srai_epi32(_mm_add_epi32(whole, _mm_set1_epi32(HALF)), FILTER_BITS);
    }
    const __m128i bytes =
        _mm_packus_epi16(_mm_packs_epi32(sum[0], sum[1]), _mm_packs_epi32(sum[2], sum[3]));
    put_pixel(_mm_extract_epi32(bytes, 0), out[0] + to);
    put_pixel(_mm_extract_epi32(bytes, 1), out[1] + to);
    put_pixel(_mm_extract_epi32(bytes, 2), out[2] + to);
    put_pixel(_mm_extract_epi32(bytes, 3), out[3] + to);
}

AVX2 void filter_avx2_across(const struct filter *filters, int outputs,
                             const uint8_t *const from[FILTER_ROWS],
                             uint8_t *const out[FILTER_ROWS])
{
    for (size_t i = 0; i < (size_t)outputs; i++)
        weigh_pixels(&filters[i], from, out, 3 * i);
}

AVX2 static inline __m256i pair_of(const int16_t *weights)
{
    int32_t pair;
    memcpy(&pair, weights, sizeof pair);
    return _mm256_set1_epi32(pair);
}

/* 32 bytes of a row, two input rows at a time. */
AVX2 static inline void weigh_bytes(const struct filter *filter, const uint8_t *from, size_t step,
                                    uint8_t *out)
{
    const __m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi32(HALF);
    __m256i low[4] = {half, half, half, half}, high[4] = {zero, zero, zero, zero};
    for (int i = 0; i < filter->count; i += 2, from += 2 * step) {
        /* After the last row the same again, times 0. */
        const uint8_t *next = i + 1 < filter->count ? from + step : from;
        const __m256i a = _mm256_loadu_si256((const __m256i *)from);
        const __m256i b = _mm256_loadu_si256((const __m256i *)next);
        const __m256i near = _mm256_unpacklo_epi8(a, b), far = _mm256_unpackhi_epi8(a, b);
        const __m256i pairs[4] = {_mm256_unpacklo_epi8(near, zero),
                                  _mm256_unpackhi_epi8(near, zero), _mm256_unpacklo_epi8(far, zero),
                                  _mm256_unpackhi_epi8(far, zero)};
        const __m256i of_low = pair_of(filter->low + i), of_high = pair_of(filter->high + i);
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) {
            low[k] = _mm256_add_epi32(low[k], _mm256_madd_epi16(pairs[k], of_low));
            high[k] = _mm256_add_epi32(high[k], _mm256_madd_epi16(pairs[k], of_high));
        }
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++)
        low[k] = _mm256_srai_epi32(_mm256_add_epi32(_mm256_slli_epi32(high[k], 11), low[k]),
                                   FILTER_BITS);
    _mm256_storeu_si256((__m256i *)out, _mm256_packus_epi16(_mm256_packs_epi32(low[0], low[1]),
                                                            _mm256_packs_epi32(low[2], low[3])));
}

AVX2 size_t filter_avx2_down(const struct filter *filter, const uint8_t *from, size_t bytes,
                             uint8_t *out)
{
    size_t i = 0;
    for (; i + 32 <= bytes; i += 32)
        weigh_bytes(filter, from + i, bytes, out + i);
    return i;
}

#endif
