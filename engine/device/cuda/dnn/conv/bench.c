/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/dnn/conv/bench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/rng.h"

#define WAIT_LIMIT_S 30.0 /* no convolution takes so long */

/* Wait for an event, with an end. */
static bool wait_event(struct conv_bench *bench, cudaEvent_t event)
{
    static const struct timespec pause = {.tv_nsec = 20 * 1000};
    double limit = clock_seconds() + WAIT_LIMIT_S;
    cudaError_t status;
    while ((status = cudaEventQuery(event)) == cudaErrorNotReady) {
        (void)cudaGetLastError(); /* "not ready" is kept like an error */
        if (clock_seconds() > limit) {
            bench->stuck = true;
            return error_set(bench->err, ERROR_FAILED,
                             "the GPU did not finish a convolution within %g s: look for its "
                             "errors in the kernel's log (dmesg)",
                             WAIT_LIMIT_S);
        }
        nanosleep(&pause, NULL);
    }
    return cuda_check(status, "timing a convolution", bench->err);
}

bool conv_bench_wait(struct conv_bench *bench)
{
    return cuda_check(cudaEventRecord(bench->end, bench->maker->stream), "cudaEventRecord",
                      bench->err) &&
           wait_event(bench, bench->end);
}

/* Of a tensor, those that are not copies. */
static size_t numbers_of(const struct conv_bench *bench, enum conv_role role)
{
    const size_t all = conv_role_bytes(bench->request, role) /
                       cuda_type_size(conv_role_type(bench->request, role));
    return all < CONV_BENCH_NUMBERS ? all : CONV_BENCH_NUMBERS;
}

/* Numbers in [-1, 1) that the role's type can hold, for bf16 multiples of 2^-7; four at a time, of
 * which there is room for. */
static void make_numbers(float *out, size_t count, enum conv_role role, enum cuda_type type)
{
    const uint32_t key[2] = {0x636f6e76, (uint32_t)role};
    for (uint32_t block = 0; 4 * (size_t)block < count; block++) {
        const uint32_t counter[4] = {block, 0, 0, 0};
        uint32_t words[4];
        rng_philox(counter, key, words);
        for (uint32_t i = 0; i < 4; i++)
            out[4 * block + i] = type == CUDA_BF16 ? (float)((int32_t)words[i] >> 24) * 0x1p-7F
                                                   : (float)(int32_t)words[i] * 0x1p-31F;
    }
}

/* The same as stored. */
static void store_numbers(void *out, const float *numbers, size_t count, enum cuda_type type)
{
    if (type != CUDA_BF16) {
        memcpy(out, numbers, count * sizeof *numbers);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        ((uint16_t *)out)[i] = (uint16_t)(bits >> 16);
    }
}

static bool fill(struct conv_bench *bench, enum conv_role role, void *pattern)
{
    const enum cuda_type type = conv_role_type(bench->request, role);
    const size_t bytes = conv_role_bytes(bench->request, role);
    const size_t length = CONV_BENCH_NUMBERS * cuda_type_size(type);
    bench->numbers[role] = malloc((CONV_BENCH_NUMBERS + 3) * sizeof(float));
    if (!bench->numbers[role])
        return error_memory(bench->err, "random numbers for tuning");
    make_numbers(bench->numbers[role], numbers_of(bench, role), role, type);
    store_numbers(pattern, bench->numbers[role], numbers_of(bench, role), type);
    for (int set = 0; set < bench->sets; set++)
        for (size_t at = 0; at < bytes; at += length)
            if (!cuda_check(cudaMemcpyAsync((char *)bench->pointers[set][role] + at, pattern,
                                            bytes - at < length ? bytes - at : length,
                                            cudaMemcpyHostToDevice, bench->maker->stream),
                            "cudaMemcpyAsync", bench->err))
                return false;
    /* The pattern is the caller's to change again. */
    return conv_bench_wait(bench);
}

static bool is_read(const struct conv_request *request, enum conv_role role)
{
    return conv_role_used(request, role) && !conv_role_written(request, role);
}

static bool fill_all(struct conv_bench *bench)
{
    void *pattern = malloc(CONV_BENCH_NUMBERS * sizeof(float));
    bool ok = pattern || error_memory(bench->err, "random numbers for tuning");
    for (int role = CONV_X; role < CONV_ROLES && ok; role++)
        ok = !is_read(bench->request, role) || fill(bench, role, pattern);
    free(pattern);
    return ok;
}

bool conv_bench_take(struct conv_bench *bench, void **out, size_t bytes, bool *short_of_memory)
{
    *out = NULL;
    cudaError_t status = cudaMalloc(out, bytes ? bytes : 1);
    if (status == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError(); /* else the next kernel's launch would report it */
        *short_of_memory = true;
        return false;
    }
    return cuda_check(status, "memory for tuning a convolution", bench->err);
}

bool conv_bench_reserve(struct conv_bench *bench, size_t bytes, bool *short_of_memory)
{
    if (bytes <= bench->workspace_size)
        return true;
    /* All plans so far have run to their ends. */
    if (!cuda_check(cudaFree(bench->workspace), "cudaFree", bench->err))
        return false;
    bench->workspace_size = 0;
    if (!conv_bench_take(bench, &bench->workspace, bytes, short_of_memory))
        return false;
    bench->workspace_size = bytes;
    return true;
}

/* As many sets as take more than the cache holds. */
static int sets_wanted(const struct conv_request *request)
{
    int device = 0, cache = 0;
    size_t bytes = 0;
    for (int role = CONV_X; role < CONV_ROLES; role++)
        if (conv_role_used(request, role))
            bytes += conv_role_bytes(request, role);
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device) != cudaSuccess) {
        (void)cudaGetLastError();
        return 1;
    }
    const size_t sets = 1 + (size_t)cache / bytes;
    return sets > CONV_BENCH_SETS ? CONV_BENCH_SETS : (int)sets;
}

static bool take_all(struct conv_bench *bench, bool *short_of_memory)
{
    for (int set = 0; set < bench->sets; set++)
        for (int role = CONV_X; role < CONV_ROLES; role++)
            if (conv_role_used(bench->request, role) &&
                !conv_bench_take(bench, &bench->pointers[set][role],
                                 conv_role_bytes(bench->request, role), short_of_memory))
                return false;
    return true;
}

bool conv_bench_open(struct conv_bench *bench, const struct conv_maker *maker,
                     const struct conv_request *request, bool *short_of_memory, struct error *err)
{
    const struct cudnn_api *api = maker->api;
    *bench = (struct conv_bench){
        .maker = maker, .request = request, .sets = sets_wanted(request), .err = err};
    return cudnn_check(api, api->SetStream(maker->handle, maker->stream), "cudnnSetStream", err) &&
           cuda_check(cudaEventCreate(&bench->begin), "cudaEventCreate", err) &&
           cuda_check(cudaEventCreate(&bench->end), "cudaEventCreate", err) &&
           take_all(bench, short_of_memory) && fill_all(bench);
}

/* Statuses are not looked at: errors have been reported. */
void conv_bench_close(struct conv_bench *bench)
{
    for (int role = CONV_X; role < CONV_ROLES; role++)
        free(bench->numbers[role]);
    if (bench->stuck)
        return;
    for (int set = 0; set < bench->sets; set++)
        for (int role = CONV_X; role < CONV_ROLES; role++)
            (void)cudaFree(bench->pointers[set][role]);
    (void)cudaFree(bench->workspace);
    if (bench->begin)
        (void)cudaEventDestroy(bench->begin);
    if (bench->end)
        (void)cudaEventDestroy(bench->end);
}
