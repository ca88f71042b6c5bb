/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/replica/arenas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/device/cuda/runtime/memory.h"
#include "engine/device/cuda/runtime/wait.h"

static bool send_spared(struct device *device, struct cuda_replica *r, uint8_t *to,
                        struct error *err)
{
    uint8_t *spared = param_places_spared(r->base.net, &r->places, err);
    bool ok = spared && cuda_write(device, to, spared, r->base.count / 16,
                                   "what weight decay leaves alone", err);
    free(spared);
    r->base.spared = to;
    return ok;
}

/* Params, grads, state, statistics, steps, the gradients' norm, counters, the bf16 copies, what a
 * stage has besides, and what weight decay leaves alone: one allocation, zeroed. */
static bool allocate(struct device *device, struct cuda_replica *r,
                     const struct replica_request *request, struct error *err)
{
    const struct param_places *places = &r->places;
    const bool spares = request->spares, stage = request->stage;
    r->base.count = places->trained;
    r->base.replicated = param_places_replicated(r->base.net, places);
    r->base.statistics_count = places->statistics;
    const size_t arenas = replica_numbers(&r->base) * sizeof(float);
    const size_t copies = device->storage == CUDA_BF16 ? places->trained * sizeof(uint16_t) : 0;
    const size_t steps = STEP_SLOTS * sizeof *r->steps;
    const size_t counters = KERNEL_COUNTERS * sizeof *r->counters;
    const size_t spared = spares ? places->trained / 16 : 0;
    const size_t gathered = stage ? places->statistics * sizeof(double) : 0;
    const size_t parts = stage ? places->trained * sizeof(float) : 0;
    const size_t bytes =
        arenas + copies + gathered + parts + spared + steps + sizeof *r->norm + counters;
    r->base.more_bytes = copies + gathered + parts;
    if (!cuda_memory_create(device, bytes, "parameters and gradients", &r->memory, err) ||
        !cuda_check(cudaMemsetAsync(r->memory, 0, bytes, device->stream), "clearing memory", err) ||
        !cuda_check(cudaMallocHost((void **)&r->host_steps, steps + sizeof *r->host_norm),
                    "pinned memory", err))
        return false;
    r->host_norm = (float *)(r->host_steps + STEP_SLOTS);
    *r->host_norm = NAN;
    r->base.grad_norm = r->host_norm;
    r->steps = (struct optimizer_step *)replica_place_arenas(&r->base, r->memory);
    r->norm = (struct gradient_norm *)(r->steps + STEP_SLOTS);
    _Static_assert(sizeof *r->norm % 16 == 0, "what follows is aligned");
    r->counters = (uint32_t *)(r->norm + 1);
    char *rest = (char *)(r->counters + KERNEL_COUNTERS);
    if (copies > 0)
        r->copies = (uint16_t *)rest;
    if (stage) {
        r->gathered = (double *)(rest + copies);
        r->parts = (float *)(rest + copies + gathered);
    }
    return cuda_wait(device, device->stream, "clearing memory", err) &&
           (!spares || send_spared(device, r, (uint8_t *)r->memory + bytes - spared, err));
}

bool cuda_replica_create(struct device *device, const struct net *net,
                         const struct replica_request *request, struct replica **out,
                         struct error *err)
{
    struct cuda_replica *r = calloc(1, sizeof *r);
    if (!r)
        return error_memory(err, "a replica");
    r->base.net = net;
    r->base.states = request->states;
    r->storage = device->storage;
    if (!graph_build(net, request->stage, LAYOUT_CHANNELS_LAST, cuda_padded(1), &r->graph, err) ||
        !cuda_replica_lay_out(r, err) || !allocate(device, r, request, err)) {
        cuda_replica_destroy(device, &r->base);
        return error_prefix(err, "%s", device->name);
    }
    *out = &r->base;
    return true;
}

void cuda_replica_destroy(struct device *device, struct replica *replica)
{
    struct cuda_replica *r = (struct cuda_replica *)replica;
    if (!r)
        return;
    free(r->filters);
    free(r->places.list);
    graph_free(&r->graph);
    if (cuda_comes_to_rest(device)) {
        cudaFree(r->memory);
        cudaFreeHost(r->host_steps);
    }
    free(r);
}

static void move_filter(const struct filter_layout *p, float *stored, float *canonical, bool import)
{
    for (size_t o = 0; o < p->out; o++) {
        for (size_t c = 0; c < p->channels; c++) {
            for (size_t t = 0; t < p->taps; t++) {
                float *a = &stored[o * p->row + t * p->stride + c];
                float *v = &canonical[(o * p->channels + c) * p->taps + t];
                if (import)
                    *a = *v;
                else
                    *v = *a;
            }
        }
    }
}

/* One parameter, unless it is another stage's, between a host copy of its arena and canonical
 * order. */
static void move_param(const struct cuda_replica *r, int index, float *arena, float *values,
                       bool import)
{
    const struct net_param *param = &r->base.net->params[index];
    float *stored = arena + r->places.list[index].offset, *canonical = values + param->offset;
    if (r->places.list[index].size == 0)
        return;
    if (r->filters[index].out > 0)
        move_filter(&r->filters[index], stored, canonical, import);
    else if (import)
        memcpy(stored, canonical, param->count * sizeof(float));
    else
        memcpy(canonical, stored, param->count * sizeof(float));
}

/* A whole arena by way of host memory: all parameters that lie in it, zeros between them. */
static bool move_arena(struct device *device, struct replica *replica, enum replica_arena arena,
                       float *values, bool import, struct error *err)
{
    const struct cuda_replica *r = (const struct cuda_replica *)replica;
    size_t count;
    replica_arena(replica, arena, &count);
    float *host = calloc(count + 1, sizeof *host);
    if (!host)
        return error_memory(err, "a copy of the parameters");
    bool ok = import || cuda_arena_read(device, replica, arena, 0, count, host, err);
    for (int i = 0; ok && i < replica->net->param_count; i++)
        if (r->places.list[i].statistics == (arena == ARENA_STATISTICS))
            move_param(r, i, host, values, import);
    if (ok && import)
        ok = cuda_arena_write(device, replica, arena, 0, count, host, err);
    free(host);
    return ok;
}

/* The two directions share their code; what is const in one is only read there. */
#define UNCONST(type, pointer) ((type *)(uintptr_t)(pointer))

bool cuda_values_export(struct device *device, const struct replica *replica,
                        enum replica_arena arena, float *values, struct error *err)
{
    return move_arena(device, UNCONST(struct replica, replica), arena, values, false, err);
}

bool cuda_values_import(struct device *device, struct replica *replica, enum replica_arena arena,
                        const float *values, struct error *err)
{
    return move_arena(device, replica, arena, UNCONST(float, values), true, err);
}

static float *range_of(const struct device *device, const struct replica *replica,
                       enum replica_arena arena, size_t begin, size_t end, struct error *err)
{
    size_t count;
    float *numbers = replica_arena(replica, arena, &count);
    if (begin <= end && end <= count)
        return numbers + begin;
    error_set(err, ERROR_FAILED, "%s: numbers %zu to %zu asked for of %zu", device->name, begin,
              end, count);
    return NULL;
}

bool cuda_arena_read(struct device *device, const struct replica *replica, enum replica_arena arena,
                     size_t begin, size_t end, float *host, struct error *err)
{
    const float *numbers = range_of(device, replica, arena, begin, end, err);
    if (!numbers)
        return false;
    return cuda_read(device, host, numbers, (end - begin) * sizeof *host, "reading parameters",
                     err) ||
           error_prefix(err, "%s", device->name);
}

bool cuda_replica_copy_params(const struct replica *replica, size_t begin, size_t end,
                              cudaStream_t stream, struct error *err)
{
    const struct cuda_replica *r = (const struct cuda_replica *)replica;
    /* In whole groups of eight, as the kernel wants: the neighbours are copied as they are. */
    const size_t from = begin / 8 * 8, to = (end + 7) / 8 * 8;
    return !r->copies || begin == end ||
           cuda_check(kernel_convert(stream, CUDA_F32, replica->params + from, CUDA_BF16,
                                     r->copies + from, to - from),
                      "copying parameters", err);
}

bool cuda_arena_write(struct device *device, struct replica *replica, enum replica_arena arena,
                      size_t begin, size_t end, const float *host, struct error *err)
{
    float *numbers = range_of(device, replica, arena, begin, end, err);
    if (!numbers)
        return false;
    if (!cuda_write(device, numbers, host, (end - begin) * sizeof *host, "writing parameters", err))
        return error_prefix(err, "%s", device->name);
    return arena != ARENA_PARAMS ||
           cuda_replica_copy_params(replica, begin, end, device->stream, err) ||
           error_prefix(err, "%s", device->name);
}
