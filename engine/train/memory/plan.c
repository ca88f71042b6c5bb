/* SPDX-License-Identifier: MIT */
#include "engine/train/memory/plan.h"

#include <string.h>

#include "engine/backends/registry.h"
#include "engine/device/device.h"
#include "engine/net/slice.h"
#include "engine/train/pipeline/schedule.h"
#include "engine/train/split/division.h"
#include "engine/train/split/shares.h"
#include "engine/train/tensor/exchange.h"

static bool take_rows(const struct spec *spec, long rows, long test_rows,
                      struct memory_share *shares, struct error *err)
{
    struct row_shares split;
    if (!share_rows(spec, rows, test_rows, &split, err))
        return false;
    for (int i = 0; i < spec->devices.count; i++) {
        const struct row_share *device = &split.device[i];
        shares[i] = (struct memory_share){
            .rows = {device->full, device->rest, device->eval_full},
            .has = {true, split.rest_occurs,
                    device->eval_full > 0 || spec->strategy == STRATEGY_MIXED}};
    }
    return true;
}

/* Those of all devices, where they compute a pass together. */
static long sum_rows(const struct spec *spec, const struct memory_share *shares,
                     enum memory_pass pass)
{
    long sum = 0;
    for (int i = 0; i < spec->devices.count && spec->strategy == STRATEGY_MIXED; i++)
        sum += shares[i].rows[pass];
    return sum;
}

/* Of a stage a pass is over a micro-batch. */
static void take_stage(const struct spec *spec, const struct pipeline_layout *layout, int index,
                       struct memory_share *share)
{
    struct micro_split full, rest;
    struct error ignored = ERROR_INIT;
    if (!micro_split(spec->split, share->rows[MEMORY_FULL], (int)spec->micro_batches, &full,
                     &ignored))
        full = layout->split;
    share->slots = pipeline_depth(index, layout->count, full.count);
    share->finish_rows[MEMORY_FULL] = pipeline_window_rows(&full);
    share->rows[MEMORY_FULL] = full.rows[0];
    if (share->has[MEMORY_LAST] && micro_split(spec->split, share->rows[MEMORY_LAST],
                                               (int)spec->micro_batches, &rest, &ignored)) {
        const int depth = pipeline_depth(index, layout->count, rest.count);
        share->slots = depth > share->slots ? depth : share->slots;
        share->finish_rows[MEMORY_LAST] = pipeline_window_rows(&rest);
        share->rows[MEMORY_LAST] = rest.rows[0];
    }
}

/* What is planned on a device. */
struct subject {
    struct device_id id;
    int threads;
    enum number_type type;
    bool deterministic;
    const struct net *net;
    struct replica_request request;
    int slices; /* that the network is divided into; 1: it is not */
    long rows;  /* of the largest pass, which there is memory for where slices meet */
    long global_rows[MEMORY_PASSES]; /* where each slice has rows of its own; else 0 */
};

/* Where slices meet, for plans that never run: adds up what is gathered. */
struct gathers {
    size_t rows, bytes;
    float nowhere[16];
};

static void *count_values(void *context, int origin, size_t row, struct error *err)
{
    struct gathers *gathers = context;
    (void)origin;
    (void)err;
    gathers->bytes += exchange_value_bytes(gathers->rows, row);
    return gathers->nowhere;
}

static bool same_rows(const struct memory_share *a, const struct memory_share *b)
{
    return memcmp(a->rows, b->rows, sizeof a->rows) == 0;
}

static size_t plan_bytes(const struct plan_memory *memory)
{
    return memory->activations + memory->scratch + memory->input;
}

/* The plans of a device share its workspace, so the largest one counts. */
static bool measure_plans(const struct backend *backend, struct device *device,
                          struct replica *replica, const struct subject *subject,
                          struct memory_share *share, struct error *err)
{
    size_t largest = 0, kept = 0;
    long most = 0;
    for (int i = 0; i < MEMORY_PASSES; i++) {
        struct gathers gathers = {.rows = (size_t)subject->rows};
        struct plan_request request = {
            .mode = i == MEMORY_EVAL ? PLAN_EVAL : PLAN_TRAIN,
            .rows = (int)share->rows[i],
            .global_rows = (int)subject->global_rows[i],
            .finish_rows = (int)share->finish_rows[i],
            .slots = i == MEMORY_EVAL ? 0 : share->slots,
            .exchange = {.count = subject->slices, .values = count_values, .context = &gathers}};
        struct plan *plan = NULL;
        if (!share->has[i])
            continue;
        if (!backend->plan_create(device, replica, &request, &plan, err))
            return false;
        backend->plan_memory(plan, &share->memory[i]);
        backend->plan_destroy(device, plan);
        if (plan_bytes(&share->memory[i]) > largest)
            largest = plan_bytes(&share->memory[i]);
        kept = share->memory[i].kept > kept ? share->memory[i].kept : kept;
        share->gathered = gathers.bytes / (size_t)subject->slices;
        most = share->rows[i] > most ? share->rows[i] : most;
    }
    if (share->slots > 0) { /* an evaluation needs two */
        share->handed_row = backend->stage_row(replica, true);
        share->handed = (share->slots > 1 ? 2 : 4) * (size_t)most * share->handed_row;
    }
    share->params = replica_bytes(replica);
    share->total =
        share->params + largest + (size_t)share->slots * (kept + share->handed) + share->gathered;
    return true;
}

static bool measure(const struct subject *subject, struct memory_share *share, struct error *err)
{
    const char *why = "no backend";
    const struct backend *backend = backend_find(subject->id.kind, &why);
    struct device_options options = {.id = subject->id,
                                     .threads = subject->threads,
                                     .estimate = true,
                                     .deterministic = subject->deterministic};
    struct device *device = NULL;
    struct replica *replica = NULL;
    char name[DEVICE_NAME];
    if (!backend)
        return error_set(err, ERROR_USAGE, "%s: %s", device_id_text(subject->id, name), why);
    options.type = backend_type(backend, subject->type);
    if (!backend->open(&options, &device, err))
        return false;
    bool ok = backend->replica_create(device, subject->net, &subject->request, &replica, err) &&
              measure_plans(backend, device, replica, subject, share, err);
    if (replica)
        backend->replica_destroy(device, replica);
    backend->close(device);
    return ok;
}

/* Slice `index` of the network. */
static bool measure_slice(const struct net *net, enum net_division division, int index,
                          struct subject *subject, struct memory_share *share, struct error *err)
{
    struct net_slice slice;
    if (!net_slice_make(net, division, index, subject->slices, &slice, err))
        return false;
    subject->net = slice.net;
    bool ok = measure(subject, share, err);
    net_slice_free(&slice);
    return ok;
}

/* Do devices i and j need the same, where both are CPUs? */
static bool plan_alike(const struct spec *spec, const int *threads,
                       const struct memory_share *shares, int i, int j)
{
    const struct device_id *ids = spec->devices.id;
    return ids[i].kind == DEVICE_CPU && ids[j].kind == DEVICE_CPU && threads[i] == threads[j] &&
           same_rows(&shares[i], &shares[j]) &&
           optimizer_request(spec, i).states == optimizer_request(spec, j).states;
}

/* What device `index` needs, or what an earlier one does that is given the same. */
static bool plan_device(const struct spec *spec, const struct net *net,
                        const struct pipeline_layout *layout, long rows, const int *threads,
                        struct memory_share *shares, int index, struct error *err)
{
    struct subject subject = {.id = spec->devices.id[index],
                              .threads = threads[index],
                              .type = spec->dtype,
                              .deterministic = spec->deterministic,
                              .net = net,
                              .request = optimizer_request(spec, index),
                              .slices = 1,
                              .rows = share_most_rows(spec, rows)};
    int like = 0;
    switch (spec->strategy) {
    case STRATEGY_DATA:
        break;
    case STRATEGY_PIPELINE:
        subject.request.stage = &layout->stage[index % layout->count];
        take_stage(spec, layout, index % layout->count, &shares[index]);
        return measure(&subject, &shares[index], err);
    case STRATEGY_TENSOR:
    case STRATEGY_MIXED:
        subject.slices = spec->devices.count;
        for (int i = 0; i < MEMORY_PASSES; i++)
            subject.global_rows[i] = sum_rows(spec, shares, (enum memory_pass)i);
        return measure_slice(net, strategy_division(spec->strategy), index, &subject,
                             &shares[index], err);
    }
    while (like < index && !plan_alike(spec, threads, shares, like, index))
        like++;
    if (like == index)
        return measure(&subject, &shares[index], err);
    shares[index] = shares[like];
    return true;
}

bool memory_plan(const struct spec *spec, const struct net *net,
                 const struct pipeline_layout *layout, long rows, long test_rows,
                 struct memory_share *shares, struct error *err)
{
    int threads[SPEC_MAX_DEVICES];
    if (!take_rows(spec, rows, test_rows, shares, err))
        return false;
    share_threads(spec, threads);
    for (int i = 0; i < spec->devices.count; i++)
        if (!plan_device(spec, net, layout, rows, threads, shares, i, err))
            return false;
    return true;
}
