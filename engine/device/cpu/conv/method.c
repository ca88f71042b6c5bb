/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/conv/method.h"

#include "engine/device/cpu/strided/strided.h"
#include "engine/device/cpu/winograd/methods.h"
#include "engine/device/cpu/winograd/weights.h"

#define DIRECTIONS 3

#if defined(__x86_64__)

static const struct conv_method *const of_16[DIRECTIONS][8] = {
    [CONV_FORWARD] = {&winograd_forward_16, &strided_avx512[CONV_FORWARD]},
    [CONV_BACKWARD_DATA] = {&winograd_data_16, &strided_avx512[CONV_BACKWARD_DATA]},
    [CONV_BACKWARD_WEIGHTS] = {&winograd_weights_16, &strided_avx512[CONV_BACKWARD_WEIGHTS]},
};

static const struct conv_method *const of_8[DIRECTIONS][8] = {
    [CONV_FORWARD] = {&winograd_forward_8, &strided_avx2[CONV_FORWARD]},
    [CONV_BACKWARD_DATA] = {&winograd_data_8, &strided_avx2[CONV_BACKWARD_DATA]},
    [CONV_BACKWARD_WEIGHTS] = {&winograd_weights_8, &strided_avx2[CONV_BACKWARD_WEIGHTS]},
};

static bool may_use(dnnl_cpu_isa_t isa)
{
    return ((unsigned)dnnl_get_effective_cpu_isa() & isa) == isa;
}

#endif

const struct conv_method *const *conv_methods(enum conv_direction direction, int block)
{
    static const struct conv_method *const none[] = {NULL};
#if defined(__x86_64__)
    if (block == 16 && __builtin_cpu_supports("avx512f") && may_use(dnnl_cpu_isa_avx512_core))
        return of_16[direction];
    if (block == 8 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        may_use(dnnl_cpu_isa_avx2))
        return of_8[direction];
#else
    (void)direction;
    (void)block;
#endif
    return none;
}

void conv_pass_point(struct conv_pass *pass, enum conv_direction direction, float *src,
                     float *weights, float *bias, float *dst)
{
    switch (direction) {
    case CONV_FORWARD:
        pass->x = src;
        pass->w = weights;
        pass->bias = bias;
        pass->y = dst;
        break;
    case CONV_BACKWARD_DATA:
        pass->dx = src;
        pass->w = weights;
        pass->dy = dst;
        break;
    case CONV_BACKWARD_WEIGHTS:
        pass->x = src;
        pass->dw = weights;
        pass->dbias = bias;
        pass->dy = dst;
        break;
    }
}
