/* SPDX-License-Identifier: MIT */
#include "engine/data/picture/filter_vectors.h"

#ifdef FILTER_VECTORS

#include <immintrin.h>
#include <string.h>

#define HALF   (1 << (FILTER_BITS - 1))
#define AVX2   __attribute__((target("avx2")))
#define INLINE __attribute__((always_inline))

/* Output pixels that are made at once, and the most pairs of inputs that they may have. */
enum { GROUP = 4, MOST_PAIRS = 16 };

static inline int group_pixels(int bytes)
{
    (void)bytes;
    return GROUP;
}

/* What a group is made with. Vectors are of pixels 0 and 2, or 1 and 3: one in each half. */
struct group {
    size_t at[GROUP]; /* the first byte of the input row */
    int pairs;
    __m256i low[2][MOST_PAIRS], high[2][MOST_PAIRS];
};

/* How two of 16 input bytes are put side by side, as numbers of 16 bits, red beside red: by bytes
 * of a pixel (3, 4), of input pixels 0 and 1, then of 2 and 3. */
static const int8_t places[2][2][16] = {
    {{0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1},
     {6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1}},
    {{0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1},
     {8, -1, 12, -1, 9, -1, 13, -1, 10, -1, 14, -1, 11, -1, 15, -1}}};

AVX2 static inline __m256i in_both_halves(const int8_t *bytes)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)bytes));
}

/* Two weights of one filter for all pairs of numbers in the lower half, of another in the upper. */
AVX2 static inline __m256i weights_of_two(const int16_t *a, const int16_t *b)
{
    int32_t pair_a, pair_b;
    memcpy(&pair_a, a, sizeof pair_a);
    memcpy(&pair_b, b, sizeof pair_b);
    return _mm256_blend_epi32(_mm256_set1_epi32(pair_a), _mm256_set1_epi32(pair_b), 0xf0);
}

/* False if they are too long. */
AVX2 static bool prepare(const struct filter *filters, int left, int bytes, struct group *out)
{
    const struct filter *filter[GROUP]; /* beyond the last the last again, for nobody */
    int longest = 0;
    for (int i = 0; i < GROUP; i++) {
        filter[i] = filters + (i < left ? i : left - 1);
        out->at[i] = (size_t)bytes * (size_t)filter[i]->first;
        longest = filter[i]->count > longest ? filter[i]->count : longest;
    }
    out->pairs = (longest + 1) / 2;
    for (int k = 0; k < out->pairs && out->pairs <= MOST_PAIRS; k++)
        for (int odd = 0; odd < 2; odd++) {
            const struct filter *a = filter[odd], *b = filter[odd + 2];
            out->low[odd][k] = weights_of_two(a->low + 2 * k, b->low + 2 * k);
            out->high[odd][k] = weights_of_two(a->high + 2 * k, b->high + 2 * k);
        }
    return out->pairs <= MOST_PAIRS;
}

/* Two pixels of a row; `pairs` is a number where that makes loops into lines. */
INLINE AVX2 static inline __m256i weigh_two(const struct group *group, int odd, int pairs,
                                            int bytes, const uint8_t *row)
{
    const __m256i place[2] = {in_both_halves(places[bytes - 3][0]),
                              in_both_halves(places[bytes - 3][1])};
    const uint8_t *a = row + group->at[odd], *b = row + group->at[odd + 2];
    __m256i low = _mm256_set1_epi32(HALF), high = _mm256_setzero_si256();
    for (int k = 0; k < pairs; k += 2, a += 4 * bytes, b += 4 * bytes) {
        const __m256i pixels =
            _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)a)),
                                    _mm_loadu_si128((const __m128i *)b), 1);
        for (int i = 0; i < 2 && k + i < pairs; i++) {
            const __m256i both = _mm256_shuffle_epi8(pixels, place[i]);
            low = _mm256_add_epi32(low, _mm256_madd_epi16(both, group->low[odd][k + i]));
            high = _mm256_add_epi32(high, _mm256_madd_epi16(both, group->high[odd][k + i]));
        }
    }
    return _mm256_srai_epi32(_mm256_add_epi32(_mm256_slli_epi32(high, 11), low), FILTER_BITS);
}

/* Four pixels of a row, of four bytes each. */
INLINE AVX2 static inline __m128i weigh_group(const struct group *group, int pairs, int bytes,
                                              const uint8_t *row)
{
    const __m256i both = _mm256_packs_epi32(weigh_two(group, 0, pairs, bytes, row),
                                            weigh_two(group, 1, pairs, bytes, row));
    return _mm_packus_epi16(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
}

/* Pixels of three channels; what is too much is overwritten by the next. */
AVX2 static inline void put_pixels(__m128i pixels, int left, uint8_t *out)
{
    const __m128i close = _mm_shuffle_epi8(
        pixels, _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    uint8_t bytes[16];
    if (3 * left >= 16) {
        _mm_storeu_si128((__m128i *)out, close);
        return;
    }
    _mm_storeu_si128((__m128i *)bytes, close);
    memcpy(out, bytes, 3 * (size_t)left);
}

#define INSTRUCTIONS AVX2
#include "engine/data/picture/filter_groups.h"

AVX2 bool filter_avx2_across(const struct filter *filters, int outputs, int bytes,
                             const struct strip *from, uint8_t *out, size_t out_step)
{
    return bytes == 3 ? go_across(filters, outputs, 3, from, out, out_step)
                      : go_across(filters, outputs, 4, from, out, out_step);
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

/* Which of 16 bytes go to 16 pixels of a plane, by plane and by where the 16 bytes are in 48. */
static const int8_t plane_places[3][3][16] = {
    {{0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
     {-1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14, -1, -1, -1, -1, -1},
     {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1, 4, 7, 10, 13}},
    {{1, 4, 7, 10, 13, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
     {-1, -1, -1, -1, -1, 0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1},
     {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14}},
    {{2, 5, 8, 11, 14, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
     {-1, -1, -1, -1, -1, 1, 4, 7, 10, 13, -1, -1, -1, -1, -1, -1},
     {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 3, 6, 9, 12, 15}}};

AVX2 size_t filter_avx2_planes(const uint8_t *from, size_t pixels, uint8_t *const out[3])
{
    size_t i = 0;
    for (; i + 16 <= pixels; i += 16) {
        const __m128i *at = (const __m128i *)(from + 3 * i);
#pragma GCC unroll 3
        for (int c = 0; c < 3; c++) {
            __m128i plane = _mm_setzero_si128();
#pragma GCC unroll 3
            for (int k = 0; k < 3; k++)
                plane = _mm_or_si128(
                    plane, _mm_shuffle_epi8(_mm_loadu_si128(at + k),
                                            _mm_loadu_si128((const __m128i *)plane_places[c][k])));
            _mm_storeu_si128((__m128i *)(out[c] + i), plane);
        }
    }
    return i;
}

#endif
