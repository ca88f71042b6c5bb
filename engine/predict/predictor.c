/* SPDX-License-Identifier: MIT */
#include "engine/predict/predictor.h"

#include <stdlib.h>

#include "engine/backends/registry.h"
#include "engine/device/device.h"

/* A device that takes longer for a pass hangs. */
static const double STALL_SECONDS = 600;

struct predictor {
    const struct backend *backend;
    struct device *device;
    struct replica *replica;
    struct plan *plan;
    struct dataset data; /* the rows; labels, which nobody knows, are 0 */
    uint32_t *index;
    float *logits;
    char name[DEVICE_NAME];
};

void predictor_close(struct predictor *predictor)
{
    if (!predictor)
        return;
    const struct backend *backend = predictor->backend;
    if (predictor->plan)
        backend->plan_destroy(predictor->device, predictor->plan);
    if (predictor->replica)
        backend->replica_destroy(predictor->device, predictor->replica);
    if (predictor->device)
        backend->close(predictor->device);
    free(predictor->data.pixels);
    free(predictor->data.labels);
    free(predictor->index);
    free(predictor->logits);
    free(predictor);
}

static bool allocate(struct predictor *predictor, const struct net *net, int rows,
                     struct error *err)
{
    const size_t count = (size_t)rows;
    predictor->data = (struct dataset){
        .rows = rows,
        .channels = net->input.c,
        .height = net->input.h,
        .width = net->input.w,
        .classes = net->classes,
        .pixels = calloc(count, net_shape_size(net->input)),
        .labels = calloc(count, 1),
        .changes = true,
    };
    predictor->index = malloc(count * sizeof *predictor->index);
    predictor->logits = malloc(count * (size_t)net->classes * sizeof *predictor->logits);
    if (!predictor->data.pixels || !predictor->data.labels || !predictor->index ||
        !predictor->logits)
        return error_memory(err, "pictures");
    for (int n = 0; n < rows; n++)
        predictor->index[n] = (uint32_t)n;
    return true;
}

static bool prepare(struct predictor *predictor, const struct spec *spec, const struct net *net,
                    const struct weights *weights, struct error *err)
{
    const struct device_options options = {
        .id = spec->devices.id[0],
        .type = backend_type(predictor->backend, spec->dtype),
        .deterministic = spec->deterministic,
        .watch = {.limit_s = STALL_SECONDS},
        .threads = spec->thread_count > 0 ? spec->threads[0] : spec->cpu_threads,
    };
    const struct replica_request replica = {.states = 0};
    const struct plan_request plan = {.mode = PLAN_EVAL, .rows = predictor->data.rows};
    const struct backend *backend = predictor->backend;
    return backend->open(&options, &predictor->device, err) &&
           backend->replica_create(predictor->device, net, &replica, &predictor->replica, err) &&
           backend->plan_create(predictor->device, predictor->replica, &plan, &predictor->plan,
                                err) &&
           replica_import(backend, predictor->device, predictor->replica, weights, err);
}

bool predictor_open(const struct spec *spec, const struct net *net, const struct weights *weights,
                    int rows, struct predictor **out, struct error *err)
{
    const char *why = "no backend";
    struct predictor *predictor = calloc(1, sizeof *predictor);
    *out = NULL;
    if (!predictor)
        return error_memory(err, "predictions");
    device_id_text(spec->devices.id[0], predictor->name);
    predictor->backend = backend_find(spec->devices.id[0].kind, &why);
    bool ok = predictor->backend ? allocate(predictor, net, rows, err) &&
                                       prepare(predictor, spec, net, weights, err)
                                 : error_set(err, ERROR_USAGE, "%s: %s", predictor->name, why);
    if (ok)
        *out = predictor;
    else
        predictor_close(predictor);
    return ok;
}

uint8_t *predictor_pixels(struct predictor *predictor)
{
    return predictor->data.pixels;
}

bool predictor_run(struct predictor *predictor, const float **logits, struct error *err)
{
    const struct backend *backend = predictor->backend;
    const struct batch batch = {
        .data = &predictor->data,
        .index = predictor->index,
        .rows = predictor->data.rows,
        .global_rows = predictor->data.rows,
    };
    struct batch_result result = {0};
    *logits = predictor->logits;
    return backend->plan_run(predictor->device, predictor->plan, &batch, &result, err) &&
           backend->plan_logits(predictor->device, predictor->plan, predictor->logits, err);
}
