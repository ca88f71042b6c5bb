/* SPDX-License-Identifier: MIT */
#include "engine/train/step/values.h"

bool values_import_weights(struct rank *rank, const struct weights *weights, struct error *err)
{
    struct weights own;
    if (!rank->slice)
        return rank->backend->replica_import(rank->device, rank->replica, weights, err);
    if (!weights_create(rank->slice->net, &own, err))
        return false;
    net_slice_take(rank->slice, weights->values, own.values);
    bool ok = rank->backend->replica_import(rank->device, rank->replica, &own, err);
    weights_free(&own);
    return ok;
}

bool values_export_weights(struct rank *rank, struct weights *weights, struct error *err)
{
    struct weights own;
    if (!rank->slice)
        return rank->backend->replica_export(rank->device, rank->replica, weights, err);
    if (!weights_create(rank->slice->net, &own, err))
        return false;
    bool ok = rank->backend->replica_export(rank->device, rank->replica, &own, err);
    if (ok)
        net_slice_put(rank->slice, own.values, weights->values);
    weights_free(&own);
    return ok;
}

bool values_import_state(struct rank *rank, int state, const float *values, struct error *err)
{
    const enum replica_arena arena = (enum replica_arena)(ARENA_STATE + state);
    struct weights own;
    if (!rank->slice)
        return rank->backend->values_import(rank->device, rank->replica, arena, values, err);
    if (!weights_create(rank->slice->net, &own, err))
        return false;
    net_slice_take(rank->slice, values, own.values);
    bool ok = rank->backend->values_import(rank->device, rank->replica, arena, own.values, err);
    weights_free(&own);
    return ok;
}

bool values_export_state(struct rank *rank, int state, float *values, struct error *err)
{
    const enum replica_arena arena = (enum replica_arena)(ARENA_STATE + state);
    struct weights own;
    if (!rank->slice)
        return rank->backend->values_export(rank->device, rank->replica, arena, values, err);
    /* Numbers that the optimizer has no state of stay as they are. */
    if (!weights_create(rank->slice->net, &own, err))
        return false;
    net_slice_take(rank->slice, values, own.values);
    bool ok = rank->backend->values_export(rank->device, rank->replica, arena, own.values, err);
    if (ok)
        net_slice_put(rank->slice, own.values, values);
    weights_free(&own);
    return ok;
}
