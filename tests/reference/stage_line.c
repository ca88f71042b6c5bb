/* SPDX-License-Identifier: MIT */
#include "tests/reference/stage_line.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

const int micro_rows[MICRO_BATCHES] = {3, 2, 3};

/* The order of passes, which keeps values of two micro-batches at once. */
static const struct {
    bool backward;
    int micro_batch;
} passes[] = {{false, 0}, {false, 1}, {true, 0}, {false, 2}, {true, 1}, {true, 2}};

int rows_before(int micro_batch)
{
    int rows = 0;
    for (int i = 0; i < micro_batch; i++)
        rows += micro_rows[i];
    return rows;
}

static void open_stage(struct line *line, const struct trial_device *device, int s)
{
    struct error err = ERROR_INIT;
    struct rig *rig = &line->rig[s];
    const struct replica_request request = {.states = UPDATE_STATES, .stage = &line->stage[s]};
    rig->backend = device->backend;
    ck_assert_msg(rig->backend->open(&device->options, &rig->device, &err), "%s", err.text);
    if (device->prepare)
        device->prepare(rig->device);
    bool ok = rig->backend->replica_create(rig->device, line->trial->net, &request, &rig->replica,
                                           &err) &&
              rig->backend->replica_import(rig->device, rig->replica, &line->trial->weights, &err);
    ck_assert_msg(ok, "%s", err.text);
}

void line_plan(struct line *line)
{
    for (int s = 0; s < line->stages; s++)
        for (int i = 0; i < MICRO_BATCHES; i++) {
            const struct plan_request request = {.mode = PLAN_TRAIN,
                                                 .rows = micro_rows[i],
                                                 .batch_rows = line->batch_rows,
                                                 .slots = SLOTS};
            if (!line->plan[s][micro_rows[i]])
                line->plan[s][micro_rows[i]] = rig_plan(&line->rig[s], &request);
        }
}

static char *stage_memory(struct line *line, const struct rig *rig, size_t bytes)
{
    struct error err = ERROR_INIT;
    void *memory = NULL;
    if (rig->backend->stage_memory)
        ck_assert_msg(rig->backend->stage_memory(rig->device, bytes, &memory, &err), "%s",
                      err.text);
    else
        memory = line->owned[line->owned_count++] = aligned_alloc(64, (bytes + 63) / 64 * 64);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

/* Memory between stage s and the one before it, which has it. */
static void connect(struct line *line, int s)
{
    const struct rig *rig = &line->rig[s - 1];
    const size_t row = line->rig[s].backend->stage_row(line->rig[s].replica, false);
    const size_t bytes = (row * ROWS + 63) / 64 * 64;
    ck_assert_uint_gt(row, 0);
    ck_assert_uint_eq(row, rig->backend->stage_row(rig->replica, true));
    char *memory = stage_memory(line, rig, 2 * SLOTS * bytes);
    for (int slot = 0; slot < SLOTS; slot++) {
        void *value = memory + (size_t)slot * bytes,
             *grad = memory + (size_t)(SLOTS + slot) * bytes;
        line->ends[s][STAGE_INPUT][slot] = line->ends[s - 1][STAGE_OUTPUT][slot] = value;
        line->ends[s][STAGE_INPUT_GRADIENT][slot] = grad;
        line->ends[s - 1][STAGE_OUTPUT_GRADIENT][slot] = grad;
    }
}

void line_open(struct line *line, const struct trial *trial, const struct trial_device *device,
               const int *ends, int stages, int batch_rows)
{
    *line = (struct line){.trial = trial, .stages = stages, .batch_rows = batch_rows};
    ck_assert(net_stages(trial->net, ends, stages - 1, line->stage));
    for (int s = 0; s < stages; s++)
        open_stage(line, device, s);
    for (int s = 1; s < stages; s++)
        connect(line, s);
}

void line_close(struct line *line)
{
    for (int s = 0; s < line->stages; s++) {
        for (int rows = 0; rows <= ROWS; rows++)
            line->rig[s].backend->plan_destroy(line->rig[s].device, line->plan[s][rows]);
        rig_close(&line->rig[s]);
    }
    for (int i = 0; i < line->owned_count; i++)
        free(line->owned[i]);
}

static void run_pass(struct line *line, int s, int micro_batch, bool backward, struct outcome *out)
{
    struct error err = ERROR_INIT;
    const struct rig *rig = &line->rig[s];
    const int rows = micro_rows[micro_batch], before = rows_before(micro_batch);
    struct plan *plan = line->plan[s][rows];
    struct batch_result result;
    const struct batch batch = {.data = &line->trial->data,
                                .index = line->trial->index + before,
                                .rows = rows,
                                .global_rows = line->trial->rows,
                                .seed = TRIAL_SEED,
                                .epoch = TRIAL_EPOCH};
    struct micro_batch micro = {.slot = micro_batch % SLOTS,
                                .first = micro_batch == 0,
                                .last = micro_batch == MICRO_BATCHES - 1,
                                .rows_before = before};
    for (int end = 0; end < STAGE_ENDS; end++)
        micro.ends[end] = line->ends[s][end][micro.slot];
    if (backward) {
        ck_assert_msg(rig->backend->plan_backward(rig->device, plan, &batch, &micro, &err), "%s",
                      err.text);
        return;
    }
    ck_assert_msg(rig->backend->plan_forward(rig->device, plan, &batch, &micro, &result, &err),
                  "%s", err.text);
    if (s < line->stages - 1)
        return;
    out->loss_sum += result.loss_sum;
    out->correct += result.correct;
    float *logits = out->logits + (size_t)before * (size_t)line->trial->net->classes;
    ck_assert_msg(rig->backend->plan_logits(rig->device, plan, logits, &err), "%s", err.text);
}

/* What the last backward pass of a stage has left. */
static void run_finish(struct line *line, int s)
{
    struct error err = ERROR_INIT;
    const struct rig *rig = &line->rig[s];
    struct plan *plan = line->plan[s][micro_rows[MICRO_BATCHES - 1]];
    bool any = false;
    ck_assert_msg(!rig->backend->plan_finish ||
                      rig->backend->plan_finish(rig->device, plan, &any, &err),
                  "%s", err.text);
    line->finished = line->finished || any;
}

void line_run(struct line *line, struct outcome *out)
{
    struct error err = ERROR_INIT;
    outcome_make(out, line->trial, line->trial->rows);
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        for (int k = 0; k < line->stages; k++)
            run_pass(line, passes[i].backward ? line->stages - 1 - k : k, passes[i].micro_batch,
                     passes[i].backward, out);
    for (int s = 0; s < line->stages; s++) {
        const struct rig *rig = &line->rig[s];
        run_finish(line, s);
        bool ok =
            rig->backend->values_export(rig->device, rig->replica, ARENA_GRADS, out->grads, &err) &&
            rig->backend->replica_export(rig->device, rig->replica, &out->after, &err);
        ck_assert_msg(ok, "%s", err.text);
    }
}
