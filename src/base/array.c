/* SPDX-License-Identifier: MIT */
#include "base/array.h"

#include <stdlib.h>

void *array_grow(void *array, int count, int *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    int larger = *capacity > 0 ? 2 * *capacity : 16;
    void *moved = reallocarray(array, (size_t)larger, size);
    if (moved)
        *capacity = larger;
    return moved;
}
