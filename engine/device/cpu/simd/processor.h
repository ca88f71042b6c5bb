/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Whether the processor has the instructions of kernels on vectors of this many floats: AVX-512 for
 * 16, AVX2 for 8. */
static inline bool processor_has_vectors(int floats)
{
#if defined(__x86_64__)
    return floats == 16  ? __builtin_cpu_supports("avx512f")
           : floats == 8 ? __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
                         : false;
#else
    (void)floats;
    return false;
#endif
}

/* The same for kernels that multiply numbers of 16 bits (v_dot in vector_*.h); with AVX-512 they
 * round to bf16 by the processor, too. What the library is held to does not count here: such
 * kernels are offered where those of f32 are. */
static inline bool processor_has_dots(int floats)
{
#if defined(__x86_64__)
    return processor_has_vectors(floats) &&
           (floats != 16 ||
            (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni") &&
             __builtin_cpu_supports("avx512bf16")));
#else
    (void)floats;
    return false;
#endif
}
