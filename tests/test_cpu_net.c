/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cpu_trial.h"
#include "tests/suites.h"

/* Whole networks on the CPU backend: shipped models, several devices, plans side by side. */

/*
 * Shipped models, the deep one on small pictures. Among the many ReLUs of a real network some lie
 * so near to zero that single precision decides otherwise, which a few gradients feel.
 */
static const struct {
    const char *model;
    struct net_shape input;
    int rows;
    double tolerance;
} models[] = {
    {"linear", {0, 0, 0}, 4, 1e-5},   {"linear", {0, 0, 0}, 30, 1e-5},
    {"lenet", {0, 0, 0}, 3, 1e-5},    {"cifar-cnn", {0, 0, 0}, 3, 5e-3},
    {"smallnet", {0, 0, 0}, 4, 5e-3}, {"resnet18", {1, 5, 5}, 4, 5e-2},
};

#define MODELS ((int)(sizeof models / sizeof models[0]))

START_TEST(shipped_models_agree_with_the_reference)
{
    struct trial trial;
    trial_make_shipped(&trial, models[_i].model, models[_i].input, models[_i].rows, 5);
    for (enum plan_mode mode = PLAN_TRAIN; mode <= PLAN_EVAL; mode++) {
        struct outcome got, expected;
        trial_run(&trial, 2, mode, &got);
        trial_reference(&trial, mode, &expected);
        outcome_compare(&trial, &got, &expected, mode, models[_i].tolerance, models[_i].model);
        outcome_free(&got);
        outcome_free(&expected);
    }
    trial_free(&trial);
}
END_TEST

#define CONV3(c) "{ type = \"conv\"; channels = " c "; kernel = 3; pad = 1; }"
static const char *const norm_net =
    CONV3("16") ", \"batchnorm\", \"relu\", { type = \"residual\"; layers = "
                "(" CONV3("16") ", \"batchnorm\", \"relu\", " CONV3(
                    "16") ", \"batchnorm\"); after = (\"relu\"); },"
                          "{ type = \"residual\"; layers = (" CONV3(
                              "20") ", \"batchnorm\");"
                                    "shortcut = ({ type = \"conv\"; channels = "
                                    "20; kernel = 1; }); after = (\"relu\"); },"
                                    "\"global_avgpool\", \"flatten\", { type = "
                                    "\"linear\"; outputs = 9; },"
                                    "\"batchnorm\", { type = \"linear\"; outputs "
                                    "= 4; }";
static const struct net_shape norm_input = {1, 7, 6};

/* Devices in threads that meet to add numbers up, in the order of the devices. */
#define MOST_DEVICES 8

struct meeting {
    pthread_barrier_t barrier;
    int devices;
    double *values[MOST_DEVICES];
    double sum[4096];
};

struct worker {
    struct meeting *meeting;
    const struct trial *trial;
    int rank, first, rows;
    struct outcome out;
};

static bool meet(void *context, double *values, size_t count, struct error *err)
{
    const struct worker *worker = context;
    struct meeting *meeting = worker->meeting;
    (void)err;
    ck_assert_uint_le(count, sizeof meeting->sum / sizeof meeting->sum[0]);
    meeting->values[worker->rank] = values;
    if (pthread_barrier_wait(&meeting->barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
        for (size_t i = 0; i < count; i++) {
            meeting->sum[i] = 0;
            for (int k = 0; k < meeting->devices; k++)
                meeting->sum[i] += meeting->values[k][i];
        }
    pthread_barrier_wait(&meeting->barrier);
    memcpy(values, meeting->sum, count * sizeof *values);
    pthread_barrier_wait(&meeting->barrier);
    return true;
}

static void *work(void *context)
{
    struct worker *worker = context;
    const struct plan_request request = {.mode = PLAN_TRAIN,
                                         .rows = worker->rows,
                                         .sync_bn = worker->meeting != NULL,
                                         .exchange = {.sum = meet, .context = worker}};
    struct rig rig;
    rig_open(&rig, worker->trial, 1 + worker->rank % 2);
    struct plan *plan = rig_plan(&rig, &request);
    rig_run(&rig, plan, worker->trial, worker->first, worker->rows, &worker->out);
    rig.cpu->plan_destroy(rig.device, plan);
    rig_close(&rig);
    return NULL;
}

/* Run shards of `rows` on as many devices; *joined is what all of them together made. */
static void run_shards(const struct trial *trial, struct meeting *meeting, const int *rows,
                       int devices, struct outcome *joined)
{
    struct worker workers[MOST_DEVICES] = {0};
    pthread_t threads[MOST_DEVICES];
    int first = 0;
    for (int k = 0; k < devices; k++) {
        workers[k] = (struct worker){
            .meeting = meeting, .trial = trial, .rank = k, .first = first, .rows = rows[k]};
        first += rows[k];
        ck_assert_int_eq(pthread_create(&threads[k], NULL, work, &workers[k]), 0);
    }
    for (int k = 0; k < devices; k++)
        pthread_join(threads[k], NULL);
    *joined = workers[0].out;
    joined->logits = realloc(joined->logits, (size_t)first * (size_t)trial->net->classes * 4 + 4);
    ck_assert_ptr_nonnull(joined->logits);
    for (int k = 1, done = rows[0]; k < devices; done += rows[k++]) {
        struct outcome *out = &workers[k].out;
        joined->loss_sum += out->loss_sum;
        joined->correct += out->correct;
        for (size_t i = 0; i < trial->net->value_count; i++)
            joined->grads[i] += out->grads[i];
        memcpy(joined->logits + (size_t)done * (size_t)trial->net->classes, out->logits,
               (size_t)rows[k] * (size_t)trial->net->classes * sizeof(float));
        if (meeting) /* all devices hold the same running statistics */
            ck_assert_mem_eq(out->after.values, joined->after.values,
                             trial->net->value_count * sizeof(float));
        outcome_free(out);
    }
}

static const struct {
    int devices, rows[MOST_DEVICES];
} splits[] = {
    {1, {11}}, {2, {6, 5}}, {3, {0, 10, 1}}, {4, {5, 0, 6, 0}}, {8, {2, 2, 2, 2, 2, 1, 0, 0}},
};

#define SPLITS ((int)(sizeof splits / sizeof splits[0]))

START_TEST(synchronised_devices_equal_one)
{
    struct trial trial;
    struct meeting meeting = {.devices = splits[_i].devices};
    struct outcome got, expected;
    trial_make(&trial, norm_net, norm_input, 4, 11, false, 3);
    pthread_barrier_init(&meeting.barrier, NULL, (unsigned)meeting.devices);
    run_shards(&trial, &meeting, splits[_i].rows, splits[_i].devices, &got);
    trial_reference(&trial, PLAN_TRAIN, &expected);
    outcome_compare(&trial, &got, &expected, PLAN_TRAIN, 5e-5, "synchronised");
    pthread_barrier_destroy(&meeting.barrier);
    outcome_free(&got);
    outcome_free(&expected);
    trial_free(&trial);
}
END_TEST

/* Without BatchNorm the split does not matter either, dropout included. */
START_TEST(shards_add_up)
{
    static const char *const layers = CONV3(
        "6") ", \"relu\", { type = \"dropout\"; p = 0.3; }, { type = \"maxpool\"; kernel = 2; },"
             "\"flatten\", { type = \"linear\"; outputs = 4; }";
    struct trial trial;
    struct outcome got, expected;
    trial_make(&trial, layers, norm_input, 4, 11, false, 3);
    run_shards(&trial, NULL, splits[_i].rows, splits[_i].devices, &got);
    trial_reference(&trial, PLAN_TRAIN, &expected);
    outcome_compare(&trial, &got, &expected, PLAN_TRAIN, 2e-5, "shards");
    outcome_free(&got);
    outcome_free(&expected);
    trial_free(&trial);
}
END_TEST

START_TEST(no_rows_leave_no_trace)
{
    struct trial trial;
    struct rig rig;
    struct outcome out;
    trial_make(&trial, norm_net, norm_input, 4, 5, false, 3);
    rig_open(&rig, &trial, 2);
    for (size_t i = 0; i < rig.replica->count; i++)
        rig.replica->grads[i] = 1;
    static const enum plan_mode modes[] = {PLAN_EVAL, PLAN_TRAIN};
    for (int m = 0; m < 2; m++) {
        struct plan *plan = rig_plan(&rig, &(struct plan_request){.mode = modes[m]});
        rig_run(&rig, plan, &trial, 0, 0, &out);
        ck_assert_double_eq(out.loss_sum, 0);
        ck_assert_int_eq(out.correct, 0);
        ck_assert_mem_eq(out.after.values, trial.weights.values,
                         trial.net->value_count * sizeof(float));
        size_t kept = 0;
        for (size_t i = 0; i < rig.replica->count; i++)
            kept += rig.replica->grads[i] != 0;
        ck_assert_uint_eq(kept, modes[m] == PLAN_TRAIN ? 0 : rig.replica->count);
        rig.cpu->plan_destroy(rig.device, plan);
        outcome_free(&out);
    }
    rig_close(&rig);
    trial_free(&trial);
}
END_TEST

static void expect_same(const struct trial *trial, const struct outcome *a, const struct outcome *b,
                        int rows)
{
    ck_assert_double_eq(a->loss_sum, b->loss_sum);
    ck_assert_mem_eq(a->logits, b->logits,
                     (size_t)rows * (size_t)trial->net->classes * sizeof(float));
    ck_assert_mem_eq(a->grads, b->grads, trial->net->value_count * sizeof(float));
}

/* Plans share a workspace that grows under them; a pass gives the same bits each time. */
START_TEST(plans_live_side_by_side)
{
    struct trial trial;
    struct rig rig;
    struct outcome first, again, more;
    trial_make(&trial, norm_net, norm_input, 4, 11, false, 3);
    rig_open(&rig, &trial, 2);
    struct plan *small = rig_plan(&rig, &(struct plan_request){.mode = PLAN_TRAIN, .rows = 2});
    rig_run(&rig, small, &trial, 3, 2, &first);
    struct plan *large = rig_plan(&rig, &(struct plan_request){.mode = PLAN_TRAIN, .rows = 11});
    struct plan *eval = rig_plan(&rig, &(struct plan_request){.mode = PLAN_EVAL, .rows = 7});
    rig_run(&rig, large, &trial, 0, 11, &more);
    outcome_free(&more);
    rig_run(&rig, eval, &trial, 0, 7, &more);
    outcome_free(&more);
    rig_run(&rig, small, &trial, 3, 2, &again);
    expect_same(&trial, &first, &again, 2);
    struct plan_memory memory[2];
    rig.cpu->plan_memory(small, &memory[0]);
    rig.cpu->plan_memory(large, &memory[1]);
    ck_assert_uint_gt(memory[1].activations, 3 * memory[0].activations);
    ck_assert_uint_ge(memory[1].input, 11 * 42 * sizeof(float));
    rig.cpu->plan_destroy(rig.device, small);
    rig.cpu->plan_destroy(rig.device, large);
    rig.cpu->plan_destroy(rig.device, eval);
    outcome_free(&first);
    outcome_free(&again);
    rig_close(&rig);
    trial_free(&trial);
}
END_TEST

/* Weights come back as they went in, and the surplus in the arenas stays zero through updates. */
START_TEST(weights_survive_the_arenas)
{
    struct trial trial;
    struct rig rig;
    struct error err = ERROR_INIT;
    struct outcome out;
    const struct sgd_step step = {.lr = 0.1F, .momentum = 0.9F, .weight_decay = 0.01F};
    trial_make(&trial, norm_net, norm_input, 4, 5, false, 3);
    rig_open(&rig, &trial, 2);
    struct weights back;
    ck_assert(weights_create(trial.net, &back, &err));
    ck_assert(rig.cpu->replica_export(rig.device, rig.replica, &back, &err));
    ck_assert_mem_eq(back.values, trial.weights.values, trial.net->value_count * sizeof(float));
    ck_assert_uint_eq(rig.replica->count % 16, 0);
    ck_assert_uint_eq(rig.replica->state_count % 16, 0);
    struct plan *plan = rig_plan(&rig, &(struct plan_request){.mode = PLAN_TRAIN, .rows = 5});
    for (int i = 0; i < 3; i++) {
        rig_run(&rig, plan, &trial, 0, 5, &out);
        outcome_free(&out);
        ck_assert(rig.cpu->sgd(rig.device, rig.replica, 0, rig.replica->count, &step, &err));
    }
    /* What the network knows of is as many numbers as the arena holds that are not zero. */
    size_t used = 0;
    for (size_t i = 0; i < rig.replica->count; i++)
        used += rig.replica->params[i] != 0;
    ck_assert_uint_eq(used, trial.net->trainable_count);
    rig.cpu->plan_destroy(rig.device, plan);
    weights_free(&back);
    rig_close(&rig);
    trial_free(&trial);
}
END_TEST

START_TEST(mistakes_are_named)
{
    struct trial trial;
    struct rig rig;
    struct error err = ERROR_INIT;
    struct batch_result result;
    trial_make(&trial, norm_net, norm_input, 4, 5, false, 3);
    rig_open(&rig, &trial, 1);
    struct plan *plan = rig_plan(&rig, &(struct plan_request){.mode = PLAN_TRAIN, .rows = 5});
    struct batch batch = {.data = &trial.data, .index = trial.index, .rows = 4, .global_rows = 5};
    ck_assert(!rig.cpu->plan_run(rig.device, plan, &batch, &result, &err));
    ck_assert_str_eq(err.text, "cpu:0: 4 rows given to a plan for 5");
    batch.rows = 5;
    trial.index[2] = 8;
    ck_assert(!rig.cpu->plan_run(rig.device, plan, &batch, &result, &err));
    ck_assert_str_eq(err.text, "cpu:0: batch: row 8 asked for of 8");
    trial.index[2] = 1;
    trial.data.labels[1] = 4;
    ck_assert(!rig.cpu->plan_run(rig.device, plan, &batch, &result, &err));
    ck_assert_str_eq(err.text, "cpu:0: batch: row 1 has label 4, the network 4 classes");
    trial.data.labels[1] = 0;
    trial.data.width++;
    ck_assert(!rig.cpu->plan_run(rig.device, plan, &batch, &result, &err));
    ck_assert_str_eq(err.text,
                     "cpu:0: batch: the data have 49 numbers a row, the network reads 42");
    rig.cpu->plan_destroy(rig.device, plan);
    rig_close(&rig);
    trial_free(&trial);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu networks");
    TCase *tc = tcase_create("networks");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, shipped_models_agree_with_the_reference, 0, MODELS);
    tcase_add_loop_test(tc, synchronised_devices_equal_one, 0, SPLITS);
    tcase_add_loop_test(tc, shards_add_up, 0, SPLITS);
    tcase_add_test(tc, no_rows_leave_no_trace);
    tcase_add_test(tc, plans_live_side_by_side);
    tcase_add_test(tc, weights_survive_the_arenas);
    tcase_add_test(tc, mistakes_are_named);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
