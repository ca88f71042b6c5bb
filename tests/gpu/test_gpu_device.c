/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backends/registry.h"
#include "engine/device/cuda/pass/plan.h"
#include "tests/gpu/gpu_case.h"
#include "tests/reference/conformance.h"
#include "tests/suites.h"

/*
 * The CUDA backend's device cuda:0 against the reference in double precision. Linked with the real
 * libraries by tests/gpu/run, with a simulated GPU by `make check`, which takes a sample of
 * everything here: engine/device/cuda/test_plan compares all networks and models. Each case is an
 * item of tests/gpu/run.
 */
#define UNIT_TF32 0x1p-11
#define UNIT_BF16 0x1p-8

static struct error err = ERROR_INIT;

static struct trial_device gpu(enum number_type type)
{
    const char *why = "";
    struct trial_device device = {.backend = backend_find(DEVICE_CUDA, &why),
                                  .options = {.id = {DEVICE_CUDA, 0}, .type = type}};
    ck_assert_msg(device.backend, "no CUDA backend: %s", why);
    return device;
}

/* --- operations, models --- */

static const int row_counts[] = {5, 1, 2, 17, 64};

#define ROW_COUNTS (SIMULATED ? 1 : (int)(sizeof row_counts / sizeof row_counts[0]))
#define EVERY      (SIMULATED ? 5 : 1) /* the first network of so many */
#define NETS       ((conformance_nets + EVERY - 1) / EVERY)

START_TEST(operations_f32)
{
    const struct trial_device device = gpu(TYPE_F32);
    for (int i = 0; i < ROW_COUNTS; i++)
        conform_net(&device, EVERY * _i, row_counts[i]);
}
END_TEST

static void rough_operations(enum number_type type, double unit, int net)
{
    const struct trial_device device = gpu(type);
    for (int i = 0; i < ROW_COUNTS; i++) {
        struct trial trial;
        char what[64];
        snprintf(what, sizeof what, "net %d, %d rows", net, row_counts[i]);
        conformance_net_make(&trial, net, row_counts[i]);
        conform_rough(&device, &trial, unit, what);
        trial_free(&trial);
    }
}

START_TEST(operations_tf32)
{
    rough_operations(TYPE_TF32, UNIT_TF32, EVERY * _i);
}
END_TEST

START_TEST(operations_bf16)
{
    rough_operations(TYPE_BF16, UNIT_BF16, EVERY * _i);
}
END_TEST

START_TEST(gradients_are_slopes)
{
    const struct trial_device device = gpu(TYPE_F32);
    conform_slopes(&device, EVERY * _i);
    conform_smoothing(&device, EVERY * _i);
}
END_TEST

/* Simulated, those without BatchNorm have to do. */
#define MODELS (SIMULATED ? 3 : conformance_models)

START_TEST(models_f32)
{
    const struct trial_device device = gpu(TYPE_F32);
    conform_model(&device, _i);
}
END_TEST

static void rough_model(enum number_type type, double unit, int model)
{
    const struct trial_device device = gpu(type);
    struct trial trial;
    conformance_model_make(&trial, model);
    conform_rough(&device, &trial, unit, trial.net->name);
    trial_free(&trial);
}

START_TEST(models_tf32)
{
    rough_model(TYPE_TF32, UNIT_TF32, _i);
}
END_TEST

START_TEST(models_bf16)
{
    rough_model(TYPE_BF16, UNIT_BF16, _i);
}
END_TEST

/* --- plans and shards --- */

START_TEST(plans_and_arenas)
{
    static const enum number_type types[] = {TYPE_F32, TYPE_BF16};
    struct trial_device device = gpu(types[_i]);
    device.options.deterministic = true; /* identical results are expected twice */
    conform_no_rows(&device);
    conform_side_by_side(&device);
    conform_arenas(&device);
    conform_mistakes(&device);
    for (int net = 0; net < conformance_nets; net += EVERY)
        conform_predictions(&device, net);
}
END_TEST

START_TEST(shards_add_up)
{
    const struct trial_device devices[] = {gpu(TYPE_F32), gpu(TYPE_F32)};
    conform_synchronised(devices, _i);
    conform_shards(devices, _i);
}
END_TEST

/* --- deterministic results --- */

#define STEPS 4

/* A few steps of training from the same start; *out is the last. `note`: why the steps were not
 * started as graphs. */
static void train(const struct trial_device *device, const struct trial *trial,
                  const struct plan_request *request, struct outcome *out, char *note, size_t size)
{
    const struct optimizer_step step = {
        .rule = UPDATE_MOMENTUM, .lr = 0.02F, .momentum = 0.9F, .weight_decay = 1e-3F};
    struct rig rig;
    rig_open(&rig, trial, device);
    struct plan *plan = rig_plan(&rig, request);
    for (int i = 0; i < STEPS; i++) {
        if (i > 0)
            outcome_free(out);
        rig_run(&rig, plan, trial, 0, trial->rows, out);
        ck_assert_msg(
            rig.backend->update(rig.device, rig.replica, 0, rig.replica->count, &step, &err), "%s",
            err.text);
    }
    snprintf(note, size, "%s", rig.backend->plan_note(plan));
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
}

static void expect_same(const struct trial *trial, const struct outcome *a, const struct outcome *b,
                        const char *what)
{
    const struct net *net = trial->net;
    ck_assert_msg(a->loss_sum == b->loss_sum, "%s: losses %.17g and %.17g", what, a->loss_sum,
                  b->loss_sum);
    ck_assert_msg(memcmp(a->logits, b->logits,
                         (size_t)trial->rows * (size_t)net->classes * sizeof(float)) == 0,
                  "%s: not the same logits", what);
    for (int i = 0; i < net->param_count; i++) {
        const struct net_param *p = &net->params[i];
        ck_assert_msg(memcmp(a->after.values + p->offset, b->after.values + p->offset,
                             p->count * sizeof(float)) == 0,
                      "%s: %s is not bit-identical", what, p->name);
    }
}

static const enum number_type all_types[] = {TYPE_F32, TYPE_TF32, TYPE_BF16};

#define TYPES ((int)(sizeof all_types / sizeof all_types[0]))

/* resnet18 on small pictures, simulated a few residual units; 12 rows. */
static void make_deep(struct trial *trial)
{
    if (SIMULATED)
        conformance_net_make(trial, 12, 12);
    else
        trial_make_shipped(trial, "resnet18", (struct net_shape){1, 8, 8}, 12, 5);
}

START_TEST(deterministic_runs_agree)
{
    struct trial_device device = gpu(all_types[_i]);
    const struct plan_request request = {.mode = PLAN_TRAIN, .rows = 12};
    struct trial trial;
    struct outcome one, two;
    char note[200];
    device.options.deterministic = true;
    make_deep(&trial);
    train(&device, &trial, &request, &one, note, sizeof note);
    train(&device, &trial, &request, &two, note, sizeof note);
    expect_same(&trial, &one, &two, "again");
    outcome_free(&one);
    outcome_free(&two);
    trial_free(&trial);
}
END_TEST

/* BatchNorm over one device: the sums go to the host and come back as they were, which no graph can
 * hold, so the step is queued piece by piece. */
static bool alone(void *context, double *values, size_t count, struct error *error)
{
    int *calls = context;
    (void)values;
    (void)count;
    (void)error;
    ++*calls;
    return true;
}

START_TEST(graphs_equal_pieces)
{
    struct trial_device device = gpu(all_types[_i]);
    int calls = 0;
    const struct plan_request whole = {.mode = PLAN_TRAIN, .rows = 12},
                              pieces = {.mode = PLAN_TRAIN,
                                        .rows = 12,
                                        .sync_bn = true,
                                        .allreduce = {.sum = alone, .context = &calls}};
    struct trial trial;
    struct outcome one, two;
    char note[200];
    device.options.deterministic = true;
    make_deep(&trial);
    train(&device, &trial, &whole, &one, note, sizeof note);
    ck_assert_msg(*note == '\0', "the steps did not become graphs: %s", note);
    train(&device, &trial, &pieces, &two, note, sizeof note);
    ck_assert_int_gt(calls, STEPS);
    expect_same(&trial, &one, &two, "graph and pieces");
    outcome_free(&one);
    outcome_free(&two);
    trial_free(&trial);
}
END_TEST

/* --- rows that are not on the device --- */

/* Passes over the trial's rows from several places on, each told which comes next; the hint after
 * the third is wrong. */
static void run_batches(struct rig *rig, struct plan *plan, const struct trial *trial, int rows,
                        double *losses)
{
    static const int firsts[] = {0, 7, 3, 11, 2, 5};
    enum { BATCHES = sizeof firsts / sizeof *firsts };
    for (int i = 0; i < BATCHES; i++) {
        struct batch_result result;
        const int next = i == 2 ? 1 : firsts[(i + 1) % BATCHES];
        const struct batch batch = {.data = &trial->data,
                                    .index = trial->index + firsts[i],
                                    .rows = rows,
                                    .global_rows = rows,
                                    .next_index = i == 4 ? NULL : trial->index + next,
                                    .next_rows = i == 4 ? 0 : rows};
        ck_assert_msg(rig->backend->plan_run(rig->device, plan, &batch, &result, &err), "%s",
                      err.text);
        losses[i] = result.loss_sum;
    }
}

/* A device keeps the first few data sets that it sees; what comes after them is staged. */
static void fill_device(struct rig *rig, struct plan *plan, const struct trial *trial, int rows)
{
    enum { OTHERS = 8 };
    static uint8_t labels[OTHERS][32];
    for (int i = 0; i < OTHERS; i++) {
        struct dataset other = trial->data;
        struct batch_result result;
        ck_assert_int_le(trial->data.rows, (int)sizeof labels[0]);
        memcpy(labels[i], trial->data.labels, (size_t)trial->data.rows);
        other.labels = labels[i];
        const struct batch batch = {
            .data = &other, .index = trial->index, .rows = rows, .global_rows = rows};
        ck_assert_msg(rig->backend->plan_run(rig->device, plan, &batch, &result, &err), "%s",
                      err.text);
    }
}

START_TEST(staged_rows_equal_resident_ones)
{
    static const char *const layers =
        "{ type = \"conv\"; channels = 8; kernel = 3; pad = 1; }, \"relu\", \"flatten\","
        "{ type = \"linear\"; outputs = 4; }";
    enum { ROWS = 9 };
    const struct trial_device device = gpu(TYPE_F32);
    double losses[2][6];
    struct trial trial;
    trial_make(&trial, layers, (struct net_shape){2, 6, 5}, 4, 20, _i == 1, 3);
    for (int staged = 0; staged < 2; staged++) {
        struct rig rig;
        rig_open(&rig, &trial, &device);
        struct plan *plan =
            rig_plan(&rig, &(struct plan_request){.mode = PLAN_TRAIN, .rows = ROWS});
        if (staged)
            fill_device(&rig, plan, &trial, ROWS);
        run_batches(&rig, plan, &trial, ROWS, losses[staged]);
        rig.backend->plan_destroy(rig.device, plan);
        rig_close(&rig);
    }
    ck_assert_mem_eq(losses[0], losses[1], sizeof losses[0]);
    ck_assert_double_ne(losses[0][0], losses[0][1]); /* so that they say something */
    trial_free(&trial);
}
END_TEST

/* Stages of a pipeline, beside the whole network, by the same algorithms. */
START_TEST(stages_add_up)
{
    struct trial_device device = gpu(_i % 2 == 0 ? TYPE_F32 : TYPE_BF16);
    device.options.deterministic = true;
    conform_stages(&device, EVERY * (_i / 2));
}
END_TEST

START_TEST(stages_of_models_add_up)
{
    static const char *const models[] = {"lenet", "smallnet", "resnet18"};
    struct trial_device device = gpu(TYPE_F32);
    device.options.deterministic = true;
    const struct net_shape input = {_i == 2, 5 * (_i == 2), 5 * (_i == 2)};
    conform_model_stages(&device, models[_i], input);
}
END_TEST

/* Slices, each a device in a thread of its own. */
START_TEST(slices_add_up)
{
    const struct trial_device device = gpu(TYPE_F32);
    int divided = 0;
    for (int net = 0; net < conformance_nets; net += EVERY)
        divided += conform_slices(&device, (enum net_division)_i, net, 2 + net % 3);
    ck_assert_int_gt(divided, 0);
}
END_TEST

#define ADD_PART(NAME, TEST, FIRST, END)                                                           \
    do {                                                                                           \
        TCase *tc = gpu_case(tcase_create(NAME), 300);                                             \
        tcase_add_loop_test(tc, TEST, FIRST, END);                                                 \
        suite_add_tcase(suite, tc);                                                                \
    } while (0)

#define ADD(NAME, TEST, COUNT) ADD_PART(NAME, TEST, 0, COUNT)

int main(void)
{
    Suite *suite = suite_create("gpu device");
    ADD("ops-f32", operations_f32, NETS);
    ADD("ops-tf32", operations_tf32, NETS);
    /* cuDNN spends most of the time compiling fused engines; parts do so in parallel. */
    ADD_PART("ops-bf16-1", operations_bf16, 0, NETS / 3);
    ADD_PART("ops-bf16-2", operations_bf16, NETS / 3, 2 * NETS / 3);
    ADD_PART("ops-bf16-3", operations_bf16, 2 * NETS / 3, NETS);
    ADD("slopes", gradients_are_slopes, NETS);
    ADD("models-f32", models_f32, MODELS);
    ADD("models-tf32", models_tf32, MODELS);
    ADD("models-bf16", models_bf16, MODELS);
    ADD("plans", plans_and_arenas, 2);
    ADD("shards", shards_add_up, conformance_splits);
    ADD("stages", stages_add_up, 2 * NETS);
    ADD("stages", stages_of_models_add_up, SIMULATED ? 1 : 3);
    ADD("slices", slices_add_up, NET_DIVIDE_LINEAR + 1);
    ADD("deterministic", deterministic_runs_agree, TYPES);
    ADD("staging", staged_rows_equal_resident_ones, 2);
    ADD("graph", graphs_equal_pieces, TYPES);
    return run_suites(suite, NULL);
}
