/* SPDX-License-Identifier: MIT */
#include "engine/data/picture/filter_vectors.h"

#ifdef FILTER_VECTORS

#include <immintrin.h>
#include <string.h>

#define HALF   (1 << (FILTER_BITS - 1))
#define AVX512 __attribute__((target("avx512bw,avx512vl,avx512vbmi,avx512vnni")))
#define INLINE __attribute__((always_inline))

/* The most pairs of inputs that an output pixel may have. */
enum { MOST_PAIRS = 16 };

/* Output pixels that are made at once: 15 or 16 bytes, each of which is summed as 32 bits. */
static inline int group_pixels(int bytes)
{
    return bytes == 3 ? 5 : 4;
}

/* What a group is made with. */
struct group {
    size_t at; /* the first byte of the input row */
    int pairs;
    __m512i place; /* of the bytes of input pixels 0 and 1, as numbers of 16 bits */
    __m512i low[MOST_PAIRS], high[MOST_PAIRS];
};

/* Places of bytes of pixels; the others are zero. */
#define USED_PLACES 0x5555555555555555

/* Number i for all bytes of pixel i. */
AVX512 static inline __m512i of_pixels(const int32_t numbers[8], int bytes)
{
    const __m512i all = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)numbers));
    const __m512i of_three = _mm512_setr_epi32(0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4),
                  of_four = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    return _mm512_permutexvar_epi32(bytes == 3 ? of_three : of_four, all);
}

/* The places of two input pixels' bytes for each output pixel: red beside red. */
AVX512 static inline __m512i first_places(int bytes)
{
    enum { R = 0x30000, G = 0x40001, B = 0x50002 };
    const __m512i of_three = _mm512_setr_epi32(R, G, B, R, G, B, R, G, B, R, G, B, R, G, B, R),
                  of_four =
                      _mm512_broadcast_i32x4(_mm_setr_epi32(0x40000, 0x50001, 0x60002, 0x70003));
    return bytes == 3 ? of_three : of_four;
}

/* False if they are too long, or more than a vector apart. */
INLINE AVX512 static inline bool prepare(const struct filter *filters, int left, int bytes,
                                         struct group *out)
{
    const struct filter *filter[5]; /* beyond the last the last again, for nobody */
    const int pixels = group_pixels(bytes);
    int32_t low[8] = {0}, high[8] = {0};
    int longest = 0;
#pragma GCC unroll 5
    for (int i = 0; i < pixels; i++) {
        filter[i] = filters + (i < left ? i : left - 1);
        low[i] = (int32_t)((uint32_t)(bytes * (filter[i]->first - filters->first)) * 0x01010101u);
        longest = filter[i]->count > longest ? filter[i]->count : longest;
    }
    out->at = (size_t)bytes * (size_t)filters->first;
    out->pairs = (longest + 1) / 2;
    if (out->pairs > MOST_PAIRS || bytes * (filter[pixels - 1]->first - filters->first + 4) > 64)
        return false;
    out->place = _mm512_add_epi8(first_places(bytes), of_pixels(low, bytes));
    for (int k = 0; k < out->pairs; k++) {
#pragma GCC unroll 5
        for (int i = 0; i < pixels; i++) {
            memcpy(&low[i], filter[i]->low + 2 * k, sizeof *low);
            memcpy(&high[i], filter[i]->high + 2 * k, sizeof *high);
        }
        out->low[k] = of_pixels(low, bytes);
        out->high[k] = of_pixels(high, bytes);
    }
    return true;
}

/* The group's pixels of one row; `pairs` is a number where that makes loops into lines. */
INLINE AVX512 static inline __m128i weigh_group(const struct group *group, int pairs, int bytes,
                                                const uint8_t *row)
{
    const uint8_t *from = row + group->at;
    const __m512i next = _mm512_add_epi8(group->place, _mm512_set1_epi8((char)(2 * bytes)));
    __m512i low = _mm512_set1_epi32(HALF), high = _mm512_setzero_si512();
    for (int k = 0; k < pairs; k += 2, from += 4 * bytes) {
        const __m512i pixels = _mm512_loadu_si512(from);
        const __m512i both = _mm512_maskz_permutexvar_epi8(USED_PLACES, group->place, pixels);
        low = _mm512_dpwssd_epi32(low, both, group->low[k]);
        high = _mm512_dpwssd_epi32(high, both, group->high[k]);
        if (k + 1 == pairs)
            break;
        const __m512i more = _mm512_maskz_permutexvar_epi8(USED_PLACES, next, pixels);
        low = _mm512_dpwssd_epi32(low, more, group->low[k + 1]);
        high = _mm512_dpwssd_epi32(high, more, group->high[k + 1]);
    }
    return _mm512_cvtusepi32_epi8(
        _mm512_srai_epi32(_mm512_add_epi32(_mm512_slli_epi32(high, 11), low), FILTER_BITS));
}

/* Pixels of three channels; what is too much is overwritten by the next. */
INLINE AVX512 static inline void put_pixels(__m128i pixels, int left, uint8_t *out)
{
    if (left > 5)
        _mm_storeu_si128((__m128i *)out, pixels);
    else
        _mm_mask_storeu_epi8(out, (__mmask16)((1 << 3 * left) - 1), pixels);
}

#define INSTRUCTIONS AVX512
#include "engine/data/picture/filter_groups.h"

AVX512 bool filter_avx512_across(const struct filter *filters, int outputs, int bytes,
                                 const struct strip *from, uint8_t *out, size_t out_step)
{
    return bytes == 3 ? go_across(filters, outputs, 3, from, out, out_step)
                      : go_across(filters, outputs, 4, from, out, out_step);
}

/* The first `count` of 64 bytes. */
static inline __mmask64 first_bytes(size_t count)
{
    return count < 64 ? ((__mmask64)1 << count) - 1 : ~(__mmask64)0;
}

AVX512 static inline __m512i pair_of(const int16_t *weights)
{
    int32_t pair;
    memcpy(&pair, weights, sizeof pair);
    return _mm512_set1_epi32(pair);
}

/* Up to 64 bytes of a row, two input rows at a time. */
INLINE AVX512 static inline void weigh_bytes(const struct filter *filter, const uint8_t *from,
                                             size_t step, __mmask64 which, uint8_t *out)
{
    const __m512i zero = _mm512_setzero_si512(), half = _mm512_set1_epi32(HALF);
    __m512i low[4] = {half, half, half, half}, high[4] = {zero, zero, zero, zero};
    for (int i = 0; i < filter->count; i += 2, from += 2 * step) {
        /* After the last row the same again, times 0. */
        const uint8_t *next = i + 1 < filter->count ? from + step : from;
        const __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(next);
        const __m512i near = _mm512_unpacklo_epi8(a, b), far = _mm512_unpackhi_epi8(a, b);
        const __m512i pairs[4] = {_mm512_unpacklo_epi8(near, zero),
                                  _mm512_unpackhi_epi8(near, zero), _mm512_unpacklo_epi8(far, zero),
                                  _mm512_unpackhi_epi8(far, zero)};
        const __m512i of_low = pair_of(filter->low + i), of_high = pair_of(filter->high + i);
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) {
            low[k] = _mm512_dpwssd_epi32(low[k], pairs[k], of_low);
            high[k] = _mm512_dpwssd_epi32(high[k], pairs[k], of_high);
        }
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++)
        low[k] = _mm512_srai_epi32(_mm512_add_epi32(_mm512_slli_epi32(high[k], 11), low[k]),
                                   FILTER_BITS);
    _mm512_mask_storeu_epi8(out, which,
                            _mm512_packus_epi16(_mm512_packs_epi32(low[0], low[1]),
                                                _mm512_packs_epi32(low[2], low[3])));
}

AVX512 void filter_avx512_down(const struct filter *filter, const uint8_t *from, size_t bytes,
                               uint8_t *out)
{
    for (size_t i = 0; i < bytes; i += 64)
        weigh_bytes(filter, from + i, bytes, first_bytes(bytes - i), out + i);
}

/* Where byte c of pixel k is in its 64 bytes. */
#define PLACE(k, c)    ((3 * (k) + (c)) & 63)
#define PLACES4(k, c)  PLACE(k, c), PLACE((k) + 1, c), PLACE((k) + 2, c), PLACE((k) + 3, c)
#define PLACES16(k, c) PLACES4(k, c), PLACES4((k) + 4, c), PLACES4((k) + 8, c), PLACES4((k) + 12, c)
#define PLACES64(c)    PLACES16(0, c), PLACES16(16, c), PLACES16(32, c), PLACES16(48, c)
static const uint8_t places[3][64] = {{PLACES64(0)}, {PLACES64(1)}, {PLACES64(2)}};

AVX512 void filter_avx512_planes(const uint8_t *from, size_t pixels, uint8_t *const out[3])
{
    for (size_t i = 0; i < pixels; i += 64, from += 192) {
        const size_t left = pixels - i, bytes = 3 * left;
        const __m512i a = _mm512_maskz_loadu_epi8(first_bytes(bytes), from),
                      b = _mm512_maskz_loadu_epi8(first_bytes(bytes > 64 ? bytes - 64 : 0),
                                                  from + 64),
                      c = _mm512_maskz_loadu_epi8(first_bytes(bytes > 128 ? bytes - 128 : 0),
                                                  from + 128);
#pragma GCC unroll 3
        for (int k = 0; k < 3; k++) {
            const __m512i place = _mm512_loadu_si512(places[k]);
            /* As many pixels have this byte in the first 64, in the first 128. */
            const __mmask64 not_a = ~(__mmask64)0 << (66 - k) / 3,
                            in_c = ~(__mmask64)0 << (130 - k) / 3;
            __m512i plane = _mm512_permutexvar_epi8(place, a);
            plane = _mm512_mask_permutexvar_epi8(plane, not_a, place, b);
            plane = _mm512_mask_permutexvar_epi8(plane, in_c, place, c);
            _mm512_mask_storeu_epi8(out[k] + i, first_bytes(left), plane);
        }
    }
}

bool filter_has_avx512(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni");
}

#endif
