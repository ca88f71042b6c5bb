/* SPDX-License-Identifier: MIT */
#include "engine/device/optimizer.h"

#include <math.h>

/* What PyTorch calls what each rule remembers. */
static const struct state_arrays arrays[] = {
    [UPDATE_SGD] = {0},
    [UPDATE_MOMENTUM] = {1, {"momentum_buffer"}},
    [UPDATE_NESTEROV] = {1, {"momentum_buffer"}},
    [UPDATE_ADAM] = {2, {"exp_avg", "exp_avg_sq"}},
    [UPDATE_RMSPROP] = {1, {"square_avg"}},
    [UPDATE_RMSPROP_MOMENTUM] = {2, {"square_avg", "momentum_buffer"}},
};

_Static_assert((int)STATES_KEPT <= (int)STATE_ARRAYS, "all that is remembered is kept");

static enum update_rule rule_of(const struct spec *spec)
{
    const bool momentum = spec->momentum > 0;
    switch (spec->optimizer) {
    case OPTIMIZER_SGD:
        break;
    case OPTIMIZER_NESTEROV:
        return UPDATE_NESTEROV;
    case OPTIMIZER_ADAM:
    case OPTIMIZER_ADAMW:
        return UPDATE_ADAM;
    case OPTIMIZER_RMSPROP:
        return momentum ? UPDATE_RMSPROP_MOMENTUM : UPDATE_RMSPROP;
    }
    return momentum ? UPDATE_MOMENTUM : UPDATE_SGD;
}

struct state_arrays optimizer_states(const struct spec *spec)
{
    struct state_arrays all = arrays[rule_of(spec)];
    if (spec->ema > 0)
        all.names[all.count++] = STATE_UNAVERAGED;
    return all;
}

int optimizer_average(const struct spec *spec)
{
    return spec->ema > 0 ? arrays[rule_of(spec)].count : -1;
}

struct replica_request optimizer_request(const struct spec *spec, int rank)
{
    const bool updates = spec->sync != SYNC_CENTRAL || rank == 0;
    return (struct replica_request){.states = updates ? optimizer_states(spec).count : 0,
                                    .spares = updates && spec->no_decay == NO_DECAY_NORM_BIAS &&
                                              spec->weight_decay > 0};
}

struct optimizer_step optimizer_step(const struct spec *spec, double lr, long number, long begun)
{
    const enum update_rule rule = rule_of(spec);
    const bool adam = rule == UPDATE_ADAM, decoupled = spec->optimizer == OPTIMIZER_ADAMW;
    const double t = (double)(number - begun);
    const double keep = number > 1 ? spec->ema : 0;
    return (struct optimizer_step){
        .rule = rule,
        .lr = (float)(adam ? lr / (1 - pow(spec->beta1, t)) : lr),
        .momentum = (float)spec->momentum,
        .weight_decay = decoupled ? 0 : (float)spec->weight_decay,
        .shrink = decoupled ? (float)(1 - lr * spec->weight_decay) : 1,
        .beta1 = (float)spec->beta1,
        .rest1 = (float)(1 - spec->beta1),
        .beta2 = (float)spec->beta2,
        .rest2 = (float)(1 - spec->beta2),
        .correction = (float)(1 / sqrt(1 - pow(spec->beta2, t))),
        .eps = (float)spec->eps,
        .keep = (float)keep,
        .take = spec->ema > 0 ? (float)(1 - keep) : 0,
        .average = optimizer_average(spec),
        .clip = (float)spec->clip_norm,
    };
}
