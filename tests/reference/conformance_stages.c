/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/net/stage.h"
#include "tests/reference/conformance.h"

/*
 * Networks cut into stages, whose mini-batch comes in micro-batches, beside the same micro-batches
 * on whole networks: gradients are the sums of theirs, running statistics follow from theirs.
 */

enum { MOST_STAGES = 4, MICRO_BATCHES = 3, SLOTS = 2, ROWS = 8 };

#define TOLERANCE_BF16 0x1p-6

static const int micro_rows[MICRO_BATCHES] = {3, 2, 3};

/* The order of passes, which keeps values of two micro-batches at once. */
static const struct {
    bool backward;
    int micro_batch;
} passes[] = {{false, 0}, {false, 1}, {true, 0}, {false, 2}, {true, 1}, {true, 2}};

/* A device for each stage, and what they hand over: [stage][end][slot] is read by this stage. */
struct line {
    const struct trial *trial;
    int stages;
    int batch_rows; /* of plan_request; 0: nothing is left to plan_finish */
    bool finished;  /* something was */
    struct net_stage stage[MOST_STAGES];
    struct rig rig[MOST_STAGES];
    struct plan *plan[MOST_STAGES][ROWS + 1]; /* by rows */
    void *ends[MOST_STAGES][STAGE_ENDS][SLOTS];
    void *owned[MOST_STAGES]; /* memory of ends, of stages in the host's */
    int owned_count;
};

static int rows_before(int micro_batch)
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

/* To train by. */
static void make_plans(struct line *line)
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

/* Cut evenly into `stages`; false: there are not as many places. */
static bool line_open(struct line *line, const struct trial *trial,
                      const struct trial_device *device, int stages, int batch_rows)
{
    int cuts[512], ends[MOST_STAGES];
    *line = (struct line){.trial = trial, .stages = stages, .batch_rows = batch_rows};
    ck_assert_int_lt(trial->net->op_count, 512);
    const int count = net_cuts(trial->net, cuts);
    if (count < stages - 1)
        return false;
    for (int i = 0; i < stages - 1; i++)
        ends[i] = cuts[(i + 1) * (count + 1) / stages - 1];
    ck_assert(net_stages(trial->net, ends, stages - 1, line->stage));
    for (int s = 0; s < stages; s++)
        open_stage(line, device, s);
    for (int s = 1; s < stages; s++)
        connect(line, s);
    return true;
}

static void line_close(struct line *line)
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

static void line_run(struct line *line, struct outcome *out)
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

/* What is known of the running statistics of a channel after some micro-batches: exact moments. */
struct moments {
    double count, mean, squares;
};

/* Add a micro-batch, by what it alone makes of a running mean and variance. */
static void add_moments(struct moments *m, const struct net_op *op, double count, double old_mean,
                        double old_var, double new_mean, double new_var)
{
    const double keep = 1 - op->momentum, mean = (new_mean - keep * old_mean) / op->momentum;
    const double var = (new_var - keep * old_var) / op->momentum, moved = mean - m->mean;
    m->squares += var * (count - 1) + moved * moved * m->count * count / (m->count + count);
    m->mean += moved * count / (m->count + count);
    m->count += count;
}

/* Running statistics as one update by all rows leaves them. */
static void expect_statistics(const struct trial *trial, const struct outcome *parts,
                              struct outcome *expected)
{
    const struct net *net = trial->net;
    for (int i = 0; i < net->op_count; i++) {
        const struct net_op *op = &net->ops[i];
        if (op->kind != NET_BATCHNORM)
            continue;
        const struct net_param *mean = &net->params[op->running_mean];
        const struct net_param *var = &net->params[op->running_var];
        const struct net_shape shape = net->tensors[op->output].shape;
        for (size_t c = 0; c < mean->count; c++) {
            const double old_mean = (double)trial->weights.values[mean->offset + c];
            const double old_var = (double)trial->weights.values[var->offset + c];
            struct moments m = {0};
            for (int k = 0; k < MICRO_BATCHES; k++)
                add_moments(&m, op, (double)micro_rows[k] * shape.h * shape.w, old_mean, old_var,
                            (double)parts[k].after.values[mean->offset + c],
                            (double)parts[k].after.values[var->offset + c]);
            expected->after.values[mean->offset + c] =
                (float)(old_mean + op->momentum * (m.mean - old_mean));
            expected->after.values[var->offset + c] =
                (float)(old_var + op->momentum * (m.squares / (m.count - 1) - old_var));
        }
    }
}

/* The micro-batches one by one, each on a whole network. */
static void run_whole(const struct trial *trial, const struct trial_device *device,
                      struct outcome *expected)
{
    struct outcome parts[MICRO_BATCHES];
    outcome_make(expected, trial, trial->rows);
    for (int k = 0; k < MICRO_BATCHES; k++) {
        struct rig rig;
        rig_open(&rig, trial, device);
        const struct plan_request request = {.mode = PLAN_TRAIN, .rows = micro_rows[k]};
        struct plan *plan = rig_plan(&rig, &request);
        rig_run(&rig, plan, trial, rows_before(k), micro_rows[k], &parts[k]);
        rig.backend->plan_destroy(rig.device, plan);
        rig_close(&rig);
        const size_t classes = (size_t)trial->net->classes;
        memcpy(expected->logits + (size_t)rows_before(k) * classes, parts[k].logits,
               (size_t)micro_rows[k] * classes * sizeof(float));
        expected->loss_sum += parts[k].loss_sum;
        expected->correct += parts[k].correct;
        for (size_t i = 0; i < trial->net->value_count; i++)
            expected->grads[i] += parts[k].grads[i];
    }
    memcpy(expected->after.values, trial->weights.values, trial->net->value_count * sizeof(float));
    expect_statistics(trial, parts, expected);
    for (int k = 0; k < MICRO_BATCHES; k++)
        outcome_free(&parts[k]);
}

/* False: the network cannot be cut into so many. */
static bool compare(const struct trial *trial, const struct trial_device *device, int stages,
                    int batch_rows, const struct outcome *expected, double tolerance,
                    const char *what)
{
    struct line line;
    struct outcome got;
    char text[64];
    snprintf(text, sizeof text, "%s in %d stages of %d rows", what, stages, batch_rows);
    if (!line_open(&line, trial, device, stages, batch_rows))
        return false;
    make_plans(&line);
    /* Twice: nothing of a mini-batch is left for the next. */
    line_run(&line, &got);
    outcome_free(&got);
    for (int s = 0; s < stages; s++) {
        struct error err = ERROR_INIT;
        ck_assert(line.rig[s].backend->replica_import(line.rig[s].device, line.rig[s].replica,
                                                      &trial->weights, &err));
    }
    line_run(&line, &got);
    /* In bf16 the sum of what several readers of a value give back is rounded where a cut divides
     * them. */
    if (device->options.type == TYPE_BF16 && tolerance < TOLERANCE_BF16)
        tolerance = TOLERANCE_BF16;
    outcome_compare(trial, &got, expected, PLAN_TRAIN, tolerance, text);
    outcome_free(&got);
    ck_assert(!line.finished || batch_rows > 0);
    ck_assert(line.finished || batch_rows == 0 || strcmp(what, "resnet18") != 0);
    line_close(&line);
    return true;
}

/* Every other number of stages leaves gradients to plan_finish, where the backend has one. */
static int finished_rows(const struct trial_device *device, int number)
{
    return device->backend->plan_finish && number % 2 ? ROWS : 0;
}

void conform_stages(const struct trial_device *device, int net)
{
    struct trial trial;
    struct outcome expected;
    conformance_net_make(&trial, net, ROWS);
    run_whole(&trial, device, &expected);
    for (int stages = 1; stages <= 3; stages++)
        compare(&trial, device, stages, finished_rows(device, net + stages), &expected, 2e-4,
                "a network of the cases");
    outcome_free(&expected);
    trial_free(&trial);
}

static bool has_batchnorm(const struct net *net)
{
    for (int i = 0; i < net->op_count; i++)
        if (net->ops[i].kind == NET_BATCHNORM)
            return true;
    return false;
}

void conform_stage_slopes(const struct trial_device *device, int net)
{
    struct trial trial;
    struct line line;
    struct outcome got;
    conformance_net_make(&trial, net, ROWS);
    if (!has_batchnorm(trial.net) && line_open(&line, &trial, device, 2, ROWS)) {
        make_plans(&line);
        line_run(&line, &got);
        conform_slopes_of(&trial, got.grads, "a network in 2 stages");
        outcome_free(&got);
        line_close(&line);
    }
    trial_free(&trial);
}

void conform_model_stages(const struct trial_device *device, const char *model,
                          struct net_shape input)
{
    struct trial trial;
    struct outcome expected;
    trial_make_shipped(&trial, model, input, ROWS, 5);
    run_whole(&trial, device, &expected);
    for (int stages = 1; stages <= MOST_STAGES; stages++)
        ck_assert(compare(&trial, device, stages, finished_rows(device, stages + 1), &expected,
                          5e-4, model) ||
                  (strcmp(model, "linear") == 0 && stages > 1));
    outcome_free(&expected);
    trial_free(&trial);
}

/* An evaluation by stages is one of the whole network. */
void conform_evaluation_stages(const struct trial_device *device, const char *model,
                               struct net_shape input)
{
    struct trial trial;
    struct line line;
    struct outcome expected;
    struct error err = ERROR_INIT;
    struct batch_result result = {0};
    trial_make_shipped(&trial, model, input, ROWS, 5);
    const struct batch batch = {
        .data = &trial.data, .index = trial.index, .rows = ROWS, .global_rows = ROWS};
    trial_run(&trial, device, PLAN_EVAL, &expected);
    ck_assert(line_open(&line, &trial, device, 3, 0));
    for (int s = 0; s < line.stages; s++) {
        const struct rig *rig = &line.rig[s];
        const struct plan_request request = {
            .mode = PLAN_EVAL, .rows = ROWS, .predictions = s == line.stages - 1};
        struct plan *plan = rig_plan(&line.rig[s], &request);
        const struct micro_batch micro = {.first = true,
                                          .last = true,
                                          .ends = {[STAGE_INPUT] = line.ends[s][STAGE_INPUT][0],
                                                   [STAGE_OUTPUT] = line.ends[s][STAGE_OUTPUT][0]}};
        ck_assert_msg(rig->backend->plan_forward(rig->device, plan, &batch, &micro, &result, &err),
                      "%s", err.text);
        rig->backend->plan_destroy(rig->device, plan);
    }
    ck_assert_int_eq(result.correct, expected.correct);
    ck_assert_double_eq_tol(result.loss_sum, expected.loss_sum, 1e-4 * expected.loss_sum);
    outcome_free(&expected);
    line_close(&line);
    trial_free(&trial);
}
