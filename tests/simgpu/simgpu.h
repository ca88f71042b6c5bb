/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * A simulated machine with GPUs, for tests: this library stands in for the CUDA runtime, cuDNN,
 * cuBLASLt and NCCL, and the .cu files are compiled for the host (device_side.h). Results are those
 * of the same kernels; speed and the numbers' last bits are not a GPU's.
 *
 * Streams are lazy: what is queued runs only when somebody asks (one operation per query, or see
 * simgpu_hasten), waits, or needs it through an event. Memory is filled with 0xFF (NaN) when it is
 * taken and given back. So a wait that was left out shows as a wrong result, not once in a thousand
 * runs but always.
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
/* The nth call of a function of NCCL does not return before its communicator is aborted, or, of one
 * that ends a communicator, before the machine is reset. */
void simgpu_hang_call(const char *function, int nth);
/* The device does no more work after `operations` further ones: its streams are never ready. */
void simgpu_hang(int device, int operations);
/* The device's next operation breaks it: this CUDA status from then on, whatever is called. */
void simgpu_break(int device, int status);

/*
 * How many operations are done when somebody asks whether a stream or an event is done; 1 after a
 * reset. A program rests between its questions: with more of them a test takes less time, and says
 * less of what happens while a device works.
 */
void simgpu_hasten(int operations);

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

/*
 * What an operation named so takes by its device's clock, in seconds: a kernel (as its launch names
 * it, "sgd"), "cuDNN plan", "cuBLASLt product", "copy", "fill", an NCCL collective; NULL: all that
 * are not named. From the first call on events tell that clock, which nothing else moves, so that
 * times between them are known exactly; before, they tell the host's.
 */
void simgpu_cost(const char *operation, double seconds);
/*
 * Each cuDNN plan takes 1 to 2 ms by that clock, at random, and devices have no cache: who measures
 * convolutions needs few runs, and now and then chooses each.
 */
void simgpu_short_autotune(void);

/*
 * For tensors that are too large to be computed or held: devices have this many multiprocessors,
 * of each launch only the first and the last block run, and what is allocated of 1 GiB and more is
 * zero, and takes real memory only where it is written. 0: as usual.
 */
void simgpu_sample_blocks(int multiprocessors);

/* Whether races of kernels are looked for and are faults (race.hpp), in the first runs of each
 * kernel with the same blocks and threads; on after a reset. */
void simgpu_check_races(bool check);
/* Barrier i of those that kernels passed since the reset: kernel and line; false: no more. The
 * name is valid until the next reset. */
bool simgpu_barrier(size_t i, const char **kernel, int *line);
/* As if this barrier were not there, for the race detector: threads still meet there. */
void simgpu_ignore_barrier(const char *kernel, int line);

/* Make engine "eng0" of cuDNN's heuristics fail to build from now on, so that "eng1" is taken. */
void simgpu_refuse_engine(int engine, bool refuse);
/* Let an engine add sums by channel to what it finds in their memory. */
void simgpu_adding_engine(int engine, bool adds);
/* Let an engine leave out a part of each convolution's sums. */
void simgpu_wrong_engine(int engine, bool wrong);
/* Let an engine carry the note that it converts its factors to a shorter type. */
void simgpu_narrow_engine(int engine, bool narrow);
/* simgpu_calls("cuDNN plan built"), ("cuDNN plan compiled") and ("cuDNN plan loaded") count plans
 * that were finalized: from an engine, from one that is compiled for it, and from text. */
/* cuBLASLt offers no algorithm for an epilogue (bias, ReLU). */
void simgpu_refuse_epilogues(bool refuse);
/* Every communicator of NCCL reports this ncclResult_t as its asynchronous error; 0: none. */
void simgpu_nccl_error(int result);

#ifdef __cplusplus
}
#endif
