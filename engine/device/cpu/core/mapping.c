/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/mapping.h"

#include <stdint.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
/* From this size on a huge page is used even if it is not filled: scattered over small pages, the
 * values of a small network displace each other in the caches. */
#define HUGE_FROM ((size_t)128 << 10)

/* Whole huge pages, aligned to one, so that none at the edges is split. */
bool mapping_create(struct mapping *mapping, size_t bytes, const char *what, struct error *err)
{
    *mapping = (struct mapping){0};
    if (bytes == 0)
        return true;
    size_t size = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    if (size < bytes || size + HUGE_PAGE < size)
        return error_memory(err, what);
    char *start =
        mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return error_errno(err, "cannot get %zu MiB of memory (%s); use a smaller batch",
                           size >> 20, what);
    size_t before = (HUGE_PAGE - (uintptr_t)start % HUGE_PAGE) % HUGE_PAGE;
    if (before > 0)
        munmap(start, before);
    if (before < HUGE_PAGE)
        munmap(start + before + size, HUGE_PAGE - before);
    mapping->data = start + before;
    mapping->size = bytes;
    if (bytes >= HUGE_FROM)
        madvise(mapping->data, size, MADV_HUGEPAGE); /* only advice: failure costs speed */
    return true;
}

void mapping_free(struct mapping *mapping)
{
    if (mapping->data)
        munmap(mapping->data, (mapping->size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    *mapping = (struct mapping){0};
}
