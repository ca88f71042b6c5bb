/* SPDX-License-Identifier: MIT */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/text.h"
#include "engine/device/collective.h"
#include "engine/device/cuda/collective/group.h"
#include "engine/device/cuda/libraries/nccl.h"

/*
 * The watchdog of a run's communicators: a thread that ends them, in order or by force, so that
 * nobody else calls what may block on a GPU that hangs, and that aborts them when a call takes too
 * long or the run was called off. Shared with nccl.c alone.
 */

/* One GPU's end. Of the rank's thread, except where it says otherwise. */
struct nccl_end {
    struct group_end base;
    ncclComm_t comm; /* the watchdog reads it while NCCL makes it */
    cudaEvent_t done;
    struct nccl_mark *marks;   /* NCCL_MARKS, of the newest operations, used in turn */
    struct nccl_clock *clocks; /* NCCL_CLOCKS, of the newest steps, likewise */
    long timed, told;          /* steps in all, and those that nccl_summed_s has told */
    long marked, checked;      /* operations in all, and those known to be done */
    atomic_long queued;        /* calls so far: whose host is behind; any thread */
    atomic_long recorded;      /* marks whose event `before` is recorded; any thread */
    /* Guarded by group.lock. */
    const char *inside; /* the call that the thread is in; NULL: none */
    double since, limit_s;
    bool left, aborted;
};

/* The call that makes a communicator, which can be aborted at any time. */
extern const char NCCL_JOINING[];

struct device_group {
    const struct nccl_api *api;
    struct collective_request request;
    ncclUniqueId id;
    int version;
    int first, ranks; /* rank of rank 0; ranks in all */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_mutex_t marks_lock; /* held while the marks of other ranks are looked at, or freed */
    atomic_bool broken;         /* set with the lock held, after reason */
    struct error reason;        /* of the first failure */
    int left;                   /* ranks */
    bool ended;                 /* the communicators are gone, as far as they could be */
    bool given_up;              /* nobody waits for the thread: it frees the group */
    struct nccl_end ends[];
};

/* Are there ranks in other processes? */
bool nccl_spans(const struct device_group *group);
/* Why a rank has waited too long: for the ranks of this process in `late`, or else for others. */
void nccl_blame(const struct device_group *group, int rank, struct text *late, double limit_s,
                const char *what, struct error *reason);

/* Start the watchdog of a group that has no communicators yet. */
bool nccl_guard_start(struct device_group *group, struct error *err);
/* When all ranks have left: wait for the communicators' end, for a while, and free the group. What
 * cannot be ended stays, and stderr says so. */
void nccl_guard_end(struct device_group *group);

/* Before a call that may block, and after it: false when the group is broken, or `status`
 * says so. A call that takes longer than limit_s (0: as long as it likes) is ended with an error.
 */
bool nccl_enter(struct device_group *group, int rank, const char *what, double limit_s,
                struct error *err);
bool nccl_return(struct device_group *group, int rank, const char *what, ncclResult_t status,
                 struct error *err);
/* Everybody fails from here on, for this reason if it is the first; nothing but leave may follow.
 */
void nccl_break(struct device_group *group, const struct error *reason);
/* The rank asks for nothing any more. Of a broken group it waits for the end, for a while. */
void nccl_gone(struct device_group *group, int rank, bool broken);
/* False, with the reason, when the group is broken. */
bool nccl_intact(struct device_group *group, struct error *err);
