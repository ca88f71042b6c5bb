/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* The exit status of the programs of tests/gpu/run where there is no GPU. */
enum { GPU_ABSENT = 77 };

/*
 * True when CUDA sees no GPU; then "skipped: no GPU: why" is printed. Asks in a separate process,
 * because CUDA does not work in those that a process starts after its first call.
 */
bool gpu_absent(void);
