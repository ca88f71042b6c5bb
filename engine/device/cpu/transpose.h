/* SPDX-License-Identifier: MIT */

/*
 * A square of LANES vectors, its rows turned into columns. Included behind the vectors of an
 * instruction set. Every step weaves the two halves into each other, which takes the top bit of a
 * row's number to the bottom of a lane's.
 */
static TARGET void transpose(const float *from, float *to)
{
    vector a[LANES], b[LANES];
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++)
        a[i] = v_load(from + (ptrdiff_t)i * LANES);
#pragma GCC unroll 4
    for (int step = 1; step < LANES; step *= 2) {
#pragma GCC unroll 8
        for (int i = 0; i < LANES / 2; i++) {
            b[2 * i] = v_weave_low(a[i], a[i + LANES / 2]);
            b[2 * i + 1] = v_weave_high(a[i], a[i + LANES / 2]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++)
            a[i] = b[i];
    }
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++)
        v_store(to + (ptrdiff_t)i * LANES, a[i]);
}
