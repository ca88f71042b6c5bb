/* SPDX-License-Identifier: MIT */
#include "engine/server/devices/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "base/json.h"
#include "engine/backends/registry.h"
#include "engine/server/devices/table.h"

static const enum device_kind kinds[] = {DEVICE_CUDA, DEVICE_CPU};

#define KINDS (sizeof kinds / sizeof *kinds)

/* The backend of a kind that the run uses; NULL: it does not. */
static const struct backend *used_backend(const struct spec *spec, enum device_kind kind)
{
    const char *why;
    for (int i = 0; i < spec->devices.count; i++)
        if (spec->devices.id[i].kind == kind)
            return backend_find(kind, &why);
    return NULL;
}

static bool is_used(const struct spec *spec, struct device_id id)
{
    for (int i = 0; i < spec->devices.count; i++)
        if (device_id_same(spec->devices.id[i], id))
            return true;
    return false;
}

/* The machine's devices that the run names, each once. */
static json_t *used_devices(const struct spec *spec)
{
    struct device_info *info = calloc(SPEC_MAX_DEVICES, sizeof *info);
    json_t *list = json_array();
    for (size_t i = 0; info && i < KINDS; i++) {
        const struct backend *backend = used_backend(spec, kinds[i]);
        struct error ignored = ERROR_INIT;
        char why[160];
        int count = 0;
        if (!backend ||
            !backend->enumerate(info, SPEC_MAX_DEVICES, &count, why, sizeof why, &ignored))
            continue;
        for (int j = 0; j < count; j++)
            if (is_used(spec, info[j].id))
                json_array_append_new(list, device_info_json(&info[j]));
    }
    free(info);
    return list;
}

/* What they compute with, a text for each kind. */
static json_t *used_libraries(const struct spec *spec)
{
    json_t *list = json_array();
    for (size_t i = 0; i < KINDS; i++) {
        const struct backend *backend = used_backend(spec, kinds[i]);
        char text[160];
        if (!backend || !backend->libraries)
            continue;
        backend->libraries(text, sizeof text);
        json_array_append_new(list, json_any_text(text));
    }
    return list;
}

json_t *environment_json(const struct spec *spec, const char *version)
{
    struct utsname name;
    char system[sizeof name.sysname + sizeof name.release + sizeof name.machine + 4] = "";
    if (uname(&name) != 0)
        return NULL;
    snprintf(system, sizeof system, "%s %s %s", name.sysname, name.release, name.machine);
    return json_pack("{s:o, s:o, s:s, s:o, s:o}", "host", json_any_text(name.nodename), "system",
                     json_any_text(system), "version", version, "libraries", used_libraries(spec),
                     "devices", used_devices(spec));
}
