/* SPDX-License-Identifier: MIT */

/* The simulated GPU's NCCL, by way of the functions that the backend opens. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "engine/device/cuda/libraries/nccl.h"
#include "tests/simgpu/simgpu.h"
#include "tests/suites.h"

#define must(CALL)      ck_assert_int_eq((int)(CALL), 0)
#define must_true(CALL) ck_assert_msg(CALL, "%s", err.text)

static void fresh_machine(void)
{
    simgpu_reset(NULL);
}

enum { RANKS = 3, COUNT = 999, PART = COUNT / RANKS };

struct rank {
    const struct nccl_api *api;
    ncclUniqueId id;
    int number;
    bool skip; /* takes no part in the last operation */
    float all, reduced, spread, scattered, gathered[RANKS];
    int last; /* status of the stream after the last operation */
};

static void finish(cudaStream_t stream)
{
    while (cudaStreamQuery(stream) == cudaErrorNotReady)
        ;
    (void)cudaGetLastError();
}

static float first_of(const float *device)
{
    float host;
    must(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
    return host;
}

static void *run_rank(void *context)
{
    struct rank *r = context;
    float numbers[COUNT], *data, *result;
    ncclComm_t comm;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    cudaStream_t stream;
    must(cudaSetDevice(r->number));
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    must(cudaMalloc((void **)&data, sizeof numbers));
    must(cudaMalloc((void **)&result, sizeof numbers));
    for (int i = 0; i < COUNT; i++)
        numbers[i] = (float)(r->number + 1);
    must(cudaMemcpy(data, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    must(r->api->CommInitRankConfig(&comm, RANKS, r->id, r->number, &config));
    must(r->api->AllReduce(data, result, COUNT, ncclFloat32, ncclSum, comm, stream));
    finish(stream);
    r->all = first_of(result);
    must(r->api->Reduce(data, result, COUNT, ncclFloat32, ncclSum, 1, comm, stream));
    finish(stream);
    r->reduced = first_of(result);
    must(r->api->ReduceScatter(data, data + r->number * PART, PART, ncclFloat32, ncclSum, comm,
                               stream));
    finish(stream);
    r->scattered = first_of(data + r->number * PART);
    must(cudaMemcpy(result, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    must(r->api->AllGather(result + r->number * PART, result, PART * sizeof(float), ncclInt8, comm,
                           stream));
    finish(stream);
    for (int i = 0; i < RANKS; i++)
        r->gathered[i] = first_of(result + i * PART);
    must(cudaMemcpy(data, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    must(r->api->Broadcast(data, data, COUNT, ncclFloat32, 2, comm, stream));
    finish(stream);
    r->spread = first_of(data);
    if (!r->skip)
        must(r->api->AllReduce(data, data, COUNT, ncclFloat32, ncclSum, comm, stream));
    for (int i = 0; i < 100; i++)
        r->last = (int)cudaStreamQuery(stream);
    if (r->skip) {
        must(r->api->CommAbort(comm));
    } else {
        must(r->api->CommAbort(comm));
        finish(stream); /* what never came is over */
    }
    must(cudaFree(data));
    must(cudaFree(result));
    must(cudaStreamDestroy(stream));
    return NULL;
}

START_TEST(test_nccl_between_threads)
{
    struct error err = ERROR_INIT;
    struct rank ranks[RANKS] = {0};
    pthread_t threads[RANKS];
    const struct nccl_api *api = nccl_open(&err);
    ncclUniqueId id;
    must_true(api);
    must(api->GetUniqueId(&id));
    for (int i = 0; i < RANKS; i++) {
        ranks[i] = (struct rank){.api = api, .id = id, .number = i, .skip = i == 2};
        must(pthread_create(&threads[i], NULL, run_rank, &ranks[i]));
    }
    for (int i = 0; i < RANKS; i++)
        must(pthread_join(threads[i], NULL));
    for (int i = 0; i < RANKS; i++) {
        ck_assert_float_eq(ranks[i].all, 6.0f);
        ck_assert_float_eq(ranks[i].reduced, 6.0f); /* on others than the root as it was */
        ck_assert_float_eq(ranks[i].spread, 3.0f);
        ck_assert_float_eq(ranks[i].scattered, 6.0f);
        for (int k = 0; k < RANKS; k++)
            ck_assert_float_eq(ranks[i].gathered[k], (float)(k + 1));
        ck_assert_int_eq(ranks[i].last, i == 2 ? cudaSuccess : cudaErrorNotReady);
    }
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
    ck_assert_int_eq(simgpu_live_objects(), 0);
}
END_TEST

/* One thread with all ranks: in a group it works, without it would wait for itself. */
START_TEST(test_nccl_in_one_thread)
{
    struct error err = ERROR_INIT;
    const struct nccl_api *api = nccl_open(&err);
    ncclComm_t comms[RANKS];
    cudaStream_t streams[RANKS];
    float *data[RANKS];
    must_true(api);
    must(api->CommInitAll(comms, RANKS, NULL));
    must(api->GroupStart());
    for (int i = 0; i < RANKS; i++) {
        float one = 1;
        must(cudaSetDevice(i));
        must(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        must(cudaMalloc((void **)&data[i], sizeof one));
        must(cudaMemcpy(data[i], &one, sizeof one, cudaMemcpyHostToDevice));
        must(api->AllReduce(data[i], data[i], 1, ncclFloat32, ncclSum, comms[i], streams[i]));
    }
    must(api->GroupEnd());
    must(cudaStreamSynchronize(streams[1]));
    ck_assert_float_eq(first_of(data[1]), 3.0f);
    must(api->AllReduce(data[0], data[0], 1, ncclFloat32, ncclSum, comms[0], streams[0]));
    ck_assert_int_eq(
        api->AllReduce(data[1], data[1], 1, ncclFloat32, ncclSum, comms[1], streams[1]),
        ncclInvalidUsage);
    ck_assert_int_eq(simgpu_faults(), 1);
}
END_TEST

START_TEST(test_nccl_errors)
{
    struct error err = ERROR_INIT;
    const struct nccl_api *api = nccl_open(&err);
    ncclComm_t comms[RANKS];
    ncclResult_t result;
    const int twice[2] = {1, 1};
    must_true(api);
    ck_assert_int_eq(api->CommInitAll(comms, 2, twice), ncclInvalidUsage);
    must(api->CommInitAll(comms, RANKS, NULL));
    must(api->CommGetAsyncError(comms[0], &result));
    ck_assert_int_eq(result, ncclSuccess);
    simgpu_nccl_error(ncclRemoteError);
    must(api->CommGetAsyncError(comms[0], &result));
    ck_assert_int_eq(result, ncclRemoteError);
    simgpu_fail_call("ncclAllReduce", 1, ncclSystemError);
    ck_assert_int_eq(api->AllReduce(NULL, NULL, 0, ncclFloat32, ncclSum, comms[0], NULL),
                     ncclSystemError);
    for (int i = 0; i < RANKS; i++)
        must(api->CommAbort(comms[i]));
    ck_assert_int_eq(simgpu_live_objects(), 0);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("simgpu NCCL");
    TCase *group = tcase_create("NCCL");
    tcase_add_checked_fixture(group, fresh_machine, NULL);
    tcase_set_timeout(group, 60);
    tcase_add_test(group, test_nccl_between_threads);
    tcase_add_test(group, test_nccl_in_one_thread);
    tcase_add_test(group, test_nccl_errors);
    suite_add_tcase(suite, group);
    return suite;
}

int main(void)
{
    return run_suites(make_suite(), NULL);
}
