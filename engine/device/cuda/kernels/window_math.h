/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/host_device.h"

/* Whole numbers from `first` to before `end`; none where end <= first. */
struct span {
    int first, end;
};

/* Inputs (along one axis of `size`) that the window of output `o` covers, without the padding.
 * Input i is tap i - (o * stride - pad) of it. */
static inline HOST_DEVICE struct span window_inputs(int o, int kernel, int stride, int pad,
                                                    int size)
{
    const int start = o * stride - pad, end = start + kernel;
    struct span s = {start > 0 ? start : 0, end < size ? end : size};
    return s;
}

/* Outputs (of `outputs`) whose windows cover input `i`. */
static inline HOST_DEVICE struct span window_outputs(int i, int kernel, int stride, int pad,
                                                     int outputs)
{
    const int last = (i + pad) / stride, before = i + pad - kernel;
    const int first = before < 0 ? 0 : before / stride + 1;
    struct span s = {first, last + 1 < outputs ? last + 1 : outputs};
    return s;
}
