/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_SIMGPU_RACE_HPP
#define DPARTUI_TESTS_SIMGPU_RACE_HPP

#include <cstddef>
#include <string>

/*
 * Finds data races of a running kernel: two threads touch the same byte, at least one writes, not
 * both by atomics, and nothing orders them. Two threads of a block are ordered by __syncthreads,
 * lanes of a warp by __syncwarp, too; shuffles and votes order no memory. Blocks are ordered only
 * where one wrote, fenced (__threadfence) and then updated an atomic that the other updates later.
 * Reads of shared memory that the block did not write are found as well.
 *
 * The kernels are compiled with -fsanitize=thread, whose calls race_hooks.cpp takes in place of
 * the sanitizer's library; where that cannot be (builds with another sanitizer) nothing is found.
 * For each 4 bytes the last write and three reads are kept, so a race may be missed where several
 * threads touch different bytes of a word, and is never made up.
 */
namespace simgpu
{

/* All are called with the machine's lock held. `shared`: the dynamic shared memory. */
void race_begin_kernel(size_t blocks, const void *shared, size_t size);
void race_end_kernel();
void race_begin_block(size_t threads);
/* What follows until race_pause is done by this thread of the block, on this stack. */
void race_thread(int index, const void *stack, size_t size);
void race_pause();

/* All threads of the block met; `line`: where. */
void race_barrier(int line);
/* The lanes in `present` of the warp whose first thread is `first` met at a __syncwarp. */
void race_warp_barrier(size_t first, unsigned present);

/* The first race of the kernel, "" when there is none. */
const std::string &race_found();

/* For race_hooks.cpp. `code`: where in the program. */
void race_access(const void *p, size_t size, bool write, const void *code);

} // namespace simgpu

#endif
