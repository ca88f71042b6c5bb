/* SPDX-License-Identifier: MIT */

/*
 * Lines of tiles of bf16. Part of blocked.h, which is included after vectors of 16 floats
 * (simd/vector.h), transpose() for them, and
 *   TARGET                     the function attribute that allows them
 *   tile_zero(tile)            tiles are numbered by constants, 0 to 7
 *   tile_load(tile, from)      TILE_BYTES, one line after the other
 *   tile_store(tile, to)
 *   tile_multiply(sums, a, b)  for all k: 16 lines of 32 bf16 by 16 lines of 16 pairs,
 *                              sums[i][j] += a[i][2k] * b[k][2j] + a[i][2k + 1] * b[k][2j + 1]
 *   tiles_begin(), tiles_end() around all uses of tiles, by each thread
 *   processor_has_tiles()
 *   AMX_KERNELS, AMX_NAME      the name of the kernels' array, and that of each kernel
 */

#define TILE_LINES 16
#define TILE_LINE  64                           /* bytes */
#define TILE       (TILE_LINES * TILE_LINE / 2) /* numbers of bf16 */
#define TILE_BYTES ((size_t)TILE_LINES * TILE_LINE)
#define TILE_SUMS  (TILE_LINES * BLOCK) /* floats */
#define BLOCK      16                   /* channels of a block, floats of a vector */

#define MOST_TAPS  64
#define MOST_LINES 64   /* of a picture's result */
#define MOST_SIDE  8192 /* of any picture */
/* Bytes of a group's tiles on one side; each thread has its own. */
#define MOST_PACKED ((size_t)4 << 20)

#define INLINE static inline TARGET __attribute__((always_inline))

/* The compiler does not know that a tile is loaded from what was stored before. */
#define TILES_ARE_STORED __asm__ volatile("" ::: "memory")

typedef uint32_t words __attribute__((vector_size(TILE_LINE)));

/* A side of the convolution; the last pair of an odd number of blocks has one alone. */
struct side {
    int blocks, pairs, h, w, pixels;
};

static struct side side_of(const struct conv_shape *s, bool in)
{
    const int blocks = (in ? s->in : s->out) / BLOCK;
    const int h = in ? s->in_h : s->out_h, w = in ? s->in_w : s->out_w;
    return (struct side){blocks, (blocks + 1) / 2, h, w, h * w};
}

/* Of a group of rows. */
static size_t packed_bytes(struct side side)
{
    return (size_t)side.pairs * (size_t)side.pixels * TILE_BYTES;
}

/* Reserve bytes of the scratch, from a cache line on; returns their offset. */
static size_t reserve(size_t *used, size_t bytes)
{
    const size_t at = *used;
    *used += (bytes + TILE_LINE - 1) / TILE_LINE * TILE_LINE;
    return at;
}

/* Tiles 0 to 3 are sums: of a0 with b0, a0 with b1, a1 with b0, a1 with b1. */
INLINE void sums_clear(void)
{
    tile_zero(0);
    tile_zero(1);
    tile_zero(2);
    tile_zero(3);
}

INLINE void sums_add(const uint16_t *a0, const uint16_t *a1, const uint16_t *b0, const uint16_t *b1)
{
    tile_load(4, a0);
    tile_load(5, a1);
    tile_load(6, b0);
    tile_load(7, b1);
    tile_multiply(0, 4, 6);
    tile_multiply(1, 4, 7);
    tile_multiply(2, 5, 6);
    tile_multiply(3, 5, 7);
}

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
