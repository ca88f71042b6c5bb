/* SPDX-License-Identifier: MIT */
#include "engine/data/picture/filter_vectors.h"

#ifdef FILTER_VECTORS

#include <immintrin.h>
#include <string.h>

#define HALF   (1 << (FILTER_BITS - 1))
#define AVX512 __attribute__((target("avx512bw,avx512vl,avx512vbmi,avx512vnni")))
#define INLINE __attribute__((always_inline))

/* Output pixels that are made at once, and the most pairs of inputs that they may have. */
enum { GROUP = 4, MOST_PAIRS = 16 };

/* What a group is made with; a quarter of each vector is of one output pixel. */
struct group {
    size_t at; /* the first byte of the input row */
    int pairs;
    __m512i place; /* of the bytes of input pixels 0 and 1, as numbers of 16 bits */
    __m512i low[MOST_PAIRS], high[MOST_PAIRS];
};

/* The places that are a byte of a pixel and not zero. */
static inline __mmask64 used_places(int bytes)
{
    return bytes == 3 ? 0x0555055505550555 : 0x5555555555555555;
}

/* Each number for a quarter. */
AVX512 static inline __m512i quarters(const int32_t numbers[GROUP])
{
    const __m512i four = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)numbers));
    return _mm512_permutexvar_epi32(
        _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3), four);
}

INLINE AVX512 static inline __m512i first_places(int bytes)
{
    return _mm512_broadcast_i32x4(
        bytes == 3 ? _mm_setr_epi8(0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5, 0, 0, 0, 0, 0)
                   : _mm_setr_epi8(0, 0, 4, 0, 1, 0, 5, 0, 2, 0, 6, 0, 3, 0, 7, 0));
}

/* False if they are too long, or more than a vector apart. */
AVX512 static bool prepare(const struct filter *filters, int left, int bytes, struct group *out)
{
    int32_t numbers[GROUP];
    int longest = 0;
    for (int i = 0; i < GROUP; i++) {
        const struct filter *filter = filters + (i < left ? i : left - 1);
        numbers[i] = bytes * (filter->first - filters->first) * 0x01010101;
        longest = filter->count > longest ? filter->count : longest;
    }
    out->at = (size_t)bytes * (size_t)filters->first;
    out->pairs = (longest + 1) / 2;
    if (out->pairs > MOST_PAIRS ||
        bytes * (filters[left < GROUP ? left - 1 : GROUP - 1].first - filters->first + 4) > 64)
        return false;
    out->place = _mm512_add_epi8(first_places(bytes), quarters(numbers));
    for (int k = 0; k < out->pairs; k++) {
        int32_t high[GROUP];
        for (int i = 0; i < GROUP; i++) {
            const struct filter *filter = filters + (i < left ? i : left - 1);
            memcpy(&numbers[i], filter->low + 2 * k, sizeof *numbers);
            memcpy(&high[i], filter->high + 2 * k, sizeof *high);
        }
        out->low[k] = quarters(numbers);
        out->high[k] = quarters(high);
    }
    return true;
}

/* The group's pixels of one row; `pairs` is a number where that makes loops into lines. */
INLINE AVX512 static inline __m128i weigh_group(const struct group *group, int pairs, int bytes,
                                                const uint8_t *from)
{
    const __m512i next = _mm512_add_epi8(group->place, _mm512_set1_epi8((char)(2 * bytes)));
    __m512i low = _mm512_set1_epi32(HALF), high = _mm512_setzero_si512();
    for (int k = 0; k < pairs; k += 2, from += 4 * bytes) {
        const __m512i pixels = _mm512_loadu_si512(from);
        const __m512i both =
            _mm512_maskz_permutexvar_epi8(used_places(bytes), group->place, pixels);
        low = _mm512_dpwssd_epi32(low, both, group->low[k]);
        high = _mm512_dpwssd_epi32(high, both, group->high[k]);
        if (k + 1 == pairs)
            break;
        const __m512i more = _mm512_maskz_permutexvar_epi8(used_places(bytes), next, pixels);
        low = _mm512_dpwssd_epi32(low, more, group->low[k + 1]);
        high = _mm512_dpwssd_epi32(high, more, group->high[k + 1]);
    }
    return _mm512_cvtusepi32_epi8(
        _mm512_srai_epi32(_mm512_add_epi32(_mm512_slli_epi32(high, 11), low), FILTER_BITS));
}

/* Pixels of three channels; what is too much is overwritten by the next. */
INLINE AVX512 static inline void put_pixels(__m128i pixels, int left, uint8_t *out)
{
    const __m128i close = _mm_shuffle_epi8(
        pixels, _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    if (3 * left >= 16)
        _mm_storeu_si128((__m128i *)out, close);
    else
        _mm_mask_storeu_epi8(out, (__mmask16)((1 << 3 * left) - 1), close);
}

/* Pixels that are four rows'. */
INLINE AVX512 static inline void put_woven(__m128i pixels, int left, uint8_t *out, size_t out_step)
{
    uint8_t bytes[16];
    _mm_storeu_si128((__m128i *)bytes,
                     _mm_shuffle_epi8(pixels, _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14,
                                                            3, 7, 11, 15)));
    for (size_t row = 0; row < FILTER_WOVEN; row++)
        if (left >= GROUP)
            memcpy(out + row * out_step, bytes + GROUP * row, GROUP);
        else
            memcpy(out + row * out_step, bytes + GROUP * row, (size_t)left);
}

INLINE AVX512 static inline void make_group(const struct group *group, int pairs, int left,
                                            int bytes, const struct strip *from, uint8_t *out,
                                            size_t out_step)
{
    const uint8_t *row = from->bytes + group->at;
    for (int y = 0; y < from->rows; y++, row += from->step) {
        const __m128i pixels = weigh_group(group, pairs, bytes, row);
        if (bytes == 3)
            put_pixels(pixels, left, out + (size_t)y * out_step);
        else
            put_woven(pixels, left, out + (size_t)y * FILTER_WOVEN * out_step, out_step);
    }
}

INLINE AVX512 static inline bool go_across(const struct filter *filters, int outputs, int bytes,
                                           const struct strip *from, uint8_t *out, size_t out_step)
{
    for (int i = 0; i < outputs; i += GROUP, out += bytes == 3 ? 3 * GROUP : GROUP) {
        const int left = outputs - i;
        struct group group;
        if (!prepare(filters + i, left, bytes, &group))
            return false;
        switch (group.pairs) {
        case 1:
            make_group(&group, 1, left, bytes, from, out, out_step);
            break;
        case 2:
            make_group(&group, 2, left, bytes, from, out, out_step);
            break;
        default:
            make_group(&group, group.pairs, left, bytes, from, out, out_step);
        }
    }
    return true;
}

AVX512 bool filter_avx512_across(const struct filter *filters, int outputs, int bytes,
                                 const struct strip *from, uint8_t *out, size_t out_step)
{
    return bytes == 3 ? go_across(filters, outputs, 3, from, out, out_step)
                      : go_across(filters, outputs, 4, from, out, out_step);
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

AVX512 size_t filter_avx512_down(const struct filter *filter, const uint8_t *from, size_t bytes,
                                 uint8_t *out)
{
    for (size_t i = 0; i < bytes; i += 64)
        weigh_bytes(filter, from + i, bytes,
                    bytes - i < 64 ? ((__mmask64)1 << (bytes - i)) - 1 : ~(__mmask64)0, out + i);
    return bytes;
}

AVX512 size_t filter_avx512_planes(const uint8_t *from, size_t pixels, uint8_t *const out[3])
{
    uint8_t places[3][64];
    size_t i = 0;
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 64; k++)
            places[c][k] = (uint8_t)((3 * k + c) & 63);
    for (; i + 64 <= pixels; i += 64, from += 192) {
        const __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(from + 64),
                      c = _mm512_loadu_si512(from + 128);
#pragma GCC unroll 3
        for (int k = 0; k < 3; k++) {
            const __m512i place = _mm512_loadu_si512(places[k]);
            /* As many pixels as begin in the first 64 bytes, then in 128. */
            const __mmask64 not_a = ~(__mmask64)0 << (66 - k) / 3,
                            in_c = ~(__mmask64)0 << (130 - k) / 3;
            __m512i plane = _mm512_permutexvar_epi8(place, a);
            plane = _mm512_mask_permutexvar_epi8(plane, not_a, place, b);
            plane = _mm512_mask_permutexvar_epi8(plane, in_c, place, c);
            _mm512_storeu_si512(out[k] + i, plane);
        }
    }
    return i;
}

bool filter_has_avx512(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni");
}

#endif
