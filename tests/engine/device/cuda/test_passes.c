/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "engine/device/cuda/pass/plan.h"
#include "tests/engine/device/cuda/cuda_fixture.h"
#include "tests/simgpu/simgpu.h"
#include "tests/suites.h"

/* How the CUDA backend runs passes, on a simulated GPU: as graphs, piece by piece, over rows that
 * lie on the device or are brought there. */

/* --- graphs --- */

static const char *const mixed_net =
    "{ type = \"conv\"; channels = 12; kernel = 3; pad = 1; }, \"batchnorm\", \"relu\","
    "{ type = \"conv\"; channels = 8; kernel = 3; }, \"tanh\", { type = \"dropout\"; p = 0.4; },"
    "{ type = \"linear\"; outputs = 20; }, \"tanh\", { type = \"linear\"; outputs = 4; }";
static const struct net_shape mixed_input = {2, 7, 6};

#define ROWS 6

/* What passes with different rows, seeds and epochs give. */
struct passes {
    double loss[4];
    float *grads[4];
};

static void run_once(struct rig *rig, struct plan *plan, const struct trial *trial, int pass,
                     struct passes *out)
{
    struct error err = ERROR_INIT;
    struct batch_result result;
    const struct batch batch = {.data = &trial->data,
                                .index = trial->index + pass,
                                .rows = ROWS,
                                .global_rows = ROWS + pass,
                                .seed = 11 + (uint64_t)pass,
                                .epoch = (uint32_t)pass};
    ck_assert_msg(rig->backend->plan_run(rig->device, plan, &batch, &result, &err), "%s", err.text);
    out->loss[pass] = result.loss_sum;
    out->grads[pass] = rig_read(rig, ARENA_GRADS);
}

/* Four passes of one plan, or of a new one each, on a separate device. */
static void run_passes(const struct trial *trial, bool new_plans, struct passes *out, char *note)
{
    const struct trial_device device = exact_gpu();
    const struct plan_request request = {.mode = PLAN_TRAIN, .rows = ROWS};
    struct rig rig;
    rig_open(&rig, trial, &device);
    struct plan *plan = rig_plan(&rig, &request);
    for (int i = 0; i < 4; i++) {
        run_once(&rig, plan, trial, i, out);
        if (!new_plans)
            continue;
        rig.backend->plan_destroy(rig.device, plan);
        plan = rig_plan(&rig, &request);
    }
    strcpy(note, rig.backend->plan_note(plan));
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
}

static void expect_same_passes(const struct passes *a, const struct passes *b, size_t count)
{
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq(a->loss[i], b->loss[i]);
        ck_assert_mem_eq(a->grads[i], b->grads[i], count * sizeof(float));
        free(a->grads[i]);
        free(b->grads[i]);
    }
}

/* Numbers in the arenas of a device. */
static size_t arena_length(const struct trial *trial)
{
    const struct trial_device device = gpu_of(0, TYPE_F32);
    struct rig rig;
    rig_open(&rig, trial, &device);
    size_t count = rig.replica->count;
    rig_close(&rig);
    return count;
}

START_TEST(graphs_do_what_steps_do)
{
    struct trial trial;
    struct passes captured, eager;
    char note[200];
    trial_make(&trial, mixed_net, mixed_input, 4, ROWS + 4, false, 3);
    run_passes(&trial, false, &captured, note);
    ck_assert_str_eq(note, "");
    ck_assert_int_eq(simgpu_calls("cudaGraphLaunch"), 3);
    run_passes(&trial, true, &eager, note);
    ck_assert_int_eq(simgpu_calls("cudaGraphLaunch"), 3);
    expect_same_passes(&captured, &eager, arena_length(&trial));
    trial_free(&trial);
}
END_TEST

START_TEST(passes_continue_without_graphs)
{
    static const char *const functions[] = {"cudaStreamBeginCapture", "cudaGraphInstantiate"};
    struct trial trial;
    struct passes failed, eager;
    char note[200];
    trial_make(&trial, mixed_net, mixed_input, 4, ROWS + 4, false, 3);
    simgpu_fail_call(functions[_i], 1, cudaErrorStreamCaptureUnsupported);
    run_passes(&trial, false, &failed, note);
    ck_assert_int_eq(simgpu_calls("cudaGraphLaunch"), 0);
    ck_assert_ptr_nonnull(strstr(note, "no CUDA graphs: "));
    run_passes(&trial, true, &eager, note);
    expect_same_passes(&failed, &eager, arena_length(&trial));
    trial_free(&trial);
}
END_TEST

/* --- launches --- */

static bool ignore(void *context, int bucket, struct error *err)
{
    (void)context;
    (void)bucket;
    (void)err;
    return true;
}

/* Kernels that a training pass of resnet18 launches, with `buckets` gradient buckets; libraries'
 * calls are not among them. */
static long launches_of(enum number_type type, int buckets)
{
    const struct trial_device device = gpu_of(0, type);
    struct trial trial;
    struct rig rig;
    struct outcome out;
    size_t ends[8];
    trial_make_shipped(&trial, "resnet18", (struct net_shape){1, 5, 5}, 2, 5);
    rig_open(&rig, &trial, &device);
    for (int i = 0; i < buckets; i++)
        ends[i] = rig.replica->count / 16 * (size_t)(i + 1) / (size_t)buckets * 16;
    struct plan_request request = {.mode = PLAN_TRAIN, .rows = 2};
    request.buckets.count = buckets;
    request.buckets.ends = ends;
    request.buckets.ready = ignore;
    struct plan *plan = rig_plan(&rig, &request);
    const long before = simgpu_calls("cudaLaunchKernel");
    rig_run(&rig, plan, &trial, 0, 2, &out);
    const long count = simgpu_calls("cudaLaunchKernel") - before;
    /* A first pass launches all of them, and records all for graphs but the one of its rows. */
    ck_assert_int_eq(count % 2, 1);
    outcome_free(&out);
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
    trial_free(&trial);
    return (count + 1) / 2;
}

START_TEST(a_pass_takes_few_launches)
{
    enum { NORMS = 17, OTHERS = 6 }; /* rows, mean and its gradient, a bias, loss: 2 */
    static const char asking[] = "cudaOccupancyMaxActiveBlocksPerMultiprocessor";
    ck_assert_int_eq(launches_of(TYPE_F32, 0), 4 * NORMS + OTHERS);
    const long asked = simgpu_calls(asking);
    ck_assert_int_gt(asked, 0);
    ck_assert_int_eq(launches_of(TYPE_F32, 4), 4 * NORMS + OTHERS);
    ck_assert_int_eq(simgpu_calls(asking), asked); /* each kernel once */
    ck_assert_int_eq(launches_of(TYPE_BF16, 0), 4 * NORMS + OTHERS + 1);
    ck_assert_int_eq(launches_of(TYPE_BF16, 4), 4 * NORMS + OTHERS + 4);
}
END_TEST

START_TEST(a_kernel_whose_size_is_unknown_is_not_launched)
{
    const struct trial_device device = gpu_of(0, TYPE_F32);
    struct error err = ERROR_INIT;
    struct trial trial;
    struct rig rig;
    struct batch_result result;
    trial_make(&trial, mixed_net, mixed_input, 4, ROWS, false, 3);
    rig_open(&rig, &trial, &device);
    struct plan *plan = rig_plan(&rig, &(struct plan_request){.mode = PLAN_TRAIN, .rows = ROWS});
    const struct batch batch = {
        .data = &trial.data, .index = trial.index, .rows = ROWS, .global_rows = ROWS};
    simgpu_fail_call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", 1,
                     cudaErrorInvalidDeviceFunction);
    ck_assert(!rig.backend->plan_run(rig.device, plan, &batch, &result, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "cuda:0: "));
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
    trial_free(&trial);
}
END_TEST

/* --- gradient buckets --- */

struct listener {
    struct rig *rig;
    const size_t *ends;
    int told;
    float *grads; /* each bucket as it was when it was said to be ready */
};

static bool hear(void *context, int bucket, struct error *err)
{
    struct listener *l = context;
    const size_t begin = bucket == 0 ? 0 : l->ends[bucket - 1];
    ck_assert_int_eq(bucket, l->told++);
    return l->rig->backend->arena_read(l->rig->device, l->rig->replica, ARENA_GRADS, begin,
                                       l->ends[bucket], l->grads + begin, err);
}

/* With filters' gradients in every bucket. */
static const char *const conv_net =
    "{ type = \"conv\"; channels = 12; kernel = 3; pad = 1; }, \"batchnorm\", \"relu\","
    "{ type = \"conv\"; channels = 16; kernel = 1; }, \"tanh\","
    "{ type = \"conv\"; channels = 8; kernel = 3; }, \"batchnorm\","
    "{ type = \"conv\"; channels = 12; kernel = 3; }, \"relu\","
    "{ type = \"linear\"; outputs = 4; }";

START_TEST(buckets_are_told_when_they_are_complete)
{
    const struct trial_device device = gpu_of(0, _i ? TYPE_BF16 : TYPE_F32);
    struct trial trial;
    struct rig rig;
    struct passes passes;
    trial_make(&trial, _i < 2 ? mixed_net : conv_net, mixed_input, 4, ROWS + 4, false, 3);
    rig_open(&rig, &trial, &device);
    const size_t count = rig.replica->count;
    const size_t ends[] = {16, count / 64 * 16, count / 32 * 16, count};
    struct listener listener = {.rig = &rig, .ends = ends};
    listener.grads = calloc(count, sizeof *listener.grads);
    ck_assert_ptr_nonnull(listener.grads);
    const struct plan_request request = {
        .mode = PLAN_TRAIN,
        .rows = ROWS,
        .buckets = {.count = 4, .ends = ends, .ready = hear, .context = &listener}};
    struct plan *plan = rig_plan(&rig, &request);
    for (int i = 0; i < 3; i++) {
        listener.told = 0;
        run_once(&rig, plan, &trial, i, &passes);
        ck_assert_int_eq(listener.told, 4);
        ck_assert_mem_eq(listener.grads, passes.grads[i], count * sizeof(float));
        free(passes.grads[i]);
    }
    ck_assert_int_gt(simgpu_calls("cudaGraphLaunch"), 2);
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
    free(listener.grads);
    trial_free(&trial);
}
END_TEST

START_TEST(a_device_without_rows_tells_of_its_buckets)
{
    const struct trial_device device = gpu_of(0, TYPE_F32);
    struct trial trial;
    struct rig rig;
    struct outcome out;
    trial_make(&trial, mixed_net, mixed_input, 4, ROWS, false, 3);
    rig_open(&rig, &trial, &device);
    const size_t ends[] = {64, rig.replica->count};
    struct listener listener = {.rig = &rig, .ends = ends};
    listener.grads = calloc(rig.replica->count, sizeof *listener.grads);
    ck_assert_ptr_nonnull(listener.grads);
    const struct plan_request request = {
        .mode = PLAN_TRAIN,
        .buckets = {.count = 2, .ends = ends, .ready = hear, .context = &listener}};
    struct plan *plan = rig_plan(&rig, &request);
    rig_run(&rig, plan, &trial, 0, 0, &out);
    ck_assert_int_eq(listener.told, 2);
    rig.backend->plan_destroy(rig.device, plan);
    outcome_free(&out);
    rig_close(&rig);
    free(listener.grads);
    trial_free(&trial);
}
END_TEST

/* --- data --- */

static const char *const wide_net = "{ type = \"conv\"; channels = 4; kernel = 3; stride = 4; },"
                                    "\"tanh\", \"global_avgpool\", { type = \"linear\"; outputs = "
                                    "4; }";
static const struct net_shape wide_input = {3, 32, 32};

#define WIDE_ROWS 200

/* Six passes, with the hints that `hint` chooses: none, right, wrong. */
static void run_hinted(const struct trial *trial, size_t memory, int hint, double *loss)
{
    const struct simgpu_options options = {.devices = 1, .memory = memory, .seed = 1};
    const struct trial_device device = exact_gpu();
    struct rig rig;
    struct error err = ERROR_INIT;
    simgpu_reset(&options);
    rig_open(&rig, trial, &device);
    struct plan *plan = rig_plan(&rig, &(struct plan_request){.mode = PLAN_TRAIN, .rows = 5});
    for (int i = 0; i < 6; i++) {
        struct batch_result result;
        const struct batch batch = {.data = &trial->data,
                                    .index = trial->index + (ptrdiff_t)7 * i,
                                    .rows = 5,
                                    .global_rows = 5,
                                    .next_index =
                                        hint ? trial->index + (ptrdiff_t)7 * (i + hint) : NULL,
                                    .next_rows = hint ? 5 : 0};
        ck_assert_msg(rig.backend->plan_run(rig.device, plan, &batch, &result, &err), "%s",
                      err.text);
        loss[i] = result.loss_sum;
    }
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
    cuda_finish();
}

START_TEST(rows_come_from_wherever_they_lie)
{
    struct trial trial;
    double kept[6], staged[6];
    trial_make(&trial, wide_net, wide_input, 4, WIDE_ROWS, _i > 0, 3);
    run_hinted(&trial, (size_t)64 << 20, 0, kept);
    const size_t little = _i > 0 ? (size_t)6 << 20 : (size_t)2 << 20;
    for (int hint = 0; hint < 3; hint++) {
        run_hinted(&trial, little, hint, staged);
        ck_assert_uint_lt(simgpu_peak_memory(0), little / 2); /* the data were not kept */
        ck_assert_mem_eq(kept, staged, sizeof kept);
    }
    trial_free(&trial);
}
END_TEST

/* The losses of two passes, before the pixels are inverted and after. */
static void run_inverted(struct trial *trial, bool changes, double loss[2])
{
    const struct simgpu_options options = {.devices = 1, .memory = (size_t)64 << 20, .seed = 1};
    const struct trial_device device = exact_gpu();
    struct rig rig;
    struct outcome out;
    simgpu_reset(&options);
    trial->data.changes = changes;
    rig_open(&rig, trial, &device);
    struct plan *plan = rig_plan(&rig, &(struct plan_request){.mode = PLAN_EVAL, .rows = 5});
    for (int i = 0; i < 2; i++) {
        rig_run(&rig, plan, trial, 0, 5, &out);
        loss[i] = out.loss_sum;
        outcome_free(&out);
        for (size_t k = 0; k < WIDE_ROWS * net_shape_size(wide_input); k++)
            trial->data.pixels[k] ^= 255;
    }
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
    cuda_finish();
}

START_TEST(rows_that_change_are_brought_each_time)
{
    struct trial trial;
    double kept[2], brought[2];
    trial_make(&trial, wide_net, wide_input, 4, WIDE_ROWS, false, 3);
    ck_assert_ptr_nonnull(trial.data.pixels);
    run_inverted(&trial, false, kept);
    ck_assert(kept[0] == kept[1]);
    run_inverted(&trial, true, brought);
    ck_assert(brought[0] == kept[0]);
    ck_assert(fabs(brought[1] - brought[0]) > 1e-6);
    trial_free(&trial);
}
END_TEST

START_TEST(want_of_memory_is_told)
{
    const struct simgpu_options options = {.devices = 1, .memory = (size_t)1 << 20, .seed = 1};
    const struct trial_device device = gpu_of(0, TYPE_F32);
    struct trial trial;
    struct rig rig;
    struct error err = ERROR_INIT;
    struct plan *plan = NULL;
    simgpu_reset(&options);
    trial_make(&trial, wide_net, wide_input, 4, 4, false, 3);
    rig_open(&rig, &trial, &device);
    const struct plan_request request = {.mode = PLAN_TRAIN, .rows = 100000};
    ck_assert(!rig.backend->plan_create(rig.device, rig.replica, &request, &plan, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "cuda:0: no room for "));
    ck_assert_ptr_nonnull(strstr(err.text, "use a smaller batch or more devices"));
    rig_close(&rig);
    trial_free(&trial);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda passes");
    TCase *tc = tcase_create("passes");
    tcase_add_checked_fixture(tc, cuda_start, cuda_finish);
    tcase_set_timeout(tc, 120);
    /* first: a kernel is asked once in a process */
    tcase_add_test(tc, a_kernel_whose_size_is_unknown_is_not_launched);
    tcase_add_test(tc, graphs_do_what_steps_do);
    tcase_add_loop_test(tc, passes_continue_without_graphs, 0, 2);
    tcase_add_test(tc, a_pass_takes_few_launches);
    tcase_add_loop_test(tc, buckets_are_told_when_they_are_complete, 0, 3);
    tcase_add_test(tc, a_device_without_rows_tells_of_its_buckets);
    tcase_add_loop_test(tc, rows_come_from_wherever_they_lie, 0, 2);
    tcase_add_test(tc, rows_that_change_are_brought_each_time);
    tcase_add_test(tc, want_of_memory_is_told);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
