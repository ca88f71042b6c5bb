/* SPDX-License-Identifier: MIT */

/*
 * Lines of tiles of bf16. Part of convolutions.h, which is included after vectors of 16 floats
 * (simd/vector.h), transpose() for them, and the operations on tiles:
 *   TARGET                    the function attribute that allows them
 *   tile_zero(tile)           tiles have constant numbers from 0 to 7
 *   tile_load(tile, from)     TILE_BYTES, one line after the other
 *   tile_store(tile, to)
 *   tile_multiply(sums, a, b) sums[i][j] += a[i][2k] * b[k][2j] + a[i][2k + 1] * b[k][2j + 1] for
 * all k: 16 lines of 32 bf16 by 16 lines of 16 pairs of them tiles_begin(), tiles_end(),
 * tiles_are_there() AMX_KERNELS, AMX_NAME     the kernels' array, and what they are called
 */

#define TILE_LINES 16
#define TILE_LINE  64                           /* bytes */
#define TILE       (TILE_LINES * TILE_LINE / 2) /* numbers of bf16 */
#define BLOCK      16                           /* channels of a block, floats of a vector */

#define INLINE static inline TARGET __attribute__((always_inline))

/* The compiler does not know that a tile is loaded from what was stored before. */
#define TILES_ARE_STORED __asm__ volatile("" ::: "memory")

typedef uint32_t words __attribute__((vector_size(TILE_LINE)));

/* Pairs of bf16, which come widened: of `low` in the lower halves. */
INLINE vector pairs_of(vector low, vector high)
{
    return (vector)((words)low >> 16 | (words)high);
}

/* What lines are made of: a block of channels of one pixel, with the norm's work done. */
INLINE vector read_block(const uint16_t *from, const struct conv_norm *norm, size_t channel)
{
    const vector x = v_load_bf16(from);
    if (!norm)
        return x;
    const vector y = v_fma(x, v_load(norm->scale + channel), v_load(norm->shift + channel));
    return v_rounded_bf16(v_max(y, v_zero()));
}
