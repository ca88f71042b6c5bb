/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "config.h"
#include "tests/engine/train/run/hosts_fixture.h"
#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/simgpu/simgpu.h"
#include "tests/suites.h"
#include "tests/support.h"
#ifdef HAVE_NCCL
#include "engine/device/cuda/libraries/nccl.h"
#endif

/*
 * Runs over hosts, which are threads here, with simulated GPUs: NCCL joins those of all hosts, or
 * none, and what they come to is what as many GPUs of one host come to. The simulated NCCL adds in
 * the order of ranks, so that is true of every bit.
 */

static void machine(void)
{
    simgpu_reset(&(struct simgpu_options){.devices = 3, .memory = 64 << 20, .seed = 3});
    simgpu_hasten(100);
}

static void check_machine(void)
{
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
    ck_assert_int_eq(simgpu_live_objects(), 0);
}

static struct recorder rec;

/* A run of a few steps; false: it failed. */
static bool run_on(const char *model, const char *devices, const char *more)
{
    char *settings = format("dtype=f32 epochs=2 batch=12 train-rows=42 test-rows=10 momentum=0.9 "
                            "devices=%s %s",
                            devices, more);
    machine();
    recorder_free(&rec);
    parallel_begin(&rec, model, settings);
    free(settings);
    return recorder_run(&rec);
}

static struct outcome run_well(const char *model, const char *devices, const char *more)
{
    ck_assert_msg(run_on(model, devices, more), "%s %s: %s", devices, more, rec.err.text);
    check_machine();
    return parallel_outcome(&rec);
}

static const char *how(void)
{
    return recorder_string(recorder_event(&rec, "run", 0), "sync_algorithm");
}

#ifdef HAVE_NCCL
static const char *const methods[] = {"allreduce", "reduce-broadcast", "central"};
static const char *const pairs[][2] = {{"cuda:0-1", "h1/cuda:0,h2/cuda:1"},
                                       {"cuda:0-2", "h1/cuda:0-1,h2/cuda:2"}};
enum { METHODS = 3, PAIRS = 2 };

static double network(const char *member)
{
    return recorder_number(json_object_get(recorder_event(&rec, "epoch", -1), "network"), member);
}

START_TEST(gpus_of_all_hosts_are_joined)
{
    static const char *const more[] = {"", "split=weighted:", "sync-bn=yes", "clip-norm=0.5"};
    const char *const *devices = pairs[_i / METHODS];
    for (int i = 0; i < 4; i++) {
        const char *weights = i != 1 ? "" : _i / METHODS ? "2,0,1" : "0,1";
        char *settings = format("sync=%s %s%s", methods[_i % METHODS], more[i], weights);
        struct outcome near = run_well("normalised", devices[0], settings);
        struct outcome far = run_well("normalised", devices[1], settings);
        const double bytes = recorder_number(recorder_event(&rec, "run", 0), "sync_bytes_per_step");
        const int gpus = 2 + _i / METHODS;
        ck_assert_msg(strncmp(how(), "NCCL ", 5) == 0, "%s", how());
        check_same(&near, &far, settings);
        ck_assert_int_eq(hosts_seen.sums, 0);
        ck_assert_double_eq_tol(network("bytes"), 4 * bytes * 2 * (gpus - 1) / gpus, 1e-3);
        ck_assert_double_gt(network("seconds"), 0);
        if (i == 1 && gpus == 2)
            ck_assert(isnan(far.noise)); /* of one shard nothing is known */
        else
            ck_assert_double_eq_tol(far.noise / near.noise, 1, 1e-3);
        outcome_free(&near);
        outcome_free(&far);
        free(settings);
    }
}
END_TEST

/* Where NCCL does not serve on one of them, none uses it, and the record says why. */
START_TEST(all_hosts_use_nccl_or_none)
{
    static const struct {
        const char *function;
        int nth;
    } failures[] = {
        {"ncclGetUniqueId", 1}, {"ncclCommInitRankConfig", 1}, {"ncclCommInitRankConfig", 2}};
    struct outcome near = run_well("normalised", "cuda:0-1", "");
    machine();
    recorder_free(&rec);
    parallel_begin(&rec, "normalised",
                   "dtype=f32 epochs=2 batch=12 train-rows=42 test-rows=10 momentum=0.9 "
                   "devices=h1/cuda:0,h2/cuda:1");
    rec.limits.stall_s = 4; /* half of it for those that wait for one that does not come */
    simgpu_fail_call(failures[_i].function, failures[_i].nth, 2);
    ck_assert_msg(recorder_run(&rec), "%s", rec.err.text);
    struct outcome far = parallel_outcome(&rec);
    ck_assert_msg(strncmp(how(), "through host memory (h", 22) == 0 &&
                      strstr(how(), "unhandled system error"),
                  "%s", how());
    ck_assert_int_eq(recorder_count(&rec, "warning"), 1);
    ck_assert_ptr_nonnull(
        strstr(recorder_string(recorder_event(&rec, "warning", 0), "text"), "slower than NCCL: h"));
    ck_assert_int_gt(hosts_seen.sums, 0);
    check_close(&near, &far, NORMALISED_TOLERANCE, "by the host");
    check_machine();
    outcome_free(&near);
    outcome_free(&far);
}
END_TEST

/* A GPU that hangs on the second host ends the run on both, and is named. */
START_TEST(a_gpu_of_another_host_hangs)
{
    const char *more = _i ? "sync-bn=yes" : "";
    struct outcome outcome = run_well("normalised", pairs[0][1], more);
    const long operations = simgpu_operations(1);
    char *settings = format("dtype=f32 epochs=2 batch=12 train-rows=42 test-rows=10 momentum=0.9 "
                            "devices=%s %s",
                            pairs[0][1], more);
    outcome_free(&outcome);
    machine();
    recorder_free(&rec);
    parallel_begin(&rec, "normalised", settings);
    rec.limits.stall_s = 2;
    simgpu_hang(1, (int)(operations * 2 / 3));
    ck_assert(!recorder_run(&rec));
    ck_assert_msg(strstr(rec.err.text, "h2/cuda:1"), "%s", rec.err.text);
    outcome = run_well("normalised", pairs[0][1], more);
    outcome_free(&outcome);
    free(settings);
}
END_TEST

/* A call of NCCL that does not come back, on one of the hosts: the other only waits for it. */
START_TEST(a_call_hangs)
{
    machine();
    recorder_free(&rec);
    parallel_begin(&rec, "plain",
                   "dtype=f32 epochs=2 batch=12 train-rows=42 test-rows=10 host-limit=1 "
                   "devices=h1/cuda:0,h2/cuda:1");
    rec.limits.stall_s = 2;
    rec.limits.grace_s = 1;
    simgpu_hang_call("ncclAllReduce", 5);
    ck_assert(!recorder_run(&rec));
    /* Its own limit and that of the run end at the same time. */
    ck_assert_msg(strstr(rec.err.text, "/cuda:"), "%s", rec.err.text);
}
END_TEST

static double told_at;

static void lose_process(struct recorder *recorder, const char *kind, json_t *event)
{
    (void)recorder;
    if (recorder_step(kind, event) != 3)
        return;
    told_at = clock_seconds();
    simgpu_nccl_error(ncclRemoteError);
}

/* NCCL only knows that a process has gone: the link has its time to say which. */
START_TEST(a_process_is_lost)
{
    machine();
    recorder_free(&rec);
    parallel_begin(&rec, "plain",
                   "dtype=f32 epochs=1000 batch=12 train-rows=42 test-rows=10 host-limit=1 "
                   "devices=h1/cuda:0,h2/cuda:1");
    rec.on_event = lose_process;
    ck_assert(!recorder_run(&rec));
    ck_assert_double_gt(clock_seconds() - told_at, 1);
    ck_assert_msg(strstr(rec.err.text, "remote process exited"), "%s", rec.err.text);
    ck_assert_int_eq(rec.err.kind, ERROR_LOST);
    simgpu_nccl_error(0);
}
END_TEST
#endif

/* One host with a CPU device, and nobody is joined. */
START_TEST(a_cpu_device_among_them)
{
    struct outcome near = run_well("plain", "cuda:0,cpu:0", "");
    struct outcome far = run_well("plain", "h1/cuda:0,h2/cpu:0", "");
    check_same(&near, &far, "a GPU and a CPU");
    ck_assert_msg(strncmp(how(), "through host memory in the network's own order", 46) == 0, "%s",
                  how());
    ck_assert_int_eq(simgpu_calls("ncclGetUniqueId"), 0);
    outcome_free(&near);
    outcome_free(&far);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda_hosts");
    TCase *tcase = add_parallel_case(suite, "runs");
    parallel_train = train_over_hosts;
#ifdef HAVE_NCCL
    tcase_add_loop_test(tcase, gpus_of_all_hosts_are_joined, 0, PAIRS * METHODS);
    tcase_add_loop_test(tcase, all_hosts_use_nccl_or_none, 0, 3);
    tcase_add_loop_test(tcase, a_gpu_of_another_host_hangs, 0, 2);
    tcase_add_test(tcase, a_call_hangs);
    tcase_add_test(tcase, a_process_is_lost);
#endif
    tcase_add_test(tcase, a_cpu_device_among_them);
    return run_suites(suite, NULL);
}
