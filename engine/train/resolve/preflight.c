/* SPDX-License-Identifier: MIT */
#include "engine/train/resolve/preflight.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const double GIB = 1 << 30;

/* Of a GPU's memory, what the driver and this program's own context take at most. */
static const uint64_t OWN_BYTES = UINT64_C(1) << 30;

/* NCCL puts buffers of some megabytes for each pair of GPUs there. */
static const uint64_t SHARED_MEMORY_BYTES = UINT64_C(64) << 20;

/* When one device is this much faster than another it has to wait for it. */
static const double UNEQUAL = 1.25;

static bool warn(const struct preflight_sink *sink, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool warn(const struct preflight_sink *sink, struct error *err, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return sink->warn(sink->context, text, err);
}

/* How often the device at `place` is named, and whether that is its first place. */
static int times_named(const struct preflight *p, int place, bool *first)
{
    int times = 0;
    *first = true;
    for (int i = 0; i < p->count; i++) {
        bool is = device_id_same(p->devices[i].id, p->devices[place].id);
        times += is;
        *first = *first && !(is && i < place);
    }
    return times;
}

static int distinct_gpus(const struct preflight *p)
{
    int count = 0;
    bool first;
    for (int i = 0; i < p->count; i++) {
        times_named(p, i, &first);
        count += first && p->devices[i].id.kind == DEVICE_CUDA;
    }
    return count;
}

/* The first replica saw the GPU's memory before the others took theirs. */
static bool check_memory(const struct preflight *p, int place, struct error *err)
{
    const struct preflight_device *device = &p->devices[place];
    uint64_t need = 0, available = 0;
    char name[DEVICE_NAME];
    for (int i = 0; i < p->count; i++) {
        const struct preflight_device *other = &p->devices[i];
        if (!device_id_same(other->id, device->id))
            continue;
        need += other->memory_bytes;
        available = other->facts.memory_free > available ? other->facts.memory_free : available;
    }
    if (available == 0 || need <= available)
        return true;
    return error_set(err, ERROR_FAILED,
                     "%s: the run needs %.1f GiB, %.1f of %.1f GiB are free: take a smaller batch, "
                     "or end what else uses it",
                     device_id_text(device->id, name), (double)need / GIB, (double)available / GIB,
                     (double)device->facts.memory_total / GIB);
}

static bool check_use(const struct preflight_device *device, int times,
                      const struct preflight_sink *sink, struct error *err)
{
    const struct device_facts *facts = &device->facts;
    uint64_t used = facts->memory_total - facts->memory_free;
    char name[DEVICE_NAME];
    device_id_text(device->id, name);
    if (times > 1 && !warn(sink, err,
                           "%s is named %d times: its replicas share one GPU, which tests "
                           "several devices but is no faster than one",
                           name, times))
        return false;
    /* Another replica there may have taken its part already. */
    if (times > 1 || facts->memory_total == 0 || used < OWN_BYTES)
        return true;
    return warn(sink, err,
                "%s: other programs hold %.1f GiB of its memory and may share its time: figures "
                "are not those of a GPU of one's own (see nvidia-smi)",
                name, (double)used / GIB);
}

static bool check_versions(const struct preflight_device *device, const struct preflight_sink *sink,
                           struct error *err)
{
    const struct device_facts *facts = &device->facts;
    if (facts->driver == 0 || facts->runtime == 0 || facts->driver >= facts->runtime)
        return true;
    return warn(sink, err,
                "the driver is for CUDA %d.%d, this program for %d.%d: should kernels fail to "
                "load, install a newer driver",
                facts->driver / 1000, facts->driver % 1000 / 10, facts->runtime / 1000,
                facts->runtime % 1000 / 10);
}

static bool check_collective(const struct preflight *p, const struct preflight_sink *sink,
                             struct error *err)
{
    char one[DEVICE_NAME], other[DEVICE_NAME];
    if (distinct_gpus(p) < 2)
        return true;
    int gpu = 0;
    while (p->devices[gpu].id.kind != DEVICE_CUDA)
        gpu++;
    /* Over hosts it is known when they have tried to join. */
    if (*p->devices[gpu].facts.collective_error && !*p->devices[gpu].id.host &&
        !warn(sink, err, "GPUs are reduced without NCCL, which is slower: %s",
              p->devices[gpu].facts.collective_error))
        return false;
    if (p->shared_memory > 0 && p->shared_memory < SHARED_MEMORY_BYTES &&
        !warn(sink, err,
              "/dev/shm has %.0f MiB free, NCCL may want more: start the container with a larger "
              "one (--shm-size=1g)",
              (double)p->shared_memory / (1 << 20)))
        return false;
    for (int i = 0; i < p->count; i++)
        for (int j = 0; j < p->count; j++) {
            const struct preflight_device *from = &p->devices[i], *to = &p->devices[j];
            if (from->id.kind != DEVICE_CUDA || to->id.kind != DEVICE_CUDA ||
                strcmp(from->id.host, to->id.host) != 0 || from->facts.reads == 0 ||
                to->id.index >= 64 || from->facts.reads >> to->id.index & 1)
                continue;
            return warn(sink, err,
                        "%s cannot read the memory of %s, so gradients go through the host: see "
                        "nvidia-smi topo -p2p r; in a virtual machine or container the bus may be "
                        "set up against it",
                        device_id_text(from->id, one), device_id_text(to->id, other));
        }
    return true;
}

/* Relative to others of its kind, by what it has; 0: not known. */
static double speed(const struct preflight_device *device)
{
    return (double)device->facts.multiprocessors * device->facts.clock_mhz;
}

static const char *model_of(const struct preflight_device *device)
{
    return *device->model ? device->model : device->id.kind == DEVICE_CPU ? "CPU" : "GPU";
}

static bool check_balance(const struct preflight *p, const struct preflight_sink *sink,
                          struct error *err)
{
    const struct preflight_device *fast = NULL, *slow = NULL, *cpu = NULL, *gpu = NULL;
    char one[DEVICE_NAME], other[DEVICE_NAME];
    if (p->split == SPLIT_WEIGHTED || p->split == SPLIT_AUTO)
        return true;
    for (int i = 0; i < p->count; i++) {
        const struct preflight_device *device = &p->devices[i];
        cpu = device->id.kind == DEVICE_CPU ? device : cpu;
        gpu = device->id.kind == DEVICE_CUDA ? device : gpu;
        if (device->id.kind != DEVICE_CUDA || speed(device) == 0)
            continue;
        fast = !fast || speed(device) > speed(fast) ? device : fast;
        slow = !slow || speed(device) < speed(slow) ? device : slow;
    }
    if (cpu && gpu)
        return warn(sink, err,
                    "%s gets as many rows as %s (%s), which has to wait for it: --split auto gives "
                    "each what it can do",
                    device_id_text(cpu->id, one), device_id_text(gpu->id, other), model_of(gpu));
    if (!fast || speed(fast) <= UNEQUAL * speed(slow))
        return true;
    return warn(sink, err,
                "%s (%s) is about %.1f times as fast as %s (%s) and has to wait for it: --split "
                "auto, or weighted:..., gives each what it can do",
                device_id_text(fast->id, one), model_of(fast), speed(fast) / speed(slow),
                device_id_text(slow->id, other), model_of(slow));
}

static bool check_batch(const struct preflight *p, const struct preflight_sink *sink,
                        struct error *err)
{
    return p->length.total_steps == 0 || p->rows == 0 || p->batch <= p->rows ||
           warn(sink, err,
                "batch %ld: there %s %ld training row%s, so every epoch is one step with all of "
                "them",
                p->batch, p->rows == 1 ? "is" : "are", p->rows, plural(p->rows));
}

/* The mean of one value is that value, so only the bias is left. PyTorch refuses it. */
static bool check_norms(const struct preflight *p, const struct preflight_sink *sink,
                        struct error *err)
{
    char name[DEVICE_NAME];
    for (int i = 0; p->lone_norm && i < p->count; i++)
        if (p->devices[i].least_rows == 1)
            return warn(sink, err,
                        "batchnorm '%s' gets a single value per channel on %s where that has one "
                        "row at a time: such a step teaches nothing; take another batch%s",
                        p->lone_norm, device_id_text(p->devices[i].id, name),
                        p->may_sync_bn ? ", or statistics of all devices (--sync-bn)" : "");
    return true;
}

/* The first epoch of its text that the run does not reach; 0: it reaches all. */
static double missed_epoch(const struct preflight *p)
{
    for (int i = 0; i < p->schedule->count; i++)
        if (lr_epoch_steps(p->length, p->schedule->epochs[i]) >= p->length.total_steps)
            return p->schedule->epochs[i];
    return 0;
}

static bool check_schedule(const struct preflight *p, const struct preflight_sink *sink,
                           struct error *err)
{
    if (!p->schedule || p->length.total_steps == 0)
        return true;
    double missed = missed_epoch(p), warmup = p->schedule->warmup;
    double end = (double)p->length.total_steps / (double)p->length.epoch_steps;
    if (missed > 0 &&
        !warn(sink, err,
              "lr-schedule: the learning rate would change after epoch %g, but the run ends "
              "with epoch %.4g: choose an earlier epoch, or train longer",
              missed, end))
        return false;
    return lr_epoch_steps(p->length, warmup) <= p->length.total_steps ||
           warn(sink, err,
                "warmup %g: the run ends after %ld step%s, within its warm-up: choose a shorter "
                "one, or train longer",
                warmup, p->length.total_steps, plural(p->length.total_steps));
}

bool preflight_check(const struct preflight *p, const struct preflight_sink *sink,
                     struct error *err)
{
    bool first, versions = false;
    for (int i = 0; i < p->count; i++)
        if (!check_memory(p, i, err))
            return false;
    for (int i = 0; i < p->count; i++) {
        const struct preflight_device *device = &p->devices[i];
        int times = times_named(p, i, &first);
        if (device->id.kind != DEVICE_CUDA || !first)
            continue;
        if (!check_use(device, times, sink, err) ||
            (!versions && !check_versions(device, sink, err)))
            return false;
        versions = true;
    }
    return check_collective(p, sink, err) && check_balance(p, sink, err) &&
           check_batch(p, sink, err) && check_schedule(p, sink, err) && check_norms(p, sink, err);
}
