/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/conv/kernel.h"

void conv_pass_point(struct conv_pass *pass, enum conv_direction direction, void *src,
                     float *weights, float *bias, void *dst)
{
    pass->direction = direction;
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
