/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/pass/block.h"

#include <stdlib.h>
#include <string.h>

#include "engine/device/cuda/pass/plan.h"
#include "engine/device/plan/batch_check.h"

/* The block's beginning. */
struct head {
    double global_rows;
    struct dropout_pass dropout;
    struct micro_place micro;
};

static size_t take(size_t *at, size_t bytes)
{
    const size_t start = (*at + 15) / 16 * 16;
    *at = start + bytes;
    return start;
}

static float setting(const float *list, int count, int channel, float none)
{
    return count == 0 ? none : list[count == 1 ? 0 : channel];
}

static char *slot_of(const struct pass_block *pass, int slot)
{
    return pass->host + (size_t)slot * pass->slot_bytes;
}

/* x = pixel * scale + shift, per channel. */
static void fill_scaling(struct pass_block *pass, int slot, const struct net *net)
{
    float *scale = (float *)(slot_of(pass, slot) + pass->scale_at);
    float *shift = (float *)(slot_of(pass, slot) + pass->shift_at);
    for (int c = 0; c < net->input.c; c++) {
        double mean = (double)setting(net->mean, net->mean_count, c, 0);
        double std = (double)setting(net->std, net->std_count, c, 1);
        scale[c] = (float)(1 / (255 * std));
        shift[c] = (float)(-mean / std);
    }
}

bool pass_make(struct builder *b, struct error *err)
{
    struct pass_block *pass = &b->plan->pass;
    const struct net *net = b->graph->net;
    const struct plan_request *request = &b->core->request;
    const size_t channels = (size_t)net->input.c * sizeof(float);
    const size_t loss_rows = (size_t)(request->global_rows > 0 ? request->global_rows : b->rows);
    size_t at = sizeof(struct head);
    pass->norm_capacity = b->graph->node_count;
    pass->norms_at = take(&at, (size_t)pass->norm_capacity * sizeof(double));
    pass->scale_at = take(&at, channels);
    pass->shift_at = take(&at, channels);
    pass->index_at = take(&at, (size_t)b->rows * sizeof(uint32_t));
    pass->global_index_at = take(&at, (size_t)request->global_rows * sizeof(uint32_t));
    pass->labels_at = take(&at, loss_rows);
    pass->bytes = (at + 15) / 16 * 16;
    pass->pixels = calloc((size_t)pass->norm_capacity + 1, sizeof *pass->pixels);
    pass->shared = calloc((size_t)pass->norm_capacity + 1, sizeof *pass->shared);
    if (!pass->pixels || !pass->shared)
        return error_memory(err, "a plan");
    pass->result_bytes = sizeof(struct loss_result) + (request->predictions ? loss_rows : 0);
    pass->slot_bytes = (pass->bytes + pass->result_bytes + 63) / 64 * 64;
    const size_t all = PASSES_QUEUED * pass->slot_bytes;
    if (!cuda_check(cudaMallocHost((void **)&pass->host, all), "pinned memory", err))
        return false;
    memset(pass->host, 0, all);
    for (int slot = 0; slot < PASSES_QUEUED; slot++)
        fill_scaling(pass, slot, net);
    pass->block = build_input_buffer(b, pass->bytes, err);
    pass->result = pass->block ? build_input_buffer(b, pass->result_bytes, err) : NULL;
    return pass->result != NULL;
}

void pass_free(struct pass_block *pass, bool at_rest)
{
    if (pass->host && at_rest)
        cudaFreeHost(pass->host);
    free(pass->pixels);
    free(pass->shared);
}

int pass_add_norm(struct pass_block *pass, double pixels, bool shared)
{
    pass->pixels[pass->norm_count] = pixels;
    pass->shared[pass->norm_count] = shared;
    return pass->norm_count++;
}

static void *place(const struct pass_block *pass, size_t at)
{
    return (char *)pass->block->data + at;
}

const double *pass_elements(const struct pass_block *pass, int norm)
{
    return (const double *)place(pass, pass->norms_at) + norm;
}

const double *pass_global_rows(const struct pass_block *pass)
{
    return place(pass, offsetof(struct head, global_rows));
}

const struct dropout_pass *pass_dropout(const struct pass_block *pass)
{
    return place(pass, offsetof(struct head, dropout));
}

const float *pass_scale(const struct pass_block *pass)
{
    return place(pass, pass->scale_at);
}

const float *pass_shift(const struct pass_block *pass)
{
    return place(pass, pass->shift_at);
}

const uint32_t *pass_index(const struct pass_block *pass, bool global_batch)
{
    return place(pass, global_batch ? pass->global_index_at : pass->index_at);
}

const uint8_t *pass_labels(const struct pass_block *pass)
{
    return place(pass, pass->labels_at);
}

const struct micro_place *pass_micro(const struct pass_block *pass)
{
    return place(pass, offsetof(struct head, micro));
}

struct loss_result *pass_result(const struct pass_block *pass)
{
    return pass->result->data;
}

/* What follows a result, on the device and in a slot. */
static uint8_t *after_result(const struct pass_block *pass, void *result)
{
    const size_t size = sizeof(struct loss_result);
    return pass->result_bytes > size ? (uint8_t *)result + size : NULL;
}

uint8_t *pass_predicted(const struct pass_block *pass)
{
    return after_result(pass, pass->result->data);
}

bool pass_check(const struct plan *plan, const struct batch *batch, struct error *err)
{
    const struct net *net = plan->replica->base.net;
    const struct batch *all = batch->global ? batch->global : batch;
    return all->rows == 0 ||
           (batch_check_rows(all, net, err) && batch_check_labels(all, net, err)) ||
           error_prefix(err, "batch");
}

static struct micro_place place_of(const struct micro_batch *micro, int rows)
{
    if (!micro)
        return (struct micro_place){.last = true};
    return (struct micro_place){.before = (double)micro->rows_before / rows, .last = micro->last};
}

static void fill_rows(const struct pass_block *pass, char *host, const struct batch *batch)
{
    const struct batch *all = batch->global ? batch->global : batch;
    uint8_t *labels = (uint8_t *)host + pass->labels_at;
    if (batch->rows > 0)
        memcpy(host + pass->index_at, batch->index, (size_t)batch->rows * sizeof(uint32_t));
    if (batch->global)
        memcpy(host + pass->global_index_at, all->index, (size_t)all->rows * sizeof(uint32_t));
    for (int n = 0; n < all->rows; n++)
        labels[n] = all->data->labels[all->index[n]];
}

bool pass_send(struct plan *plan, int slot, const struct batch *batch, struct error *err)
{
    struct pass_block *pass = &plan->pass;
    char *host = slot_of(pass, slot);
    struct head *head = (struct head *)host;
    double *elements = (double *)(host + pass->norms_at);
    head->global_rows = (double)batch->global_rows;
    head->dropout = (struct dropout_pass){
        .key = {(uint32_t)batch->seed, (uint32_t)(batch->seed >> 32)}, .epoch = batch->epoch};
    head->micro = place_of(plan->core.micro, batch->rows);
    for (int i = 0; i < pass->norm_count; i++)
        elements[i] =
            pass->pixels[i] * (double)(pass->shared[i] ? batch->global_rows : (long)batch->rows);
    fill_rows(pass, host, batch);
    return cuda_check(cudaMemcpyAsync(pass->block->data, host, pass->bytes, cudaMemcpyHostToDevice,
                                      plan->device->stream),
                      "copying to the device", err);
}

bool pass_fetch(struct plan *plan, int slot, struct error *err)
{
    struct pass_block *pass = &plan->pass;
    return cuda_check(cudaMemcpyAsync(slot_of(pass, slot) + pass->bytes, pass->result->data,
                                      pass->result_bytes, cudaMemcpyDeviceToHost,
                                      plan->device->stream),
                      "copying from the device", err);
}

struct batch_result pass_take(const struct pass_block *pass, int slot)
{
    char *fetched = slot_of(pass, slot) + pass->bytes;
    const struct loss_result *result = (const struct loss_result *)fetched;
    return (struct batch_result){.loss_sum = result->loss_sum,
                                 .correct = (long)result->correct,
                                 .predicted = after_result(pass, fetched)};
}
