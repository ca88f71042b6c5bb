/* SPDX-License-Identifier: MIT */

/*
 * What the simulated CUDA runtime refuses while a stream is captured, as the real one does: its
 * documentation of cudaStreamBeginCapture and cudaThreadExchangeStreamCaptureMode, and the
 * programming guide's section on prohibited operations.
 */
#include <functional>
#include <thread>

#include "engine/device/cuda/kernels/launch.h"
#include "tests/simgpu/simgpu.h"
#include "tests/suites.h"

namespace
{
#define must(CALL) ck_assert_int_eq(CALL, cudaSuccess)
__global__ void fill(float *x, float value)
{
    x[threadIdx.x] = value;
}

__global__ void fill_again(float *x, float value)
{
    x[threadIdx.x] = value;
}

cudaStream_t captured, other, blocking;
cudaEvent_t inside, outside;
float *memory;
float pageable[4];
void *pinned;

void prepare()
{
    simgpu_reset(nullptr);
    must(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
    must(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    must(cudaStreamCreate(&blocking));
    must(cudaEventCreate(&inside));
    must(cudaEventCreate(&outside));
    must(cudaMalloc(reinterpret_cast<void **>(&memory), 64));
    must(cudaMallocHost(&pinned, 64));
    must(LAUNCH(fill, dim3(1), dim3(4), 0, other, memory, 1.0f));
    must(cudaEventRecord(outside, other));
}

/* Beginning a capture that has work in it and an event recorded. */
void begin(cudaStream_t s, cudaStreamCaptureMode mode)
{
    must(cudaStreamBeginCapture(s, mode));
    must(LAUNCH(fill, dim3(1), dim3(4), 0, s, memory, 2.0f));
    must(cudaEventRecord(inside, s));
}

/* Ends a capture that is as it should be, or was spoiled. */
void end(cudaStream_t s, bool spoiled, const char *what)
{
    cudaGraph_t graph;
    cudaStreamCaptureStatus now;
    must(cudaStreamIsCapturing(s, &now));
    ck_assert_msg(
        now == (spoiled ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive),
        "%s: the capture is in state %d", what, static_cast<int>(now));
    cudaError_t status = cudaStreamEndCapture(s, &graph);
    ck_assert_msg(status == (spoiled ? cudaErrorStreamCaptureInvalidated : cudaSuccess), "%s: %s",
                  what, cudaGetErrorName(status));
    ck_assert_msg((graph == nullptr) == spoiled, "%s", what);
    must(cudaStreamIsCapturing(s, &now));
    ck_assert_int_eq(now, cudaStreamCaptureStatusNone);
    (void)cudaGetLastError();
}

struct call {
    const char *name;
    std::function<cudaError_t()> make;
    cudaError_t wanted; /* in a capture of this thread */
};

/* What only may wait for a capture, or not: refused to the thread that captures. */
const call unsafe[] = {
    {"cudaMalloc",
     [] {
         void *p;
         return cudaMalloc(&p, 16);
     },
     cudaErrorStreamCaptureUnsupported},
    {"cudaFree", [] { return cudaFree(memory); }, cudaErrorStreamCaptureUnsupported},
    {"cudaMallocHost",
     [] {
         void *p;
         return cudaMallocHost(&p, 16);
     },
     cudaErrorStreamCaptureUnsupported},
    {"cudaFreeHost", [] { return cudaFreeHost(pinned); }, cudaErrorStreamCaptureUnsupported},
    {"cudaMemcpy", [] { return cudaMemcpy(pinned, memory, 16, cudaMemcpyDeviceToHost); },
     cudaErrorStreamCaptureUnsupported},
    {"cudaMemset", [] { return cudaMemset(memory, 0, 16); }, cudaErrorStreamCaptureUnsupported},
    {"cudaStreamQuery, another", [] { return cudaStreamQuery(other); },
     cudaErrorStreamCaptureUnsupported},
    {"cudaStreamSynchronize, another", [] { return cudaStreamSynchronize(other); },
     cudaErrorStreamCaptureUnsupported},
    {"cudaEventQuery", [] { return cudaEventQuery(outside); }, cudaErrorStreamCaptureUnsupported},
    {"cudaEventSynchronize", [] { return cudaEventSynchronize(outside); },
     cudaErrorStreamCaptureUnsupported},
    {"first use of a kernel",
     [] { return LAUNCH(fill_again, dim3(1), dim3(4), 0, captured, memory, 1.0f); },
     cudaErrorStreamCaptureUnsupported},
    {"cudaFuncSetAttribute",
     [] {
         return cudaFuncSetAttribute(reinterpret_cast<const void *>(fill_again),
                                     cudaFuncAttributePreferredSharedMemoryCarveout, 1);
     },
     cudaErrorStreamCaptureUnsupported},
};

/* What would wait for the capture itself: refused in every mode. */
const call impossible[] = {
    {"cudaStreamQuery", [] { return cudaStreamQuery(captured); },
     cudaErrorStreamCaptureUnsupported},
    {"cudaStreamSynchronize", [] { return cudaStreamSynchronize(captured); },
     cudaErrorStreamCaptureUnsupported},
    {"cudaDeviceSynchronize", cudaDeviceSynchronize, cudaErrorStreamCaptureUnsupported},
    {"cudaEventQuery", [] { return cudaEventQuery(inside); }, cudaErrorCapturedEvent},
    {"cudaEventSynchronize", [] { return cudaEventSynchronize(inside); }, cudaErrorCapturedEvent},
    {"cudaMemcpyAsync, pageable",
     [] { return cudaMemcpyAsync(pageable, memory, 16, cudaMemcpyDeviceToHost, captured); },
     cudaErrorStreamCaptureUnsupported},
    {"cudaStreamWaitEvent, not captured", [] { return cudaStreamWaitEvent(captured, outside, 0); },
     cudaErrorStreamCaptureIsolation},
};

void refused(const call &c, cudaStreamCaptureMode mode, cudaError_t wanted)
{
    prepare();
    begin(captured, mode);
    cudaError_t status = c.make();
    ck_assert_msg(status == wanted, "%s: %s, wanted %s", c.name, cudaGetErrorName(status),
                  cudaGetErrorName(wanted));
    end(captured, true, c.name);
    begin(captured, mode); /* the next is not concerned */
    end(captured, false, c.name);
}

START_TEST(test_refused_to_the_thread_that_captures)
{
    for (const call &c : unsafe)
        refused(c, cudaStreamCaptureModeThreadLocal, c.wanted);
    for (const call &c : unsafe)
        refused(c, cudaStreamCaptureModeGlobal, c.wanted);
    /* There the mode is what is told first. */
    for (const call &c : impossible)
        if (c.wanted != cudaErrorCapturedEvent)
            refused(c, cudaStreamCaptureModeThreadLocal, c.wanted);
}
END_TEST

START_TEST(test_allowed_in_relaxed_mode)
{
    for (const call &c : unsafe) {
        prepare();
        begin(captured, cudaStreamCaptureModeRelaxed);
        cudaError_t status = c.make();
        ck_assert_msg(status == cudaSuccess || status == cudaErrorNotReady, "%s: %s", c.name,
                      cudaGetErrorName(status));
        end(captured, false, c.name);
    }
    for (const call &c : impossible)
        refused(c, cudaStreamCaptureModeRelaxed, c.wanted);
}
END_TEST

/* Only captures of mode Global concern what other threads do, unless it is about the capture. */
START_TEST(test_other_threads)
{
    for (const call &c : unsafe) {
        for (cudaStreamCaptureMode mode :
             {cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeGlobal}) {
            cudaError_t status = cudaErrorUnknown;
            prepare();
            begin(captured, mode);
            std::thread([&] { status = c.make(); }).join();
            bool local = mode == cudaStreamCaptureModeThreadLocal;
            ck_assert_msg((status == cudaSuccess || status == cudaErrorNotReady) == local,
                          "%s in mode %d: %s", c.name, mode, cudaGetErrorName(status));
            end(captured, !local, c.name);
        }
    }
    for (const call &c : impossible) {
        cudaError_t status = cudaErrorUnknown;
        prepare();
        begin(captured, cudaStreamCaptureModeThreadLocal);
        std::thread([&] { status = c.make(); }).join();
        ck_assert_msg(status == c.wanted, "%s: %s", c.name, cudaGetErrorName(status));
        end(captured, true, c.name);
    }
}
END_TEST

/* The device's own stream would wait for a blocking stream that is captured. */
START_TEST(test_legacy_stream)
{
    const std::function<cudaError_t()> uses[] = {
        [] { return LAUNCH(fill, dim3(1), dim3(4), 0, nullptr, memory, 1.0f); },
        [] { return cudaMemsetAsync(memory, 0, 16, nullptr); },
        [] { return cudaMemcpy(pinned, memory, 16, cudaMemcpyDeviceToHost); },
        [] { return cudaStreamSynchronize(nullptr); },
        [] { return cudaStreamQuery(cudaStreamLegacy); },
        [] { return cudaEventRecord(outside, nullptr); },
    };
    for (const auto &use : uses) {
        prepare();
        begin(blocking, cudaStreamCaptureModeRelaxed);
        cudaStreamCaptureStatus now;
        ck_assert_int_eq(cudaStreamIsCapturing(nullptr, &now), cudaErrorStreamCaptureImplicit);
        ck_assert_int_eq(use(), cudaErrorStreamCaptureImplicit);
        end(blocking, true, "legacy stream");
        begin(captured, cudaStreamCaptureModeRelaxed); /* which does not wait for it */
        must(cudaStreamIsCapturing(nullptr, &now));
        ck_assert_int_ne(use(), cudaErrorStreamCaptureImplicit);
        end(captured, false, "legacy stream");
    }
    ck_assert_int_eq(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeThreadLocal),
                     cudaErrorStreamCaptureUnsupported);
}
END_TEST

/* A spoiled capture takes nothing more, on any of its streams. */
START_TEST(test_spoiled_capture_takes_nothing)
{
    void *p;
    prepare();
    begin(captured, cudaStreamCaptureModeThreadLocal);
    must(cudaStreamWaitEvent(other, inside, 0));
    ck_assert_int_eq(cudaMalloc(&p, 16), cudaErrorStreamCaptureUnsupported);
    for (cudaStream_t s : {captured, other}) {
        const cudaError_t results[] = {
            cudaMemsetAsync(memory, 0, 16, s), cudaEventRecord(outside, s),
            cudaStreamWaitEvent(s, inside, 0), LAUNCH(fill, dim3(1), dim3(4), 0, s, memory, 1.0f)};
        for (cudaError_t status : results)
            ck_assert_int_eq(status, cudaErrorStreamCaptureInvalidated);
        (void)cudaGetLastError();
    }
    ck_assert_int_eq(cudaStreamWaitEvent(blocking, inside, 0), cudaErrorStreamCaptureInvalidated);
    end(captured, true, "spoiled");
    must(cudaMemsetAsync(memory, 0, 16, other));
    ck_assert_int_eq(simgpu_faults(), 0);
    begin(captured, cudaStreamCaptureModeThreadLocal);
    (void)cudaStreamDestroy(captured);
    ck_assert_int_eq(simgpu_faults(), 1);
}
END_TEST

} // namespace

int main()
{
    Suite *suite = suite_create("simulated GPU, captures");
    TCase *tests = tcase_create("captures");
    tcase_add_test(tests, test_refused_to_the_thread_that_captures);
    tcase_add_test(tests, test_allowed_in_relaxed_mode);
    tcase_add_test(tests, test_other_threads);
    tcase_add_test(tests, test_legacy_stream);
    tcase_add_test(tests, test_spoiled_capture_takes_nothing);
    suite_add_tcase(suite, tests);
    return run_suites(suite, nullptr);
}
