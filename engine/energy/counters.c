/* SPDX-License-Identifier: MIT */
#include "engine/energy/counters.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/nvml/scan.h"

static bool find_packages(struct energy_counters *counters, const char *root)
{
    struct topology topology;
    struct cpu_figures *figures = root ? malloc(sizeof *figures) : NULL;
    counters->root = figures ? open(root, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (counters->root >= 0) {
        cpu_figures_init(figures, "");
        topology_find(&topology, counters->root, figures);
        powers_find(&counters->packages, counters->root, &topology);
    }
    free(figures);
    return counters->packages.count > 0;
}

/* A MIG instance is a part of a GPU, whose counter is of all of it. */
static bool take_gpu(struct energy_counters *counters, const struct nvml_scan *scan, int index)
{
    if (index >= scan->count || scan->gpu[index].broken || scan->gpu[index].mig)
        return false;
    for (int i = 0; i < counters->gpu_count; i++)
        if (counters->gpu[i] == scan->gpu[index].handle)
            return true; /* it is two of the run's devices, and has one counter */
    counters->gpu_before[counters->gpu_count] = UINT64_MAX;
    counters->gpu[counters->gpu_count++] = scan->gpu[index].handle;
    return true;
}

static bool find_gpus(struct energy_counters *counters, const struct nvml_options *options,
                      const struct device_id *ids, int count)
{
    char why[200];
    if (!options->library || !nvml_library_open(&counters->api, options->library, why, sizeof why))
        return false;
    struct nvml_scan *scan = calloc(1, sizeof *scan);
    bool ok = scan != NULL;
    if (scan) {
        nvml_scan_look(&counters->api, options->visible, scan);
        for (int i = 0; ok && i < count; i++)
            ok = ids[i].kind != DEVICE_CUDA || take_gpu(counters, scan, ids[i].index);
        nvml_scan_end(&counters->api, scan);
    }
    free(scan);
    return ok;
}

bool energy_counters_open(struct energy_counters *counters, const char *root,
                          const struct nvml_options *gpus, const struct device_id *ids, int count)
{
    bool kinds[] = {[DEVICE_CPU] = false, [DEVICE_CUDA] = false};
    *counters = (struct energy_counters){.root = -1};
    for (int i = 0; i < count; i++)
        kinds[ids[i].kind] = true;
    if ((kinds[DEVICE_CPU] && !find_packages(counters, root)) ||
        (kinds[DEVICE_CUDA] && !find_gpus(counters, gpus, ids, count)))
        return false;
    energy_counters_read(counters);
    return !isnan(energy_counters_read(counters));
}

void energy_counters_close(struct energy_counters *counters)
{
    powers_close(&counters->packages);
    nvml_library_close(&counters->api);
    if (counters->root >= 0)
        close(counters->root);
    *counters = (struct energy_counters){.root = -1};
}

static double read_gpu(struct energy_counters *counters, int index)
{
    unsigned long long now = 0;
    const uint64_t before = counters->gpu_before[index];
    bool known = NVML_CALL(&counters->api, energy, counters->gpu[index], &now) == NVML_SUCCESS;
    counters->gpu_before[index] = known ? now : UINT64_MAX;
    return known && now >= before ? (double)(now - before) / 1e3 : NAN;
}

/* No package takes this much (W). What would be more has not come around but begun again, as after
 * suspending. */
static const double MOST_POWER = 1000;

static double read_package(struct energy_zone *zone, int root, double seconds)
{
    int64_t now, before = zone->before;
    if (sensor_file_number(&zone->energy, root, 0, INT64_MAX, &now) != 0)
        now = -1;
    zone->before = now;
    if (before < 0 || now < 0 || (now < before && (zone->range == 0 || before > zone->range)))
        return NAN;
    const double joules = (double)(now - before + (now < before ? zone->range : 0)) / 1e6;
    return now < before && joules > MOST_POWER * fmax(seconds, 1) ? NAN : joules;
}

double energy_counters_read(struct energy_counters *counters)
{
    double joules = 0;
    const double now = clock_seconds(), seconds = now - counters->packages_read;
    counters->packages_read = now;
    for (int i = 0; i < counters->packages.count; i++)
        joules += read_package(&counters->packages.zone[i], counters->root, seconds);
    for (int i = 0; i < counters->gpu_count; i++)
        joules += read_gpu(counters, i);
    return joules;
}
