/* SPDX-License-Identifier: MIT */

/* The simulated GPU itself: that it computes like a GPU, and that it finds what it is there for. */
#include <cmath>
#include <cstdlib>
#include <vector>

#include <check.h>

#include "engine/device/cuda/kernels/launch.h"
#include "tests/simgpu/simgpu.h"
#include "tests/suites.h"

namespace
{
#define must(CALL) ck_assert_int_eq(CALL, cudaSuccess)
constexpr unsigned ALL = 0xffffffffu;
__global__ void fill(float *x, int n, float value)
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        x[i] = value;
}

__global__ void scale(const float *x, float *y, int n, float by)
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        y[i] = x[i] * by;
}

/* Sum of a block, by shuffles, static and dynamic shared memory. */
template <typename T> __global__ void __launch_bounds__(1024) block_sums(const T *x, int n, T *sums)
{
    __shared__ T warps[32];
    SHARED_ARRAY(T, total);
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    T v = i < n ? x[i] : T(0);
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        v += __shfl_xor_sync(ALL, v, offset);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < (blockDim.x + 31) / 32 ? warps[threadIdx.x] : T(0);
        for (unsigned offset = 16; offset > 0; offset /= 2)
            v += __shfl_down_sync(ALL, v, offset);
        if (threadIdx.x == 0)
            total[0] = v;
    }
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1)
        sums[blockIdx.x] = total[0];
}

/* Every thread adds what its right neighbour wrote; `wait` false: without the barrier. */
__global__ void neighbours(float *out, bool wait)
{
    SHARED_ARRAY(float, mine);
    mine[threadIdx.x] = static_cast<float>(threadIdx.x);
    if (wait)
        __syncthreads();
    out[threadIdx.x] = mine[threadIdx.x] + mine[(threadIdx.x + 1) % blockDim.x];
}

__global__ void half_a_barrier(float *out)
{
    if (threadIdx.x < blockDim.x / 2)
        __syncthreads();
    out[threadIdx.x] = 1;
}

__global__ void two_barriers(float *out)
{
    if (threadIdx.x % 2)
        __syncthreads();
    else
        __syncthreads();
    out[threadIdx.x] = 1;
}

__global__ void lone_lane(float *out)
{
    if (threadIdx.x == 3)
        out[0] = __shfl_sync(ALL, 1.0f, 0);
    __syncthreads();
}

__global__ void votes(unsigned *out)
{
    unsigned odd = __ballot_sync(ALL, threadIdx.x % 2);
    int any = __any_sync(ALL, threadIdx.x == 40), all = __all_sync(ALL, threadIdx.x < 64);
    if (threadIdx.x % 32 == 0) {
        out[threadIdx.x / 32] = odd;
        out[2 + threadIdx.x / 32] = static_cast<unsigned>(any * 2 + all);
    }
}

__global__ void places(unsigned *out)
{
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] += 1;
}

float *device_floats(size_t count)
{
    void *p;
    must(cudaMalloc(&p, count * sizeof(float)));
    return static_cast<float *>(p);
}

float *host_floats(size_t count)
{
    void *p;
    must(cudaMallocHost(&p, count * sizeof(float)));
    return static_cast<float *>(p);
}

cudaStream_t new_stream()
{
    cudaStream_t s;
    must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    return s;
}

cudaEvent_t new_event()
{
    cudaEvent_t e;
    must(cudaEventCreate(&e));
    return e;
}

std::vector<float> read_floats(const float *device, size_t count)
{
    std::vector<float> host(count);
    must(cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    return host;
}

void fresh_machine()
{
    simgpu_reset(nullptr);
}

void no_faults()
{
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
}

/* Kernels */

START_TEST(test_every_thread_runs_once)
{
    cudaStream_t s = new_stream();
    const dim3 grid(3, 2, 2), block(5, 3, 2);
    const size_t count = 12 * 30;
    auto *out = reinterpret_cast<unsigned *>(device_floats(count));
    must(cudaMemsetAsync(out, 0, count * 4, s));
    must(LAUNCH(places, grid, block, 0, s, out));
    must(cudaStreamSynchronize(s));
    std::vector<unsigned> host(count);
    must(cudaMemcpy(host.data(), out, count * 4, cudaMemcpyDeviceToHost));
    for (unsigned n : host)
        ck_assert_uint_eq(n, 1);
    no_faults();
}
END_TEST

template <typename T> static void try_block_sums(int threads)
{
    const int n = 1000, blocks = (n + threads - 1) / threads;
    cudaStream_t s = new_stream();
    void *x, *sums;
    must(cudaMalloc(&x, n * sizeof(T)));
    must(cudaMalloc(&sums, static_cast<size_t>(blocks) * sizeof(T)));
    std::vector<T> host(n);
    for (int i = 0; i < n; i++)
        host[static_cast<size_t>(i)] = static_cast<T>(i % 17);
    must(cudaMemcpy(x, host.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    must(LAUNCH((block_sums<T>), dim3(static_cast<unsigned>(blocks)),
                dim3(static_cast<unsigned>(threads)), sizeof(T), s, static_cast<const T *>(x), n,
                static_cast<T *>(sums)));
    must(cudaStreamSynchronize(s));
    std::vector<T> got(static_cast<size_t>(blocks));
    must(cudaMemcpy(got.data(), sums, got.size() * sizeof(T), cudaMemcpyDeviceToHost));
    for (int b = 0; b < blocks; b++) {
        T expected = 0;
        for (int i = b * threads; i < (b + 1) * threads && i < n; i++)
            expected += host[static_cast<size_t>(i)];
        ck_assert(got[static_cast<size_t>(b)] == expected);
    }
    no_faults();
}

START_TEST(test_shuffles_and_shared_memory)
{
    try_block_sums<float>(256);
    try_block_sums<double>(1024);
    try_block_sums<int>(32);
    try_block_sums<unsigned>(64);
}
END_TEST

START_TEST(test_votes)
{
    cudaStream_t s = new_stream();
    auto *out = reinterpret_cast<unsigned *>(device_floats(4));
    unsigned host[4];
    must(LAUNCH(votes, dim3(1), dim3(64), 0, s, out));
    must(cudaStreamSynchronize(s));
    must(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    ck_assert_uint_eq(host[0], 0xaaaaaaaau);
    ck_assert_uint_eq(host[1], 0xaaaaaaaau);
    ck_assert_uint_eq(host[2], 1);
    ck_assert_uint_eq(host[3], 3);
}
END_TEST

/* Without a barrier some thread reads what is not written yet, whatever the order. */
START_TEST(test_missing_barrier_shows)
{
    const unsigned n = 64;
    for (unsigned seed = 0; seed < 5; seed++) {
        simgpu_options options = {1, 1 << 20, SIMGPU_LAZY, seed, false, false};
        simgpu_reset(&options);
        cudaStream_t s = new_stream();
        float *out = device_floats(n);
        for (bool wait : {true, false}) {
            bool right = true;
            must(LAUNCH(neighbours, dim3(1), dim3(n), n * sizeof(float), s, out, wait));
            must(cudaStreamSynchronize(s));
            std::vector<float> got = read_floats(out, n);
            for (unsigned i = 0; i < n; i++)
                right = right && got[i] == static_cast<float>(i + (i + 1) % n);
            ck_assert_int_eq(right, wait);
        }
    }
}
END_TEST

static void (*const broken_kernels[])(float *) = {half_a_barrier, two_barriers, lone_lane};

START_TEST(test_divergence_is_a_failure)
{
    cudaStream_t s = new_stream();
    float *out = device_floats(64);
    must(LAUNCH(broken_kernels[_i], dim3(2), dim3(64), 0, s, out));
    ck_assert_int_eq(cudaStreamSynchronize(s), cudaErrorLaunchFailure);
    ck_assert_int_eq(simgpu_faults(), 1);
    ck_assert_int_eq(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    /* Another device is not concerned, and a new machine works. */
    must(cudaSetDevice(1));
    simgpu_reset(nullptr);
    try_block_sums<float>(128);
}
END_TEST

START_TEST(test_launches_that_cannot_be)
{
    cudaStream_t s = new_stream();
    float *out = device_floats(64);
    ck_assert_int_eq(LAUNCH(fill, dim3(1), dim3(2048), 0, s, out, 64, 1.0f),
                     cudaErrorInvalidConfiguration);
    ck_assert_int_eq(cudaGetLastError(), cudaErrorInvalidConfiguration);
    ck_assert_int_eq(LAUNCH(fill, dim3(0), dim3(32), 0, s, out, 64, 1.0f),
                     cudaErrorInvalidConfiguration);
    (void)cudaGetLastError();
    ck_assert_int_eq(LAUNCH(fill, dim3(1), dim3(32), 64 << 10, s, out, 64, 1.0f),
                     cudaErrorInvalidValue);
    (void)cudaGetLastError();
    float here = 0;
    must(LAUNCH(fill, dim3(1), dim3(1), 0, s, &here, 1, 1.0f));
    ck_assert_int_eq(cudaStreamSynchronize(s), cudaErrorIllegalAddress);
    ck_assert_float_eq(here, 0.0f);
    ck_assert_int_eq(simgpu_faults(), 1);
}
END_TEST

/* An error that an earlier call left is a launch's own, as cudaPeekAtLastError has it. */
START_TEST(test_errors_left_behind)
{
    cudaStream_t s = new_stream();
    float *out = device_floats(64);
    must(LAUNCH(fill, dim3(1), dim3(64), 0, s, out, 64, 1.0f));
    ck_assert_int_eq(cudaStreamQuery(s), cudaErrorNotReady);
    ck_assert_int_eq(LAUNCH(fill, dim3(1), dim3(64), 0, s, out, 64, 1.0f), cudaErrorNotReady);
    ck_assert_int_eq(cudaGetLastError(), cudaErrorNotReady);
    must(LAUNCH(fill, dim3(1), dim3(64), 0, s, out, 64, 1.0f));
}
END_TEST

/* Streams */

START_TEST(test_streams_are_lazy)
{
    cudaStream_t s = new_stream();
    float *x = device_floats(4), *host = host_floats(4);
    must(LAUNCH(fill, dim3(1), dim3(4), 0, s, x, 4, 3.0f));
    must(cudaMemcpyAsync(host, x, 16, cudaMemcpyDeviceToHost, s));
    ck_assert(std::isnan(host[0]));
    ck_assert_int_eq(cudaStreamQuery(s), cudaErrorNotReady);
    ck_assert(std::isnan(host[0]));
    ck_assert_int_eq(cudaStreamQuery(s), cudaErrorNotReady);
    must(cudaStreamQuery(s));
    ck_assert_float_eq(host[3], 3.0f);
}
END_TEST

/* One stream fills, the other reads; `wait`: with the event between them. */
static float read_across(bool wait)
{
    cudaStream_t writer = new_stream(), reader = new_stream();
    cudaEvent_t written = new_event();
    float *x = device_floats(4), *y = device_floats(4), *host = host_floats(4);
    must(LAUNCH(fill, dim3(1), dim3(4), 0, writer, x, 4, 5.0f));
    must(cudaEventRecord(written, writer));
    if (wait)
        must(cudaStreamWaitEvent(reader, written, 0));
    must(LAUNCH(scale, dim3(1), dim3(4), 0, reader, x, y, 4, 2.0f));
    must(cudaMemcpyAsync(host, y, 16, cudaMemcpyDeviceToHost, reader));
    must(cudaStreamSynchronize(reader));
    return host[0];
}

START_TEST(test_missing_event_shows)
{
    ck_assert_float_eq(read_across(true), 10.0f);
    ck_assert(std::isnan(read_across(false)));
}
END_TEST

/* A host buffer that is written again before its copy has run. */
START_TEST(test_buffer_reused_too_early_shows)
{
    cudaStream_t s = new_stream();
    float *x = device_floats(1), *y = device_floats(1), *host = host_floats(1);
    *host = 1;
    must(cudaMemcpyAsync(x, host, 4, cudaMemcpyHostToDevice, s));
    *host = 2;
    must(cudaMemcpyAsync(y, host, 4, cudaMemcpyHostToDevice, s));
    must(cudaStreamSynchronize(s));
    ck_assert_float_eq(read_floats(x, 1)[0], 2.0f);
}
END_TEST

START_TEST(test_events)
{
    cudaStream_t s = new_stream();
    cudaEvent_t start = new_event(), end = new_event();
    float *x = device_floats(4), ms = -1;
    must(cudaEventQuery(start)); /* never recorded */
    must(cudaEventRecord(start, s));
    must(LAUNCH(fill, dim3(1), dim3(4), 0, s, x, 4, 5.0f));
    must(cudaEventRecord(end, s));
    ck_assert_int_eq(cudaEventElapsedTime(&ms, start, end), cudaErrorNotReady);
    (void)cudaGetLastError();
    int queries = 0;
    while (cudaEventQuery(end) == cudaErrorNotReady)
        queries++;
    ck_assert_int_eq(queries, 3);
    must(cudaEventElapsedTime(&ms, start, end));
    ck_assert(ms >= 0);
    must(cudaEventDestroy(start));
    must(cudaEventDestroy(end));
    must(cudaStreamDestroy(s));
    must(cudaFree(x));
    ck_assert_int_eq(simgpu_live_objects(), 0);
}
END_TEST

/* Memory */

START_TEST(test_memory_is_limited_and_counted)
{
    simgpu_options options = {2, 1 << 20, SIMGPU_LAZY, 1, false, false};
    simgpu_reset(&options);
    void *a, *b;
    size_t left, total;
    must(cudaMalloc(&a, 1000000));
    ck_assert_int_eq(cudaMalloc(&b, 100000), cudaErrorMemoryAllocation);
    ck_assert_ptr_null(b);
    ck_assert_int_eq(cudaGetLastError(), cudaErrorMemoryAllocation);
    must(cudaMemGetInfo(&left, &total));
    ck_assert_uint_eq(total, 1 << 20);
    ck_assert_uint_lt(left, 100000);
    must(cudaSetDevice(1));
    must(cudaMalloc(&b, 100000));
    ck_assert_int_eq(simgpu_live_objects(), 2);
    must(cudaFree(b));
    must(cudaFree(a));
    ck_assert_int_eq(cudaFree(a), cudaErrorInvalidValue);
    ck_assert_int_eq(simgpu_live_objects(), 0);
    ck_assert_uint_eq(simgpu_used_memory(0), 0);
    ck_assert_uint_ge(simgpu_peak_memory(0), 1000000);
}
END_TEST

START_TEST(test_copies_are_checked)
{
    cudaStream_t s = new_stream();
    float *x = device_floats(4), *host = host_floats(4), *freed = host_floats(4);
    ck_assert_int_eq(cudaMemcpyAsync(x, host, 20, cudaMemcpyHostToDevice, s),
                     cudaErrorInvalidValue);
    ck_assert_int_eq(cudaMemcpyAsync(x, host, 16, cudaMemcpyDeviceToHost, s),
                     cudaErrorInvalidValue);
    ck_assert_int_eq(cudaMemcpyAsync(host, x + 1, 16, cudaMemcpyDefault, s), cudaErrorInvalidValue);
    must(cudaFreeHost(freed));
    must(cudaMemcpyAsync(host, x, 16, cudaMemcpyDefault, s));
    must(cudaStreamSynchronize(s));
}
END_TEST

START_TEST(test_other_devices_memory)
{
    float *there = device_floats(4);
    must(cudaSetDevice(1));
    cudaStream_t s = new_stream();
    float *here = device_floats(4);
    must(cudaMemcpyPeerAsync(here, 1, there, 0, 16, s)); /* by way of the host */
    must(cudaStreamSynchronize(s));
    int can;
    must(cudaDeviceCanAccessPeer(&can, 1, 0));
    ck_assert_int_eq(can, 1);
    must(cudaDeviceEnablePeerAccess(0, 0));
    ck_assert_int_eq(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
    (void)cudaGetLastError();
    must(LAUNCH(scale, dim3(1), dim3(4), 0, s, there, here, 4, 1.0f));
    must(cudaStreamSynchronize(s));
    must(cudaSetDevice(2));
    cudaStream_t without = new_stream();
    must(LAUNCH(fill, dim3(1), dim3(4), 0, without, there, 4, 1.0f));
    ck_assert_int_eq(cudaStreamSynchronize(without), cudaErrorIllegalAddress);
}
END_TEST

/* Graphs */

/* Their first use may not be inside a capture. */
void use_kernels(cudaStream_t s, float *x)
{
    must(LAUNCH(fill, dim3(1), dim3(1), 0, s, x, 0, 0.0f));
    must(LAUNCH(scale, dim3(1), dim3(1), 0, s, x, x, 0, 0.0f));
}

START_TEST(test_capture_and_replay)
{
    cudaStream_t s = new_stream(), side = new_stream();
    cudaEvent_t fork = new_event(), join = new_event();
    float *x = device_floats(4), *y = device_floats(4), *z = device_floats(4);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    use_kernels(s, x);
    must(cudaMemsetAsync(x, 0, 16, s));
    must(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    must(LAUNCH(fill, dim3(1), dim3(4), 0, s, x, 4, 5.0f));
    must(cudaEventRecord(fork, s));
    must(cudaStreamWaitEvent(side, fork, 0));
    must(LAUNCH(scale, dim3(1), dim3(4), 0, side, x, y, 4, 2.0f));
    must(LAUNCH(scale, dim3(1), dim3(4), 0, s, x, z, 4, 3.0f));
    must(cudaEventRecord(join, side));
    must(cudaStreamWaitEvent(s, join, 0));
    must(LAUNCH(scale, dim3(1), dim3(4), 0, s, y, x, 4, 10.0f));
    must(cudaStreamEndCapture(s, &graph));
    must(cudaGraphInstantiate(&exec, graph, 0));
    must(cudaGraphDestroy(graph));
    must(cudaStreamSynchronize(s));
    ck_assert_float_eq(read_floats(x, 1)[0], 0.0f); /* captured, not run */
    for (int i = 0; i < 2; i++) {
        must(cudaMemsetAsync(y, 0, 16, s));
        must(cudaGraphLaunch(exec, s));
        must(cudaStreamSynchronize(s));
        ck_assert_float_eq(read_floats(x, 4)[3], 100.0f);
        ck_assert_float_eq(read_floats(z, 4)[3], 15.0f);
    }
    must(cudaGraphExecDestroy(exec));
    no_faults();
}
END_TEST

/* The graph's two branches are not ordered: some order shows that. */
START_TEST(test_missing_dependency_in_a_graph_shows)
{
    cudaStream_t s = new_stream(), side = new_stream();
    cudaEvent_t fork = new_event(), join = new_event();
    float *x = device_floats(4), *y = device_floats(4);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    use_kernels(s, x);
    must(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    must(cudaMemsetAsync(x, 0, 16, s));
    must(cudaEventRecord(fork, s));
    must(cudaStreamWaitEvent(side, fork, 0));
    must(LAUNCH(fill, dim3(1), dim3(4), 0, s, x, 4, 5.0f));
    must(LAUNCH(scale, dim3(1), dim3(4), 0, side, x, y, 4, 2.0f));
    must(cudaEventRecord(join, side));
    must(cudaStreamWaitEvent(s, join, 0));
    must(cudaStreamEndCapture(s, &graph));
    must(cudaGraphInstantiate(&exec, graph, 0));
    int wrong = 0, runs = 50;
    for (int i = 0; i < runs; i++) {
        must(cudaGraphLaunch(exec, s));
        must(cudaStreamSynchronize(s));
        wrong += read_floats(y, 1)[0] != 10.0f;
    }
    ck_assert_int_gt(wrong, 0);
    ck_assert_int_lt(wrong, runs);
}
END_TEST

START_TEST(test_captures_that_cannot_be)
{
    cudaStream_t s = new_stream(), side = new_stream();
    cudaEvent_t fork = new_event();
    float *x = device_floats(4), here[4];
    void *p;
    cudaGraph_t graph;
    use_kernels(side, x);
    must(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    ck_assert_int_eq(cudaMalloc(&p, 16), cudaErrorStreamCaptureUnsupported);
    ck_assert_int_eq(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    ck_assert_ptr_null(graph);
    must(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    must(cudaEventRecord(fork, s));
    must(cudaStreamWaitEvent(side, fork, 0));
    (void)cudaGetLastError();
    must(LAUNCH(fill, dim3(1), dim3(4), 0, side, x, 4, 5.0f));
    ck_assert_int_eq(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureUnjoined);
    must(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    ck_assert_int_eq(cudaMemcpyAsync(here, x, 16, cudaMemcpyDeviceToHost, s),
                     cudaErrorStreamCaptureUnsupported);
    ck_assert_int_eq(cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
    ck_assert_int_eq(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    must(cudaMalloc(&p, 16));
}
END_TEST

/* Faults on request */

START_TEST(test_calls_fail_on_request)
{
    void *p;
    simgpu_fail_call("cudaMalloc", 2, cudaErrorMemoryAllocation);
    must(cudaMalloc(&p, 16));
    ck_assert_int_eq(cudaMalloc(&p, 16), cudaErrorMemoryAllocation);
    must(cudaMalloc(&p, 16));
    ck_assert_int_eq(simgpu_calls("cudaMalloc"), 3);
}
END_TEST

START_TEST(test_hanging_device)
{
    cudaStream_t s = new_stream();
    float *x = device_floats(4);
    simgpu_hang(0, 1);
    must(cudaMemsetAsync(x, 0, 16, s));
    must(cudaMemsetAsync(x, 1, 16, s));
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(cudaStreamQuery(s), cudaErrorNotReady);
    ck_assert_int_eq(simgpu_operations(0), 1);
    ck_assert_int_eq(simgpu_faults(), 0);
    ck_assert_int_eq(cudaStreamSynchronize(s), cudaErrorLaunchTimeout);
    ck_assert_int_eq(simgpu_faults(), 1);
}
END_TEST

START_TEST(test_broken_device)
{
    cudaStream_t s = new_stream();
    float *x = device_floats(4);
    void *p;
    simgpu_break(0, cudaErrorECCUncorrectable);
    must(cudaMemsetAsync(x, 0, 16, s));
    ck_assert_int_eq(cudaStreamQuery(s), cudaErrorECCUncorrectable);
    ck_assert_int_eq(cudaMalloc(&p, 16), cudaErrorECCUncorrectable);
    must(cudaSetDevice(1));
    must(cudaMalloc(&p, 16));
}
END_TEST

START_TEST(test_no_driver)
{
    simgpu_options options = {0, 0, SIMGPU_LAZY, 1, false, true};
    int count = -1, version = -1;
    simgpu_reset(&options);
    ck_assert_int_eq(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
    ck_assert_int_eq(count, 0);
    must(cudaDriverGetVersion(&version));
    ck_assert_int_eq(version, 0);
}
END_TEST

void add(Suite *suite, const char *name, std::initializer_list<const TTest *> tests)
{
    TCase *group = tcase_create(name);
    tcase_add_checked_fixture(group, fresh_machine, nullptr);
    tcase_set_timeout(group, 60);
    for (const TTest *test : tests)
        tcase_add_test(group, test);
    suite_add_tcase(suite, group);
}

Suite *make_suite()
{
    Suite *suite = suite_create("simgpu");
    add(suite, "kernels",
        {test_every_thread_runs_once, test_shuffles_and_shared_memory, test_votes,
         test_missing_barrier_shows, test_launches_that_cannot_be, test_errors_left_behind});
    TCase *divergence = tcase_create("divergence");
    tcase_add_checked_fixture(divergence, fresh_machine, nullptr);
    tcase_add_loop_test(divergence, test_divergence_is_a_failure, 0, 3);
    suite_add_tcase(suite, divergence);
    add(suite, "streams",
        {test_streams_are_lazy, test_missing_event_shows, test_buffer_reused_too_early_shows,
         test_events});
    add(suite, "memory",
        {test_memory_is_limited_and_counted, test_copies_are_checked, test_other_devices_memory});
    add(suite, "graphs",
        {test_capture_and_replay, test_missing_dependency_in_a_graph_shows,
         test_captures_that_cannot_be});
    add(suite, "faults",
        {test_calls_fail_on_request, test_hanging_device, test_broken_device, test_no_driver});
    return suite;
}

} // namespace

int main()
{
    return run_suites(make_suite(), nullptr);
}
