/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_KERNELS_SGD_MATH_H
#define DPARTUI_ENGINE_DEVICE_CUDA_KERNELS_SGD_MATH_H

#include "engine/device/cuda/kernels/host_device.h"

struct sgd_rates {
    float lr, momentum, weight_decay;
};

/* PyTorch's SGD of one parameter: g += wd * w; v = m * v + g; the new w is w - lr * v. *v is only
 * touched where there is momentum. */
static inline HOST_DEVICE float sgd_update(float w, float g, float *v, int has_momentum,
                                           struct sgd_rates r)
{
    g += r.weight_decay * w;
    if (has_momentum) {
        *v = r.momentum * *v + g;
        g = *v;
    }
    return w - r.lr * g;
}

#endif
