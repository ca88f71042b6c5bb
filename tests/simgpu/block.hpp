/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_SIMGPU_BLOCK_HPP
#define DPARTUI_TESTS_SIMGPU_BLOCK_HPP

#include <cstddef>
#include <functional>
#include <string>

#include <vector_types.h>

/* How the threads of a kernel run on the host: what kernels call, and what runs them. */
namespace simgpu
{

/* Where the running thread is: threadIdx, blockIdx, blockDim, gridDim. */
struct position {
    uint3 thread, block, threads, blocks;
    void *dynamic_shared;
};
extern __thread position here;

/* __syncthreads; `line` is the place in the kernel, which has to be the same for all threads. */
void block_barrier(int line);

enum warp_action { WARP_SYNC, WARP_SHUFFLE, WARP_BALLOT };
constexpr size_t warp_value_size = 16;

/*
 * Meet the other threads of the warp named in mask. Shuffles: `value` (at most warp_value_size
 * bytes) is replaced by that of lane `source`, or by 0xFF where that lane takes no part. Ballot:
 * the lanes whose `source` is not 0.
 */
unsigned warp_meet(warp_action action, unsigned mask, void *value, size_t size, int source,
                   int line);
int lane_number();

/* For the race detector (race.hpp): __threadfence, and an atomic update of size bytes at p. */
void race_fence();
void race_atomic(const void *p, size_t size);

struct kernel_shape {
    dim3 blocks, threads;
    size_t shared; /* bytes of dynamic shared memory */
};

/* Run a kernel: `thread` is what each thread does. Blocks and threads take turns in an order made
 * from `seed`. Returns what is wrong with the kernel, "" when nothing. */
std::string run_kernel(const char *name, const kernel_shape &shape, unsigned seed,
                       const std::function<void()> &thread);

} // namespace simgpu

#endif
