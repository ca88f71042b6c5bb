/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "config.h"
#ifdef HAVE_NCCL
#include "engine/device/cuda/collective/nccl.h"
#include "engine/device/cuda/libraries/nccl.h"
#endif
#include "engine/device/cuda/collective/peer.h"
#include "engine/device/cuda/runtime/wait.h"
#include "tests/engine/device/cuda/collective/trial.h"
#include "tests/simgpu/simgpu.h"
#include "tests/suites.h"

/*
 * The collective between GPUs on simulated ones, whose streams do nothing before they have to: sums
 * and parameters arrive with every method, a GPU that hangs or breaks is not waited for for ever,
 * and everything is given back.
 */

static struct collective_trial trial;

static bool try_collective(const struct collective *collective, enum sync_method method, int count,
                           const int *ordinals, double limit_s, int absent, struct error *err)
{
    trial = (struct collective_trial){.collective = collective,
                                      .method = method,
                                      .count = count,
                                      .ordinals = ordinals,
                                      .limit_s = limit_s,
                                      .absent = absent};
    return collective_trial_run(&trial, err);
}

static void check_nothing_is_left(void)
{
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
    ck_assert_int_eq(simgpu_live_objects(), 0);
}

static float sum_in_order(int count, int step, size_t at)
{
    float sum = trial_gradient(0, step, at);
    for (int i = 1; i < count; i++)
        sum += trial_gradient(i, step, at);
    return sum;
}

static void check_results(int count, enum sync_method method, bool in_order)
{
    for (int i = 0; i < count; i++) {
        const struct trial_result *rank = &trial.results[i];
        ck_assert_msg(rank->ok, "%s", rank->err.text);
        for (size_t at = 0; at < TRIAL_COUNT; at++) {
            ck_assert(rank->params[at] == (float)at);
            for (int step = 0; step < TRIAL_STEPS && (method != SYNC_CENTRAL || i == 0); step++) {
                float expected = sum_in_order(count, step, at), got = rank->grads[step][at];
                if (in_order)
                    ck_assert_msg(got == expected, "%g instead of %g", got, expected);
                else
                    ck_assert_double_eq_tol(got, expected, 1e-4);
            }
        }
    }
}

static const int lots[][TRIAL_RANKS] = {{0, 1, 2, 3}, {0, 0, 0, 0}, {0, 1, 0, 1}};
enum { LOTS = sizeof lots / sizeof *lots };

/* Sums by own kernels are those of the host, to the bit. */
START_TEST(gpus_that_read_each_other)
{
    struct error err = ERROR_INIT;
    enum sync_method method = (enum sync_method)(_i % 3);
    enum simgpu_order order = _i / 3 ? SIMGPU_SHUFFLE : SIMGPU_LAZY;
    for (int lot = 0; lot < LOTS; lot++)
        for (int count = 1; count <= 3; count++) {
            simgpu_reset(&(struct simgpu_options){
                .devices = 4, .memory = 1 << 20, .order = order, .seed = 5});
            ck_assert_msg(try_collective(&peer_collective, method, count, lots[lot], 60, -1, &err),
                          "%s", err.text);
            check_results(count, method, true);
            check_nothing_is_left();
        }
}
END_TEST

START_TEST(gpus_that_cannot_read_each_other)
{
    struct error err = ERROR_INIT;
    simgpu_reset(&(struct simgpu_options){.devices = 4, .memory = 1 << 20, .no_peer_access = true});
    ck_assert(!try_collective(&peer_collective, SYNC_ALLREDUCE, 3, lots[0], 60, -1, &err));
    ck_assert_str_eq(err.text, "cuda:0 cannot read the memory of cuda:1");
    /* One GPU can read its own. */
    ck_assert(try_collective(&peer_collective, SYNC_ALLREDUCE, 3, lots[1], 60, -1, &err));
    check_results(3, SYNC_ALLREDUCE, true);
    check_nothing_is_left();
}
END_TEST

/* A rank that does not come is not waited for when the run is called off. */
START_TEST(run_called_off_while_others_wait)
{
    struct error err = ERROR_INIT;
    simgpu_reset(&(struct simgpu_options){.devices = 4, .memory = 1 << 20});
    simgpu_hang(1, 12);
    ck_assert(try_collective(&peer_collective, (enum sync_method)_i, 3, lots[0], 0.5, -1, &err));
    bool failed = false, named = false;
    for (int i = 0; i < 3; i++) {
        failed = failed || !trial.results[i].ok;
        named = named || strstr(trial.results[i].err.text, "did not finish");
    }
    ck_assert(failed && named);
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
    /* The next run finds the machine as it was. */
    simgpu_reset(&(struct simgpu_options){.devices = 4, .memory = 1 << 20});
    ck_assert(try_collective(&peer_collective, (enum sync_method)_i, 3, lots[0], 60, -1, &err));
    check_results(3, (enum sync_method)_i, true);
}
END_TEST

START_TEST(kernel_that_cannot_be_started)
{
    struct error err = ERROR_INIT;
    simgpu_reset(&(struct simgpu_options){.devices = 4, .memory = 1 << 20});
    simgpu_fail_call("cudaEventRecord", 8, cudaErrorLaunchFailure);
    ck_assert(try_collective(&peer_collective, SYNC_ALLREDUCE, 3, lots[0], 60, -1, &err));
    int failed = 0;
    for (int i = 0; i < 3; i++)
        failed += !trial.results[i].ok;
    ck_assert_int_eq(failed, 3);
    check_nothing_is_left();
}
END_TEST

#ifdef HAVE_NCCL

START_TEST(gpus_linked_by_nccl)
{
    struct error err = ERROR_INIT;
    enum sync_method method = (enum sync_method)(_i % 3);
    for (int count = 1; count <= 3; count++) {
        simgpu_reset(&(struct simgpu_options){.devices = 4,
                                              .memory = 1 << 20,
                                              .order = _i / 3 ? SIMGPU_SHUFFLE : SIMGPU_LAZY,
                                              .seed = 7});
        ck_assert_msg(try_collective(&nccl_collective, method, count, lots[0], 60, -1, &err), "%s",
                      err.text);
        check_results(count, method, false);
        check_nothing_is_left();
    }
}
END_TEST

START_TEST(nccl_wants_different_gpus)
{
    struct error err = ERROR_INIT;
    simgpu_reset(&(struct simgpu_options){.devices = 4, .memory = 1 << 20});
    ck_assert(!try_collective(&nccl_collective, SYNC_ALLREDUCE, 3, lots[2], 60, -1, &err));
    ck_assert_msg(strstr(err.text, "named twice"), "%s", err.text);
    check_nothing_is_left();
}
END_TEST

/* All fail, somebody says why, and the next run finds all in order. */
static void check_broken(const char *reason, const char *device)
{
    struct error err = ERROR_INIT;
    bool said = false;
    for (int i = 0; i < 3; i++) {
        const struct trial_result *rank = &trial.results[i];
        ck_assert(!rank->ok);
        said = said || (strstr(rank->err.text, reason) && strstr(rank->err.text, device));
    }
    ck_assert_msg(said, "%s; %s; %s", trial.results[0].err.text, trial.results[1].err.text,
                  trial.results[2].err.text);
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
    simgpu_reset(&(struct simgpu_options){.devices = 4, .memory = 1 << 20});
    ck_assert(try_collective(&nccl_collective, SYNC_ALLREDUCE, 3, lots[0], 60, -1, &err));
    check_results(3, SYNC_ALLREDUCE, false);
    check_nothing_is_left();
}

/* A rank that does not ask for its part: the others abort and name it. */
START_TEST(rank_that_does_not_come)
{
    struct error err = ERROR_INIT;
    simgpu_reset(&(struct simgpu_options){.devices = 4, .memory = 1 << 20});
    ck_assert(try_collective(&nccl_collective, (enum sync_method)_i, 3, lots[0], 0.5, 1, &err));
    check_broken("waited", "for cuda:1 (NCCL");
}
END_TEST

/* A GPU that stops working in the middle of a pass is named; of one that stops in a reduction,
 * which all have come to, is said that it waits. */
START_TEST(gpu_that_hangs)
{
    struct error err = ERROR_INIT;
    bool in_pass = _i < 3;
    simgpu_reset(&(struct simgpu_options){.devices = 4, .memory = 1 << 20});
    simgpu_hang(1, in_pass ? 3 : 12);
    ck_assert(
        try_collective(&nccl_collective, (enum sync_method)(_i % 3), 3, lots[0], 0.5, -1, &err));
    check_broken(in_pass ? "cuda:1" : "cuda:", "reduction of gradients");
}
END_TEST

/* Nobody else is named, also when the thread of a healthy one does not run. */
START_TEST(only_the_gpu_that_hangs_is_named)
{
    struct error err = ERROR_INIT;
    int hangs = _i % 3, named = 0;
    char waited[40], itself[60];
    snprintf(waited, sizeof waited, " s for cuda:%d (NCCL, ", hangs);
    snprintf(itself, sizeof itself, "cuda:%d did not come to the reduction", hangs);
    /* Eager: a GPU does its work whether or not its host looks. */
    simgpu_reset(&(struct simgpu_options){.devices = 4, .memory = 1 << 20, .order = SIMGPU_EAGER});
    simgpu_hang(hangs, 3);
    trial = (struct collective_trial){.collective = &nccl_collective,
                                      .method = (enum sync_method)(_i / 3),
                                      .count = 3,
                                      .ordinals = lots[0],
                                      .limit_s = 2,
                                      .absent = -1,
                                      .stopped = 1 + (hangs + 1) % 3};
    ck_assert(collective_trial_run(&trial, &err));
    for (int i = 0; i < 3; i++) {
        const char *text = trial.results[i].err.text;
        ck_assert(!trial.results[i].ok);
        named += strstr(text, waited) || strstr(text, itself);
        if (strstr(text, "waited"))
            ck_assert_msg(strstr(text, waited) != NULL, "%s", text);
        if (strstr(text, "did not come"))
            ck_assert_msg(strstr(text, itself) != NULL, "%s", text);
    }
    ck_assert_msg(named > 0, "'%s' '%s' '%s'", trial.results[0].err.text, trial.results[1].err.text,
                  trial.results[2].err.text);
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
}
END_TEST

START_TEST(call_that_nccl_refuses)
{
    static const struct {
        const char *function;
        int nth;
    } calls[] = {{"ncclCommInitRankConfig", 2}, {"ncclAllReduce", 1}, {"ncclAllReduce", 5}};
    struct error err = ERROR_INIT;
    simgpu_reset(&(struct simgpu_options){.devices = 4, .memory = 1 << 20});
    simgpu_fail_call(calls[_i].function, calls[_i].nth, ncclInternalError);
    ck_assert(try_collective(&nccl_collective, SYNC_ALLREDUCE, 3, lots[0], 20, -1, &err));
    check_broken("NCCL", "cuda:");
}
END_TEST

/* An error that NCCL finds by itself, while nobody calls it: all wait for a rank that does not ask
 * for its part, long enough for the error to be seen. */
START_TEST(asynchronous_error)
{
    struct error err = ERROR_INIT;
    simgpu_reset(&(struct simgpu_options){.devices = 4, .memory = 1 << 20});
    simgpu_nccl_error(ncclRemoteError);
    ck_assert(try_collective(&nccl_collective, SYNC_ALLREDUCE, 3, lots[0], 20, 1, &err));
    simgpu_nccl_error(ncclSuccess);
    check_broken("remote process exited", "cuda:");
}
END_TEST

static bool was_aborted(void *context, struct error *err)
{
    return error_set(err, ERROR_FAILED, "%s", (const char *)context);
}

/* An aborted communicator's kernels end, and their sums are invalid. */
START_TEST(end_of_what_was_aborted)
{
    struct error err = ERROR_INIT;
    static char reason[] = "a rank was lost";
    struct device device = {.watch = {.check = was_aborted, .context = reason}};
    simgpu_reset(NULL);
    ck_assert_int_eq(cudaStreamCreateWithFlags(&device.stream, cudaStreamNonBlocking), cudaSuccess);
    ck_assert(!cuda_wait(&device, device.stream, "sums", &err));
    ck_assert_str_eq(err.text, reason);
    ck_assert_int_eq(cudaStreamDestroy(device.stream), cudaSuccess);
}
END_TEST

/*
 * Nothing waits on the host: each rank queues all of its steps before the next one queues
 * anything, and the sums of all steps are right. What is asked for by a rank is in the same order
 * as elsewhere, or the simulator says so.
 */
START_TEST(steps_queued_ahead)
{
    struct error err = ERROR_INIT;
    enum sync_method method = (enum sync_method)_i;
    simgpu_reset(&(struct simgpu_options){.devices = 4, .memory = 1 << 20});
    trial = (struct collective_trial){.collective = &nccl_collective,
                                      .method = method,
                                      .count = 3,
                                      .ordinals = lots[0],
                                      .limit_s = 60,
                                      .absent = -1,
                                      .ahead = true};
    ck_assert_msg(collective_trial_run(&trial, &err), "%s", err.text);
    check_results(3, method, false);
    ck_assert_int_eq(trial.host_waits, 0);
    check_nothing_is_left();
}
END_TEST

/* A blocking call that never returns by itself: the watchdog ends it and names who did not call. */
START_TEST(call_that_hangs)
{
    static const struct {
        const char *function;
        int nth;
    } calls[] = {{"ncclAllReduce", 1}, {"ncclAllReduce", 4}};
    struct error err = ERROR_INIT;
    simgpu_reset(&(struct simgpu_options){.devices = 4, .memory = 1 << 20});
    simgpu_hang_call(calls[_i].function, calls[_i].nth);
    ck_assert(try_collective(&nccl_collective, SYNC_ALLREDUCE, 3, lots[0], 0.5, -1, &err));
    ck_assert_int_ge(simgpu_calls("ncclCommAbort"), 2);
    check_broken("waited", "cuda:");
}
END_TEST

/* A rank that never asks for a communicator. */
START_TEST(rank_that_does_not_join)
{
    struct error err = ERROR_INIT;
    simgpu_reset(&(struct simgpu_options){.devices = 4, .memory = 1 << 20});
    trial = (struct collective_trial){.collective = &nccl_collective,
                                      .count = 3,
                                      .ordinals = lots[0],
                                      .limit_s = 0.5,
                                      .absent = 2,
                                      .absent_at_join = true};
    ck_assert(collective_trial_run(&trial, &err));
    check_broken("waited", "for cuda:2 (NCCL, communicator)");
}
END_TEST

/* On a GPU that hangs the end of communicators may block: nobody waits for that for ever. */
START_TEST(end_that_hangs)
{
    static const char *const functions[] = {"ncclCommAbort", "ncclCommDestroy"};
    struct error err = ERROR_INIT;
    simgpu_reset(&(struct simgpu_options){.devices = 4, .memory = 1 << 20});
    simgpu_hang_call(functions[_i], 3);
    double began = clock_seconds();
    ck_assert(try_collective(&nccl_collective, SYNC_ALLREDUCE, 3, lots[0], _i ? 2 : 0.5,
                             _i ? -1 : 1, &err));
    ck_assert(clock_seconds() - began < 30);
    ck_assert_int_eq(simgpu_calls(functions[_i]), 3);
    simgpu_reset(&(struct simgpu_options){.devices = 4, .memory = 1 << 20});
    ck_assert(try_collective(&nccl_collective, SYNC_ALLREDUCE, 3, lots[0], 60, -1, &err));
    check_results(3, SYNC_ALLREDUCE, false);
}
END_TEST

static TCase *nccl_case(void)
{
    TCase *tcase = tcase_create("nccl");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, gpus_linked_by_nccl, 0, 6);
    tcase_add_test(tcase, nccl_wants_different_gpus);
    tcase_add_loop_test(tcase, rank_that_does_not_come, 0, 3);
    tcase_add_loop_test(tcase, gpu_that_hangs, 0, 6);
    tcase_add_loop_test(tcase, only_the_gpu_that_hangs_is_named, 0, 9);
    tcase_add_loop_test(tcase, call_that_nccl_refuses, 0, 3);
    tcase_add_test(tcase, asynchronous_error);
    tcase_add_test(tcase, end_of_what_was_aborted);
    tcase_add_loop_test(tcase, steps_queued_ahead, 0, 3);
    tcase_add_loop_test(tcase, call_that_hangs, 0, 2);
    tcase_add_test(tcase, rank_that_does_not_join);
    tcase_add_loop_test(tcase, end_that_hangs, 0, 2);
    return tcase;
}
#endif

static Suite *links_suite(void)
{
    Suite *suite = suite_create("cuda_collectives");
    TCase *tcase = tcase_create("peer");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, gpus_that_read_each_other, 0, 6);
    tcase_add_test(tcase, gpus_that_cannot_read_each_other);
    tcase_add_loop_test(tcase, run_called_off_while_others_wait, 0, 3);
    tcase_add_test(tcase, kernel_that_cannot_be_started);
    suite_add_tcase(suite, tcase);
#ifdef HAVE_NCCL
    suite_add_tcase(suite, nccl_case());
#endif
    return suite;
}

int main(void)
{
    return run_suites(links_suite(), NULL);
}
