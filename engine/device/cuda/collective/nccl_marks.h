/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/collective/nccl_guard.h"

/*
 * Events around the newest operations of each GPU: how far it has come, and whom it waits for.
 * Shared with nccl.c alone.
 */

/* What the device's stream has to do before an operation, and that it is over. */
struct nccl_mark {
    cudaEvent_t before, after;
    const char *what;
    double queued_at;
};

/* More than are queued at a time: a gather and a scatter for each layer of the deepest networks. */
enum { NCCL_MARKS = 1024 };

/* When a step's reductions began and ended, on the device's clock. */
struct nccl_clock {
    cudaEvent_t begin, end;
};

enum { NCCL_CLOCKS = 2 * PASSES_QUEUED };

/* On the rank's thread. Closing what is not open does nothing. */
bool nccl_marks_open(struct nccl_end *end, struct error *err);
void nccl_marks_close(struct device_group *group, struct nccl_end *end);

/* Around an operation, on the device's own stream. NULL: the device has failed. */
struct nccl_mark *nccl_mark_before(struct nccl_end *end, const char *what, struct error *err);
bool nccl_mark_after(struct nccl_end *end, struct nccl_mark *mark, struct error *err);

/* Has what was queued before the event been done, or failed? */
bool nccl_is_over(cudaEvent_t event);

/* On the stream of reductions, before the first of a step and after the last. Only of a group with
 * ranks in other processes; of others nothing is done. */
bool nccl_clock_begin(struct device_group *group, struct nccl_end *end, struct error *err);
bool nccl_clock_end(struct device_group *group, struct nccl_end *end, struct error *err);
/* struct collective.summed_s */
double nccl_summed_s(struct device_group *group, int rank);

/* struct collective.check */
bool nccl_check_rank(struct device_group *group, int rank, struct error *err);
