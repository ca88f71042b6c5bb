/* SPDX-License-Identifier: MIT */
#include "tests/engine/device/cpu/amx/emulated.h"

#include <string.h>

#include "engine/device/bf16.h"
#include "tests/unchecked.h"

#define LANES  16
#define TARGET __attribute__((unused))

typedef float vector __attribute__((vector_size(LANES * sizeof(float))));
/* What every processor has. */
typedef float quad __attribute__((vector_size(4 * sizeof(float))));
typedef uint32_t word_quad __attribute__((vector_size(4 * sizeof(uint32_t))));

static inline TARGET vector v_load(const float *p)
{
    vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline TARGET void v_store(float *p, vector v)
{
    memcpy(p, &v, sizeof v);
}

static inline TARGET vector v_zero(void)
{
    return (vector){0};
}

static inline TARGET vector v_fma(vector a, vector b, vector c)
{
    for (int i = 0; i < LANES; i++)
        a[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return a;
}

static inline TARGET vector v_max(vector a, vector b)
{
    for (int i = 0; i < LANES; i++)
        a[i] = b[i] > a[i] ? b[i] : a[i];
    return a;
}

static inline TARGET vector v_load_bf16(const uint16_t *p)
{
    vector v;
    for (int i = 0; i < LANES; i++)
        v[i] = bf16_widen(p[i]);
    return v;
}

static inline TARGET void v_store_bf16(uint16_t *p, vector v)
{
    for (int i = 0; i < LANES; i++)
        p[i] = bf16_round(v[i]);
}

static inline TARGET vector v_rounded_bf16(vector v)
{
    for (int i = 0; i < LANES; i++)
        v[i] = bf16_widen(bf16_round(v[i]));
    return v;
}

static TARGET void transpose(vector m[LANES])
{
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < i; j++) {
            const float x = m[i][j];
            m[i][j] = m[j][i];
            m[j][i] = x;
        }
}

/* --- tiles --- */

static _Thread_local union tile {
    quad quads[16][4];      /* f32 */
    word_quad pairs[16][4]; /* bf16, the first of two in the lower half of a word */
} registers[8];

/* 16 numbers of bf16, which is the upper half of f32, widened: the first or second of each pair. */
union widened {
    word_quad bits[4];
    quad quads[4];
    float numbers[16];
};

#define tile_zero(tile)       memset(&registers[tile], 0, sizeof *registers)
#define tile_load(tile, from) memcpy(&registers[tile], from, sizeof *registers)
#define tile_store(tile, to)  memcpy(to, &registers[tile], sizeof *registers)

UNCHECKED static void widen_line(const word_quad pairs[4], union widened *first,
                                 union widened *second)
{
    for (int q = 0; q < 4; q++) {
        first->bits[q] = pairs[q] << 16;
        second->bits[q] = pairs[q] & 0xffff0000;
    }
}

UNCHECKED static void tile_multiply(int sums, int a, int b)
{
    union widened first[16], second[16];
    for (int k = 0; k < 16; k++)
        widen_line(registers[b].pairs[k], &first[k], &second[k]);
    for (int i = 0; i < 16; i++) {
        union widened x, y;
        widen_line(registers[a].pairs[i], &x, &y);
        /* Four variables, no array: only so does the compiler keep the sums in registers. */
        quad *all = registers[sums].quads[i];
        quad s0 = all[0], s1 = all[1], s2 = all[2], s3 = all[3];
        for (int k = 0; k < 16; k++) {
            const float even = x.numbers[k], odd = y.numbers[k];
            s0 = s0 + even * first[k].quads[0] + odd * second[k].quads[0];
            s1 = s1 + even * first[k].quads[1] + odd * second[k].quads[1];
            s2 = s2 + even * first[k].quads[2] + odd * second[k].quads[2];
            s3 = s3 + even * first[k].quads[3] + odd * second[k].quads[3];
        }
        all[0] = s0, all[1] = s1, all[2] = s2, all[3] = s3;
    }
}

static void tiles_begin(void) {}

static void tiles_end(void) {}

static bool processor_has_tiles(void)
{
    return true;
}

/* So that small convolutions have several bands, and too large weights for parts. */
#define BAND_BYTES  ((size_t)48 << 10)
#define PARTS_BYTES ((size_t)64 << 10)

#define AMX_KERNELS emulated_amx_kernels
#define AMX_NAME    "AMX, emulated"
#include "engine/device/cpu/amx/blocked.h"
