/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/net/stage.h"
#include "tests/reference/conformance.h"
#include "tests/reference/stage_pipeline.h"

/*
 * Networks cut into stages, whose mini-batch comes in micro-batches, beside the same micro-batches
 * on whole networks: gradients are the sums of theirs, running statistics follow from theirs.
 */

#define TOLERANCE_BF16 0x1p-6

enum { MOST_CUTS = 512 };

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
                add_moments(&m, op, (double)stage_micro_rows[k] * shape.h * shape.w, old_mean,
                            old_var, (double)parts[k].after.values[mean->offset + c],
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
        const struct plan_request request = {.mode = PLAN_TRAIN, .rows = stage_micro_rows[k]};
        struct plan *plan = rig_plan(&rig, &request);
        rig_run(&rig, plan, trial, stage_rows_before(k), stage_micro_rows[k], &parts[k]);
        rig.backend->plan_destroy(rig.device, plan);
        rig_close(&rig);
        const size_t classes = (size_t)trial->net->classes;
        memcpy(expected->logits + (size_t)stage_rows_before(k) * classes, parts[k].logits,
               (size_t)stage_micro_rows[k] * classes * sizeof(float));
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

static void compare(const struct trial *trial, const struct trial_device *device, const int *ends,
                    int stages, int finish_rows, const struct outcome *expected, double tolerance,
                    const char *what)
{
    struct stage_pipeline pipeline;
    struct outcome got;
    char text[80];
    snprintf(text, sizeof text, "%s in %d stages of %d rows, cut after %d", what, stages,
             finish_rows, stages > 1 ? ends[0] : -1);
    pipeline_open(&pipeline, trial, device, ends, stages, finish_rows);
    pipeline_plan(&pipeline);
    /* Twice: nothing of a mini-batch is left for the next. */
    pipeline_run(&pipeline, &got);
    outcome_free(&got);
    for (int s = 0; s < stages; s++) {
        struct error err = ERROR_INIT;
        ck_assert(replica_import(pipeline.rig[s].backend, pipeline.rig[s].device,
                                 pipeline.rig[s].replica, &trial->weights, &err));
    }
    pipeline_run(&pipeline, &got);
    /* In bf16 the sum of what several readers of a value give back is rounded where a cut divides
     * them. */
    if (device->options.type == TYPE_BF16 && tolerance < TOLERANCE_BF16)
        tolerance = TOLERANCE_BF16;
    outcome_compare(trial, &got, expected, PLAN_TRAIN, tolerance, text);
    outcome_free(&got);
    ck_assert(!pipeline.finished || finish_rows > 0);
    ck_assert(pipeline.finished || finish_rows == 0 || strcmp(what, "resnet18") != 0);
    pipeline_close(&pipeline);
}

static int find_cuts(const struct net *net, int cuts[MOST_CUTS])
{
    ck_assert_int_le(net->op_count, MOST_CUTS);
    return net_cuts(net, cuts);
}

/* Cuts that divide the network evenly; false: there are not as many places. */
static bool cut_evenly(const struct net *net, int stages, int ends[MOST_STAGES])
{
    int cuts[MOST_CUTS];
    const int count = find_cuts(net, cuts);
    if (count < stages - 1)
        return false;
    for (int i = 0; i < stages - 1; i++)
        ends[i] = cuts[(i + 1) * (count + 1) / stages - 1];
    return true;
}

/* Where the backend has a plan_finish, some numbers leave it no gradients, some all of them, and
 * some those of the first two micro-batches and then, which are fewer rows, of the third. */
static int finished_rows(const struct trial_device *device, int number)
{
    static const int rows[] = {0, STAGE_ROWS, 5};
    return device->backend->plan_finish ? rows[number % 3] : 0;
}

/* An evaluation by stages is one of the whole network. */
static void compare_evaluations(const struct trial *trial, const struct trial_device *device,
                                const int *ends, int stages, const struct outcome *expected)
{
    struct stage_pipeline pipeline;
    struct error err = ERROR_INIT;
    struct batch_result result = {0};
    const struct batch batch = {
        .data = &trial->data, .index = trial->index, .rows = STAGE_ROWS, .global_rows = STAGE_ROWS};
    pipeline_open(&pipeline, trial, device, ends, stages, 0);
    for (int s = 0; s < stages; s++) {
        const struct rig *rig = &pipeline.rig[s];
        const struct plan_request request = {
            .mode = PLAN_EVAL, .rows = STAGE_ROWS, .predictions = s == stages - 1};
        struct plan *plan = rig_plan(&pipeline.rig[s], &request);
        const struct micro_batch micro = {
            .first = true,
            .last = true,
            .ends = {[STAGE_INPUT] = pipeline.ends[s][STAGE_INPUT][0],
                     [STAGE_OUTPUT] = pipeline.ends[s][STAGE_OUTPUT][0]}};
        ck_assert_msg(rig->backend->plan_forward(rig->device, plan, &batch, &micro, &result, &err),
                      "%s", err.text);
        rig->backend->plan_destroy(rig->device, plan);
    }
    ck_assert_int_eq(result.correct, expected->correct);
    ck_assert_double_eq_tol(result.loss_sum, expected->loss_sum, 1e-4 * expected->loss_sum);
    pipeline_close(&pipeline);
}

/* At cuts that two tensors cross, as within residual units, each by itself and with the next one.
 */
static void compare_within_units(const struct trial *trial, const struct trial_device *device,
                                 const struct outcome *expected)
{
    int cuts[MOST_CUTS];
    const int count = find_cuts(trial->net, cuts);
    const bool rounds = device->options.type == TYPE_BF16;
    struct outcome evaluated;
    trial_run(trial, device, PLAN_EVAL, &evaluated);
    for (int i = 0; i < count; i++) {
        struct net_stage stages[2];
        ck_assert(net_stages(trial->net, &cuts[i], 1, stages));
        for (int k = 2; stages[0].exit.count > 1 && k <= 3 && i + k - 2 < count; k++) {
            compare(trial, device, &cuts[i], k, finished_rows(device, i + k), expected, 2e-4,
                    "a residual unit");
            if (!rounds)
                compare_evaluations(trial, device, &cuts[i], k, &evaluated);
        }
    }
    outcome_free(&evaluated);
}

void conform_stages(const struct trial_device *device, int net)
{
    struct trial trial;
    struct outcome expected;
    int ends[MOST_STAGES];
    conformance_net_make(&trial, net, STAGE_ROWS);
    run_whole(&trial, device, &expected);
    for (int stages = 1; stages <= 3; stages++)
        if (cut_evenly(trial.net, stages, ends))
            compare(&trial, device, ends, stages, finished_rows(device, net + stages), &expected,
                    2e-4, "a network of the cases");
    compare_within_units(&trial, device, &expected);
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
    struct stage_pipeline pipeline;
    struct outcome got;
    int ends[MOST_STAGES];
    conformance_net_make(&trial, net, STAGE_ROWS);
    if (!has_batchnorm(trial.net) && cut_evenly(trial.net, 2, ends)) {
        pipeline_open(&pipeline, &trial, device, ends, 2, STAGE_ROWS);
        pipeline_plan(&pipeline);
        pipeline_run(&pipeline, &got);
        conform_slopes_of(&trial, got.grads, "a network in 2 stages");
        outcome_free(&got);
        pipeline_close(&pipeline);
    }
    trial_free(&trial);
}

void conform_model_stages(const struct trial_device *device, const char *model,
                          struct net_shape input)
{
    struct trial trial;
    struct outcome expected;
    int ends[MOST_STAGES];
    trial_make_shipped(&trial, model, input, STAGE_ROWS, 5);
    run_whole(&trial, device, &expected);
    for (int stages = 1; stages <= MOST_STAGES; stages++) {
        const bool cut = cut_evenly(trial.net, stages, ends);
        ck_assert(cut || (strcmp(model, "linear") == 0 && stages > 1));
        if (cut)
            compare(&trial, device, ends, stages, finished_rows(device, stages + 1), &expected,
                    5e-4, model);
    }
    outcome_free(&expected);
    trial_free(&trial);
}

void conform_evaluation_stages(const struct trial_device *device, const char *model,
                               struct net_shape input)
{
    struct trial trial;
    struct outcome expected;
    int ends[MOST_STAGES];
    trial_make_shipped(&trial, model, input, STAGE_ROWS, 5);
    trial_run(&trial, device, PLAN_EVAL, &expected);
    ck_assert(cut_evenly(trial.net, 3, ends));
    compare_evaluations(&trial, device, ends, 3, &expected);
    outcome_free(&expected);
    trial_free(&trial);
}
