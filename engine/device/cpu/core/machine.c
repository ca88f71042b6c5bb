/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/machine.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "engine/device/cpu/core/onednn.h"

/*
 * The main thread's mask is the one that taskset or a container gave the process; worker threads
 * narrow their own, so asking for the caller's would depend on who asks.
 */
static int affinity_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(getpid(), sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

/* "QUOTA PERIOD" or "max PERIOD", in microseconds; no limit: 0. */
static double read_quota(const char *path)
{
    char quota[32];
    double period, value;
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    int fields = fscanf(file, "%31s %lf", quota, &period);
    fclose(file);
    if (fields != 2 || !parse_double(quota, 1, 1e18, &value) || !(period > 0))
        return 0;
    return value / period;
}

/* The tightest CPU quota (version 2) from the process's cgroup up to the root; none: 0. */
static double cgroup_cores(void)
{
    char line[1024], path[1200];
    double least = 0;
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file)
        return 0;
    bool found = false;
    while (!found && fgets(line, sizeof line, file))
        found = strncmp(line, "0::/", 4) == 0;
    fclose(file);
    if (!found)
        return 0;
    char *group = line + 3;
    group[strcspn(group, "\n")] = '\0';
    for (;;) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
        double cores = read_quota(path);
        if (cores > 0 && (least == 0 || cores < least))
            least = cores;
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

int cpu_cores(void)
{
    int cores = affinity_cores();
    double quota = cgroup_cores();
    if (quota > 0 && ceil(quota) < cores)
        cores = (int)ceil(quota);
    return cores > 0 ? cores : 1;
}

/* Tests ask for it on any processor. */
static bool has_bf16(void)
{
    const char *emulate = getenv("DPARTUI_EMULATE_BF16");
    return library_uses(dnnl_cpu_isa_avx512_core_bf16) || (emulate && strcmp(emulate, "1") == 0);
}

bool cpu_computes_in(enum number_type type, const char **why)
{
    if (type == TYPE_F32 || (type == TYPE_BF16 && has_bf16()))
        return true;
    if (why)
        *why = type == TYPE_BF16 ? "the processor has no instructions for bf16 (AVX512_BF16)"
                                 : "CPU devices compute in f32 or bf16";
    return false;
}

void cpu_processor_name(char *name, size_t size)
{
    char line[256];
    snprintf(name, size, "processor");
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        colon += strspn(colon, ": \t");
        snprintf(name, size, "%.*s", (int)strcspn(colon, "\n"), colon);
        break;
    }
    fclose(file);
}

bool cpu_enumerate(struct device_info *list, int capacity, int *count, char *why, size_t why_size,
                   struct error *err)
{
    int cores = cpu_cores();
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    (void)err;
    snprintf(why, why_size, "%s", "");
    *count = cores < capacity ? cores : capacity;
    for (int i = 0; i < *count; i++) {
        list[i] = (struct device_info){.id = {DEVICE_CPU, i}, .cores = cores, .available = true};
        if (pages > 0 && page > 0)
            list[i].memory_bytes = (uint64_t)pages * (uint64_t)page;
        cpu_processor_name(list[i].name, sizeof list[i].name);
    }
    return true;
}
