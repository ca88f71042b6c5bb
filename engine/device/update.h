/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>
#include <stdbool.h>

#include "engine/device/host_device.h"

/*
 * How a parameter is updated by its gradient, one number at a time, with PyTorch's definitions
 * (torch.optim). CPU devices and GPUs make their loops from the list of rules.
 *
 * X(RULE, rule, states): update_rule() and how many numbers it remembers of each parameter.
 */
#define UPDATE_RULES(X)                                                                            \
    X(SGD, sgd, 0)                                                                                 \
    X(MOMENTUM, momentum, 1)                                                                       \
    X(NESTEROV, nesterov, 1)                                                                       \
    X(ADAM, adam, 2)                                                                               \
    X(RMSPROP, rmsprop, 1)                                                                         \
    X(RMSPROP_MOMENTUM, rmsprop_momentum, 2)

/* The most numbers that a rule remembers of each parameter; with an average one more is kept. */
#define UPDATE_STATES 2
#define STATES_KEPT   (UPDATE_STATES + 1)

#define UPDATE_RULE(RULE, rule, states) UPDATE_##RULE,
enum update_rule { UPDATE_RULES(UPDATE_RULE) };
#undef UPDATE_RULE

/* What an update is made with; optimizer_step() fills it in. Kernels read it in device memory. */
struct optimizer_step {
    enum update_rule rule;
    float lr; /* Adam: divided by 1 - beta1^t at step t */
    float momentum;
    float weight_decay; /* of this share of a parameter its gradient is made */
    float shrink;       /* what a parameter is multiplied by first (AdamW); 1: nothing */
    float beta1, rest1; /* of the mean of gradients: the share that stays, 1 - beta1 */
    float beta2, rest2; /* of the mean of their squares */
    float correction;   /* 1 / sqrt(1 - beta2^t) */
    float eps;
    float keep, take; /* of the average of parameters the share that stays, of the new ones; take 0:
                         there is no average */
    int average;      /* the state that is the average */
    float clip;       /* the norm that all gradients together are scaled down to; 0: they stay */
    float norm;       /* theirs, where they are on several devices; 0: that of the replica's own */
};

/* The step of parameters that weight decay leaves alone. */
static inline HOST_DEVICE struct optimizer_step update_spared(struct optimizer_step step)
{
    step.weight_decay = 0;
    step.shrink = 1;
    return step;
}

/* The new average of a parameter that is w now. */
static inline HOST_DEVICE float update_average(float average, float w,
                                               const struct optimizer_step *s)
{
    return s->keep * average + s->take * w;
}

/* What gradients of this norm are multiplied by: torch.nn.utils.clip_grad_norm_. Not a number where
 * the norm is none. */
static inline HOST_DEVICE float update_clip(float norm, float clip)
{
    const float scale = clip / (norm + 1e-6F);
    return scale >= 1 ? 1 : scale;
}

/*
 * The new value of parameter w with gradient g. *a and *b are what the rule remembers, zero at
 * first; those that it does not have are neither read nor written.
 */

static inline HOST_DEVICE float update_sgd(float w, float g, float *a, float *b,
                                           const struct optimizer_step *s)
{
    (void)a;
    (void)b;
    return w - s->lr * (g + s->weight_decay * w);
}

/* *a: momentum_buffer */
static inline HOST_DEVICE float update_momentum(float w, float g, float *a, float *b,
                                                const struct optimizer_step *s)
{
    (void)b;
    *a = s->momentum * *a + (g + s->weight_decay * w);
    return w - s->lr * *a;
}

static inline HOST_DEVICE float update_nesterov(float w, float g, float *a, float *b,
                                                const struct optimizer_step *s)
{
    (void)b;
    g += s->weight_decay * w;
    *a = s->momentum * *a + g;
    return w - s->lr * (g + s->momentum * *a);
}

/* Adam (Kingma and Ba 2015, arXiv:1412.6980), and AdamW (Loshchilov and Hutter 2019,
 * arXiv:1711.05101) by `shrink`. *a: exp_avg, *b: exp_avg_sq. */
static inline HOST_DEVICE float update_adam(float w, float g, float *a, float *b,
                                            const struct optimizer_step *s)
{
    g += s->weight_decay * w;
    w *= s->shrink;
    *a = s->beta1 * *a + s->rest1 * g;
    *b = s->beta2 * *b + s->rest2 * g * g;
    return w - s->lr * *a / (sqrtf(*b) * s->correction + s->eps);
}

/* RMSprop (Tieleman and Hinton 2012). *a: square_avg */
static inline HOST_DEVICE float update_rmsprop(float w, float g, float *a, float *b,
                                               const struct optimizer_step *s)
{
    (void)b;
    g += s->weight_decay * w;
    *a = s->beta2 * *a + s->rest2 * g * g;
    return w - s->lr * g / (sqrtf(*a) + s->eps);
}

/* *b: momentum_buffer */
static inline HOST_DEVICE float update_rmsprop_momentum(float w, float g, float *a, float *b,
                                                        const struct optimizer_step *s)
{
    g += s->weight_decay * w;
    *a = s->beta2 * *a + s->rest2 * g * g;
    *b = s->momentum * *b + g / (sqrtf(*a) + s->eps);
    return w - s->lr * *b;
}
