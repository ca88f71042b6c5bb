/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/recorder.h"
#include "tests/simgpu/simgpu.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * Whole runs that divide the network over simulated GPUs, by the real backend: they come to what
 * one CPU device comes to, and a run that fails leaves the engine fit for the next.
 */

/* Of f32 on GPUs against CPU devices: other algorithms, other orders of sums. */
#define TOLERANCE 2e-5
/* Of bf16, which has 8 bits. */
#define ROUGH_TOLERANCE 2e-2

enum { UNKNOWN_ERROR = 999 }; /* cudaErrorUnknown */

/* Full mini-batches and a short one. */
#define BATCHES "dtype=f32 epochs=2 batch=12 train-rows=30 test-rows=10 "

static void machine(bool no_peer_access)
{
    simgpu_reset(&(struct simgpu_options){
        .devices = 4, .memory = 64 << 20, .seed = 3, .no_peer_access = no_peer_access});
}

static void check_machine(void)
{
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
    ck_assert_int_eq(simgpu_live_objects(), 0);
}

static const char *const kinds[] = {
    "momentum=0.9 weight-decay=0.01",
    "optimizer=adam lr=0.001 clip-norm=0.05 ema=0.9",
    "augment=flip-crop label-smoothing=0.1",
};

/* With sanitizers the first alone: of the others the arithmetic differs. */
#ifdef __SANITIZE_ADDRESS__
enum { KINDS = 1 };
#else
enum { KINDS = sizeof kinds / sizeof *kinds };
#endif

static const char *const divided[] = {
    "pipeline devices=cuda:0 micro-batches=3",
    "pipeline devices=cuda:0-1 micro-batches=1",
    "pipeline devices=cuda:0-1 micro-batches=5",
    "pipeline devices=cuda:0-2 micro-batches=4 stages=1,4",
    "pipeline devices=cuda:0,cuda:0",
    "pipeline devices=cuda:0-3 replicas=2 micro-batches=2",
    "tensor devices=cuda:0",
    "tensor devices=cuda:0-1",
    "tensor devices=cuda:0-2",
    "tensor devices=cuda:0,cuda:1,cuda:0",
    "mixed devices=cuda:0-1",
    "mixed devices=cuda:0-2 split=weighted:3,1,2",
    "mixed devices=cuda:0,cuda:0 split=chunk",
};

enum { DIVIDED = sizeof divided / sizeof *divided };

/* The same losses and weights, whether GPUs reach each other's memory or not. */
START_TEST(they_equal_one_device)
{
    char *one = format(BATCHES "%s devices=cpu:0", kinds[_i]);
    struct outcome expected = train("plain", one);
    for (int i = 0; i < DIVIDED; i++) {
        char *settings = format(BATCHES "%s strategy=%s", kinds[_i], divided[i]);
        machine(i % 2 == 0);
        struct outcome got = train("plain", settings);
        check_close(&expected, &got, TOLERANCE, settings);
        check_machine();
        outcome_free(&got);
        free(settings);
    }
    outcome_free(&expected);
    free(one);
}
END_TEST

static void check_equal(const char *model, const char *settings, const char *others,
                        double tolerance)
{
    struct outcome expected = train(model, settings), got = train(model, others);
    check_close(&expected, &got, tolerance, others);
    check_machine();
    outcome_free(&expected);
    outcome_free(&got);
}

/* Running statistics too are those of stages that are CPU devices. */
START_TEST(micro_batches_normalise_as_on_cpus)
{
    static const char *const more[] = {"", "replicas=2"};
    char *cpus = format(BATCHES "strategy=pipeline micro-batches=3 devices=cpu:0-3 %s", more[_i]);
    char *gpus = format(BATCHES "strategy=pipeline micro-batches=3 devices=cuda:0-3 %s", more[_i]);
    machine(false);
    check_equal("normalised", cpus, gpus, TOLERANCE);
    free(cpus);
    free(gpus);
}
END_TEST

/* With the statistics of all rows: as one device. */
START_TEST(slices_normalise_as_one_device)
{
    static const char *const slices[] = {"strategy=tensor", "strategy=mixed sync-bn=yes"};
    char *settings = format(BATCHES "%s devices=cuda:0-2", slices[_i]);
    machine(false);
    check_equal("normalised", BATCHES "devices=cpu:0", settings, TOLERANCE);
    free(settings);
}
END_TEST

START_TEST(same_seed_same_bits)
{
    static const char *const all[] = {
        BATCHES "momentum=0.9 clip-norm=0.1 strategy=pipeline devices=cuda:0-1 stages=unit",
        BATCHES "momentum=0.9 clip-norm=0.1 strategy=tensor devices=cuda:0-1",
        BATCHES "momentum=0.9 clip-norm=0.1 strategy=mixed devices=cuda:0-2"};
    const char *settings = all[_i];
    machine(false);
    struct outcome one = train("normalised", settings), two = train("normalised", settings);
    check_same(&one, &two, "again");
    check_machine();
    outcome_free(&one);
    outcome_free(&two);
}
END_TEST

static struct recorder rec;

static bool run_with(const char *settings, double stall_s)
{
    char *all = format("model=%s/plain.conf data=%s/data cpu-threads=1 " BATCHES "%s", folder,
                       folder, settings);
    recorder_init(&rec, all);
    if (stall_s > 0)
        rec.limits.stall_s = stall_s;
    bool ok = recorder_run(&rec);
    free(all);
    return ok;
}

#define REPLICAS "strategy=pipeline replicas=2 micro-batches=2 devices="
#define MIXED    "strategy=mixed devices="
#define TENSOR   "strategy=tensor devices="
#define COPIES   "none: each device has parameters of its own; GPUs copy each other's layers ("
#define PEERS    "GPUs read each other's memory"
#define HOST     "through host memory"

enum { NCCL_ERROR = 3 }; /* ncclInternalError */

/* What carries the gradients of stages, or of what every device has whole, and the layers of
 * slices; a call that fails once. */
static const struct {
    const char *settings, *refused;
    bool no_peer_access;
    const char *how;
} carriers[] = {
#ifdef HAVE_NCCL
    {REPLICAS "cuda:0-3", NULL, false, "NCCL "},
    {REPLICAS "cuda:0-3", "ncclCommInitRankConfig", false, PEERS},
    {REPLICAS "cuda:0-3", "ncclCommInitRankConfig", true, HOST},
    {MIXED "cuda:0-2", NULL, false, "NCCL "},
    {MIXED "cuda:0-1", "ncclCommInitRankConfig", true, HOST},
    {TENSOR "cuda:0-2", NULL, true, "NCCL "},
    {TENSOR "cuda:0-2", "ncclCommInitRankConfig", false, COPIES},
#else
    {REPLICAS "cuda:0-3", NULL, false, PEERS},
    {REPLICAS "cuda:0-3", NULL, true, HOST},
    {MIXED "cuda:0-1", NULL, true, HOST},
#endif
    {REPLICAS "cuda:0,cuda:0,cuda:1,cuda:1", NULL, false, PEERS},
    {REPLICAS "cuda:0,cuda:0,cuda:1,cuda:1", NULL, true, HOST " (cuda:0 cannot read the memory of"},
    {MIXED "cuda:0,cuda:0", NULL, false, PEERS},
    {TENSOR "cuda:0,cuda:0", NULL, false, COPIES},
};

enum { CARRIERS = sizeof carriers / sizeof *carriers };

static void carrier_machine(int carrier)
{
    machine(carriers[carrier].no_peer_access);
    if (carriers[carrier].refused)
        simgpu_fail_call(carriers[carrier].refused, 1, NCCL_ERROR);
}

START_TEST(gradients_are_carried_by_what_there_is)
{
    const char *how = carriers[_i].how;
    carrier_machine(_i);
    ck_assert_msg(run_with(carriers[_i].settings, 0), "%s", rec.err.text);
    const char *said = recorder_string(recorder_event(&rec, "run", 0), "sync_algorithm");
    ck_assert_msg(strncmp(said, how, strlen(how)) == 0, "%s", said);
    recorder_free(&rec);
    check_machine();
    char *settings = format(BATCHES "%s", carriers[_i].settings);
    carrier_machine(_i);
    check_equal("plain", BATCHES "devices=cpu:0", settings, TOLERANCE);
    free(settings);
}
END_TEST

#ifdef HAVE_NCCL
static const struct {
    const char *settings, *call;
} sums[] = {
    {REPLICAS "cuda:0-3", "ncclAllReduce"},   {REPLICAS "cuda:0-3", "ncclAllReduce"},
    {MIXED "cuda:0-2", "ncclAllReduce"},      {TENSOR "cuda:0-1", "ncclAllGather"},
    {TENSOR "cuda:0-2", "ncclReduceScatter"}, {MIXED "cuda:0-1", "ncclAllGather"},
};

enum { SUMS = sizeof sums / sizeof *sums };

START_TEST(sums_that_fail)
{
    const char *settings = sums[_i].settings;
    machine(false);
    simgpu_fail_call(sums[_i].call, 3 + _i, NCCL_ERROR);
    ck_assert(!run_with(settings, 0));
    ck_assert_msg(strstr(rec.err.text, "NCCL") && strstr(rec.err.text, "cuda:"), "%s",
                  rec.err.text);
    check_machine();
    recorder_free(&rec);
    ck_assert_msg(run_with(settings, 0), "%s", rec.err.text);
    recorder_free(&rec);
    check_machine();
}
END_TEST
#endif

/* In the middle of the last sums, of mixed or of several pipelines, to which all have come, none
 * can be told from the others: then it hangs a little earlier, too. */
static void hang(const char *settings, int gpu, long operations)
{
    const bool sums_up = strstr(settings, "mixed") || strstr(settings, REPLICAS);
    bool again = true;
    for (int i = 0; again && i < 2; i++) {
        if (i > 0)
            recorder_free(&rec);
        machine(false);
        simgpu_hang(gpu, (int)operations - 6 * i);
        ck_assert(!run_with(settings, 1));
        again = sums_up && strstr(rec.err.text, "for the other GPUs");
    }
}

/* A GPU that hangs ends the run in time and is named, and the next run works. */
START_TEST(gpu_that_hangs_is_named)
{
    static const char *const all[] = {
        "strategy=pipeline devices=cuda:0-2 stages=1,4 micro-batches=3",
        "strategy=tensor devices=cuda:0-2", "strategy=mixed devices=cuda:0-2", REPLICAS "cuda:0-3"};
    const char *settings = all[_i];
    const int gpu = _i < 3 ? 2 - _i : 3;
    char *name = format("cuda:%d", gpu);
    /* The first run may still choose convolutions, which the second finds chosen. */
    for (int i = 0; i < 2; i++) {
        machine(false);
        ck_assert_msg(run_with(settings, 0), "%s", rec.err.text);
        if (i == 0)
            recorder_free(&rec);
    }
    const long operations = simgpu_operations(gpu);
    recorder_free(&rec);
    hang(settings, gpu, operations * 2 / 3);
    ck_assert_msg(strstr(rec.err.text, name), "%s", rec.err.text);
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
    recorder_free(&rec);
    machine(false);
    ck_assert_msg(run_with(settings, 0), "%s", rec.err.text);
    recorder_free(&rec);
    check_machine();
    free(name);
}
END_TEST

/* A call of one GPU that fails, while the others compute for it and read what it has. */
START_TEST(gpu_that_fails_is_named)
{
    static const char *const all[] = {
        "strategy=pipeline devices=cuda:0-2 stages=1,4 micro-batches=3",
        "strategy=tensor devices=cuda:0-2", "strategy=mixed devices=cuda:0-2"};
    machine(false);
    ck_assert_msg(run_with(all[_i % 3], 0), "%s", rec.err.text);
    const long copies = simgpu_calls("cudaMemcpyAsync");
    recorder_free(&rec);
    machine(false);
    simgpu_fail_call("cudaMemcpyAsync", (int)(copies * (1 + _i / 3) / 4), UNKNOWN_ERROR);
    ck_assert(!run_with(all[_i % 3], 0));
    ck_assert_msg(strstr(rec.err.text, "cuda:"), "%s", rec.err.text);
    check_machine();
    recorder_free(&rec);
    ck_assert_msg(run_with(all[_i % 3], 0), "%s", rec.err.text);
    recorder_free(&rec);
    check_machine();
}
END_TEST

/* The type that GPUs have by default: as near to one GPU as another order of sums keeps them. */
START_TEST(rounded_numbers_come_near)
{
    static const char *const all[] = {"pipeline micro-batches=2", "tensor", "mixed"};
    char *settings =
        format(BATCHES "dtype=bf16 deterministic=yes devices=cuda:0-1 strategy=%s", all[_i]);
    machine(false);
    check_equal("plain", BATCHES "dtype=bf16 deterministic=yes devices=cuda:0", settings,
                ROUGH_TOLERANCE);
    free(settings);
}
END_TEST

START_TEST(kinds_of_devices_do_not_mix)
{
    machine(false);
    ck_assert(!run_with(
        _i ? "strategy=tensor devices=cpu:0,cuda:0" : "strategy=pipeline devices=cpu:0,cuda:0", 0));
    ck_assert_msg(strstr(rec.err.text, "list devices of one kind"), "%s", rec.err.text);
    recorder_free(&rec);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda strategies");
    TCase *tc = add_parallel_case(suite, "runs");
    tcase_add_loop_test(tc, they_equal_one_device, 0, KINDS);
    tcase_add_loop_test(tc, micro_batches_normalise_as_on_cpus, 0, 2);
    tcase_add_loop_test(tc, slices_normalise_as_one_device, 0, 2);
    tcase_add_loop_test(tc, same_seed_same_bits, 0, 3);
    tcase_add_loop_test(tc, gradients_are_carried_by_what_there_is, 0, CARRIERS);
#ifdef HAVE_NCCL
    tcase_add_loop_test(tc, sums_that_fail, 0, SUMS);
#endif
    tcase_add_loop_test(tc, gpu_that_hangs_is_named, 0, 4);
    tcase_add_loop_test(tc, gpu_that_fails_is_named, 0, 6);
    tcase_add_loop_test(tc, rounded_numbers_come_near, 0, 3);
    tcase_add_loop_test(tc, kinds_of_devices_do_not_mix, 0, 2);
    return run_suites(suite, NULL);
}
