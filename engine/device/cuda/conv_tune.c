/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/conv_tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "engine/rng.h"

#define SAMPLES      5
#define SAMPLE_S     1e-3 /* so long at least, that the clock's steps do not matter */
#define RUNS_LIMIT   20   /* in one sample */
#define WAIT_LIMIT_S 30.0 /* no convolution takes so long */
/* Random numbers are made once and copied over and over; the device sees no difference. */
#define PATTERN_BYTES ((size_t)1 << 20)

/* What tuning holds while it goes on. */
struct bench {
    const struct conv_maker *maker;
    const struct conv_request *request;
    void *pointers[CONV_ROLES];
    void *workspace;
    cudaEvent_t begin, end;
    bool stuck; /* the GPU does not finish: to free what it uses would be to wait for it */
    struct error *err;
};

cudnnBackendDescriptor_t conv_pack(const struct cudnn_api *api, const struct conv_request *request,
                                   void *const pointers[CONV_ROLES], void *workspace,
                                   struct error *err)
{
    int64_t ids[CONV_ROLES];
    void *used[CONV_ROLES];
    int64_t count = 0;
    for (int role = CONV_X; role < CONV_ROLES; role++) {
        if (!conv_role_used(request, role))
            continue;
        ids[count] = role;
        used[count++] = pointers[role];
    }
    const struct dnn_attribute attributes[] = {
        {CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, ids},
        {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, used},
        {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace},
    };
    return dnn_make(api, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, "the pointers for cuDNN",
                    attributes, sizeof attributes / sizeof *attributes, NULL, err);
}

/* Wait for an event, with an end. */
static bool wait_event(struct bench *bench, cudaEvent_t event)
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

static bool wait_stream(struct bench *bench)
{
    return cuda_check(cudaEventRecord(bench->end, bench->maker->stream), "cudaEventRecord",
                      bench->err) &&
           wait_event(bench, bench->end);
}

/* Numbers in [-1, 1) as f32, or their upper halves as bf16. */
static void make_pattern(void *out, enum cuda_type type)
{
    static const uint32_t key[2] = {0x636f6e76, 0};
    float *wide = out;
    uint16_t *narrow = out;
    for (uint32_t block = 0; block < PATTERN_BYTES / cuda_type_size(type) / 4; block++) {
        const uint32_t counter[4] = {block, 0, 0, 0};
        uint32_t words[4];
        rng_philox(counter, key, words);
        for (uint32_t i = 0; i < 4; i++) {
            float value = (float)(int32_t)words[i] * 0x1p-31f;
            uint32_t bits;
            memcpy(&bits, &value, sizeof bits);
            if (type == CUDA_BF16)
                narrow[4 * block + i] = (uint16_t)(bits >> 16);
            else
                wide[4 * block + i] = value;
        }
    }
}

static bool fill(struct bench *bench, enum conv_role role, const void *pattern)
{
    size_t bytes = conv_role_bytes(bench->request, role);
    for (size_t at = 0; at < bytes; at += PATTERN_BYTES) {
        size_t piece = bytes - at < PATTERN_BYTES ? bytes - at : PATTERN_BYTES;
        if (!cuda_check(cudaMemcpyAsync((char *)bench->pointers[role] + at, pattern, piece,
                                        cudaMemcpyHostToDevice, bench->maker->stream),
                        "cudaMemcpyAsync", bench->err))
            return false;
    }
    return true;
}

static bool fill_type(struct bench *bench, enum cuda_type type, void *pattern)
{
    make_pattern(pattern, type);
    for (int role = CONV_X; role < CONV_ROLES; role++)
        if (bench->pointers[role] && conv_role_type(bench->request, role) == type &&
            !fill(bench, role, pattern))
            return false;
    /* The pattern is the caller's to change again. */
    return wait_stream(bench);
}

static bool fill_all(struct bench *bench)
{
    void *pattern = malloc(PATTERN_BYTES);
    if (!pattern)
        return error_memory(bench->err, "random numbers for tuning");
    bool ok = fill_type(bench, CUDA_F32, pattern) &&
              (bench->request->type != TYPE_BF16 || fill_type(bench, CUDA_BF16, pattern));
    free(pattern);
    return ok;
}

/* *short_of_memory: there is too little for this, which is no error. */
static bool take_memory(struct bench *bench, void **out, size_t bytes, bool *short_of_memory)
{
    cudaError_t status = cudaMalloc(out, bytes ? bytes : 1);
    if (status == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError(); /* else the next kernel's launch would report it */
        *short_of_memory = true;
        return false;
    }
    return cuda_check(status, "memory for tuning a convolution", bench->err);
}

static bool take_all_memory(struct bench *bench, const struct dnn_plan *plans, int count,
                            bool *short_of_memory)
{
    size_t workspace = 0;
    for (int i = 0; i < count; i++)
        if (plans[i].workspace > workspace)
            workspace = plans[i].workspace;
    for (int role = CONV_X; role < CONV_ROLES; role++)
        if (conv_role_used(bench->request, role) &&
            !take_memory(bench, &bench->pointers[role], conv_role_bytes(bench->request, role),
                         short_of_memory))
            return false;
    return take_memory(bench, &bench->workspace, workspace, short_of_memory);
}

static bool open_bench(struct bench *bench, const struct dnn_plan *plans, int count,
                       bool *short_of_memory)
{
    const struct cudnn_api *api = bench->maker->api;
    return cudnn_check(api, api->SetStream(bench->maker->handle, bench->maker->stream),
                       "cudnnSetStream", bench->err) &&
           cuda_check(cudaEventCreate(&bench->begin), "cudaEventCreate", bench->err) &&
           cuda_check(cudaEventCreate(&bench->end), "cudaEventCreate", bench->err) &&
           take_all_memory(bench, plans, count, short_of_memory) && fill_all(bench);
}

/* Statuses are not looked at: whatever is wrong has been told. */
static void close_bench(struct bench *bench)
{
    if (bench->stuck)
        return;
    for (int role = CONV_X; role < CONV_ROLES; role++)
        (void)cudaFree(bench->pointers[role]);
    (void)cudaFree(bench->workspace);
    if (bench->begin)
        (void)cudaEventDestroy(bench->begin);
    if (bench->end)
        (void)cudaEventDestroy(bench->end);
}

/* Seconds of one of `runs` runs in a row. *runs_not: cuDNN does not start it. */
static bool time_runs(struct bench *bench, const struct dnn_plan *plan,
                      cudnnBackendDescriptor_t pack, int runs, double *seconds, bool *runs_not)
{
    const struct conv_maker *maker = bench->maker;
    float milliseconds = 0;
    if (!cuda_check(cudaEventRecord(bench->begin, maker->stream), "cudaEventRecord", bench->err))
        return false;
    for (int i = 0; i < runs && !*runs_not; i++)
        *runs_not =
            maker->api->BackendExecute(maker->handle, plan->plan, pack) != CUDNN_STATUS_SUCCESS;
    if (!wait_stream(bench) ||
        !cuda_check(cudaEventElapsedTime(&milliseconds, bench->begin, bench->end),
                    "cudaEventElapsedTime", bench->err))
        return false;
    *seconds = (double)milliseconds * 1e-3 / runs;
    return true;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool time_plan(struct bench *bench, const struct dnn_plan *plan, double *seconds)
{
    double sample[SAMPLES], first = 0;
    bool runs_not = false;
    cudnnBackendDescriptor_t pack =
        conv_pack(bench->maker->api, bench->request, bench->pointers, bench->workspace, bench->err);
    *seconds = NAN;
    if (!pack)
        return false;
    /* The first run loads the kernels, the second tells how many make a sample. */
    bool ok = time_runs(bench, plan, pack, 1, &first, &runs_not) &&
              (runs_not || time_runs(bench, plan, pack, 1, &first, &runs_not));
    int runs = first * RUNS_LIMIT > SAMPLE_S ? (int)ceil(SAMPLE_S / first) : RUNS_LIMIT;
    for (int i = 0; i < SAMPLES && ok && !runs_not; i++)
        ok = time_runs(bench, plan, pack, runs, &sample[i], &runs_not);
    if (ok && !runs_not) {
        qsort(sample, SAMPLES, sizeof *sample, by_value);
        *seconds = sample[SAMPLES / 2];
    }
    dnn_release(bench->maker->api, &pack, 1);
    return ok;
}

bool conv_tune(const struct conv_maker *maker, const struct conv_request *request,
               const struct dnn_plan *plans, int count, double *seconds, struct error *err)
{
    struct bench bench = {.maker = maker, .request = request, .err = err};
    bool short_of_memory = false;
    for (int i = 0; i < count; i++)
        seconds[i] = NAN;
    bool ok = open_bench(&bench, plans, count, &short_of_memory);
    for (int i = 0; i < count && ok; i++)
        ok = time_plan(&bench, &plans[i], &seconds[i]);
    close_bench(&bench);
    return ok || short_of_memory;
}
