/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "engine/device/cuda/kernels/each.h"

/*
 * Softmax and cross-entropy. A warp takes a row, its lanes the classes in turn; exponentials and
 * sums are f64, as there are few of them. Each block leaves the sum of its rows, one more block
 * adds those.
 */
enum { LOSS_WARP = 32, LOSS_ROWS = 8, LOSS_FINISH_THREADS = 256 };

static const uint32_t LOSS_ALL_LANES = 0xffffffffu;

static inline uint32_t loss_blocks(int rows)
{
    return (uint32_t)each_divided((size_t)rows, LOSS_ROWS);
}

extern "C" size_t kernel_loss_scratch(int rows)
{
    return loss_blocks(rows) * sizeof(struct loss_result);
}

/* The largest of a row's logits; of equal ones the first. */
struct loss_largest {
    float value;
    int index;
};

static __device__ struct loss_largest larger(struct loss_largest a, struct loss_largest b)
{
    const bool second = b.value > a.value || (b.value == a.value && b.index < a.index);
    return second ? b : a;
}

static __device__ struct loss_largest largest_of_row(const float *x, int classes, int lane)
{
    struct loss_largest best = {-INFINITY, classes};
    for (int k = lane; k < classes; k += LOSS_WARP) {
        const struct loss_largest here = {x[k], k};
        best = larger(best, here);
    }
    for (int distance = LOSS_WARP / 2; distance > 0; distance /= 2) {
        struct loss_largest other;
        other.value = __shfl_xor_sync(LOSS_ALL_LANES, best.value, distance);
        other.index = __shfl_xor_sync(LOSS_ALL_LANES, best.index, distance);
        best = larger(best, other);
    }
    return best;
}

static __device__ double sum_of_row(const float *x, int classes, int lane, double max)
{
    double sum = 0;
    for (int k = lane; k < classes; k += LOSS_WARP)
        sum += exp((double)x[k] - max);
    for (int distance = LOSS_WARP / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(LOSS_ALL_LANES, sum, distance);
    return sum;
}

static __device__ void store_number(float *to, float x)
{
    *to = x;
}

static __device__ void store_number(uint16_t *to, float x)
{
    *to = bf16_round(x);
}

struct loss_call {
    const float *logits;
    int rows, classes, stride;
    const uint8_t *labels;
    double smoothing;
    const double *global_rows;
    uint8_t *predicted;
};

/* (softmax - target) * scale, zeros after the classes. */
template <typename T>
static __device__ void gradient_of_row(const struct loss_call &c, const float *x, int lane,
                                       double max, double sum, int label, T *to)
{
    const double own = 1 - c.smoothing, other = c.smoothing / c.classes, scale = 1 / *c.global_rows;
    for (int k = lane; k < c.stride; k += LOSS_WARP) {
        double d = 0;
        if (k < c.classes)
            d = (exp((double)x[k] - max) / sum - (k == label ? own : 0) - other) * scale;
        store_number(to + k, (float)d);
    }
}

/* What smoothing adds to the loss of a row. */
static __device__ double smoothing_of_row(const struct loss_call &c, const float *x, int lane,
                                          int label)
{
    double sum = 0;
    for (int k = lane; k < c.classes; k += LOSS_WARP)
        sum += (double)x[k];
    for (int distance = LOSS_WARP / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(LOSS_ALL_LANES, sum, distance);
    return c.smoothing * ((double)x[label] - sum / c.classes);
}

template <typename T>
__global__ void loss_of_rows(struct loss_call c, T *dlogits, struct loss_result *partial)
{
    __shared__ double losses[LOSS_ROWS];
    __shared__ int hits[LOSS_ROWS];
    const int warp = (int)threadIdx.x / LOSS_WARP, lane = (int)threadIdx.x % LOSS_WARP;
    const int row = (int)blockIdx.x * LOSS_ROWS + warp;
    double loss = 0;
    int hit = 0;
    if (row < c.rows) { /* all lanes of a warp agree */
        const float *x = c.logits + (size_t)row * c.stride;
        const int label = c.labels[row];
        const struct loss_largest best = largest_of_row(x, c.classes, lane);
        const double max = (double)best.value, sum = sum_of_row(x, c.classes, lane, max);
        loss = label < c.classes ? log(sum) + max - (double)x[label] : (double)NAN;
        if (c.smoothing > 0 && label < c.classes)
            loss += smoothing_of_row(c, x, lane, label);
        const int guess = best.index < c.classes ? best.index : 0; /* no number among them */
        hit = guess == label;
        if (c.predicted && lane == 0)
            c.predicted[row] = (uint8_t)guess;
        if (dlogits)
            gradient_of_row(c, x, lane, max, sum, label, dlogits + (size_t)row * c.stride);
    }
    if (lane == 0) {
        losses[warp] = loss;
        hits[warp] = hit;
    }
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    struct loss_result result = {0, 0};
    for (int k = 0; k < LOSS_ROWS; k++) {
        result.loss_sum += losses[k];
        result.correct += hits[k];
    }
    partial[blockIdx.x] = result;
}

static __global__ void loss_of_blocks(const struct loss_result *partial, uint32_t blocks,
                                      struct loss_result *result)
{
    __shared__ struct loss_result shared[LOSS_FINISH_THREADS];
    struct loss_result sum = {0, 0};
    for (uint32_t i = threadIdx.x; i < blocks; i += LOSS_FINISH_THREADS) {
        sum.loss_sum += partial[i].loss_sum;
        sum.correct += partial[i].correct;
    }
    shared[threadIdx.x] = sum;
    for (uint32_t distance = LOSS_FINISH_THREADS / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (threadIdx.x < distance) {
            shared[threadIdx.x].loss_sum += shared[threadIdx.x + distance].loss_sum;
            shared[threadIdx.x].correct += shared[threadIdx.x + distance].correct;
        }
    }
    if (threadIdx.x == 0)
        *result = shared[0];
}

extern "C" cudaError_t kernel_loss(cudaStream_t s, const float *logits, int rows, int classes,
                                   int stride, const uint8_t *labels, double smoothing,
                                   const double *global_rows, enum cuda_type type, void *dlogits,
                                   void *scratch, struct loss_result *result, uint8_t *predicted)
{
    const struct loss_call call = {logits, rows,      classes,     stride,
                                   labels, smoothing, global_rows, predicted};
    struct loss_result *partial = static_cast<struct loss_result *>(scratch);
    const dim3 blocks(loss_blocks(rows)), threads(LOSS_ROWS * LOSS_WARP);
    cudaError_t status = cudaSuccess;
    if (rows > 0 && type == CUDA_BF16)
        status = LAUNCH(loss_of_rows<uint16_t>, blocks, threads, 0, s, call, (uint16_t *)dlogits,
                        partial);
    else if (rows > 0)
        status =
            LAUNCH(loss_of_rows<float>, blocks, threads, 0, s, call, (float *)dlogits, partial);
    if (status != cudaSuccess)
        return status;
    return LAUNCH(loss_of_blocks, dim3(1), dim3(LOSS_FINISH_THREADS), 0, s, partial,
                  loss_blocks(rows), result);
}
