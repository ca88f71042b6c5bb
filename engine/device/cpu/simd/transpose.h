/* SPDX-License-Identifier: MIT */

/* Rows into columns. Included after the vectors of an instruction set. */

/* LANES vectors as a matrix, in place. Every step weaves the two halves into each other, which
 * takes the top bit of a row's number to the bottom of a lane's. */
static inline TARGET __attribute__((always_inline)) void transpose(vector m[LANES])
{
    vector t[LANES];
#pragma GCC unroll 4
    for (int step = 1; step < LANES; step *= 2) {
#pragma GCC unroll 8
        for (int i = 0; i < LANES / 2; i++) {
            t[2 * i] = v_weave_low(m[i], m[i + LANES / 2]);
            t[2 * i + 1] = v_weave_high(m[i], m[i + LANES / 2]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++)
            m[i] = t[i];
    }
}

/* The same in memory, one row after the other. */
static inline TARGET void transpose_square(const float *from, float *to)
{
    vector m[LANES];
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++)
        m[i] = v_load(from + (ptrdiff_t)i * LANES);
    transpose(m);
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++)
        v_store(to + (ptrdiff_t)i * LANES, m[i]);
}
