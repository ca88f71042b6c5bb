/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/backend.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "base/text.h"
#include "engine/device/cpu/core/device.h"
#include "engine/device/cpu/core/machine.h"
#include "engine/device/cpu/layers/update.h"
#include "engine/device/cpu/plan.h"
#include "engine/device/cpu/replica.h"
#include "engine/device/cpu/simd/kernels.h"

/* The widest layout that both the library's convolutions and our kernels have here. */
static int choose_block(void)
{
#if defined(__x86_64__)
    if (library_uses(dnnl_cpu_isa_avx512_core) && kernels_find(16, false))
        return 16;
    if (library_uses(dnnl_cpu_isa_avx2) && kernels_find(8, false))
        return 8;
#endif
    return 1;
}

/* A primitive made for more threads than it is run by waits for them for ever: better to refuse. */
static bool check_team(const struct device *device, struct error *err)
{
    int team = 0;
#pragma omp parallel
#pragma omp master
    team = omp_get_num_threads();
    return team == device->threads ||
           error_set(err, ERROR_FAILED,
                     "OpenMP gives %d thread%s instead of %d; unset OMP_THREAD_LIMIT and "
                     "OMP_MAX_ACTIVE_LEVELS",
                     team, plural(team), device->threads);
}

static bool check_type(enum number_type type, struct error *err)
{
    const char *why = "";
    return type == TYPE_DEFAULT || cpu_computes_in(type, &why) ||
           error_set(err, ERROR_USAGE, "%s", why);
}

/* Bind the whole team to the device's cores: threads of the pool inherit the mask they were born
 * under, which OMP_PROC_BIND in the environment would have overridden. */
static bool pin_team(const struct device_options *options, struct error *err)
{
    cpu_set_t set;
    int failed = 0;
    if (options->cpu_count == 0)
        return true;
    CPU_ZERO(&set);
    for (int i = 0; i < options->cpu_count; i++)
        CPU_SET(options->cpus[i], &set);
#pragma omp parallel reduction(+ : failed)
    failed += pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0;
    return failed == 0 || error_set(err, ERROR_FAILED,
                                    "cannot run on the %d core%s asked for: not in the "
                                    "process's affinity mask?",
                                    options->cpu_count, plural(options->cpu_count));
}

static bool start_library(struct device *device, struct error *err)
{
    return dnnl_check(dnnl_engine_create(&device->engine, dnnl_cpu, 0), "engine", err) &&
           dnnl_check(dnnl_stream_create(&device->stream, device->engine, dnnl_stream_in_order),
                      "stream", err) &&
           dnnl_check(dnnl_primitive_attr_create(&device->attr), "attributes", err) &&
           dnnl_check(
               dnnl_primitive_attr_set_scratchpad_mode(device->attr, dnnl_scratchpad_mode_user),
               "attributes", err);
}

static void cpu_close(struct device *device)
{
    if (!device)
        return;
    dnnl_primitive_attr_destroy(device->attr);
    dnnl_stream_destroy(device->stream);
    dnnl_engine_destroy(device->engine);
    mapping_free(&device->workspace);
    for (int i = 0; i < device->slot_count; i++)
        mapping_free(&device->slots[i]);
    free(device->slots);
    free(device);
}

static bool cpu_open(const struct device_options *options, struct device **out, struct error *err)
{
    struct device *device = calloc(1, sizeof *device);
    if (!device)
        return error_memory(err, "a device");
    device_id_text(options->id, device->name);
    device->threads = options->threads > 0 ? options->threads : 1;
    device->estimate = options->estimate;
    device->deterministic = options->deterministic;
    device->block = choose_block();
    device->bf16 = options->type == TYPE_BF16;
    device->library_bf16 = library_uses(dnnl_cpu_isa_avx512_core);
    omp_set_dynamic(0);
    omp_set_num_threads(device->threads);
    if (!check_type(options->type, err) || !check_team(device, err) || !pin_team(options, err) ||
        !start_library(device, err)) {
        error_prefix(err, "%s", device->name);
        cpu_close(device);
        return false;
    }
    *out = device;
    return true;
}

static void cpu_libraries(char *buffer, size_t size)
{
    const dnnl_version_t *version = dnnl_version();
    snprintf(buffer, size, "oneDNN %d.%d.%d", version->major, version->minor, version->patch);
}

const struct backend cpu_backend = {
    .kind = DEVICE_CPU,
    .enumerate = cpu_enumerate,
    .libraries = cpu_libraries,
    .open = cpu_open,
    .computes_in = cpu_computes_in,
    .close = cpu_close,
    .replica_create = cpu_replica_create,
    .replica_destroy = cpu_replica_destroy,
    .values_export = cpu_values_export,
    .values_import = cpu_values_import,
    .plan_create = cpu_plan_create,
    .plan_destroy = cpu_plan_destroy,
    .plan_memory = cpu_plan_memory,
    .plan_run = cpu_plan_run,
    .plan_forward = cpu_plan_forward,
    .plan_backward = cpu_plan_backward,
    .plan_finish = cpu_plan_finish,
    .stage_row = cpu_stage_row,
    .plan_profile = cpu_plan_profile,
    .plan_logits = cpu_plan_logits,
    .update = cpu_update,
    .gradient_squares = cpu_gradient_squares,
    .swap = cpu_swap,
    .slices = true,
};
