/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/*
 * Room for one more element of `size` bytes than the `count` that `array` has: `array` itself, or,
 * moved, twice as many. NULL: memory ran out, and `array` stays as it was.
 */
void *array_grow(void *array, int count, int *capacity, size_t size);
