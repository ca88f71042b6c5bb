/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "engine/device/device.h"
#include "tests/engine/device/cuda/cuda_fixture.h"
#include "tests/recorder.h"
#include "tests/simgpu/simgpu.h"
#include "tests/suites.h"
#include "tests/support.h"

/* Where the time of a GPU's passes goes, on a simulated one whose operations take known times. */

/* Powers of two, so that sums are exact in whatever order. */
#define CONV_S    0x1p-6
#define PRODUCT_S 0x1p-8
#define LOSS_S    0x1p-10
#define OTHERS_S  0x1p-24 /* in runs: so that all parts take some time */

#define ROWS 6

static struct trial trial;
static struct rig rig;
static struct plan *plan;
static struct error err = ERROR_INIT;

static void begin(enum number_type type)
{
    const struct trial_device device = type == TYPE_F32 ? exact_gpu() : gpu_of(0, type);
    err = (struct error)ERROR_INIT;
    plan = NULL;
    trial_make(
        &trial,
        "{ type = \"conv\"; channels = 12; kernel = 3; pad = 1; }, \"batchnorm\", \"relu\","
        "{ type = \"conv\"; channels = 8; kernel = 3; }, \"relu\","
        "{ type = \"linear\"; outputs = 20; }, \"relu\", { type = \"linear\"; outputs = 4; }",
        (struct net_shape){2, 7, 6}, 4, 2 * ROWS, false, 3);
    rig_open(&rig, &trial, &device);
    simgpu_cost(NULL, 0);
    simgpu_cost("cuDNN plan", CONV_S);
    simgpu_cost("cuBLASLt product", PRODUCT_S);
    simgpu_cost("loss_of_blocks", LOSS_S);
}

static void end(void)
{
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
    trial_free(&trial);
}

static struct plan *make_plan(bool profile)
{
    return rig_plan(&rig,
                    &(struct plan_request){.mode = PLAN_TRAIN, .rows = ROWS, .profile = profile});
}

static bool run_pass(bool unprofiled)
{
    struct batch_result result;
    const struct batch batch = {.data = &trial.data,
                                .index = trial.index,
                                .rows = ROWS,
                                .global_rows = ROWS,
                                .unprofiled = unprofiled};
    return rig.backend->plan_run(rig.device, plan, &batch, &result, &err);
}

static const struct plan_time *find(const char *layer, enum plan_direction direction,
                                    const char *method)
{
    int count;
    const struct plan_time *list = rig.backend->plan_profile(plan, &count);
    for (int i = 0; i < count; i++)
        if (list[i].part == PLAN_OPERATION && strcmp(list[i].layer, layer) == 0 &&
            list[i].direction == direction && strcmp(list[i].method, method) == 0)
            return &list[i];
    return NULL;
}

static const struct plan_time *must_find(const char *layer, enum plan_direction direction,
                                         const char *method)
{
    const struct plan_time *time = find(layer, direction, method);
    ck_assert_msg(time, "no step of layer %s, direction %d, by '%s'", layer, direction, method);
    return time;
}

/* --- steps --- */

START_TEST(steps_take_what_the_device_took)
{
    static const struct {
        const char *layer;
        enum plan_direction direction;
        const char *method;
        double seconds, flops; /* of a pass */
    } want[] = {
        {"0", PLAN_FORWARD, "cuDNN eng1", CONV_S, 108864},
        {"0", PLAN_BACKWARD_WEIGHTS, "cuDNN eng1", CONV_S, 108864},
        {"1", PLAN_STATISTICS, "own kernel", 0, 0},
        {"1", PLAN_FORWARD, "own kernel", 0, 0},
        {"1", PLAN_BACKWARD_WEIGHTS, "own kernel", 0, 0},
        {"1", PLAN_BACKWARD_DATA, "own kernel", 0, 0},
        {"3", PLAN_FORWARD, "cuDNN eng1 + bias + relu", CONV_S, 207360},
        {"3", PLAN_BACKWARD_RELU, "own kernel", 0, 0},
        {"3", PLAN_BACKWARD_WEIGHTS, "own kernel", 0, 0}, /* of the bias */
        {"3", PLAN_BACKWARD_WEIGHTS, "cuDNN eng1", CONV_S, 207360},
        {"3", PLAN_BACKWARD_DATA, "cuDNN eng1", CONV_S, 207360},
        {"5", PLAN_FORWARD, "cuBLASLt + bias + relu", PRODUCT_S, 38400},
        {"7", PLAN_FORWARD, "cuBLASLt + bias", PRODUCT_S, 960},
        {"7", PLAN_BACKWARD_WEIGHTS, "cuBLASLt", PRODUCT_S, 960},
        {"7", PLAN_BACKWARD_DATA, "cuBLASLt", PRODUCT_S, 960},
    };
    int count;
    double sum = 0;
    begin(TYPE_F32);
    plan = make_plan(true);
    for (int pass = 1; pass <= 2; pass++) {
        ck_assert_msg(run_pass(false), "%s", err.text);
        for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
            const struct plan_time *t = must_find(want[i].layer, want[i].direction, want[i].method);
            ck_assert_msg(t->seconds == pass * want[i].seconds, "%s, %d, %s: %g s", t->layer,
                          t->direction, t->method, t->seconds);
            ck_assert_double_eq(t->flops, want[i].flops);
            ck_assert_int_eq(t->calls, pass);
            ck_assert_double_gt(t->bytes, 0);
        }
    }
    const struct plan_time *list = rig.backend->plan_profile(plan, &count);
    for (int i = 0; i < count; i++)
        sum += list[i].seconds;
    ck_assert_double_eq(sum, 2 * (5 * CONV_S + 6 * PRODUCT_S + LOSS_S));
    ck_assert_int_eq(list[0].part, PLAN_INPUT);
    ck_assert_int_eq(simgpu_calls("cudaGraphLaunch"), 0);
    ck_assert_int_eq(simgpu_calls("cudaStreamBeginCapture"), 0);
    end();
}
END_TEST

/* Each tensor counts once in each step of a BatchNorm, whether it is read or written. */
START_TEST(a_batchnorm_tells_its_passes_over_memory)
{
    begin(TYPE_F32);
    plan = make_plan(true);
    const double tensor = ROWS * 7 * 6 * 16 * sizeof(float), slack = 2000;
    static const struct {
        enum plan_direction direction;
        int tensors;
    } want[] = {{PLAN_STATISTICS, 1},       /* x */
                {PLAN_FORWARD, 2},          /* x, y */
                {PLAN_BACKWARD_WEIGHTS, 2}, /* dy, x */
                {PLAN_BACKWARD_DATA, 2}};   /* the same; dx lies over dy */
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        ck_assert_double_eq_tol(must_find("1", want[i].direction, "own kernel")->bytes,
                                want[i].tensors * tensor, slack);
    end();
}
END_TEST

START_TEST(what_is_fused_is_told)
{
    begin(TYPE_BF16);
    simgpu_refuse_epilogues(true);
    plan = make_plan(true);
    /* Which engine is left to what the tuner measures; the second step is the convolution. */
    int count;
    const struct plan_time *conv = rig.backend->plan_profile(plan, &count) + 1;
    ck_assert_msg(strncmp(conv->method, "cuDNN eng", 9) == 0 && strstr(conv->method, " + sums"),
                  "%s", conv->method);
    ck_assert_double_eq(must_find("5", PLAN_FORWARD, "cuBLASLt")->flops, 38400);
    ck_assert_double_eq(must_find("5", PLAN_FORWARD, "own kernel")->flops, 0);
    ck_assert_ptr_null(find("5", PLAN_FORWARD, "cuBLASLt + bias + relu"));
    end();
}
END_TEST

START_TEST(profiled_passes_compute_the_same)
{
    float *grads[2];
    size_t bytes = 0;
    for (int profile = 0; profile < 2; profile++) {
        begin(TYPE_F32);
        plan = make_plan(profile);
        for (int i = 0; i < 3; i++)
            ck_assert_msg(run_pass(false), "%s", err.text);
        grads[profile] = rig_read(&rig, ARENA_GRADS);
        bytes = rig.replica->count * sizeof(float);
        end();
    }
    ck_assert_mem_eq(grads[0], grads[1], bytes);
    free(grads[0]);
    free(grads[1]);
}
END_TEST

START_TEST(passes_outside_the_profile_are_graphs)
{
    begin(TYPE_F32);
    plan = make_plan(true);
    ck_assert(run_pass(false));
    const double before = must_find("3", PLAN_FORWARD, "cuDNN eng1 + bias + relu")->seconds;
    ck_assert(run_pass(true) && run_pass(true));
    const struct plan_time *t = must_find("3", PLAN_FORWARD, "cuDNN eng1 + bias + relu");
    ck_assert_int_eq(simgpu_calls("cudaGraphLaunch"), 2);
    ck_assert_int_eq(t->calls, 1);
    ck_assert_double_eq(t->seconds, before);
    ck_assert(run_pass(false));
    ck_assert_int_eq(simgpu_calls("cudaGraphLaunch"), 2);
    ck_assert_int_eq(t->calls, 2);
    end();
}
END_TEST

/* What is recorded besides is the same: two events a step more. */
START_TEST(plans_without_a_profile_record_no_steps)
{
    int count;
    begin(TYPE_F32);
    plan = make_plan(false);
    ck_assert_ptr_null(rig.backend->plan_profile(plan, &count));
    ck_assert_int_eq(count, 0);
    const long before = simgpu_calls("cudaEventRecord");
    ck_assert(run_pass(false));
    const long plain = simgpu_calls("cudaEventRecord");
    rig.backend->plan_destroy(rig.device, plan);
    plan = make_plan(true);
    ck_assert(run_pass(false));
    rig.backend->plan_profile(plan, &count);
    ck_assert_int_eq(simgpu_calls("cudaEventRecord") - plain, plain - before + 2L * count);
    end();
}
END_TEST

/* So that it is told as the update's time, not as the next pass's. */
START_TEST(updates_are_waited_for)
{
    const struct optimizer_step step = {.lr = 0.1F};
    for (int profile = 0; profile < 2; profile++) {
        begin(TYPE_F32);
        plan = make_plan(profile);
        ck_assert(run_pass(false));
        /* The simulated device is lazy: it works when somebody looks. */
        const long before = simgpu_operations(0);
        ck_assert(rig.backend->update(rig.device, rig.replica, 0, rig.replica->count, &step, &err));
        ck_assert_int_eq(simgpu_operations(0) > before, profile);
        end();
    }
}
END_TEST

static const char *const failing[] = {"cudaEventRecord", "cudaEventElapsedTime"};

START_TEST(failing_events_fail_the_pass)
{
    begin(TYPE_F32);
    plan = make_plan(true);
    simgpu_fail_call(failing[_i], 3, cudaErrorUnknown);
    ck_assert(!run_pass(false));
    ck_assert_msg(strstr(err.text, "cuda:0") && strstr(err.text, "step"), "%s", err.text);
    end();
}
END_TEST

START_TEST(events_that_cannot_be_made_fail_the_plan)
{
    begin(TYPE_F32);
    const struct plan_request request = {.mode = PLAN_TRAIN, .rows = ROWS, .profile = true};
    simgpu_fail_call("cudaEventCreateWithFlags", 5, cudaErrorMemoryAllocation);
    ck_assert(!rig.backend->plan_create(rig.device, rig.replica, &request, &plan, &err));
    ck_assert_msg(strstr(err.text, "an event of the profile"), "%s", err.text);
    end();
}
END_TEST

/* --- runs --- */

static json_t *profile_of(struct recorder *rec, const char *settings)
{
    char *model = shipped_model("linear"), *all = format("model=%s %s", model, settings);
    recorder_init(rec, all);
    free(all);
    free(model);
    simgpu_cost(NULL, OTHERS_S);
    simgpu_cost("cuBLASLt product", PRODUCT_S);
    simgpu_cost("loss_of_blocks", LOSS_S);
    ck_assert_msg(recorder_run(rec), "%s", rec->err.text);
    return recorder_event(rec, "profile", -1);
}

/* Of fewer than 20 operations in each of 7 steps. */
#define MOST_OTHERS_S (7 * 20 * OTHERS_S)

#define RUN "data=random:64x10 batch=16 test-rows=16 devices=cuda:0 profile=yes "

START_TEST(a_run_tells_its_operations_and_limits)
{
    struct recorder rec;
    const json_t *event = profile_of(&rec, RUN "max-steps=12 epochs=3 dtype=f32");
    const json_t *device = json_array_get(json_object_get(event, "devices"), 0), *operation;
    size_t i;
    /* One for memory, one for graphs, three that are looked at. */
    ck_assert_double_eq(recorder_number(event, "left_out"), 5);
    ck_assert_double_eq(recorder_number(event, "steps"), 7);
    ck_assert_double_eq(recorder_number(event, "unprofiled_steps"), 3);
    ck_assert_double_gt(recorder_number(event, "unprofiled_s"), 0);
    ck_assert(json_is_false(json_object_get(device, "passes_only")));
    ck_assert_double_eq(recorder_number(device, "rows"), 7 * 16);
    ck_assert_double_eq_tol(recorder_number(device, "loss_s"), 7 * LOSS_S, MOST_OTHERS_S);
    ck_assert_double_eq_tol(recorder_number(device, "operations_s"), 7 * 2 * PRODUCT_S,
                            MOST_OTHERS_S);
    ck_assert_double_gt(recorder_number(device, "optimizer_s"), 0);
    /* 4 multiprocessors at 1 GHz, 256 operations a cycle each; 1000 bits at 0.5 GHz, twice. */
    ck_assert_double_eq(recorder_number(device, "flops_limit"), 1024e9);
    ck_assert_double_eq(recorder_number(device, "bytes_limit"), 125e9);
    json_array_foreach(json_object_get(event, "operations"), i, operation)
    {
        ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(operation, "calls"), 0)),
                         7);
    }
    ck_assert_uint_ge(i, 2);
    recorder_free(&rec);
}
END_TEST

START_TEST(short_runs_have_no_steps_to_spare)
{
    struct recorder rec;
    const json_t *event = profile_of(&rec, RUN "max-steps=8 epochs=2 dtype=bf16");
    const json_t *device = json_array_get(json_object_get(event, "devices"), 0);
    ck_assert_double_eq(recorder_number(event, "left_out"), 1);
    ck_assert_double_eq(recorder_number(event, "steps"), 7);
    ck_assert_double_eq(recorder_number(event, "unprofiled_steps"), 0);
    ck_assert_double_eq(recorder_number(device, "flops_limit"), 4096 * 4e9);
    recorder_free(&rec);
}
END_TEST

START_TEST(gpus_tell_what_summing_takes)
{
    struct recorder rec;
    const json_t *event = profile_of(&rec, RUN "max-steps=12 epochs=3 dtype=bf16 devices=cuda:0-1"),
                 *device;
    size_t i;
    json_array_foreach(json_object_get(event, "devices"), i, device)
    {
        ck_assert_double_eq(recorder_number(device, "rows"), 7 * 8);
        ck_assert_double_eq_tol(recorder_number(device, "operations_s"), 7 * 2 * PRODUCT_S,
                                MOST_OTHERS_S);
        ck_assert_double_gt(recorder_number(device, "sync_s"), 0);
        ck_assert_double_gt(recorder_number(device, "optimizer_s"), 0);
    }
    ck_assert_uint_eq(i, 2);
    recorder_free(&rec);
}
END_TEST

/* A CPU in a run with the GPU has no times of the steps that the GPU runs outside the profile. */
START_TEST(other_devices_leave_the_same_steps_out)
{
    struct recorder rec;
    const json_t *event =
                     profile_of(&rec, RUN "max-steps=12 epochs=3 dtype=f32 devices=cpu:0,cuda:0"),
                 *operation;
    size_t i;
    ck_assert_double_eq(recorder_number(event, "steps"), 7);
    json_array_foreach(json_object_get(event, "operations"), i, operation)
    {
        const json_t *calls = json_object_get(operation, "calls");
        ck_assert_int_eq(json_integer_value(json_array_get(calls, 0)) % 7, 0);
        ck_assert_int_eq(json_integer_value(json_array_get(calls, 1)) % 7, 0);
    }
    recorder_free(&rec);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda profile");
    TCase *steps = tcase_create("steps"), *runs = tcase_create("runs");
    tcase_add_checked_fixture(steps, cuda_start, cuda_finish);
    tcase_add_checked_fixture(runs, cuda_start, cuda_finish);
    tcase_set_timeout(steps, 60);
    tcase_set_timeout(runs, 60);
    tcase_add_test(steps, steps_take_what_the_device_took);
    tcase_add_test(steps, a_batchnorm_tells_its_passes_over_memory);
    tcase_add_test(steps, what_is_fused_is_told);
    tcase_add_test(steps, profiled_passes_compute_the_same);
    tcase_add_test(steps, passes_outside_the_profile_are_graphs);
    tcase_add_test(steps, plans_without_a_profile_record_no_steps);
    tcase_add_test(steps, updates_are_waited_for);
    tcase_add_loop_test(steps, failing_events_fail_the_pass, 0, 2);
    tcase_add_test(steps, events_that_cannot_be_made_fail_the_plan);
    tcase_add_test(runs, a_run_tells_its_operations_and_limits);
    tcase_add_test(runs, short_runs_have_no_steps_to_spare);
    tcase_add_test(runs, gpus_tell_what_summing_takes);
    tcase_add_test(runs, other_devices_leave_the_same_steps_out);
    suite_add_tcase(suite, steps);
    suite_add_tcase(suite, runs);
    return run_suites(suite, NULL);
}
