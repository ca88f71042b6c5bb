/* SPDX-License-Identifier: MIT */
/* The loops of kernels.h in plain C, and which loops a processor can run. */
#include "engine/device/cpu/simd/kernels.h"

#include "engine/device/cpu/simd/processor.h"

#define KERNELS kernels_plain
#include "engine/device/cpu/simd/plain_loops.h"

const struct kernels *kernels_find(int block, bool bf16)
{
#if defined(__x86_64__)
    if (processor_has_vectors(block) && block == kernels_avx512.block)
        return bf16 ? &kernels_avx512_bf16 : &kernels_avx512;
    if (processor_has_vectors(block))
        return bf16 ? &kernels_avx2_bf16 : &kernels_avx2;
#endif
    return block != 1 ? NULL : bf16 ? &kernels_plain_bf16 : &kernels_plain;
}
