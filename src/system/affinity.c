/* SPDX-License-Identifier: MIT */
#include "system/affinity.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

/* The kernel refuses a mask smaller than its own, whose size it does not tell: double until it
 * fits. */
static cpu_set_t *inherited_mask(int *bits, struct error *err)
{
    for (*bits = 1024; *bits <= 1 << 20; *bits *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)*bits);
        if (!set) {
            error_memory(err, "CPU mask");
            return NULL;
        }
        if (sched_getaffinity(0, CPU_ALLOC_SIZE((size_t)*bits), set) == 0)
            return set;
        CPU_FREE(set);
        if (errno != EINVAL)
            break;
    }
    error_errno(err, "cannot read which CPUs this process may use");
    return NULL;
}

bool affinity_cpus(int **cpus, int *count, struct error *err)
{
    int bits;
    cpu_set_t *set = inherited_mask(&bits, err);
    if (!set)
        return false;
    size_t size = CPU_ALLOC_SIZE((size_t)bits);
    int *list = malloc((size_t)CPU_COUNT_S(size, set) * sizeof *list);
    if (!list) {
        CPU_FREE(set);
        return error_memory(err, "CPU list");
    }
    *count = 0;
    for (int i = 0; i < bits; i++)
        if (CPU_ISSET_S((size_t)i, size, set))
            list[(*count)++] = i;
    CPU_FREE(set);
    *cpus = list;
    return true;
}

int affinity_count(void)
{
    struct error ignored = ERROR_INIT;
    int *cpus, count;
    if (!affinity_cpus(&cpus, &count, &ignored))
        return 1;
    free(cpus);
    return count;
}
