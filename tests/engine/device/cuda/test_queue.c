/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "engine/device/cuda/pass/plan.h"
#include "engine/device/cuda/runtime/turn.h"
#include "tests/engine/device/cuda/cuda_fixture.h"
#include "tests/simgpu/simgpu.h"
#include "tests/suites.h"

/* Passes of the CUDA backend that are queued ahead, and devices that share a GPU, on a simulated
 * one. */

static const char *const wide_net = "{ type = \"conv\"; channels = 4; kernel = 3; stride = 4; },"
                                    "\"tanh\", \"global_avgpool\", { type = \"linear\"; outputs = "
                                    "4; }";
static const struct net_shape wide_input = {3, 32, 32};

#define WIDE_ROWS 200

/* An update after each pass, so that the next one depends on it. */
static void update(struct rig *rig)
{
    const struct optimizer_step step = {.rule = UPDATE_MOMENTUM, .lr = 0.05f, .momentum = 0.9f};
    struct error err = ERROR_INIT;
    ck_assert_msg(
        rig->backend->update(rig->device, rig->replica, 0, rig->replica->count, &step, &err), "%s",
        err.text);
}

static void take(struct rig *rig, double *loss)
{
    struct pass_outcome outcome;
    struct error err = ERROR_INIT;
    ck_assert_msg(rig->backend->plan_take(rig->device, &outcome, &err), "%s", err.text);
    *loss = outcome.result.loss_sum;
    ck_assert(outcome.seconds[PASS_BEGUN] == 0 && outcome.seconds[PASS_REDUCED] == 0);
    ck_assert(outcome.seconds[PASS_DONE] > 0 && outcome.seconds[PASS_UPDATED] > 0);
}

enum { QUEUED = 8 };

/* Passes of two plans in turn, of which `ahead` are queued before the oldest is taken. */
static void run_queued(const struct trial *trial, int ahead, double *loss)
{
    const struct trial_device device = exact_gpu();
    struct rig rig;
    struct error err = ERROR_INIT;
    int taken = 0;
    simgpu_reset(&(struct simgpu_options){.devices = 1, .memory = (size_t)2 << 20, .seed = 1});
    rig_open(&rig, trial, &device);
    struct plan *plans[] = {
        rig_plan(&rig, &(struct plan_request){.mode = PLAN_TRAIN, .rows = 5}),
        rig_plan(&rig, &(struct plan_request){.mode = PLAN_TRAIN, .rows = 3}),
    };
    for (int i = 0; i < QUEUED; i++) {
        const struct batch batch = {.data = &trial->data,
                                    .index = trial->index + (ptrdiff_t)7 * i,
                                    .rows = i % 2 ? 3 : 5,
                                    .global_rows = 5 + i,
                                    .next_index = trial->index + (ptrdiff_t)7 * (i + 1),
                                    .next_rows = i % 2 ? 5 : 3};
        ck_assert_msg(rig.backend->plan_queue(rig.device, plans[i % 2], &batch, &err), "%s",
                      err.text);
        update(&rig);
        ck_assert(rig.backend->plan_mark(rig.device, PASS_UPDATED, &err));
        if (i - taken >= ahead)
            take(&rig, &loss[taken++]);
    }
    while (taken < QUEUED)
        take(&rig, &loss[taken++]);
    for (int i = 0; i < 2; i++)
        rig.backend->plan_destroy(rig.device, plans[i]);
    rig_close(&rig);
    cuda_finish();
}

START_TEST(passes_queued_ahead_keep_their_own_numbers)
{
    struct trial trial;
    double one_by_one[QUEUED], ahead[QUEUED];
    trial_make(&trial, wide_net, wide_input, 4, WIDE_ROWS, false, 3);
    run_queued(&trial, 0, one_by_one);
    run_queued(&trial, PASSES_AHEAD, ahead);
    for (int i = 1; i < QUEUED; i++)
        ck_assert(one_by_one[i] != one_by_one[i - 1]);
    ck_assert_mem_eq(one_by_one, ahead, sizeof ahead);
    trial_free(&trial);
}
END_TEST

/* Each pass's predictions are its own rows', those of the pass taken before included. */
START_TEST(passes_queued_ahead_keep_their_own_predictions)
{
    const struct trial_device device = exact_gpu();
    struct trial trial;
    struct rig rig;
    struct error err = ERROR_INIT;
    struct batch_result all;
    struct pass_outcome outcome;
    trial_make(&trial, "{ type = \"linear\"; outputs = 9; }", (struct net_shape){40, 1, 1}, 9, 15,
               true, 3);
    rig_open(&rig, &trial, &device);
    struct batch batch = {.data = &trial.data, .index = trial.index, .rows = 15, .global_rows = 15};
    struct plan_request request = {.mode = PLAN_EVAL, .rows = 15, .predictions = true};
    struct plan *whole = rig_plan(&rig, &request);
    request.rows = batch.rows = 5;
    struct plan *part = rig_plan(&rig, &request);
    for (int i = 0; i < PASSES_QUEUED; i++, batch.index += batch.rows)
        ck_assert(rig.backend->plan_queue(rig.device, part, &batch, &err));
    uint8_t predicted[15];
    for (int i = 0; i < PASSES_QUEUED; i++) {
        ck_assert(rig.backend->plan_take(rig.device, &outcome, &err));
        memcpy(predicted + (ptrdiff_t)5 * i, outcome.result.predicted, 5);
    }
    batch =
        (struct batch){.data = &trial.data, .index = trial.index, .rows = 15, .global_rows = 15};
    ck_assert(rig.backend->plan_run(rig.device, whole, &batch, &all, &err));
    ck_assert_mem_eq(predicted, all.predicted, sizeof predicted);
    ck_assert_int_ne(memcmp(predicted, predicted + 5, 5), 0);
    rig.backend->plan_destroy(rig.device, whole);
    rig.backend->plan_destroy(rig.device, part);
    rig_close(&rig);
    trial_free(&trial);
}
END_TEST

START_TEST(the_queue_has_an_end)
{
    const struct trial_device device = exact_gpu();
    struct trial trial;
    struct rig rig;
    struct error err = ERROR_INIT;
    struct pass_outcome outcome;
    struct batch_result result;
    trial_make(&trial, wide_net, wide_input, 4, WIDE_ROWS, false, 3);
    rig_open(&rig, &trial, &device);
    struct plan *plan = rig_plan(&rig, &(struct plan_request){.mode = PLAN_TRAIN, .rows = 5});
    const struct batch batch = {
        .data = &trial.data, .index = trial.index, .rows = 5, .global_rows = 5};
    ck_assert(!rig.backend->plan_take(rig.device, &outcome, &err));
    ck_assert(!rig.backend->plan_mark(rig.device, PASS_UPDATED, &err));
    for (int i = 0; i < PASSES_QUEUED; i++)
        ck_assert(rig.backend->plan_queue(rig.device, plan, &batch, &err));
    ck_assert(!rig.backend->plan_queue(rig.device, plan, &batch, &err));
    ck_assert_str_eq(err.text, "cuda:0: 3 passes are queued already");
    ck_assert(!rig.backend->plan_run(rig.device, plan, &batch, &result, &err));
    ck_assert_str_eq(err.text, "cuda:0: passes that are queued come first");
    for (int i = 0; i < PASSES_QUEUED; i++)
        ck_assert(rig.backend->plan_take(rig.device, &outcome, &err));
    /* One that could not be queued is not there, either. */
    simgpu_fail_call("cudaMemcpyAsync", 1, 1);
    ck_assert(!rig.backend->plan_run(rig.device, plan, &batch, &result, &err));
    ck_assert_msg(rig.backend->plan_run(rig.device, plan, &batch, &result, &err), "%s", err.text);
    ck_assert(result.loss_sum == outcome.result.loss_sum);
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
    trial_free(&trial);
}
END_TEST

/* --- two devices on one GPU --- */

/* A first pass, a capture or a plan of one, while the other has the turn. */
static void expect_busy(struct rig *rig, struct plan *plan, const struct batch *batch)
{
    struct batch_result result;
    struct error err = ERROR_INIT;
    bool ok = plan ? rig->backend->plan_run(rig->device, plan, batch, &result, &err)
                   : rig->backend->plan_create(rig->device, rig->replica,
                                               &(struct plan_request){.rows = 5}, &plan, &err);
    ck_assert(!ok);
    ck_assert_msg(strstr(err.text, "its turn on the GPU") != NULL, "%s", err.text);
}

START_TEST(captures_and_code_keep_apart)
{
    struct trial_device device = exact_gpu();
    struct trial trial;
    struct rig rig, other;
    struct batch_result result;
    struct error err = ERROR_INIT;
    trial_make(&trial, wide_net, wide_input, 4, WIDE_ROWS, false, 3);
    rig_open(&other, &trial, &device);
    device.options.watch.limit_s = 3; /* enough for a pass, also under a sanitizer */
    rig_open(&rig, &trial, &device);
    struct plan *plan = rig_plan(&rig, &(struct plan_request){.mode = PLAN_TRAIN, .rows = 5});
    const struct batch batch = {
        .data = &trial.data, .index = trial.index, .rows = 5, .global_rows = 5};
    ck_assert(cuda_turn_take(other.device, &err));
    expect_busy(&rig, NULL, &batch);
    expect_busy(&rig, plan, &batch);
    cuda_turn_give(other.device);
    ck_assert_msg(rig.backend->plan_run(rig.device, plan, &batch, &result, &err), "%s", err.text);
    ck_assert(cuda_turn_take(other.device, &err));
    /* All is loaded and captured. */
    ck_assert_msg(rig.backend->plan_run(rig.device, plan, &batch, &result, &err), "%s", err.text);
    cuda_turn_give(other.device);
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
    rig_close(&other);
    trial_free(&trial);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda queue");
    TCase *tc = tcase_create("queue");
    tcase_add_checked_fixture(tc, cuda_start, cuda_finish);
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, passes_queued_ahead_keep_their_own_numbers);
    tcase_add_test(tc, passes_queued_ahead_keep_their_own_predictions);
    tcase_add_test(tc, the_queue_has_an_end);
    tcase_add_test(tc, captures_and_code_keep_apart);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
