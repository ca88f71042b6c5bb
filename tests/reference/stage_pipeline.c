/* SPDX-License-Identifier: MIT */
#include "tests/reference/stage_pipeline.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

const int stage_micro_rows[MICRO_BATCHES] = {3, 2, 3};

/* The order of passes, which keeps values of two micro-batches at once. */
static const struct {
    bool backward;
    int micro_batch;
} passes[] = {{false, 0}, {false, 1}, {true, 0}, {false, 2}, {true, 1}, {true, 2}};

int stage_rows_before(int micro_batch)
{
    int rows = 0;
    for (int i = 0; i < micro_batch; i++)
        rows += stage_micro_rows[i];
    return rows;
}

static void open_stage(struct stage_pipeline *pipeline, const struct trial_device *device, int s)
{
    struct error err = ERROR_INIT;
    struct rig *rig = &pipeline->rig[s];
    const struct replica_request request = {.states = UPDATE_STATES, .stage = &pipeline->stage[s]};
    rig->backend = device->backend;
    ck_assert_msg(rig->backend->open(&device->options, &rig->device, &err), "%s", err.text);
    if (device->prepare)
        device->prepare(rig->device);
    bool ok =
        rig->backend->replica_create(rig->device, pipeline->trial->net, &request, &rig->replica,
                                     &err) &&
        replica_import(rig->backend, rig->device, rig->replica, &pipeline->trial->weights, &err);
    ck_assert_msg(ok, "%s", err.text);
}

void pipeline_plan(struct stage_pipeline *pipeline)
{
    for (int s = 0; s < pipeline->stages; s++)
        for (int i = 0; i < MICRO_BATCHES; i++) {
            const struct plan_request request = {.mode = PLAN_TRAIN,
                                                 .rows = stage_micro_rows[i],
                                                 .finish_rows = pipeline->finish_rows,
                                                 .slots = STAGE_SLOTS};
            if (!pipeline->plan[s][stage_micro_rows[i]])
                pipeline->plan[s][stage_micro_rows[i]] = rig_plan(&pipeline->rig[s], &request);
        }
}

static char *stage_memory(struct stage_pipeline *pipeline, const struct rig *rig, size_t bytes)
{
    struct error err = ERROR_INIT;
    void *memory = NULL;
    if (rig->backend->stage_memory)
        ck_assert_msg(rig->backend->stage_memory(rig->device, bytes, &memory, &err), "%s",
                      err.text);
    else
        memory = pipeline->owned[pipeline->owned_count++] =
            aligned_alloc(64, (bytes + 63) / 64 * 64);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

/* Memory between stage s and the one before it, which has it. */
static void connect(struct stage_pipeline *pipeline, int s)
{
    const struct rig *rig = &pipeline->rig[s - 1];
    const size_t row = pipeline->rig[s].backend->stage_row(pipeline->rig[s].replica, false);
    const size_t bytes = (row * STAGE_ROWS + 63) / 64 * 64;
    ck_assert_uint_gt(row, 0);
    ck_assert_uint_eq(row, rig->backend->stage_row(rig->replica, true));
    char *memory = stage_memory(pipeline, rig, 2 * STAGE_SLOTS * bytes);
    for (int slot = 0; slot < STAGE_SLOTS; slot++) {
        void *value = memory + (size_t)slot * bytes,
             *grad = memory + (size_t)(STAGE_SLOTS + slot) * bytes;
        pipeline->ends[s][STAGE_INPUT][slot] = pipeline->ends[s - 1][STAGE_OUTPUT][slot] = value;
        pipeline->ends[s][STAGE_INPUT_GRADIENT][slot] = grad;
        pipeline->ends[s - 1][STAGE_OUTPUT_GRADIENT][slot] = grad;
    }
}

void pipeline_open(struct stage_pipeline *pipeline, const struct trial *trial,
                   const struct trial_device *device, const int *ends, int stages, int finish_rows)
{
    *pipeline =
        (struct stage_pipeline){.trial = trial, .stages = stages, .finish_rows = finish_rows};
    ck_assert(net_stages(trial->net, ends, stages - 1, pipeline->stage));
    for (int s = 0; s < stages; s++)
        open_stage(pipeline, device, s);
    for (int s = 1; s < stages; s++)
        connect(pipeline, s);
}

void pipeline_close(struct stage_pipeline *pipeline)
{
    for (int s = 0; s < pipeline->stages; s++) {
        for (int rows = 0; rows <= STAGE_ROWS; rows++)
            pipeline->rig[s].backend->plan_destroy(pipeline->rig[s].device,
                                                   pipeline->plan[s][rows]);
        rig_close(&pipeline->rig[s]);
    }
    for (int i = 0; i < pipeline->owned_count; i++)
        free(pipeline->owned[i]);
}

/* Rows before those that leave gradients to one plan_finish. */
static int window_begin(const struct stage_pipeline *pipeline, int micro_batch)
{
    int begin = 0;
    for (int i = 0; i <= micro_batch && pipeline->finish_rows > 0; i++)
        if (stage_rows_before(i + 1) - begin > pipeline->finish_rows)
            begin = stage_rows_before(i);
    return begin;
}

static void run_pass(struct stage_pipeline *pipeline, int s, int micro_batch, bool backward,
                     struct outcome *out)
{
    struct error err = ERROR_INIT;
    const struct rig *rig = &pipeline->rig[s];
    const int rows = stage_micro_rows[micro_batch], before = stage_rows_before(micro_batch);
    struct plan *plan = pipeline->plan[s][rows];
    struct batch_result result;
    const struct batch batch = {.data = &pipeline->trial->data,
                                .index = pipeline->trial->index + before,
                                .rows = rows,
                                .global_rows = pipeline->trial->rows,
                                .seed = TRIAL_SEED,
                                .epoch = TRIAL_EPOCH};
    struct micro_batch micro = {.slot = micro_batch % STAGE_SLOTS,
                                .first = micro_batch == 0,
                                .last = micro_batch == MICRO_BATCHES - 1,
                                .rows_before = before,
                                .deferred_before = before - window_begin(pipeline, micro_batch)};
    for (int end = 0; end < STAGE_ENDS; end++)
        micro.ends[end] = pipeline->ends[s][end][micro.slot];
    if (backward) {
        ck_assert_msg(rig->backend->plan_backward(rig->device, plan, &batch, &micro, &err), "%s",
                      err.text);
        return;
    }
    ck_assert_msg(rig->backend->plan_forward(rig->device, plan, &batch, &micro, &result, &err),
                  "%s", err.text);
    if (s < pipeline->stages - 1)
        return;
    out->loss_sum += result.loss_sum;
    out->correct += result.correct;
    float *logits = out->logits + (size_t)before * (size_t)pipeline->trial->net->classes;
    ck_assert_msg(rig->backend->plan_logits(rig->device, plan, logits, &err), "%s", err.text);
}

/* What the backward passes have left, where the next would leave too much, or was the last. */
static void run_finish(struct stage_pipeline *pipeline, int s, int micro_batch)
{
    struct error err = ERROR_INIT;
    const struct rig *rig = &pipeline->rig[s];
    struct plan *plan = pipeline->plan[s][stage_micro_rows[micro_batch]];
    const int begin = window_begin(pipeline, micro_batch);
    const bool last = micro_batch == MICRO_BATCHES - 1;
    bool any = false;
    if (!rig->backend->plan_finish || (!last && window_begin(pipeline, micro_batch + 1) == begin))
        return;
    ck_assert_msg(rig->backend->plan_finish(rig->device, plan,
                                            stage_rows_before(micro_batch + 1) - begin, begin == 0,
                                            &any, &err),
                  "%s", err.text);
    pipeline->finished = pipeline->finished || any;
}

void pipeline_run(struct stage_pipeline *pipeline, struct outcome *out)
{
    struct error err = ERROR_INIT;
    outcome_make(out, pipeline->trial, pipeline->trial->rows);
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        for (int k = 0; k < pipeline->stages; k++) {
            const int s = passes[i].backward ? pipeline->stages - 1 - k : k;
            run_pass(pipeline, s, passes[i].micro_batch, passes[i].backward, out);
            if (passes[i].backward)
                run_finish(pipeline, s, passes[i].micro_batch);
        }
    for (int s = 0; s < pipeline->stages; s++) {
        const struct rig *rig = &pipeline->rig[s];
        bool ok =
            rig->backend->values_export(rig->device, rig->replica, ARENA_GRADS, out->grads, &err) &&
            replica_export(rig->backend, rig->device, rig->replica, &out->after, &err);
        ck_assert_msg(ok, "%s", err.text);
    }
}
