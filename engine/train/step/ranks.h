/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include "engine/net/slice.h"
#include "engine/net/stage.h"
#include "engine/train/profile/confusion.h"
#include "engine/train/profile/profile.h"
#include "engine/train/split/shares.h"
#include "engine/train/step/activity.h"
#include "engine/train/step/strategy.h"
#include "engine/train/step/worker.h"
#include "engine/train/step/workload.h"
#include "engine/train/sync/barrier.h"
#include "engine/train/sync/sync.h"

/*
 * The devices of a run, a rank each, with a thread for each (worker.h). Their owner, the run's own
 * thread, directs; the ranks compute. They take turns: while a task is posted the owner leaves
 * alone everything here except atomics and the barrier. All of it outlives the owner's call if a
 * thread hangs, see workers_dismiss.
 */

/* A plan, one of the cached ones, and its number of rows. */
struct rank_pass {
    struct plan *plan;
    int rows;
    /* With strategy mixed: those of the ranks before it, and of the global batch; else 0. */
    int before, global_rows;
    int finish_rows; /* of a stage, plan_request's; else 0 */
    bool warm;       /* it has been run: the device's libraries have loaded all that it needs */
};

/* Most batches of an epoch are full; the last may be shorter. The same goes for evaluation. */
enum pass_size { PASS_FULL, PASS_SHORT, PASS_SIZES };

/*
 * How many plans a device caches: at most six are needed at a time, the others may be used again.
 * They cost memory for the library's compiled code and small tables; the activations lie in the
 * workspace, which is one for all.
 */
enum { PLANS_CACHED = 12 };

struct cached_plan {
    struct plan *plan; /* NULL: an empty place */
    enum plan_mode mode;
    int rows, before, global_rows, finish_rows;
    long used; /* when last, in uses of plans */
};

/* One device. */
struct rank {
    struct ranks *ranks;
    int index; /* of the devices of the run */
    char name[DEVICE_NAME], model[sizeof((struct device_info *)NULL)->name];
    const struct backend *backend;
    struct device_options options;
    struct device *device;
    struct replica *replica;
    struct device_facts facts; /* before the run took anything */
    struct rank_pass train[PASS_SIZES], eval[PASS_SIZES];
    /* Of a pipeline: its stage, how many micro-batches it holds values of, and the plans of
     * micro-batches, which have two sizes; `train` has rows but no plans. */
    struct net_stage stage;
    int stage_index, pipeline_index; /* of its stage in its pipeline, and of that */
    int slots;
    /* The ranks that have the same parameters, which sum up their gradients, and its number there:
     * all of them, or those of one stage. */
    struct sync_group *group;
    int group_number;
    struct rank_pass micro[PASS_SIZES][2];
    struct rank_pass half;   /* of half a mini-batch, where measures_halves */
    struct noise_part noise; /* of the step just done */
    /* Of strategy tensor and mixed: its slice, and where the slices meet. NULL: of another
     * strategy. */
    const struct net_slice *slice;
    struct device_exchange exchange;
    bool trains_short; /* short batches occur */
    long eval_begin, eval_rows;
    struct cached_plan cached[PLANS_CACHED];
    long plans_used;
    bool noted;                           /* its plans' note has been reported */
    size_t bucket_ends[SYNC_MAX_BUCKETS]; /* of the gradients, for collectives */
    int bucket_count;
    double plan_s;                         /* to make the newest plan */
    uint64_t plan_bytes, kept_bytes;       /* of the largest plans so far; of a slot */
    _Atomic uint64_t memory_bytes;         /* all in all */
    struct batch_result result;            /* of the task just done; of steps when queued */
    struct confusion confusion;            /* of the last evaluation */
    struct step_times times;               /* likewise */
    struct step_part parts[PASSES_QUEUED]; /* of queued steps, by their number */
    struct error refusal;                  /* why it could not join the others */
    atomic_int activity;                   /* enum activity */
    struct device_load load;               /* with a link: of its device, as its host sees it */
};

/* A step, as the ranks are to do it. */
struct step {
    long number; /* of the run, from 1 */
    enum pass_size size;
    long begin, rows; /* of the epoch's order */
    uint32_t epoch;
    struct optimizer_step update;
    double begin_s;  /* when it was given to them, on clock_seconds */
    bool unprofiled; /* it runs as it would without a profile */
    bool halves;     /* the noise of the gradients is measured by halves of the mini-batch first */
};

struct ranks {
    /* Given by the owner before ranks_create. */
    const struct spec *spec;
    struct workload *work;
    struct profile *profile;        /* NULL: without */
    bool predictions;               /* evaluations count what is taken for what */
    double (*clock)(void);          /* times passes, on the rank's thread */
    double stall_s;                 /* a device without progress for this long hangs */
    void (*abandoned)(void *owner); /* the last thread that hung has ended: free everything */
    void *owner;

    struct host_link *link; /* to the other hosts of the run; NULL: there are none */

    /* All devices of the run. Those of this host are `here` of them, from `first` on, and have a
     * thread; of the others there is here what their hosts report after each task (run/meet.c). */
    int count, first, here;
    struct host_map map;
    struct rank rank[SPEC_MAX_DEVICES];
    const char *names[SPEC_MAX_DEVICES];
    int *cpus;
    struct sync_end ends[SPEC_MAX_DEVICES]; /* of those here */
    struct sync_group group;
    struct barrier *barrier;
    struct workers *workers;
    const struct strategy_tasks *strategy;
    /* engine/train/pipeline, engine/train/tensor; both NULL: each rank has the whole network. */
    struct pipeline *pipeline;
    struct tensor *tensor;
    double wait_limit_s; /* for one rank to wait for another */
    double spin_s;       /* for which it looks before it sleeps */
    int statistics_from; /* the rank whose running statistics count: the first that has rows */

    /* What the next task works on, written by the owner. */
    struct step step;     /* the newest */
    long oldest;          /* number of the oldest step that is queued */
    bool queues;          /* devices queue steps, and are timed by their own clocks */
    bool takes;           /* the task of a step also takes the oldest */
    bool measures_halves; /* in some steps */
    /* The optimizer's state, as in struct checkpoint. */
    const float *resumed; /* to begin with; NULL: zeros */
    float *exported;      /* where it goes */

    atomic_uint signs;     /* of progress, counted by the ranks */
    atomic_long evaluated; /* rows of the evaluation so far */
    atomic_bool cut;       /* leave the evaluation as soon as possible */
};

/* The rank's number on its host, which is that of its thread and of its party of the barrier. */
static inline int rank_here(const struct rank *rank)
{
    return rank->index - rank->ranks->first;
}

/* Has each rank all parameters, which have to be kept equal? */
static inline bool ranks_replicate(const struct ranks *ranks)
{
    return !ranks->pipeline && !ranks->tensor;
}

/* Find the backends of the spec's devices and share out the rows. */
bool ranks_create(struct ranks *ranks, struct error *err);
/* Have the devices' passes fit these shares; they get plans for them by rank_change_shares. */
void ranks_take_shares(struct ranks *ranks, const struct row_shares *shares);
/* Start the threads, which have no task yet. */
bool ranks_start(struct ranks *ranks, struct error *err);
/* Once all threads have ended. */
void ranks_release(struct ranks *ranks);

/* Rows of one device in the training pass of this size, and those of the devices before it. */
void ranks_shard(const struct ranks *ranks, int index, enum pass_size size, long *before,
                 long *rows);
/* FLOPs of the device that has most to do in a training pass of this size. */
double ranks_step_flops(const struct ranks *ranks, enum pass_size size);
