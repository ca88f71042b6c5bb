/* SPDX-License-Identifier: MIT */
#include "engine/data/picture/filter_vectors.h"

/*
 * Groups of output pixels of a row: a template for filter_avx2.c and filter_avx512.c, which have
 * INSTRUCTIONS, what a function may use; struct group with its number of `pairs` of inputs;
 * group_pixels(bytes); prepare, which is false where filters are too long; and weigh_group and
 * put_pixels, which make the pixels of a group in one row, and put down those of three channels.
 */

static inline void put_int(int number, uint8_t *out)
{
    memcpy(out, &number, sizeof number);
}

/* Pixels that are four rows'. */
INLINE INSTRUCTIONS static inline void put_woven(__m128i pixels, int left, uint8_t *out,
                                                 size_t out_step)
{
    const __m128i rows = _mm_shuffle_epi8(
        pixels, _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    if (left >= 4) {
        put_int(_mm_extract_epi32(rows, 0), out);
        put_int(_mm_extract_epi32(rows, 1), out + out_step);
        put_int(_mm_extract_epi32(rows, 2), out + 2 * out_step);
        put_int(_mm_extract_epi32(rows, 3), out + 3 * out_step);
        return;
    }
    uint8_t bytes[16];
    _mm_storeu_si128((__m128i *)bytes, rows);
    for (size_t row = 0; row < FILTER_WOVEN; row++)
        memcpy(out + row * out_step, bytes + 4 * row, (size_t)left);
}

/* `pairs` and `bytes` are numbers where that makes loops into lines. */
INLINE INSTRUCTIONS static inline void make_group(const struct group *group, int pairs, int left,
                                                  int bytes, const struct strip *from, uint8_t *out,
                                                  size_t out_step)
{
    const uint8_t *row = from->bytes;
    for (int y = 0; y < from->rows; y++, row += from->step) {
        const __m128i pixels = weigh_group(group, pairs, bytes, row);
        if (bytes == 3)
            put_pixels(pixels, left, out + (size_t)y * out_step);
        else
            put_woven(pixels, left, out + (size_t)y * FILTER_WOVEN * out_step, out_step);
    }
}

INLINE INSTRUCTIONS static inline bool go_across(const struct filter *filters, int outputs,
                                                 int bytes, const struct strip *from, uint8_t *out,
                                                 size_t out_step)
{
    const int pixels = group_pixels(bytes);
    for (int i = 0; i < outputs; i += pixels, out += bytes == 3 ? 3 * pixels : pixels) {
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
