/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "engine/backends/registry.h"
#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/recorder.h"
#include "tests/simgpu/simgpu.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * Whole runs on simulated GPUs, by the real backend: several replicas come to what one CPU device
 * comes to, whatever carries the gradients, and a run that fails leaves the engine fit for the
 * next.
 */

/* Of f32 on GPUs against CPU devices: other algorithms, other orders of sums. */
#define TOLERANCE 2e-5

static const char *const methods[] = {"allreduce", "reduce-broadcast", "central"};

static const struct {
    const char *devices, *how;
} lots[] = {
    {"cuda:0", "one device"},
#ifdef HAVE_NCCL
    {"cuda:0-1", "NCCL "},
    {"cuda:0-2", "NCCL "},
#else
    {"cuda:0-1", "GPUs read each other's memory"},
    {"cuda:0-2", "GPUs read each other's memory"},
#endif
    {"cuda:0,cuda:0", "GPUs read each other's memory"},
    {"cuda:0,cuda:1,cuda:0", "GPUs read each other's memory"},
    {"cpu:0,cuda:0", "through host memory in the network's own order"},
    {"cuda:1,cpu:0,cuda:0", "through host memory in the network's own order"},
};

enum { LOTS = sizeof lots / sizeof *lots };

static void machine(bool no_peer_access)
{
    simgpu_reset(&(struct simgpu_options){
        .devices = 3, .memory = 64 << 20, .seed = 3, .no_peer_access = no_peer_access});
}

static void check_machine(void)
{
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
    ck_assert_int_eq(simgpu_live_objects(), 0);
}

START_TEST(replicas_equal_one_device)
{
    static const char common[] = "dtype=f32 max-steps=4 batch=12 train-rows=30 test-rows=10 "
                                 "momentum=0.9 weight-decay=0.01";
    bool normalised = _i / LOTS % 2;
    const char *model = normalised ? "normalised" : "plain";
    const char *more = normalised ? "sync-bn=yes" : "";
    int lot = _i % LOTS;
    machine(false);
    char *one = format("%s %s devices=cpu:0", common, more);
    struct outcome expected = train(model, one);
    for (int method = 0; method < 3; method++) {
        char *settings =
            format("%s %s devices=%s sync=%s", common, more, lots[lot].devices, methods[method]);
        struct outcome got = train(model, settings);
        check_close(&expected, &got, TOLERANCE, settings);
        outcome_free(&got);
        free(settings);
    }
    check_machine();
    outcome_free(&expected);
    free(one);
}
END_TEST

/* By two steps of 64 rows. */
static double noise_of(const char *devices, const char *more)
{
    char *settings =
        format("dtype=f32 max-steps=2 order=sequential batch=64 test-rows=10 devices=%s %s",
               devices, more);
    struct outcome outcome = train("plain", settings);
    outcome_free(&outcome);
    free(settings);
    return outcome.noise;
}

/* The noise of the gradients is measured on the way, by kernels between the sums or by the host;
 * one GPU measures it by halves. */
START_TEST(noise_is_that_of_cpu_devices)
{
    const char *devices = lots[_i].devices;
    const int count = _i == 0 ? 1 : (_i - 1) % 2 + 2;
    machine(false);
    const double expected = count == 1 ? noise_of("cpu:0", "noise-every=1")
                                       : noise_of(count == 2 ? "cpu:0-1" : "cpu:0-2", "");
    ck_assert_double_gt(expected, 0);
    for (int method = 0; method < 3; method++) {
        char *more = format("sync=%s noise-every=%d", methods[method], count == 1);
        ck_assert_double_eq_tol(noise_of(devices, more) / expected, 1, 1e-3);
        free(more);
    }
    check_machine();
}
END_TEST

#ifdef HAVE_NCCL

struct counted {
    long sums, segments; /* asked of NCCL; graphs started */
};

/* What a run's steps ask for; the run's outcome. */
static struct outcome count_sums(const char *devices, const char *sync_bn, struct counted *counted)
{
    char *settings = format("dtype=f32 max-steps=4 batch=12 train-rows=30 test-rows=10 "
                            "momentum=0.9 devices=%s sync-bn=%s",
                            devices, sync_bn);
    machine(false);
    struct outcome outcome = train("normalised", settings);
    *counted = (struct counted){.sums = simgpu_calls("ncclAllReduce"),
                                .segments = simgpu_calls("cudaGraphLaunch")};
    check_machine();
    free(settings);
    return outcome;
}

/*
 * Synchronised statistics are summed on the GPUs, in each of 4 steps by 3 devices for 2 BatchNorms
 * forward and backward, also where one device has no rows; and the same way each time. There are
 * graphs between the sums, in the second and third full batch.
 */
START_TEST(batchnorm_sums_stay_on_the_gpus)
{
    const char *devices = _i ? "cuda:0-2 split=weighted:2,0,1" : "cuda:0-2";
    const int sums = 3 * 2 * 2;
    struct counted without, with, again;
    /* Convolutions are timed as graphs, too, once: before anything is counted. */
    struct outcome first = count_sums(devices, "no", &without);
    outcome_free(&first);
    struct outcome apart = count_sums(devices, "no", &without);
    struct outcome one = count_sums(devices, "yes", &with);
    struct outcome other = count_sums(devices, "yes", &again);
    struct outcome expected = count_sums("cpu:0", "no", &again);
    ck_assert_int_eq(with.sums - without.sums, 4 * sums);
    if (_i)
        ck_assert_int_ge(with.segments - without.segments, 2 * sums);
    else
        ck_assert_int_eq(with.segments - without.segments, 2 * sums);
    check_close(&expected, &one, TOLERANCE, devices);
    ck_assert_mem_eq(one.weights.values, other.weights.values,
                     one.net->value_count * sizeof *one.weights.values);
    outcome_free(&apart);
    outcome_free(&one);
    outcome_free(&other);
    outcome_free(&expected);
}
END_TEST
#endif

static struct recorder rec;

static bool run_on(const char *devices, const char *more, double stall_s)
{
    char *settings = format("model=%s/plain.conf data=%s/data cpu-threads=1 batch=12 train-rows=24 "
                            "test-rows=10 epochs=1 devices=%s %s",
                            folder, folder, devices, more);
    recorder_init(&rec, settings);
    if (stall_s > 0)
        rec.limits.stall_s = stall_s;
    bool ok = recorder_run(&rec);
    free(settings);
    return ok;
}

static void check_how(const char *how)
{
    const char *said = recorder_string(recorder_event(&rec, "run", 0), "sync_algorithm");
    ck_assert_msg(strncmp(said, how, strlen(how)) == 0, "%s", said);
}

START_TEST(the_record_says_what_carries_the_gradients)
{
    machine(false);
    ck_assert_msg(run_on(lots[_i].devices, "", 0), "%s", rec.err.text);
    check_how(lots[_i].how);
    const json_t *types = json_object_get(recorder_event(&rec, "run", 0), "types");
    size_t i;
    json_t *type;
    json_array_foreach(types, i, type)
        ck_assert_ptr_nonnull(strstr("bf16 f32", json_string_value(type)));
    recorder_free(&rec);
    check_machine();
}
END_TEST

/* Beside GPUs in bf16 CPU devices that have it compute in it, too, the others in f32. */
START_TEST(cpu_devices_take_the_type_of_gpus)
{
    const char *why = "";
    static const char common[] = "dtype=bf16 max-steps=4 batch=12 train-rows=30 test-rows=10 "
                                 "sync-bn=yes devices=";
    char *one = format("%scuda:0", common), *both = format("%scuda:0,cpu:0", common);
    machine(false);
    ck_assert_int_eq(_i ? setenv("DPARTUI_EMULATE_BF16", "1", 1) : unsetenv("DPARTUI_EMULATE_BF16"),
                     0);
    struct outcome alone = train("normalised", one), mixed = train("normalised", both);
    ck_assert_double_eq_tol(mixed.train_loss / alone.train_loss, 1, 0.02);
    outcome_free(&alone);
    outcome_free(&mixed);
    const struct backend *cpu = backend_find(DEVICE_CPU, &why);
    const bool follows = cpu->computes_in(TYPE_BF16, NULL);
    ck_assert(follows || !_i);
    char *normalised = format("dtype=bf16 model=%s/normalised.conf", folder);
    ck_assert_msg(run_on("cuda:0,cpu:0", normalised, 0), "%s", rec.err.text);
    free(normalised);
    const json_t *types = json_object_get(recorder_event(&rec, "run", 0), "types");
    ck_assert_str_eq(json_string_value(json_array_get(types, 0)), "bf16");
    ck_assert_str_eq(json_string_value(json_array_get(types, 1)), follows ? "bf16" : "f32");
    recorder_free(&rec);
    check_machine();
    free(one);
    free(both);
}
END_TEST

/* Without NCCL and without peer access there is still the host. */
START_TEST(gpus_that_cannot_read_each_other)
{
    machine(true);
    simgpu_fail_call("ncclGetUniqueId", 1, 3);
    ck_assert_msg(run_on("cuda:0-1", "", 0), "%s", rec.err.text);
    check_how("through host memory (cuda:0 cannot read the memory of cuda:1)");
    ck_assert_int_ge(recorder_count(&rec, "warning"), 1);
    recorder_free(&rec);
    check_machine();
}
END_TEST

START_TEST(a_gpu_named_twice_is_worth_a_warning)
{
    machine(false);
    ck_assert_msg(run_on("cuda:1,cuda:1", "", 0), "%s", rec.err.text);
    ck_assert_msg(recorder_count(&rec, "warning") == 1, "%s",
                  recorder_string(recorder_event(&rec, "warning", 1), "text"));
    ck_assert_ptr_nonnull(
        strstr(recorder_string(recorder_event(&rec, "warning", 0), "text"), "cuda:1 is named 2"));
    recorder_free(&rec);
}
END_TEST

/* A GPU that hangs ends the run in time, and not the engine; also one that others wait for in the
 * middle of a pass. */
static void check_trouble(const char *devices, const char *more)
{
    /* The first run may still choose convolutions, which the second finds chosen. */
    for (int i = 0; i < 2; i++) {
        if (i > 0)
            recorder_free(&rec);
        machine(false);
        ck_assert_msg(run_on(devices, more, 0), "%s", rec.err.text);
    }
    long operations = simgpu_operations(0);
    recorder_free(&rec);
    machine(false);
    simgpu_hang(0, (int)(operations * 2 / 3));
    ck_assert(!run_on(devices, more, 1));
    ck_assert_msg(strstr(rec.err.text, "cuda:") || strstr(rec.err.text, "cpu:"), "%s",
                  rec.err.text);
    recorder_free(&rec);
    machine(false);
    ck_assert_msg(run_on(devices, more, 0), "%s", rec.err.text);
    recorder_free(&rec);
    check_machine();
}

START_TEST(gpu_in_trouble)
{
    char *synchronised = format("sync-bn=yes model=%s/normalised.conf", folder);
    int lot = 1 + _i % (LOTS - 1);
    check_trouble(lots[lot].devices, _i / (LOTS - 1) ? synchronised : "");
    free(synchronised);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda_sync");
    TCase *tcase = add_parallel_case(suite, "runs");
    tcase_add_loop_test(tcase, noise_is_that_of_cpu_devices, 0, LOTS);
    tcase_add_loop_test(tcase, replicas_equal_one_device, 0, 2 * LOTS);
#ifdef HAVE_NCCL
    tcase_add_loop_test(tcase, batchnorm_sums_stay_on_the_gpus, 0, 2);
#endif
    tcase_add_loop_test(tcase, cpu_devices_take_the_type_of_gpus, 0, 2);
    tcase_add_loop_test(tcase, the_record_says_what_carries_the_gradients, 0, LOTS);
    tcase_add_test(tcase, gpus_that_cannot_read_each_other);
    tcase_add_test(tcase, a_gpu_named_twice_is_worth_a_warning);
    tcase = add_parallel_case(suite, "trouble");
    tcase_add_loop_test(tcase, gpu_in_trouble, 0, 2 * (LOTS - 1));
    return run_suites(suite, NULL);
}
