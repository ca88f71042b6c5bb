/* SPDX-License-Identifier: MIT */

/*
 * Sums of products of matrices, the inner loops of strided/blocked.h. Included after the vectors
 * of an instruction set, for one of its files.
 *
 * The right factor and the result are made of groups of WIDE vectors of columns (the last group may
 * have fewer), row after row in each group: [group][row][vector of the group][LANES]. A product of
 * up to HIGH rows and a whole group is kept in registers.
 */

#if LANES == 16
#define WIDE 4
#else
#define WIDE 2
#endif
#define HIGH 6

/* Inner indices at a time: that many rows of a group stay in the first-level cache. */
#define DEEP 128

/* The vectors of group `group` of `channels`. */
static inline int group_width(int channels, int group)
{
    const int left = channels / LANES - group * WIDE;
    return left < WIDE ? left : WIDE;
}

static inline int group_count(int channels)
{
    return (channels / LANES + WIDE - 1) / WIDE;
}

/* Where the vectors of block `block` begin in rows of groups, and how far apart they lie. */
static inline size_t group_place(int channels, int rows, int block, size_t *step)
{
    const int group = block / WIDE, width = group_width(channels, group);
    *step = (size_t)width * LANES;
    return (size_t)group * WIDE * LANES * (size_t)rows + (size_t)(block % WIDE) * LANES;
}

/*
 * c[r][w] (+)= sum over k < depth of a(r, k) b[k][w]. Values: a(r, k) is a[r][k] within a block of
 * LANES, the next one `block` floats further. Turned: a[k][r], of rows of LANES.
 */
struct panel {
    const float *a, *b;
    float *c;
    size_t block; /* of values */
    int depth;
    bool add; /* at the end: sums of sums round less than one long sum */
};

static inline TARGET __attribute__((always_inline)) void multiply_step(const float *a, size_t next,
                                                                       const float *b,
                                                                       vector sum[HIGH][WIDE],
                                                                       int high, int wide)
{
    vector right[WIDE];
#pragma GCC unroll 4
    for (int w = 0; w < wide; w++)
        right[w] = v_load(b + w * LANES);
#pragma GCC unroll 6
    for (int r = 0; r < high; r++) {
        const vector left = v_all(a[(size_t)r * next]);
#pragma GCC unroll 4
        for (int w = 0; w < wide; w++)
            sum[r][w] = v_fma(left, right[w], sum[r][w]);
    }
}

static inline TARGET __attribute__((always_inline)) void multiply(const struct panel *p, int high,
                                                                  int wide, bool turned)
{
    vector sum[HIGH][WIDE];
    const float *a = p->a, *b = p->b;
#pragma GCC unroll 6
    for (int r = 0; r < high; r++)
#pragma GCC unroll 4
        for (int w = 0; w < wide; w++)
            sum[r][w] = v_zero();
    if (turned) {
        for (int k = 0; k < p->depth; k++, a += LANES, b += wide * LANES)
            multiply_step(a, 1, b, sum, high, wide);
    } else {
        for (int k = 0; k < p->depth; k += LANES, a += p->block) {
#pragma GCC unroll 4
            for (int i = 0; i < LANES; i++, b += wide * LANES)
                multiply_step(a + i, LANES, b, sum, high, wide);
        }
    }
#pragma GCC unroll 6
    for (int r = 0; r < high; r++)
#pragma GCC unroll 4
        for (int w = 0; w < wide; w++) {
            float *c = p->c + (r * wide + w) * LANES;
            if (p->add)
                sum[r][w] += v_load(c);
            v_store(c, sum[r][w]);
        }
}

typedef void multiply_panel(const struct panel *p);

#define MULTIPLY(high, wide)                                                                       \
    static TARGET void multiply_##high##_##wide(const struct panel *p)                             \
    {                                                                                              \
        multiply(p, high, wide, false);                                                            \
    }                                                                                              \
    static TARGET void turned_##high##_##wide(const struct panel *p)                               \
    {                                                                                              \
        multiply(p, high, wide, true);                                                             \
    }

#if WIDE == 4
#define EACH_WIDE(of, high) of(high, 1) of(high, 2) of(high, 3) of(high, 4)
#else
#define EACH_WIDE(of, high) of(high, 1) of(high, 2)
#endif
#define EACH_HIGH(of) of(1) of(2) of(3) of(4) of(5) of(6)

#define MULTIPLY_HIGH(high) EACH_WIDE(MULTIPLY, high)
EACH_HIGH(MULTIPLY_HIGH)

#define VALUES_NAME(high, wide) multiply_##high##_##wide,
#define TURNED_NAME(high, wide) turned_##high##_##wide,
#define VALUES_HIGH(high)       {EACH_WIDE(VALUES_NAME, high)},
#define TURNED_HIGH(high)       {EACH_WIDE(TURNED_NAME, high)},
static multiply_panel *const multiply_values[HIGH][WIDE] = {EACH_HIGH(VALUES_HIGH)};
static multiply_panel *const multiply_turned[HIGH][WIDE] = {EACH_HIGH(TURNED_HIGH)};

/* One term of a sum of products. */
struct term {
    const float *left, *right;
};

/*
 * The group `group` of c = sum of left right. Left: values [depth / LANES][rows][LANES]. Right:
 * groups of `depth` rows. c: groups of `rows` rows, of `channels` columns.
 */
static TARGET void sum_values(const struct term *terms, int count, int rows, int depth,
                              int channels, int group, float *c)
{
    const int wide = group_width(channels, group);
    const size_t skip = (size_t)group * WIDE * LANES;
    bool add = false;
    for (int n = 0; n < count; n++) {
        for (int k = 0; k < depth; k += DEEP, add = true) {
            const int deep = depth - k < DEEP ? depth - k : DEEP;
            for (int r = 0; r < rows; r += HIGH) {
                const int high = rows - r < HIGH ? rows - r : HIGH;
                const struct panel p = {
                    .a = terms[n].left + ((size_t)k * (size_t)rows + (size_t)r * LANES),
                    .b = terms[n].right + skip * (size_t)depth + (size_t)(k * wide) * LANES,
                    .c = c + skip * (size_t)rows + (size_t)(r * wide) * LANES,
                    .block = (size_t)rows * LANES,
                    .depth = deep,
                    .add = add};
                multiply_values[high - 1][wide - 1](&p);
            }
        }
    }
}

/*
 * The group `group` of c (+)= sum of left^T right. Left: values [rows / LANES][depth][LANES].
 * Right: groups of `depth` rows. c: groups of `rows` rows, of `channels` columns.
 */
static TARGET void sum_turned(const struct term *terms, int count, int rows, int depth,
                              int channels, int group, bool add, float *c)
{
    const int wide = group_width(channels, group);
    const size_t skip = (size_t)group * WIDE * LANES;
    const int parts = (LANES + HIGH - 1) / HIGH;
    for (int n = 0; n < count; n++, add = true) {
        for (int r = 0; r < rows; r += LANES) {
            for (int part = 0; part < parts; part++) {
                const int from = r + LANES * part / parts, to = r + LANES * (part + 1) / parts;
                const struct panel p = {.a = terms[n].left + (size_t)r * (size_t)depth + (from - r),
                                        .b = terms[n].right + skip * (size_t)depth,
                                        .c =
                                            c + skip * (size_t)rows + (size_t)(from * wide) * LANES,
                                        .depth = depth,
                                        .add = add};
                multiply_turned[to - from - 1][wide - 1](&p);
            }
        }
    }
}
