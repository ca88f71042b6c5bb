/* SPDX-License-Identifier: MIT */
/* The loops of blocked.h by AVX512_BF16, with tiles in memory. */
#include "engine/device/cpu/amx/kernels.h"

#include "config.h"

#if defined(HAVE_AMX) /* a compiler that has it has these instructions, too */

#include <string.h>

#include "engine/device/cpu/core/onednn.h"
#include "engine/device/cpu/simd/vector_avx512.h"

#undef TARGET
#define TARGET __attribute__((target("avx512f,avx512bf16")))

/* Sums are copied, as they are changed; factors are read where they are. */
static _Thread_local struct {
    float sums[4][256] __attribute__((aligned(64)));
    const char *factors[4];
} registers;

#define tile_zero(tile)         memset(registers.sums[tile], 0, sizeof registers.sums[tile])
#define tile_store(tile, to)    memcpy(to, registers.sums[tile], sizeof registers.sums[tile])
#define tile_multiply(to, a, b) multiply_tiles(registers.sums[to], factor(a), factor(b))

static inline void tile_load(int tile, const void *from)
{
    if (tile < 4)
        memcpy(registers.sums[tile], from, sizeof registers.sums[tile]);
    else
        registers.factors[tile - 4] = from;
}

static inline const char *factor(int tile)
{
    return registers.factors[tile - 4];
}

static inline TARGET void multiply_tiles(float *sums, const char *a, const char *b)
{
    vector sum[LANES];
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++)
        sum[i] = v_load(sums + (ptrdiff_t)i * LANES);
    for (int k = 0; k < LANES; k++, a += 4, b += 64) {
        const vector right = v_load((const float *)b);
        /* Not by its intrinsic: GCC 12 copies the sums of a loop from register to register. */
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++)
            __asm__("vdpbf16ps %2%{1to16%}, %1, %0"
                    : "+v"(sum[i])
                    : "v"(right), "m"(*(const int32_t *)(a + (ptrdiff_t)i * 64)));
    }
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++)
        v_store(sums + (ptrdiff_t)i * LANES, sum[i]);
}

static inline void tiles_begin(void) {}

static inline void tiles_end(void) {}

static bool processor_has_tiles(void)
{
    return library_uses(dnnl_cpu_isa_avx512_core_bf16);
}

#include "engine/device/cpu/simd/transpose.h"

#define AMX_KERNELS amx_avx512_kernels
#define AMX_NAME    "AVX512_BF16"
#include "engine/device/cpu/amx/blocked.h"

#endif
