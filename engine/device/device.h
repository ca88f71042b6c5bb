/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/data/data.h"
#include "engine/device/exchange.h"
#include "engine/device/micro_batch.h"
#include "engine/device/optimizer.h"
#include "engine/device/pass.h"
#include "engine/net/net.h"
#include "engine/weights/weights.h"
#include "spec/spec.h"

/*
 * What a kind of device can do: one small table of functions per backend (cpu, cuda).
 *
 * A device is opened, used and closed on one thread, its worker, and on no other: oneDNN primitives
 * and CUDA contexts are tied to it. The one exception is the memory of a replica's arenas,
 * which the sync methods of host-accessible devices read and write between barriers.
 */

struct device_info {
    struct device_id id;
    char name[96];         /* "Intel Xeon ..., 2 threads of AVX-512" */
    char uuid[96];         /* GPU: "GPU-..." or "MIG-..." as its driver says; CPU: "" */
    int cores;             /* CPU: cores this process may use; GPU: multiprocessors, 0: not known */
    uint64_t memory_bytes; /* in all */
    bool available;
    char reason[160]; /* why not available */
};

/* How long a device may take for what it was given, and whether the run still wants it. */
struct device_watch {
    double limit_s;                    /* a wait that takes longer fails; 0: no limit */
    bool (*called_off)(void *context); /* NULL: never; any thread, at once */
    /* Any sign of failure elsewhere while the device is waited for, on its thread. NULL: nothing to
     * check. */
    bool (*check)(void *context, struct error *err);
    void *context;
};

struct device_options {
    struct device_id id;
    enum number_type type;     /* of activations and products; a CPU takes f32 for the default */
    bool deterministic;        /* bit-identical results, even if that is slower */
    struct device_watch watch; /* GPU; a CPU device computes on the caller's own thread */
    bool estimate;             /* CPU: plans will not run; what would be measured is guessed */
    int threads;               /* CPU: size of the OpenMP team */
    int cpu_count; /* CPU: the cores of this device, from the inherited affinity mask; 0: no pinning
                    */
    const int *cpus;
};

/*
 * The parameters of one network on one device. Flat arenas with the same offsets on every device of
 * a kind (the layout depends on the network and the machine, never on the rows), gradients in the
 * order in which the backward pass completes them. Padding between and inside parameters is zero
 * and stays zero under updates. Arena lengths are multiples of 16.
 */
struct replica {
    const struct net *net;
    size_t count;      /* floats in each of the next */
    size_t replicated; /* of a slice: the last of them, which all slices have alike; else 0 */
    float *params, *grads, *state[STATES_KEPT];
    int states;              /* how many arrays of state there are; NULL: the others */
    uint8_t *spared;         /* of each 16 numbers, whether weight decay leaves them alone; NULL: of
                               none. In the same memory as the arenas */
    size_t statistics_count; /* floats of BatchNorm running statistics */
    size_t more_bytes;       /* of memory besides all these arrays */
    float *statistics;
    enum number_type type;  /* of values; DEFAULT: what the device was opened for */
    bool host_accessible;   /* the pointers above are host memory; else the device's */
    const float *grad_norm; /* host memory: norm of the gradients in the last update that is done;
                               not a number where that did not clip */
};

/*
 * Sums `count` numbers over all devices of the run in place, identical on every device. For
 * synchronised BatchNorm, in the order of its layers: twice as many numbers as the layer has
 * channels, in the forward pass the sums of x and of x squared, in the backward pass those of the
 * gradient g and of g * x. Blocks; fails when another device failed or the run is being ended.
 */
struct device_allreduce {
    bool (*sum)(void *context, double *values, size_t count, struct error *err);
    /*
     * The same in the device's memory: queues all[i] = the sum of every device's own[i] on the
     * device's stream. *queued is false, for all devices alike, where they cannot do that by
     * themselves. NULL: they never can.
     */
    bool (*queue)(void *context, const double *own, double *all, size_t count, bool *queued,
                  struct error *err);
    void *context;
};

/*
 * Gradients become final from the front of the arena to its end while the backward pass continues.
 * `ready` is called on the device's thread, in order, for each bucket grads[ends[i-1]..ends[i]), as
 * soon as all work that makes it has been done, or, on a GPU, queued on the device's stream.
 */
struct gradient_buckets {
    int count;          /* 0: nobody wants to know */
    const size_t *ends; /* ascending, the last is the arena's length; borrowed */
    bool (*ready)(void *context, int bucket, struct error *err);
    void *context;
};

enum plan_mode { PLAN_TRAIN, PLAN_EVAL };

struct plan_request {
    enum plan_mode mode;
    int rows; /* exactly this many; 0 is allowed (a device without a shard) */
    /* Of a slice that gathers rows: those of the devices before it, and of the global batch; else
     * 0. */
    int rows_before, global_rows;
    bool sync_bn;           /* BatchNorm statistics through `allreduce` */
    double label_smoothing; /* TRAIN: the share of its label that a row's classes have alike */
    struct device_allreduce allreduce;
    struct device_exchange exchange; /* of a replica of a slice */
    struct gradient_buckets buckets; /* TRAIN */
    bool profile;                    /* keep what plan_profile reports */
    bool predictions;                /* EVAL: passes give batch_result.predicted */
    int slots; /* of a stage, TRAIN: how many micro-batches may be between forward and backward */
    int finish_rows; /* of a stage, TRAIN: the most of one plan_finish; 0: it is left nothing */
};

/* What a step of a pass belongs to: an operation of the network, or what is before and after
 * all of them, of which a stage gives its neighbours what they read. */
enum plan_part { PLAN_OPERATION, PLAN_INPUT, PLAN_LOSS, PLAN_HANDOVER };

enum plan_direction {
    PLAN_FORWARD,
    PLAN_STATISTICS, /* mean and variance of a BatchNorm's input, where they are a step apart */
    PLAN_BACKWARD,   /* all gradients of an operation at once */
    PLAN_BACKWARD_DATA,
    PLAN_BACKWARD_WEIGHTS,
    PLAN_BACKWARD_RELU, /* the gradient before the ReLU that an operation ends in */
    PLAN_GRADIENT_SUM,  /* of those that several readers of a value give back */
    PLAN_FORWARD_AGAIN, /* a result that was not kept for the backward pass */
    PLAN_FOLD,          /* the weights of a convolution with the BatchNorm after it */
};

/* The time of one step of a plan, over all passes. */
struct plan_time {
    enum plan_part part;
    enum plan_direction direction;
    int place;           /* in the network's order; of operations */
    const char *layer;   /* its name, the network's; "" where it has none */
    char kind[32];       /* "conv", "batchnorm + add + relu" */
    char method[48];     /* how it is computed; "" where there is no choice */
    double flops, bytes; /* of one call; bytes of the values that it reads and writes, each once */
    long calls;
    double seconds;
};

/* Bytes, for the memory plan and the preflight check. */
struct plan_memory {
    size_t
        kept; /* of a stage: from forward to backward, for each slot; `activations` is the rest */
    size_t activations; /* kept from forward to backward, and their gradients */
    size_t scratch;     /* the library's scratchpad, weight copies in other layouts: what does not
                           fit between activations that are not needed meanwhile */
    size_t input;       /* staged rows and labels */
};

/* One shard of one mini-batch. */
struct batch {
    const struct dataset *data;
    const uint32_t *index; /* `rows` row numbers of `data` */
    int rows;
    long global_rows; /* rows of the mini-batch over all devices: logit gradients carry 1/this;
                         also what synchronised BatchNorm divides by */
    uint64_t seed;    /* with (epoch, row number, operation): dropout; augmentation */
    uint32_t epoch;
    uint32_t augment; /* enum augment_flags; training only */
    /* A hint: what the device's next pass will most likely read, so that it can be brought nearer
     * meanwhile. NULL and 0: not known. Valid until that pass. */
    const uint32_t *next_index;
    int next_rows;
    bool unprofiled; /* of a plan made with `profile`: this pass runs as without, untimed */
    const struct batch *global; /* of a slice that gathers rows: the global batch; else NULL */
};

/* The arenas of a replica; state[i] is ARENA_STATE + i. */
enum replica_arena { ARENA_PARAMS, ARENA_GRADS, ARENA_STATISTICS, ARENA_STATE };

/* One of them, and how many numbers it has. */
static inline float *replica_arena(const struct replica *replica, enum replica_arena arena,
                                   size_t *count)
{
    *count = arena == ARENA_STATISTICS ? replica->statistics_count : replica->count;
    return arena == ARENA_PARAMS       ? replica->params
           : arena == ARENA_GRADS      ? replica->grads
           : arena == ARENA_STATISTICS ? replica->statistics
                                       : replica->state[arena - ARENA_STATE];
}

/* Numbers in all arenas. */
static inline size_t replica_numbers(const struct replica *replica)
{
    return (size_t)(2 + replica->states) * replica->count + replica->statistics_count;
}

static inline size_t replica_bytes(const struct replica *replica)
{
    return replica_numbers(replica) * sizeof(float) + replica->more_bytes;
}

/* Lay the arenas of a replica out from `memory` on, one after the other; where they end. */
static inline float *replica_place_arenas(struct replica *replica, float *memory)
{
    replica->params = memory;
    replica->grads = replica->params + replica->count;
    float *end = replica->grads + replica->count;
    for (int i = 0; i < replica->states; i++, end += replica->count)
        replica->state[i] = end;
    replica->statistics = end;
    return end + replica->statistics_count;
}

struct device;     /* backend's own */
struct plan;       /* backend's own */
struct collective; /* engine/device/collective.h */

/* What is worth knowing of an open device before a run takes it. 0: not known. */
struct device_facts {
    enum number_type type; /* what it computes in */
    int multiprocessors, clock_mhz;
    uint64_t memory_free, memory_total; /* bytes */
    uint64_t reads;                     /* bit i: it can read the memory of the device of index i */
    int driver, runtime;                /* CUDA versions, 13000: 13.0 */
    char collective_error[320];         /* what is wrong with the library for collectives, or "" */
    double flops_limit, bytes_limit;    /* per second; what its units and clocks could do at most */
};

struct backend {
    enum device_kind kind;
    /* What the machine has; may be called on any thread. *count may be 0, with a reason in *why. */
    bool (*enumerate)(struct device_info *list, int capacity, int *count, char *why,
                      size_t why_size, struct error *err);
    bool (*open)(const struct device_options *options, struct device **out, struct error *err);
    void (*close)(struct device *device);
    /* Whether devices of this kind compute in a type; *why, unless `why` is NULL, says why not. On
     * any thread. NULL: whether one does is seen when it is opened. */
    bool (*computes_in)(enum number_type type, const char **why);

    /* The network's arenas on this device (zeroed). One network per open device. */
    bool (*replica_create)(struct device *device, const struct net *net,
                           const struct replica_request *request, struct replica **out,
                           struct error *err);
    void (*replica_destroy)(struct device *device, struct replica *replica);
    /* One arena to canonical order (host) and back: values as in struct weights, of which those in
     * other arenas are untouched. */
    bool (*values_export)(struct device *device, const struct replica *replica,
                          enum replica_arena arena, float *values, struct error *err);
    bool (*values_import)(struct device *device, struct replica *replica, enum replica_arena arena,
                          const float *values, struct error *err);
    /*
     * A range of an arena as it is, to host memory and back, once all that was queued before is
     * done. NULL for backends whose arenas the host can read.
     */
    bool (*arena_read)(struct device *device, const struct replica *replica,
                       enum replica_arena arena, size_t begin, size_t end, float *host,
                       struct error *err);
    bool (*arena_write)(struct device *device, struct replica *replica, enum replica_arena arena,
                        size_t begin, size_t end, const float *host, struct error *err);
    /* Host memory that the two move fastest from and to. NULL: any is as good. */
    bool (*stage_create)(struct device *device, size_t bytes, void **out, struct error *err);
    void (*stage_destroy)(struct device *device, void *stage);

    /* What it computes with, for the record of a run: "oneDNN 2.6.3". May be called on any thread.
     * NULL: there is nothing to say. */
    void (*libraries)(char *buffer, size_t size);

    /* NULL: there is nothing to say. */
    bool (*facts)(struct device *device, struct device_facts *out, struct error *err);
    /* How devices of this kind reduce among themselves, best first, up to a NULL.
     * NULL: there are none. */
    const struct collective *const *collectives;

    /*
     * Fixes every shape, algorithm, layout and byte of passes over `rows` rows; nothing is
     * allocated later. Plans of one replica share the device's workspace, so only one may be
     * between forward and backward at a time.
     */
    bool (*plan_create)(struct device *device, struct replica *replica,
                        const struct plan_request *request, struct plan **out, struct error *err);
    void (*plan_destroy)(struct device *device, struct plan *plan);
    void (*plan_memory)(const struct plan *plan, struct plan_memory *out);
    /*
     * TRAIN: forward, loss, backward; overwrites all of replica->grads (zero for 0 rows) and
     * updates the running statistics. EVAL: forward with running statistics and loss.
     */
    bool (*plan_run)(struct device *device, struct plan *plan, const struct batch *batch,
                     struct batch_result *result, struct error *err);
    /*
     * The same without waiting, for devices that compute asynchronously; all four are NULL where
     * none does. plan_queue queues a pass, of which nothing but `data` is read later; at most
     * PASSES_QUEUED of a device may be queued and not taken, and plan_run is for when there is
     * none. plan_mark marks the end of what was queued since, for the newest one. plan_take waits
     * for the last moment marked of the oldest one: errors may be those of any work queued before.
     * plan_squares adds the squares of grads[begin..end), as they will be after what is queued, to
     * one of the outcome's sums.
     */
    bool (*plan_queue)(struct device *device, struct plan *plan, const struct batch *batch,
                       struct error *err);
    bool (*plan_mark)(struct device *device, enum pass_moment moment, struct error *err);
    bool (*plan_squares)(struct device *device, const struct replica *replica,
                         enum pass_squares which, size_t begin, size_t end, struct error *err);
    bool (*plan_take)(struct device *device, struct pass_outcome *out, struct error *err);
    /*
     * Stages: plans of a replica of one (replica_request.stage). All NULL where devices compute
     * whole networks alone. plan_forward is the pass up to the stage's output, or to the
     * loss, and all of an EVAL plan; plan_backward follows in the order of the micro-batches, while
     * up to `slots` are in between. Gradients add up over the micro-batches of a mini-batch: the
     * first overwrites. Running statistics are updated with the last, by those of all its rows.
     */
    bool (*plan_forward)(struct device *device, struct plan *plan, const struct batch *batch,
                         const struct micro_batch *micro, struct batch_result *result,
                         struct error *err);
    bool (*plan_backward)(struct device *device, struct plan *plan, const struct batch *batch,
                          const struct micro_batch *micro, struct error *err);
    /*
     * After a plan_backward, on its plan, after the last of a mini-batch at least: gradients that
     * take less time for several micro-batches at once, which no other stage waits for. `rows`, at
     * most finish_rows, were left since the last plan_finish; the `first` of a mini-batch
     * overwrites. *any: there were some. NULL: there never are.
     */
    bool (*plan_finish)(struct device *device, struct plan *plan, int rows, bool first, bool *any,
                        struct error *err);
    /* Bytes of one row of all tensors that the stage is given, or gives; 0 where the network begins
     * or ends. */
    size_t (*stage_row)(const struct replica *replica, bool output);
    /*
     * Memory of `bytes` where a stage meets the next one, the device's, until it is asked for more
     * or closed. NULL: they meet in the host's memory.
     */
    bool (*stage_memory)(struct device *device, size_t bytes, void **out, struct error *err);
    /* After a failure, before other devices give back memory that this one may still be reading or
     * writing: wait for its end, not for long; whether it came. NULL: there is nothing to wait for.
     */
    bool (*rest)(struct device *device);
    /* Before it reads and writes what is in another's memory, as stages and slices do. NULL: there
     * is nothing to do. */
    bool (*reach)(struct device *device, struct device_id other, struct error *err);
    /*
     * The times of the passes, step by step in their order, of a plan made with `profile`; the
     * caller may set calls and seconds back to 0 between passes. NULL: the device computes in a way
     * that does not let steps be told apart.
     */
    struct plan_time *(*plan_profile)(struct plan *plan, int *count);
    bool slices;        /* replicas may be of slices of a network */
    bool profile_slows; /* a profiled pass takes longer than one that is not */
    /*
     * What a plan lacks, so that it is slower than it could be: a line that the plan owns, ""
     * when there is nothing. Read it between passes. NULL: there never is.
     */
    const char *(*plan_note)(const struct plan *plan);
    /* Logits of the rows just run, rows x classes, row-major on the host: for tests. No other plan
     * of the device may have been made or run since. */
    bool (*plan_logits)(struct device *device, struct plan *plan, float *logits, struct error *err);

    /* params[begin..end), and their average, by grads and state of the replica. Leaves grads as
     * they are: other devices may still be reading them. A step that clips goes by the norm of all
     * of grads; the same gradients have the same norm, to the last bit, on all devices of a kind.
     */
    bool (*update)(struct device *device, struct replica *replica, size_t begin, size_t end,
                   const struct optimizer_step *step, struct error *err);
    /* The sum of the squares of grads[begin..end), for a norm over several devices. */
    bool (*gradient_squares)(struct device *device, const struct replica *replica, size_t begin,
                             size_t end, double *sum, struct error *err);
    /* Params and one state change places. NULL: runs of such devices keep no average. */
    bool (*swap)(struct device *device, struct replica *replica, int state, struct error *err);
};

/* Canonical weights (host) to a replica and back; running statistics included. */
static inline bool replica_import(const struct backend *backend, struct device *device,
                                  struct replica *replica, const struct weights *weights,
                                  struct error *err)
{
    return backend->values_import(device, replica, ARENA_PARAMS, weights->values, err) &&
           backend->values_import(device, replica, ARENA_STATISTICS, weights->values, err);
}

static inline bool replica_export(const struct backend *backend, struct device *device,
                                  const struct replica *replica, struct weights *weights,
                                  struct error *err)
{
    return backend->values_export(device, replica, ARENA_PARAMS, weights->values, err) &&
           backend->values_export(device, replica, ARENA_STATISTICS, weights->values, err);
}

/* What devices of a kind compute in where those of others have the type that is wanted. */
static inline enum number_type backend_type(const struct backend *backend, enum number_type wanted)
{
    return !backend->computes_in || backend->computes_in(wanted, NULL) ? wanted : TYPE_F32;
}
