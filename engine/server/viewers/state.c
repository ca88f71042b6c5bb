/* SPDX-License-Identifier: MIT */
#include "engine/server/viewers/state.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "engine/server/record/json.h"
#include "engine/train/split/shares.h"

/* What a state needs, copied out of the locks so that JSON is made without them. */
struct snapshot {
    struct telemetry_sample sample;
    struct device_list list; /* of the running run */
    int device_count, threads[SPEC_MAX_DEVICES];
    struct run_device device[SPEC_MAX_DEVICES];
    bool shown[SPEC_MAX_DEVICES];
    struct gpu_findings findings;
    struct device_table devices; /* with the GPUs */
};

static json_t *known_bytes(uint64_t bytes)
{
    return bytes ? json_integer((json_int_t)bytes) : json_null();
}

static void add_run_figures(json_t *object, const struct run_device *device)
{
    json_object_set_new(object, "rows", device ? json_integer(device->rows) : json_null());
    json_object_set_new(object, "samples_per_s", json_finite(device ? device->samples_per_s : NAN));
    json_object_set_new(object, "state", json_string(device ? device->state : "idle"));
    json_object_set_new(object, "compute_s", json_finite(device ? device->compute_s : NAN));
    json_object_set_new(object, "sync_s", json_finite(device ? device->sync_s : NAN));
    json_object_set_new(object, "wait_s", json_finite(device ? device->wait_s : NAN));
}

/* CPUs of a CPU device: its own while it trains, all that we may use otherwise. */
static const int *device_cpus(const struct server *server, const struct snapshot *snapshot,
                              const struct run_device *device, int *count)
{
    const int *threads = snapshot->threads;
    *count = server->cpu_count;
    if (!device || !cpus_suffice(threads, snapshot->list.count, server->cpu_count))
        return server->cpus;
    int index = (int)(device - snapshot->device);
    *count = threads[index];
    return server->cpus + first_cpu(snapshot->list.id, threads, index);
}

static json_t *sensor_json(const struct device_sensors *sensors, enum sensor sensor)
{
    double figure = sensor < SENSOR_FIGURES ? sensors->figure[sensor] : NAN;
    switch (sensor) {
    case SENSOR_THROTTLE:
        return sensors->throttle_known ? json_any_text(sensors->throttle) : json_null();
    case SENSOR_TEMPERATURE:
    case SENSOR_POWER:
    case SENSOR_POWER_LIMIT:
        return json_finite(figure);
    default:
        return isfinite(figure) ? json_integer((json_int_t)llround(figure)) : json_null();
    }
}

/* A figure, or null and why it is not known. */
static void add_figure(json_t *object, json_t *missing, const char *name, json_t *value,
                       const char *reason)
{
    if (json_is_null(value) && *reason)
        json_object_set_new(missing, name, json_any_text(reason));
    json_object_set_new(object, name, value);
}

static void add_sensors(json_t *object, json_t *missing, const struct device_sensors *sensors)
{
    for (int i = 0; i < SENSOR_COUNT; i++)
        add_figure(object, missing, sensor_name((enum sensor)i),
                   sensor_json(sensors, (enum sensor)i), sensors->missing[i].text);
}

static void add_cpu(json_t *object, json_t *missing, const struct server *server,
                    const struct snapshot *snapshot, const struct run_device *device)
{
    struct device_sensors sensors;
    int count;
    const int *cpus = device_cpus(server, snapshot, device, &count);
    json_object_set_new(object, "load",
                        json_finite(telemetry_load(&snapshot->sample, cpus, count)));
    json_object_set_new(object, "memory_used", known_bytes(snapshot->sample.memory_used));
    if (snapshot->sample.memory_total) /* not before the first sample */
        json_object_set_new(object, "memory_total", known_bytes(snapshot->sample.memory_total));
    cpu_figures_of(&snapshot->sample.sensors, cpus, count, &sensors);
    add_sensors(object, missing, &sensors);
}

static void add_gpu(json_t *object, json_t *missing, const struct gpu_figures *gpu)
{
    add_figure(object, missing, "load", json_finite(gpu->load), gpu->no_load.text);
    add_figure(object, missing, "tensor_load", json_finite(gpu->tensor_load),
               gpu->no_tensor_load.text);
    add_figure(object, missing, "memory_load", json_finite(gpu->memory_load),
               gpu->no_memory_load.text);
    add_figure(object, missing, "memory_used", known_bytes(gpu->memory_used), gpu->no_memory.text);
    if (gpu->memory_total)
        json_object_set_new(object, "memory_total", known_bytes(gpu->memory_total));
    add_figure(object, missing, "processes", gpu_processes_json(gpu), gpu->no_processes.text);
    json_object_set_new(object, "process_count", json_integer(gpu->processes));
    add_sensors(object, missing, &gpu->sensors);
}

/* A device of another host, of which that host has told. */
static void add_distant(json_t *object, json_t *missing, const struct run_device *device)
{
    struct device_sensors sensors;
    device_sensors_init(&sensors, "of this host's devices only load and memory are told");
    json_object_set_new(object, "load", json_finite(device->load.load));
    json_object_set_new(object, "memory_used", known_bytes(device->load.memory_used));
    json_object_set_new(object, "memory_total", known_bytes(device->load.memory_total));
    add_sensors(object, missing, &sensors);
}

static const char *why_not_reported(const struct server *server, const struct device_info *info)
{
    if (!info->available)
        return info->reason;
    return *server->gpus.none.text ? server->gpus.none.text
                                   : "the NVIDIA driver does not report this GPU";
}

static json_t *device_json(const struct server *server, const struct snapshot *snapshot,
                           const struct device_info *info, const struct run_device *device)
{
    json_t *object = device_info_json(info), *missing = json_object();
    const struct gpu_figures *gpu = gpu_list_find(&server->gpus, info->uuid);
    struct gpu_figures unknown;
    if (*info->id.host) {
        add_distant(object, missing, device);
    } else if (info->id.kind == DEVICE_CPU) {
        add_cpu(object, missing, server, snapshot, device);
    } else {
        memset(&unknown, 0, sizeof unknown);
        gpu_figures_drop(&unknown, why_not_reported(server, info));
        add_gpu(object, missing, gpu ? gpu : &unknown);
    }
    add_run_figures(object, device);
    json_object_set_new(object, "missing", missing);
    return object;
}

/* The figures of a device of the machine in the running run, once. */
static const struct run_device *take_figures(struct snapshot *snapshot, struct device_id id)
{
    for (int i = 0; i < snapshot->device_count; i++) {
        const struct run_device *device = &snapshot->device[i];
        if (snapshot->shown[i] || !device_id_same(device->id, id))
            continue;
        snapshot->shown[i] = true;
        return device;
    }
    return NULL;
}

/* What the machine has and, after those, devices that only the run knows: shares of its CPUs. */
static json_t *devices_json(const struct server *server, struct snapshot *snapshot)
{
    json_t *list = json_array();
    const struct device_info *some_cpu = NULL;
    for (int i = 0; i < snapshot->devices.count; i++) {
        const struct device_info *info = &snapshot->devices.info[i];
        if (info->id.kind == DEVICE_CPU && !some_cpu)
            some_cpu = info;
        json_array_append_new(
            list, device_json(server, snapshot, info, take_figures(snapshot, info->id)));
    }
    for (int i = 0; i < snapshot->device_count; i++) {
        if (snapshot->shown[i])
            continue;
        struct device_info info = {.available = true};
        if (snapshot->device[i].id.kind == DEVICE_CPU && some_cpu && !*snapshot->device[i].id.host)
            info = *some_cpu;
        info.id = snapshot->device[i].id;
        json_array_append_new(list, device_json(server, snapshot, &info, &snapshot->device[i]));
    }
    return list;
}

static json_t *queue_json(const struct queue *queue)
{
    json_t *list = json_array();
    for (size_t i = 0; i < queue->waiting_count; i++)
        json_array_append_new(list, json_integer(queue->waiting[i]->number));
    return list;
}

json_t *server_state_json(struct server *server)
{
    char host[256] = "";
    struct snapshot snapshot = {.device_count = 0};
    gethostname(host, sizeof host - 1);
    telemetry_read(server->telemetry, &snapshot.sample);
    nvml_read(server->nvml, &server->gpus);
    snapshot.devices = server->devices;
    gpu_survey_read(server->survey, &snapshot.findings);
    device_table_add_gpus(&snapshot.devices, &snapshot.findings, &server->gpus);
    pthread_mutex_lock(&server->queue.lock);
    const struct record *current = queue_running(&server->queue);
    if (current && current->has_progress) {
        snapshot.device_count = current->progress.device_count;
        share_threads(&current->spec, snapshot.threads);
        snapshot.list = current->spec.devices;
        memcpy(snapshot.device, current->device, sizeof snapshot.device);
    }
    json_t *queue = queue_json(&server->queue);
    json_t *run = current ? record_json_state(current) : json_null();
    json_int_t edits = (json_int_t)server->queue.edits;
    json_int_t older = server->queue.older + server->left_out;
    pthread_mutex_unlock(&server->queue.lock);
    return json_pack(
        "{s:i, s:s, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o}", "pid", (int)getpid(), "version",
        server->options->version, "host", json_any_text(host), "memory_engine",
        known_bytes(snapshot.sample.memory_engine), "queue", queue, "edits", edits, "older", older,
        "run", run, "devices", devices_json(server, &snapshot), "no_gpus",
        no_gpus_json(&snapshot.findings, &server->gpus), "store", server_trouble_json(server));
}
