/* SPDX-License-Identifier: MIT */
#include "engine/train/step/values.h"

bool values_import(struct rank *rank, enum replica_arena arena, const float *values,
                   struct error *err)
{
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

bool values_export(struct rank *rank, enum replica_arena arena, float *values, struct error *err)
{
    struct weights own;
    if (!rank->slice)
        return rank->backend->values_export(rank->device, rank->replica, arena, values, err);
    if (!weights_create(rank->slice->net, &own, err))
        return false;
    bool ok = rank->backend->values_export(rank->device, rank->replica, arena, own.values, err);
    if (ok)
        net_slice_put(rank->slice, own.values, arena != ARENA_STATISTICS, values);
    weights_free(&own);
    return ok;
}
