/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/replica.h"

#include <math.h>
#include <string.h>

#include "engine/device/cpu/core/device.h"
#include "engine/device/cpu/core/parameters.h"
#include "engine/device/cpu/lanes/build.h"
#include "engine/device/cpu/layers/fold.h"
#include "engine/device/cpu/replica_layout.h"

/* Small networks work on rows side by side, in blocks of one channel, always in f32, as they fit in
 * the caches; their stages do not. */
static bool build_graph(struct device *device, const struct net *net, const struct net_stage *stage,
                        struct cpu_replica *r, struct error *err)
{
    r->bf16 = device->bf16;
    if (stage)
        return graph_build(net, stage, LAYOUT_BLOCKS, device->block, &r->graph, err);
    if (!graph_build(net, NULL, LAYOUT_BLOCKS, 1, &r->graph, err) ||
        !lanes_suit(device, &r->graph, &r->lanes, err))
        return false;
    r->bf16 = device->bf16 && !r->lanes;
    if (r->lanes || device->block == 1)
        return true;
    graph_free(&r->graph);
    return graph_build(net, NULL, LAYOUT_BLOCKS, device->block, &r->graph, err);
}

static bool make_moments(struct cpu_replica *r, struct error *err)
{
    r->moments = calloc(r->places.statistics + 1, sizeof *r->moments);
    return r->moments || error_memory(err, "moments of a stage");
}

static bool place_arenas(struct cpu_replica *r, bool spares, struct error *err)
{
    r->base.count = r->places.trained;
    r->base.replicated = param_places_replicated(r->base.net, &r->places);
    r->base.statistics_count = r->places.statistics;
    if (!mapping_create(&r->memory, replica_numbers(&r->base) * sizeof(float),
                        "parameters, gradients and state of the optimizer", err))
        return false;
    replica_place_arenas(&r->base, r->memory.data);
    r->base.spared = spares ? param_places_spared(r->base.net, &r->places, err) : NULL;
    return !spares || r->base.spared;
}

bool cpu_replica_create(struct device *device, const struct net *net,
                        const struct replica_request *request, struct replica **out,
                        struct error *err)
{
    struct cpu_replica *r = calloc(1, sizeof *r);
    if (!r)
        return error_memory(err, "a replica");
    r->base.net = net;
    r->base.states = request->states;
    r->base.host_accessible = true;
    r->grad_norm = NAN;
    r->base.grad_norm = &r->grad_norm;
    if (!build_graph(device, net, request->stage, r, err) || !replica_lay_out(device, r, err) ||
        !fold_graph(r, &r->folded, err) || !place_arenas(r, request->spares, err) ||
        (request->stage && !make_moments(r, err))) {
        cpu_replica_destroy(device, &r->base);
        return error_prefix(err, "%s", device->name);
    }
    r->base.type = r->bf16 ? TYPE_BF16 : TYPE_F32;
    *out = &r->base;
    return true;
}

void cpu_replica_destroy(struct device *device, struct replica *replica)
{
    struct cpu_replica *r = (struct cpu_replica *)replica;
    (void)device;
    if (!r)
        return;
    for (int i = 0; r->formats && i < r->base.net->param_count; i++)
        compat_desc_free(r->formats[i].desc);
    free(r->formats);
    free(r->places.list);
    free(r->base.spared);
    free(r->moments);
    graph_free(&r->graph);
    graph_free(&r->folded);
    mapping_free(&r->memory);
    free(r);
}

/* Convolution weights: by the library between its format and plain OIHW, whose channels are filled
 * up with zeros in `padded`. */
static bool reorder_conv(struct device *device, const struct weights_format *format, float *padded,
                         float *arena, bool import, struct error *err)
{
    dnnl_memory_t plain = NULL, stored = NULL;
    dnnl_primitive_desc_t desc = NULL;
    dnnl_primitive_t reorder = NULL;
    dnnl_engine_t engine = device->engine;
    desc_t plain_desc = filters_desc(&format->filters, dnnl_f32, dnnl_oihw, dnnl_goihw);
    bool ok =
        (plain_desc || error_memory(err, "layout of weights")) &&
        dnnl_check(dnnl_memory_create(&plain, plain_desc, engine, padded), "memory object", err) &&
        dnnl_check(dnnl_memory_create(&stored, format->desc, engine, arena), "memory object",
                   err) &&
        dnnl_check(dnnl_reorder_primitive_desc_create(&desc, import ? plain_desc : format->desc,
                                                      engine, import ? format->desc : plain_desc,
                                                      engine, NULL),
                   "reorder", err) &&
        dnnl_check(dnnl_primitive_create(&reorder, desc), "reorder", err);
    if (ok) {
        const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, import ? plain : stored},
                                        {DNNL_ARG_TO, import ? stored : plain}};
        ok = dnnl_check(dnnl_primitive_execute(reorder, device->stream, 2, args), "reorder", err) &&
             dnnl_check(dnnl_stream_wait(device->stream), "stream", err);
    }
    dnnl_primitive_destroy(reorder);
    dnnl_primitive_desc_destroy(desc);
    dnnl_memory_destroy(plain);
    dnnl_memory_destroy(stored);
    compat_desc_free(plain_desc);
    return ok;
}

static bool move_conv(struct device *device, const struct net_param *param,
                      const struct weights_format *format, float *arena, float *canonical,
                      bool import, struct error *err)
{
    const size_t kernel = (size_t)param->dims[2] * param->dims[3];
    const size_t row = (size_t)param->dims[1] * kernel,
                 padded_row = (size_t)format->filters.in * kernel;
    /* Nothing to fill up: no detour. (Beside a GPU this is done in every step.) */
    if (padded_row == row && format->filters.out == param->dims[0])
        return reorder_conv(device, format, canonical, arena, import, err);
    float *padded = calloc((size_t)format->filters.out * padded_row, sizeof *padded);
    if (!padded)
        return error_memory(err, "weights in plain order");
    for (int o = 0; import && o < param->dims[0]; o++)
        memcpy(padded + (size_t)o * padded_row, canonical + (size_t)o * row, row * sizeof(float));
    bool ok = reorder_conv(device, format, padded, arena, import, err);
    for (int o = 0; ok && !import && o < param->dims[0]; o++)
        memcpy(canonical + (size_t)o * row, padded + (size_t)o * padded_row, row * sizeof(float));
    free(padded);
    return ok;
}

/* Linear weights: columns go from c,h,w order to that of the input's layout. */
static void move_matrix(const struct cpu_replica *r, const struct net_param *param, float *arena,
                        float *canonical, bool import)
{
    const struct value *x = replica_linear_input(r, param->op);
    const int pixels = value_pixels(x), block = x->block;
    const size_t row = value_row(x), columns = (size_t)param->dims[1];
    for (int o = 0; o < param->dims[0]; o++) {
        for (size_t k = 0; k < columns; k++) {
            size_t c = k / pixels, i = k % pixels;
            float *a = &arena[(size_t)o * row + (c / block * pixels + i) * block + c % block];
            float *v = &canonical[(size_t)o * columns + k];
            if (import)
                *a = *v;
            else
                *v = *a;
        }
    }
}

/* One parameter between the arena and canonical order. `arena` is what its offset counts from. */
static bool move_param(struct device *device, const struct cpu_replica *r, int index, float *arena,
                       float *canonical, bool import, struct error *err)
{
    const struct net_param *param = &r->base.net->params[index];
    const struct weights_format *format = &r->formats[index];
    float *stored = arena + r->places.list[index].offset;
    switch (format->order) {
    case WEIGHTS_LIBRARY:
        return move_conv(device, param, format, stored, canonical, import, err) ||
               error_prefix(err, "%s: %s", device->name, param->name);
    case WEIGHTS_MATRIX:
        move_matrix(r, param, stored, canonical, import);
        return true;
    case WEIGHTS_PLAIN:
        break;
    }
    if (import)
        memcpy(stored, canonical, param->count * sizeof(float));
    else
        memcpy(canonical, stored, param->count * sizeof(float));
    return true;
}

/* All parameters that lie in an arena; those of other stages stay as they are. */
static bool move_arena(struct device *device, const struct replica *replica,
                       enum replica_arena arena, float *values, bool import, struct error *err)
{
    const struct cpu_replica *r = (const struct cpu_replica *)replica;
    size_t count;
    float *numbers = replica_arena(replica, arena, &count);
    for (int i = 0; i < replica->net->param_count; i++)
        if (r->places.list[i].size > 0 &&
            r->places.list[i].statistics == (arena == ARENA_STATISTICS) &&
            !move_param(device, r, i, numbers, values + replica->net->params[i].offset, import,
                        err))
            return false;
    return true;
}

bool cpu_values_export(struct device *device, const struct replica *replica,
                       enum replica_arena arena, float *values, struct error *err)
{
    return move_arena(device, replica, arena, values, false, err);
}

bool cpu_values_import(struct device *device, struct replica *replica, enum replica_arena arena,
                       const float *values, struct error *err)
{
    /* Only read from: the two directions share their code. */
    return move_arena(device, replica, arena, (float *)(uintptr_t)values, true, err);
}
