/* SPDX-License-Identifier: MIT */
#include "engine/train/resolve/devices.h"

#include <stdlib.h>
#include <string.h>

#include "engine/backends/choice.h"
#include "engine/backends/registry.h"
#include "engine/device/device.h"
#include "engine/train/hosts/link.h"
#include "engine/train/hosts/map.h"
#include "spec/names.h"
#include "system/affinity.h"

static bool resolve_list(struct spec *spec, struct error *err)
{
    struct device_id ids[SPEC_MAX_DEVICES];
    int count = 0;
    if (!devices_resolve(&spec->devices, ids, &count, err))
        return false;
    for (int i = 0; i < count; i++) {
        const char *why = "";
        char name[DEVICE_NAME];
        if (!backend_find(ids[i].kind, &why))
            return error_set(err, ERROR_USAGE, "%s: %s", device_id_text(ids[i], name), why);
    }
    spec->devices.choice = DEVICES_LISTED;
    spec->devices.count = count;
    memcpy(spec->devices.id, ids, (size_t)count * sizeof ids[0]);
    return true;
}

/*
 * The CPUs of our affinity mask, or fewer where the backend knows better: a container may have a
 * quota of time instead of a mask, and threads beyond it would only be throttled.
 */
static bool usable_cores(int *cores, struct error *err)
{
    struct device_info infos[SPEC_MAX_DEVICES];
    const char *why = "";
    char reason[160];
    int *cpus, found = 0;
    const struct backend *backend = backend_find(DEVICE_CPU, &why);
    if (!affinity_cpus(&cpus, cores, err))
        return false;
    free(cpus);
    if (backend && !backend->enumerate(infos, SPEC_MAX_DEVICES, &found, reason, sizeof reason, err))
        return false;
    if (found > 0 && infos[0].cores > 0 && infos[0].cores < *cores)
        *cores = infos[0].cores;
    return true;
}

/* In a run with GPUs the type is theirs, and they know their own default; CPU devices that lack it
 * compute in f32 beside them. Other hosts look at their processors when they open devices. */
static bool resolve_type(struct spec *spec, struct error *err)
{
    if (device_count_kind(spec->devices.id, spec->devices.count, DEVICE_CUDA) > 0)
        return true;
    if (spec->dtype == TYPE_DEFAULT)
        spec->dtype = TYPE_F32;
    const char *why = "";
    const struct backend *backend = backend_find(DEVICE_CPU, &why);
    return spec_has_hosts(spec) || !backend || !backend->computes_in ||
           backend->computes_in(spec->dtype, &why) ||
           error_set(err, ERROR_USAGE, "dtype %s: %s", number_type_name(spec->dtype), why);
}

/* CPU devices, of which these are on this host, share the cores that this process may use. */
static bool resolve_cpus(struct spec *spec, const struct device_id *here, int count,
                         struct error *err)
{
    int cpu_devices = device_count_kind(here, count, DEVICE_CPU), cores;
    if (cpu_devices == 0)
        return true;
    if (spec->cpu_threads > 0 || spec->thread_count > 0)
        return true;
    if (!usable_cores(&cores, err))
        return false;
    spec->cpu_threads = cores / cpu_devices > 1 ? cores / cpu_devices : 1;
    return true;
}

/* What hosts have is seen when each opens its devices. */
static bool resolve_hosts(struct spec *spec, struct error *err)
{
    struct host_list hosts;
    if (!spec_hosts(spec, &hosts, err))
        return false;
    if (!device_list_names_hosts(&spec->devices) &&
        (!resolve_list(spec, err) || !spec_spread_devices(spec, err)))
        return false;
    free(spec->hosts);
    spec->hosts = host_list_text(&hosts);
    return spec->hosts ? spec_validate_listed(spec, err) : error_memory(err, "names of hosts");
}

bool resolve_devices(struct spec *spec, struct error *err)
{
    if (spec_has_hosts(spec))
        return resolve_hosts(spec, err) && resolve_type(spec, err);
    return resolve_list(spec, err) && spec_validate_listed(spec, err) && resolve_type(spec, err) &&
           resolve_cpus(spec, spec->devices.id, spec->devices.count, err);
}

bool resolve_on_host(struct spec *spec, const struct host_link *link, struct error *err)
{
    const struct host_map map = host_map_make(&spec->devices, &link->hosts);
    const int begin = map.begin[link->index], end = map.begin[link->index + 1];
    return resolve_cpus(spec, spec->devices.id + begin, end - begin, err);
}
