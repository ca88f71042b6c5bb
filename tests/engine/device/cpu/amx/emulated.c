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
    quad quads[16][4]; /* f32 */
    uint16_t numbers[16][32];
} registers[8];

#define tile_zero(tile)       memset(&registers[tile], 0, sizeof *registers)
#define tile_load(tile, from) memcpy(&registers[tile], from, sizeof *registers)
#define tile_store(tile, to)  memcpy(to, &registers[tile], sizeof *registers)

UNCHECKED static void tile_multiply(int sums, int a, int b)
{
    union {
        float numbers[16];
        quad quads[4];
    } lines[32];
    for (int k = 0; k < 32; k++)
        for (int j = 0; j < 16; j++)
            lines[k].numbers[j] = bf16_widen(registers[b].numbers[k / 2][2 * j + k % 2]);
    for (int i = 0; i < 16; i++) {
        float row[32];
        for (int k = 0; k < 32; k++)
            row[k] = bf16_widen(registers[a].numbers[i][k]);
        /* After bf16_widen, with sanitizers a call: across one, no sum stays in a register. */
        quad *all = registers[sums].quads[i];
        quad s0 = all[0], s1 = all[1], s2 = all[2], s3 = all[3];
        for (int k = 0; k < 32; k++) {
            s0 += row[k] * lines[k].quads[0];
            s1 += row[k] * lines[k].quads[1];
            s2 += row[k] * lines[k].quads[2];
            s3 += row[k] * lines[k].quads[3];
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
