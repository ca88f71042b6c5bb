/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_SIMGPU_FIBER_HPP
#define DPARTUI_TESTS_SIMGPU_FIBER_HPP

#include <cstddef>

/* For what a fiber may be in when it begins another function: ThreadSanitizer would wait for its
 * return. */
#if defined(__SANITIZE_THREAD__)
#define SIMGPU_NEVER_RETURNS __attribute__((no_sanitize("thread")))
#else
#define SIMGPU_NEVER_RETURNS
#endif

namespace simgpu
{

/*
 * A separate stack to run a function on, in turn with the one that starts it. Fibers are used by
 * one OS thread at a time (the one that holds the machine's lock), which may be another for each
 * function that is begun.
 */
struct fiber;

fiber *fiber_create();
/* Its stack: the lowest address and the size. */
const void *fiber_stack(const fiber *f, size_t *size);
/* Begin a function on the fiber, leaving what ran there before unfinished. It must never return:
 * its last act is fiber_leave. Runs at the next fiber_enter. */
void fiber_begin(fiber *f, void (*function)());
/* Continue there until it leaves. */
void fiber_enter(fiber *f);
/* From a fiber: go back to who entered it. */
void fiber_leave();

} // namespace simgpu

#endif
