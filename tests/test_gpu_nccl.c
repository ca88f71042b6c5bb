/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/device/cuda/group.h"
#include "engine/device/cuda/nccl_api.h"
#include "tests/gpu_case.h"
#include "tests/suites.h"
#include "tests/trial.h"

/*
 * NCCL on a machine with one GPU: the engine's own links with one rank, and NCCL itself between two
 * processes that share the GPU, each of which is told that it is on a host of its own.
 */

static struct error err = ERROR_INIT;

static bool never(void *context)
{
    (void)context;
    return false;
}

static bool meet_alone(void *context, int member, struct error *error)
{
    (void)context;
    (void)member;
    (void)error;
    return true;
}

static void check_method(struct rig *rig, enum sync_method method)
{
    const size_t count = rig->replica->count;
    const size_t ends[] = {count / 32 * 16, count};
    const char *const names[] = {"cuda:0"};
    struct device *const devices[] = {rig->device};
    struct replica *const replicas[] = {rig->replica};
    const struct link_request request = {.count = 1,
                                         .devices = devices,
                                         .replicas = replicas,
                                         .names = names,
                                         .method = method,
                                         .ends = ends,
                                         .pieces = 2,
                                         .limit_s = 60,
                                         .meet = meet_alone,
                                         .called_off = never};
    struct link *link = NULL;
    char text[200];
    float *grads = rig_read(rig, ARENA_GRADS), *params = rig_read(rig, ARENA_PARAMS);
    for (size_t i = 0; i < count; i++)
        grads[i] = (float)(i % 1000) - 500;
    rig_write(rig, ARENA_GRADS, grads);
    ck_assert_msg(nccl_links.create(&request, &link, &err), "%s", err.text);
    nccl_links.describe(link, text, sizeof text);
    ck_assert_msg(nccl_links.join(link, 0, &err), "%s", err.text);
    for (int step = 0; step < 3; step++) {
        for (int piece = 0; piece < request.pieces; piece++)
            ck_assert_msg(nccl_links.reduce(link, 0, piece, &err), "%s", err.text);
        ck_assert_msg(nccl_links.finish(link, 0, &err), "%s", err.text);
    }
    ck_assert_msg(nccl_links.send_params(link, 0, &err), "%s", err.text);
    nccl_links.leave(link, 0, false);
    nccl_links.destroy(link);
    float *after = rig_read(rig, ARENA_GRADS), *kept = rig_read(rig, ARENA_PARAMS);
    ck_assert_mem_eq(after, grads, count * sizeof *grads);
    ck_assert_mem_eq(kept, params, count * sizeof *params);
    printf("note: %s\n", text);
    free(kept);
    free(after);
    free(params);
    free(grads);
}

START_TEST(one_rank_sums_itself)
{
    const char *why = "";
    const struct trial_device device = {.backend = backend_find(DEVICE_CUDA, &why),
                                        .options = {.id = {DEVICE_CUDA, 0}, .type = TYPE_F32}};
    struct trial trial;
    struct rig rig;
    ck_assert_msg(device.backend != NULL, "%s", why);
    trial_make(&trial, "{ type = \"linear\"; outputs = 50; }, { type = \"linear\"; outputs = 4; }",
               (struct net_shape){1, 8, 8}, 4, 3, false, 1);
    rig_open(&rig, &trial, &device);
    for (int method = SYNC_ALLREDUCE; method <= SYNC_CENTRAL; method++)
        check_method(&rig, (enum sync_method)method);
    rig_close(&rig);
    trial_free(&trial);
}
END_TEST

#ifndef DPARTUI_SIMULATED_GPU /* of which every process has its own */

/* --- two processes --- */

enum { RANKS = 2, NUMBERS = 1 << 20, PATIENCE_S = 60 };

static bool settled(const struct nccl_api *api, ncclComm_t comm, ncclResult_t status,
                    const char *what)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    double began = clock_seconds();
    while (status == ncclInProgress && clock_seconds() - began < PATIENCE_S) {
        nanosleep(&pause, NULL);
        ncclResult_t asked = api->CommGetAsyncError(comm, &status);
        status = asked == ncclSuccess ? status : asked;
    }
    if (status == ncclSuccess)
        return true;
    printf("%s: %s, %s\n", what, api->GetErrorString(status), api->GetLastError(comm));
    return false;
}

static bool ready(cudaStream_t stream)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    double began = clock_seconds();
    cudaError_t status;
    while ((status = cudaStreamQuery(stream)) == cudaErrorNotReady &&
           clock_seconds() - began < PATIENCE_S)
        nanosleep(&pause, NULL);
    if (status != cudaSuccess)
        printf("all-reduce: %s\n", cudaGetErrorString(status));
    return status == cudaSuccess;
}

/* Sum over the ranks of i % 1000 + rank. */
static bool sum_up(const struct nccl_api *api, ncclComm_t comm, int rank)
{
    float *host = malloc(NUMBERS * sizeof *host), *memory = NULL;
    cudaStream_t stream = NULL;
    bool ok = host && cudaMalloc((void **)&memory, NUMBERS * sizeof *host) == cudaSuccess &&
              cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess;
    for (int i = 0; ok && i < NUMBERS; i++)
        host[i] = (float)(i % 1000 + rank);
    ok = ok &&
         cudaMemcpy(memory, host, NUMBERS * sizeof *host, cudaMemcpyHostToDevice) == cudaSuccess &&
         settled(api, comm,
                 api->AllReduce(memory, memory, NUMBERS, ncclFloat32, ncclSum, comm, stream),
                 "all-reduce") &&
         ready(stream) &&
         cudaMemcpy(host, memory, NUMBERS * sizeof *host, cudaMemcpyDeviceToHost) == cudaSuccess;
    for (int i = 0; ok && i < NUMBERS; i++)
        if (host[i] != (float)(RANKS * (i % 1000) + RANKS * (RANKS - 1) / 2)) {
            printf("rank %d: number %d is %g\n", rank, i, (double)host[i]);
            ok = false;
        }
    if (stream)
        cudaStreamDestroy(stream);
    cudaFree(memory);
    free(host);
    return ok;
}

/* What a process does; rank 0 makes the id and hands it on. */
static bool take_part(int rank, int read_end, int write_end)
{
    ncclUniqueId id;
    ncclComm_t comm = NULL;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    char host[32];
    snprintf(host, sizeof host, "dpartui-test-%d", rank);
    setenv("NCCL_HOSTID", host, 1);
    const struct nccl_api *api = nccl_open(&err);
    if (!api || cudaSetDevice(0) != cudaSuccess) {
        printf("rank %d: %s\n", rank, api ? "no GPU" : err.text);
        return false;
    }
    bool ok = rank == 0 ? api->GetUniqueId(&id) == ncclSuccess &&
                              write(write_end, &id, sizeof id) == (ssize_t)sizeof id
                        : read(read_end, &id, sizeof id) == (ssize_t)sizeof id;
    config.blocking = 0;
    ok = ok &&
         settled(api, comm, api->CommInitRankConfig(&comm, RANKS, id, rank, &config), "joining") &&
         sum_up(api, comm, rank);
    if (comm)
        api->CommAbort(comm);
    return ok;
}

START_TEST(two_processes_share_the_gpu)
{
    int ends[2];
    pid_t children[RANKS];
    ck_assert_int_eq(pipe(ends), 0);
    fflush(NULL);
    for (int rank = 0; rank < RANKS; rank++) {
        children[rank] = fork();
        ck_assert_int_ge(children[rank], 0);
        if (children[rank] == 0) {
            alarm(2 * PATIENCE_S);
            bool ok = take_part(rank, ends[0], ends[1]);
            fflush(NULL);
            _exit(ok ? 0 : 1);
        }
    }
    close(ends[0]);
    close(ends[1]);
    int failed = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        int status = 0;
        ck_assert_int_eq(waitpid(children[rank], &status, 0), children[rank]);
        failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    ck_assert_msg(failed == 0, "%d of the processes failed", failed);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("gpu nccl");
    TCase *one = gpu_case(tcase_create("nccl-one"), 120);
    tcase_add_test(one, one_rank_sums_itself);
    suite_add_tcase(suite, one);
#ifndef DPARTUI_SIMULATED_GPU
    TCase *two = gpu_case(tcase_create("nccl-two"), 150);
    tcase_add_test(two, two_processes_share_the_gpu);
    suite_add_tcase(suite, two);
#endif
    return run_suites(suite, NULL);
}
