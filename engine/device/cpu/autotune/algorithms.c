/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/autotune/algorithms.h"

#include "engine/device/cpu/amx/kernels.h"
#include "engine/device/cpu/simd/processor.h"
#include "engine/device/cpu/strided/kernels.h"
#include "engine/device/cpu/winograd/values.h"
#include "engine/device/cpu/winograd/weights.h"

#define DIRECTIONS 3

#if defined(__x86_64__)

/* What usually wins comes first: it is chosen where nothing is measured (first_own in choose.c). */
static const struct conv_kernel *const of_16[DIRECTIONS][8] = {
    [CONV_FORWARD] = {&amx_kernels[CONV_FORWARD], &winograd_forward_16[0], &winograd_forward_16[1],
                      &strided_avx512[CONV_FORWARD], &amx_avx512_kernels[CONV_FORWARD]},
    [CONV_BACKWARD_DATA] = {&amx_kernels[CONV_BACKWARD_DATA], &winograd_data_16[0],
                            &winograd_data_16[1], &strided_avx512[CONV_BACKWARD_DATA],
                            &amx_avx512_kernels[CONV_BACKWARD_DATA]},
    [CONV_BACKWARD_WEIGHTS] = {&amx_kernels[CONV_BACKWARD_WEIGHTS], &winograd_weights_16[0],
                               &winograd_weights_16[1], &strided_avx512[CONV_BACKWARD_WEIGHTS],
                               &amx_avx512_kernels[CONV_BACKWARD_WEIGHTS]},
};

static const struct conv_kernel *const of_8[DIRECTIONS][8] = {
    [CONV_FORWARD] = {&winograd_forward_8[0], &winograd_forward_8[1], &strided_avx2[CONV_FORWARD]},
    [CONV_BACKWARD_DATA] = {&winograd_data_8[0], &winograd_data_8[1],
                            &strided_avx2[CONV_BACKWARD_DATA]},
    [CONV_BACKWARD_WEIGHTS] = {&winograd_weights_8[0], &winograd_weights_8[1],
                               &strided_avx2[CONV_BACKWARD_WEIGHTS]},
};

#endif

const struct conv_kernel *const *conv_kernels(enum conv_direction direction, int block)
{
    static const struct conv_kernel *const none[] = {NULL};
#if defined(__x86_64__)
    if (processor_has_vectors(block) &&
        library_uses(block == 16 ? dnnl_cpu_isa_avx512_core : dnnl_cpu_isa_avx2))
        return block == 16 ? of_16[direction] : of_8[direction];
#else
    (void)direction;
    (void)block;
#endif
    return none;
}

static bool library_may_use_winograd(const struct conv_shape *s)
{
    return !s->bf16 && s->kernel_h == 3 && s->kernel_w == 3 && s->stride_h == 1 &&
           s->stride_w == 1 && s->in_block == 16 && s->out_block == 16;
}

int conv_algorithms(const struct conv_shape *shape, enum conv_direction direction,
                    struct conv_algorithm list[CONV_MOST_ALGORITHMS])
{
    int count = 0;
    const struct conv_kernel *const *kernel = conv_kernels(direction, shape->in_block);
    list[count++] = (struct conv_algorithm){.library = LIBRARY_DIRECT};
    if (!conv_is_plain(shape))
        return count;
    for (; shape->in_block == shape->out_block && *kernel && count < CONV_MOST_ALGORITHMS - 1;
         kernel++)
        if ((*kernel)->fits(shape))
            list[count++] = (struct conv_algorithm){.kernel = *kernel};
    if (library_may_use_winograd(shape))
        list[count++] = (struct conv_algorithm){.library = LIBRARY_WINOGRAD};
    return count;
}

const char *conv_algorithm_name(struct conv_algorithm algorithm)
{
    if (algorithm.kernel)
        return algorithm.kernel->name;
    return algorithm.library == LIBRARY_WINOGRAD ? "library's winograd" : "direct";
}
