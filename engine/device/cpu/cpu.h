/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_CPU_H
#define DPARTUI_ENGINE_DEVICE_CPU_CPU_H

#include "engine/device/cpu/dnnl_compat.h"
#include "engine/device/cpu/mapping.h"
#include "engine/device/cpu/simd/kernels.h"
#include "engine/device/device.h"
#include "engine/device/plan/graph.h"

/* What the files of the CPU backend share. */

/*
 * A device is the thread that opened it, with an OpenMP team of its own. oneDNN's primitives are
 * made for the team size of the thread that makes them and must run on that thread, outside every
 * parallel region; nothing here may be called from elsewhere.
 */
struct device {
    char name[16]; /* "cpu:1" */
    int threads;
    int block; /* channels per block of this processor's layout: 16, 8 or 1 */
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_attr_t attr;   /* scratchpads are ours */
    struct mapping workspace;     /* of the one plan that is running */
    unsigned workspace_moves;     /* how often it was replaced: plans bound before must rebind */
    bool no_lanes;                /* small networks go step by step, as large ones do: tests */
    bool own_methods;             /* convolutions go by method.h wherever they can: tests */
    bool estimate, deterministic; /* see device_options */
};

/* Where a parameter lies in the arenas, and in which order of numbers. */
enum place_kind {
    PLACE_VECTOR, /* as it is, with zeros up to a multiple of 16 */
    PLACE_MATRIX, /* linear: each row in the order of the input's layout */
    PLACE_CONV,   /* in a format of the library, `desc` */
    PLACE_STATE,  /* a vector in `state` */
};

struct place {
    enum place_kind kind;
    size_t offset; /* floats into params, grads and momentum, or into state */
    size_t size;   /* floats, padding included; a multiple of 16 */
    int out, in;   /* conv: channels with padding */
    desc_t desc;   /* conv */
};

struct cpu_replica {
    struct replica base; /* first: the interface knows this one only */
    struct graph graph;
    bool lanes;           /* passes go by lanes/net.h; parameters lie in canonical order */
    struct graph folded;  /* what evaluation computes: fold.h */
    struct place *places; /* per parameter of the network */
    struct mapping memory;
};

/* cpu.c */
/* ERROR_FAILED "oneDNN: WHAT: REASON" unless status is success. */
bool dnnl_check(dnnl_status_t status, const char *what, struct error *err);

/* machine.c: what the process may use */
bool cpu_enumerate(struct device_info *list, int capacity, int *count, char *why, size_t why_size,
                   struct error *err);
/* Cores of the affinity mask the process was started with, fewer where its cgroup has a quota. */
int cpu_cores(void);
/* "AMD EPYC"; "processor" where the system does not say. */
void cpu_processor_name(char *name, size_t size);

/* replica.c */
bool cpu_replica_create(struct device *device, const struct net *net, struct replica **out,
                        struct error *err);
void cpu_replica_destroy(struct device *device, struct replica *replica);
bool cpu_replica_import(struct device *device, struct replica *replica,
                        const struct weights *weights, struct error *err);
bool cpu_replica_export(struct device *device, const struct replica *replica,
                        struct weights *weights, struct error *err);
bool cpu_values_export(struct device *device, const struct replica *replica,
                       enum replica_arena arena, float *values, struct error *err);
bool cpu_values_import(struct device *device, struct replica *replica, enum replica_arena arena,
                       const float *values, struct error *err);
bool cpu_sgd(struct device *device, struct replica *replica, size_t begin, size_t end,
             const struct sgd_step *step, struct error *err);

/* plan.c */
bool cpu_plan_create(struct device *device, struct replica *replica,
                     const struct plan_request *request, struct plan **out, struct error *err);
void cpu_plan_destroy(struct device *device, struct plan *plan);
void cpu_plan_memory(const struct plan *plan, struct plan_memory *out);
bool cpu_plan_run(struct device *device, struct plan *plan, const struct batch *batch,
                  struct batch_result *result, struct error *err);
struct plan_time *cpu_plan_profile(struct plan *plan, int *count);
bool cpu_plan_logits(struct device *device, struct plan *plan, float *logits, struct error *err);

#endif
