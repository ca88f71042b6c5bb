/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/backend.h"

#include "config.h"
#include "engine/device/cuda/collective/nccl.h"
#include "engine/device/cuda/collective/peer.h"
#include "engine/device/cuda/facts.h"
#include "engine/device/cuda/machine.h"
#include "engine/device/cuda/pass/queue.h"
#include "engine/device/cuda/plan.h"
#include "engine/device/cuda/replica/arenas.h"
#include "engine/device/cuda/replica/update.h"
#include "engine/device/cuda/runtime/memory.h"
#include "engine/device/cuda/stage.h"

static const struct collective *const cuda_collectives[] = {
#ifdef HAVE_NCCL
    &nccl_collective,
#endif
    &peer_collective,
    NULL,
};

const struct backend cuda_backend = {
    .kind = DEVICE_CUDA,
    .enumerate = cuda_enumerate,
    .open = cuda_open,
    .close = cuda_close,
    .replica_create = cuda_replica_create,
    .replica_destroy = cuda_replica_destroy,
    .values_export = cuda_values_export,
    .values_import = cuda_values_import,
    .arena_read = cuda_arena_read,
    .arena_write = cuda_arena_write,
    .stage_create = cuda_stage_create,
    .stage_destroy = cuda_stage_destroy,
    .libraries = cuda_libraries,
    .facts = cuda_facts,
    .collectives = cuda_collectives,
    .plan_create = cuda_plan_create,
    .plan_destroy = cuda_plan_destroy,
    .plan_memory = cuda_plan_memory,
    .plan_run = cuda_plan_run,
    .plan_queue = cuda_plan_queue,
    .plan_mark = cuda_plan_mark,
    .plan_take = cuda_plan_take,
    .plan_squares = cuda_plan_squares,
    .plan_forward = cuda_plan_forward,
    .plan_backward = cuda_plan_backward,
    .stage_row = cuda_stage_row,
    .stage_memory = cuda_stage_memory,
    .rest = cuda_comes_to_rest,
    .reach = cuda_reach,
    .plan_profile = cuda_plan_profile,
    .slices = true,
    .profile_slows = true,
    .plan_note = cuda_plan_note,
    .plan_logits = cuda_plan_logits,
    .update = cuda_update,
    .gradient_squares = cuda_gradient_squares,
    .swap = cuda_swap,
};
