/* SPDX-License-Identifier: MIT */
#include "tests/engine/device/cuda/kernels/cuda_tensor.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "engine/device/bf16.h"
#ifndef DPARTUI_REAL_GPU
#include "tests/simgpu/simgpu.h"
#endif

enum { MEMORY_LIMIT = 512 };

cudaStream_t cuda_stream;
static void *taken[MEMORY_LIMIT];
static int taken_count;

void cuda_setup(void)
{
#ifndef DPARTUI_REAL_GPU
    simgpu_reset(NULL);
#endif
    taken_count = 0;
    ck_assert_int_eq(cudaStreamCreateWithFlags(&cuda_stream, cudaStreamNonBlocking), cudaSuccess);
}

void cuda_teardown(void)
{
    while (taken_count > 0)
        ck_assert_int_eq(cudaFree(taken[--taken_count]), cudaSuccess);
    ck_assert_int_eq(cudaStreamDestroy(cuda_stream), cudaSuccess);
#ifndef DPARTUI_REAL_GPU
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
#endif
}

void cuda_done(cudaError_t launched)
{
    ck_assert_int_eq(launched, cudaSuccess);
    ck_assert_int_eq(cudaStreamSynchronize(cuda_stream), cudaSuccess);
}

static void *host_memory(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

void *cuda_memory(const void *data, size_t bytes)
{
    void *device = NULL;
    ck_assert_int_lt(taken_count, MEMORY_LIMIT);
    ck_assert_int_eq(cudaMalloc(&device, bytes ? bytes : 16), cudaSuccess);
    taken[taken_count++] = device;
    if (data && bytes) {
        ck_assert_int_eq(cudaMemcpyAsync(device, data, bytes, cudaMemcpyHostToDevice, cuda_stream),
                         cudaSuccess);
        cuda_done(cudaSuccess);
    }
    return device;
}

void *cuda_copy(const void *device, size_t bytes)
{
    void *copy = host_memory(bytes);
    if (bytes)
        ck_assert_int_eq(cudaMemcpyAsync(copy, device, bytes, cudaMemcpyDeviceToHost, cuda_stream),
                         cudaSuccess);
    cuda_done(cudaSuccess);
    return copy;
}

struct sums_memory cuda_sums_memory(struct tensor_shape shape)
{
    uint32_t *zeros = calloc(KERNEL_COUNTERS, sizeof *zeros);
    ck_assert_ptr_nonnull(zeros);
    const struct sums_memory memory = {cuda_memory(NULL, kernel_sums_scratch(shape)),
                                       cuda_memory(zeros, KERNEL_COUNTERS * sizeof *zeros)};
    free(zeros);
    return memory;
}

void cuda_counters_are_zero(struct sums_memory memory)
{
    uint32_t *counters = cuda_copy(memory.counters, KERNEL_COUNTERS * sizeof *counters);
    for (int i = 0; i < KERNEL_COUNTERS; i++)
        ck_assert_uint_eq(counters[i], 0);
    free(counters);
}

float *cuda_vector(const double *x, size_t count)
{
    return tensor_put(x, count, CUDA_F32);
}

double *cuda_vector_copy(const float *device, size_t count)
{
    return tensor_get(device, count, CUDA_F32);
}

double *cuda_doubles_copy(const double *device, size_t count)
{
    return cuda_copy(device, count * sizeof *device);
}

double tensor_rounded(double x, enum cuda_type type)
{
    return (double)(type == CUDA_BF16 ? bf16_widen(bf16_round((float)x)) : (float)x);
}

double *tensor_random(struct tensor_shape shape, enum cuda_type type, double mean, unsigned number)
{
    const struct rng_stream stream = rng_stream(3, RNG_RANDOM_DATA, 0, number, 0);
    const size_t count = tensor_size(shape);
    double *x = host_memory(count * sizeof *x);
    for (size_t i = 0; i < count; i++) {
        const int channel = (int)(i % (size_t)shape.channels);
        x[i] = channel < shape.real ? tensor_rounded(mean + rng_normal(&stream, i), type) : 0;
    }
    return x;
}

double *vector_random(int channels, int real, double mean, unsigned number)
{
    const struct tensor_shape shape = {1, 1, 1, channels, real};
    return tensor_random(shape, CUDA_F32, mean, number);
}

void *tensor_put(const double *x, size_t count, enum cuda_type type)
{
    const size_t bytes = count * cuda_type_size(type);
    void *numbers = host_memory(bytes);
    for (size_t i = 0; i < count; i++) {
        if (type == CUDA_BF16)
            ((uint16_t *)numbers)[i] = bf16_round((float)x[i]);
        else
            ((float *)numbers)[i] = (float)x[i];
    }
    void *device = cuda_memory(numbers, bytes);
    free(numbers);
    return device;
}

double *tensor_get(const void *device, size_t count, enum cuda_type type)
{
    void *numbers = cuda_copy(device, count * cuda_type_size(type));
    double *x = host_memory(count * sizeof *x);
    for (size_t i = 0; i < count; i++)
        x[i] = type == CUDA_BF16 ? (double)bf16_widen(((const uint16_t *)numbers)[i])
                                 : (double)((const float *)numbers)[i];
    free(numbers);
    return x;
}

void tensor_compare(const char *what, double *got, double *want, size_t count, enum cuda_type type,
                    double slack)
{
    const double unit = type == CUDA_BF16 ? 0x1p-8 : 0x1p-22;
    for (size_t i = 0; i < count; i++) {
        const double most = unit * fabs(want[i]) + slack;
        ck_assert_msg(fabs(got[i] - want[i]) <= most, "%s: number %zu of %zu is %.9g, not %.9g",
                      what, i, count, got[i], want[i]);
    }
    free(got);
    free(want);
}

void tensor_padding_is_zero(const double *x, struct tensor_shape shape)
{
    for (size_t i = 0; i < tensor_size(shape); i++)
        if ((int)(i % (size_t)shape.channels) >= shape.real)
            ck_assert_double_eq(x[i], 0);
}

void same_bits(const void *a, const void *b, size_t bytes)
{
    void *left = cuda_copy(a, bytes), *right = cuda_copy(b, bytes);
    ck_assert_mem_eq(left, right, bytes);
    free(left);
    free(right);
}
