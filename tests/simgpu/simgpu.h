/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_SIMGPU_H
#define DPARTUI_TESTS_SIMGPU_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A simulated machine with GPUs, for tests: this library stands in for the CUDA runtime, cuDNN,
 * cuBLASLt and NCCL, and the .cu files are compiled for the host (device_side.h). Results are those
 * of the same kernels; speed and the numbers' last bits are not a GPU's.
 *
 * Streams are lazy: what is queued runs only when somebody asks (one operation per query), waits,
 * or needs it through an event. Memory is filled with 0xFF (NaN) when it is taken and given back.
 * So a wait that was left out shows as a wrong result, not once in a thousand runs but always.
 *
 * One lock guards everything; the functions here may be called on any thread.
 */
#ifdef __cplusplus
extern "C" {
#endif

enum simgpu_order {
    SIMGPU_LAZY,   /* as late as possible */
    SIMGPU_EAGER,  /* at once where nothing is in the way: for comparison */
    SIMGPU_SHUFFLE /* some streams run ahead at times, by the seed */
};

struct simgpu_options {
    int devices;
    size_t memory; /* bytes per device */
    enum simgpu_order order;
    unsigned seed;       /* order of threads, blocks, graph nodes, streams */
    bool no_peer_access; /* devices cannot read each other's memory */
    bool no_driver;      /* as on a machine without one: no devices, status 35 */
};

/*
 * A new machine; NULL: 3 devices of 256 MiB, lazy, seed 1. All streams, events and memory of the
 * old one are gone; nobody may be using them. Call it before each test.
 */
void simgpu_reset(const struct simgpu_options *options);

/* The nth call (1: the next) of the named function fails with `status`, which is the library's own
 * type ("cudaMalloc", "ncclAllReduce", "cudnnBackendExecute", "cublasLtMatmul"). */
void simgpu_fail_call(const char *function, int nth, int status);
/* The device does no more work after `operations` further ones: its streams are never ready. */
void simgpu_hang(int device, int operations);
/* The device's next operation breaks it: this CUDA status from then on, whatever is called. */
void simgpu_break(int device, int status);

/* What the simulator found wrong in the program: a barrier that some threads do not reach, memory
 * used after it was given back, a call that can never return. Each is also written to stderr. */
int simgpu_faults(void);
/* The first of them; "" when there is none. Valid until the next reset. */
const char *simgpu_first_fault(void);

/* Objects that exist: memory of devices and pinned host memory, streams, events, graphs, and those
 * of the other libraries. 0 when everything was given back. */
int simgpu_live_objects(void);
size_t simgpu_used_memory(int device); /* bytes */
size_t simgpu_peak_memory(int device); /* bytes, the most that was used at a time */
/* Times the named function was called, and operations that ran on a device. */
long simgpu_calls(const char *function);
long simgpu_operations(int device);

/* Make engine "eng0" of cuDNN's heuristics fail to build from now on, so that "eng1" is taken. */
void simgpu_refuse_engine(int engine, bool refuse);
/* cuBLASLt offers no algorithm for an epilogue (bias, ReLU). */
void simgpu_refuse_epilogues(bool refuse);
/* Every communicator of NCCL reports this ncclResult_t as its asynchronous error; 0: none. */
void simgpu_nccl_error(int result);

#ifdef __cplusplus
}
#endif

#endif
