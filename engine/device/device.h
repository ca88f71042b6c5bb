/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_DEVICE_H
#define DPARTUI_ENGINE_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/data/data.h"
#include "engine/net/net.h"
#include "engine/net/weights.h"
#include "engine/spec.h"

/*
 * What a kind of device can do: one small table of functions per backend (cpu, cuda).
 *
 * A device is opened, used and closed on one thread, its worker, and on no other: oneDNN primitives
 * and CUDA contexts are tied to it. The one exception is the memory behind a replica's arenas,
 * which the sync methods of host-accessible devices read and write between rendezvous.
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

struct device_options {
    struct device_id id;
    int threads;   /* CPU: size of the OpenMP team */
    int cpu_count; /* CPU: the cores of this device, from the inherited affinity mask; 0: no pinning
                    */
    const int *cpus;
};

/*
 * The parameters of one network on one device. Flat arenas with the same offsets on every device of
 * a kind (the layout depends on the network and the machine, never on the rows), gradients in the
 * order in which the backward pass completes them. Padding between and inside parameters is zero
 * and stays zero under SGD. Arena lengths are multiples of 16.
 */
struct replica {
    const struct net *net;
    size_t count; /* floats in each of the next three */
    float *params, *grads, *momentum;
    size_t state_count; /* floats of BatchNorm running statistics */
    float *state;
    bool host_accessible;
};

/* Sums `count` numbers over all devices of the run in place, every device gets the same bits. For
 * synchronised BatchNorm. Blocks; fails when another device failed or the run is being ended. */
struct device_exchange {
    bool (*sum)(void *context, double *values, size_t count, struct error *err);
    void *context;
};

enum plan_mode { PLAN_TRAIN, PLAN_EVAL };

struct plan_request {
    enum plan_mode mode;
    int rows;     /* exactly this many; 0 is allowed (a device without a shard) */
    bool sync_bn; /* BatchNorm statistics through `exchange` */
    struct device_exchange exchange;
};

/* Bytes, for the memory plan and the preflight check. */
struct plan_memory {
    size_t activations; /* kept from forward to backward, and their gradients */
    size_t scratch;     /* the library's scratchpad, weight copies in other layouts */
    size_t input;       /* staged rows and labels */
};

/* One shard of one mini-batch. */
struct batch {
    const struct dataset *data;
    const uint32_t *index; /* `rows` row numbers of `data` */
    int rows;
    long global_rows; /* rows of the mini-batch over all devices: logit gradients carry 1/this;
                         also what synchronised BatchNorm divides by */
    uint64_t seed;    /* with (epoch, row number, operation): dropout */
    uint32_t epoch;
};

struct batch_result {
    double loss_sum; /* sum over the rows of the cross-entropy, before the update */
    long correct;
};

struct sgd_step {
    float lr, momentum, weight_decay; /* PyTorch's SGD: g += wd*w; v = m*v + g; w -= lr*v */
};

struct device; /* backend's own */
struct plan;   /* backend's own */

struct backend {
    enum device_kind kind;
    /* What the machine has; may be called on any thread. *count may be 0, with a reason in *why. */
    bool (*enumerate)(struct device_info *list, int capacity, int *count, char *why,
                      size_t why_size, struct error *err);
    bool (*open)(const struct device_options *options, struct device **out, struct error *err);
    void (*close)(struct device *device);

    /* The network's arenas on this device (zeroed). One network per open device. */
    bool (*replica_create)(struct device *device, const struct net *net, struct replica **out,
                           struct error *err);
    void (*replica_destroy)(struct device *device, struct replica *replica);
    /* Canonical weights (host) to arenas and back; running statistics included. */
    bool (*replica_import)(struct device *device, struct replica *replica,
                           const struct weights *weights, struct error *err);
    bool (*replica_export)(struct device *device, const struct replica *replica,
                           struct weights *weights, struct error *err);
    /* Gradients in canonical order, for tests: values as in struct weights (statistics untouched).
     */
    bool (*gradients_export)(struct device *device, const struct replica *replica, float *values,
                             struct error *err);

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
    /* Logits of the rows just run, rows x classes, row-major on the host. */
    bool (*plan_logits)(struct device *device, struct plan *plan, float *logits, struct error *err);

    /* params[begin..end) by grads and momentum of the replica. Leaves grads as they are: other
     * devices may still be reading them. */
    bool (*sgd)(struct device *device, struct replica *replica, size_t begin, size_t end,
                const struct sgd_step *step, struct error *err);
};

/* The backend of a kind; NULL when this build has none (then `why` says so). */
const struct backend *backend_find(enum device_kind kind, const char **why);

/*
 * Turn a run's choice into devices: the list to train on, in order. ERROR_USAGE when the machine
 * has no such device. Sets *count >= 1.
 */
bool devices_resolve(const struct device_list *choice, struct device_id *ids, int *count,
                     struct error *err);

#endif
