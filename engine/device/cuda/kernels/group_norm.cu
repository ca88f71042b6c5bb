/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/kernels/each.h"
#include "engine/device/cuda/kernels/norm_math.h"

/*
 * GroupNorm: first sums over a row's pixels, channel by channel, as float[rows][2][channels]; then
 * what each channel of each row is multiplied by, from the sums of its group, as
 * float[rows][FACTORS][channels]; then a pass over the tensor. All sums have a fixed order.
 */
enum { ROW_THREADS = 256, ROW_TILE = 32, GROUP_THREADS = 32, SUMS = 2, FACTORS = 3 };

/* How the blocks of the first and the last step share a row: each takes `width` packs of a pixel,
 * neighbouring threads neighbouring packs, and several such lanes share the pixels. */
struct row_walk {
    uint32_t pixels, groups, width, tiles, lanes; /* groups: packs of a pixel */
};

template <typename T> static struct row_walk row_walk_of(struct tensor_shape shape)
{
    struct row_walk w;
    w.pixels = (uint32_t)(shape.h * shape.w);
    w.groups = (uint32_t)shape.channels / pack<T>::size;
    w.tiles = (uint32_t)each_divided(w.groups, ROW_TILE);
    w.width = (uint32_t)each_divided(w.groups, w.tiles);
    const uint32_t fitting = ROW_THREADS / w.width;
    w.lanes = fitting < w.pixels ? fitting : w.pixels;
    return w;
}

/* Number of the group of channel c, of `size` channels each; those that fill the last pack up have
 * none, and take the last. */
static inline __device__ uint32_t group_of(const struct group_norm &n, uint32_t c)
{
    const uint32_t size = (uint32_t)(n.shape.real / n.groups), group = c / size;
    return group < (uint32_t)n.groups ? group : (uint32_t)n.groups - 1;
}

/* The sums of all lanes, into those of the first. */
static __device__ void add_lanes(const struct row_walk &w, float (*sums)[ROW_THREADS], int count)
{
    const uint32_t lane = threadIdx.x / w.width;
    for (uint32_t left = w.lanes; left > 1; left = (left + 1) / 2) {
        const uint32_t distance = (left + 1) / 2;
        __syncthreads();
        if (lane + distance < left)
            for (int k = 0; k < count; k++)
                sums[k][threadIdx.x] += sums[k][threadIdx.x + distance * w.width];
    }
}

/* Of x - origin and its square, or, with dy, of dy and dy * (x - mean). */
template <typename T, bool backward>
__global__ void group_norm_sums(struct group_norm n, struct row_walk w, const T *x, const T *dy)
{
    enum { size = pack<T>::size };
    __shared__ float shared[SUMS * size][ROW_THREADS];
    const uint32_t lane = threadIdx.x / w.width, row = blockIdx.x;
    const uint32_t group = blockIdx.y * w.width + threadIdx.x % w.width;
    const size_t start = (size_t)row * w.pixels * w.groups;
    float sum[size] = {}, product[size] = {}, origin[size] = {}, v[size], d[size];
    if (group < w.groups) {
        if (backward)
            for (int k = 0; k < size; k++)
                origin[k] = n.stats[((size_t)row * n.groups + group_of(n, group * size + k)) * 2];
        else
            pack_numbers(pack_load(x, start + group), origin);
        for (uint32_t p = lane; p < w.pixels; p += w.lanes) {
            const size_t i = start + (size_t)p * w.groups + group;
            pack_numbers(pack_load(x, i), v);
            if (backward)
                pack_numbers(pack_load(dy, i), d);
            for (int k = 0; k < size; k++) {
                const float of_x = v[k] - origin[k], factor = backward ? d[k] : of_x;
                sum[k] += factor;
                product[k] += factor * of_x;
            }
        }
    }
    for (int k = 0; k < size; k++) {
        shared[k][threadIdx.x] = sum[k];
        shared[size + k][threadIdx.x] = product[k];
    }
    add_lanes(w, shared, SUMS * size);
    if (lane > 0 || group >= w.groups)
        return;
    float *to = n.sums + (size_t)row * SUMS * n.shape.channels + group * size;
    for (int k = 0; k < size; k++) {
        to[k] = shared[k][threadIdx.x];
        to[n.shape.channels + k] = shared[size + k][threadIdx.x];
    }
}

/* The sums of a group about zero: of x and its square, or of gamma * dy and gamma * dy * (x -
 * mean). Every thread of the block is given them. */
template <typename T, bool backward>
static __device__ struct norm_moments group_moments(const struct group_norm &n, const float *sums,
                                                    const T *x, uint32_t first, uint32_t size)
{
    __shared__ double parts[SUMS][GROUP_THREADS];
    struct norm_moments total = {0, 0};
    for (uint32_t c = first + threadIdx.x; c < first + size; c += GROUP_THREADS) {
        struct norm_moments m = {(double)sums[c], (double)sums[n.shape.channels + c]};
        if (backward) {
            m.sum *= (double)n.gamma[c];
            m.product *= (double)n.gamma[c];
        } else {
            m = norm_move_squares(m, (double)pack_first(x, c), (double)(n.shape.h * n.shape.w));
        }
        total.sum += m.sum;
        total.product += m.product;
    }
    parts[0][threadIdx.x] = total.sum;
    parts[1][threadIdx.x] = total.product;
    __syncthreads();
    total.sum = total.product = 0;
    for (int k = 0; k < GROUP_THREADS; k++) {
        total.sum += parts[0][k];
        total.product += parts[1][k];
    }
    return total;
}

static __device__ void set_factors(const struct group_norm &n, float *factors, uint32_t c,
                                   struct norm_slopes k)
{
    factors[c] = k.a;
    factors[n.shape.channels + c] = k.b;
    factors[2 * (size_t)n.shape.channels + c] = k.c;
}

/* A block for each group of each row. Forward y = a * x + c, backward dx = a * dy + b * x + c; all
 * are zero in channels that only fill the last pack up. */
template <typename T, bool backward>
__global__ void group_norm_factors(struct group_norm n, const T *x)
{
    const uint32_t row = blockIdx.x / n.groups, group = blockIdx.x % n.groups;
    const uint32_t size = (uint32_t)(n.shape.real / n.groups), first = group * size;
    const size_t pixels = (size_t)n.shape.h * n.shape.w, channels = (size_t)n.shape.channels;
    const float *sums = n.sums + row * SUMS * channels;
    float *factors = n.factors + row * FACTORS * channels;
    float *stats = n.stats + (size_t)blockIdx.x * 2;
    const double count = (double)size * (double)pixels;
    const struct norm_moments m =
        group_moments<T, backward>(n, sums, x + row * pixels * channels, first, size);
    double mean, istd;
    if (backward) {
        mean = (double)stats[0];
        istd = (double)stats[1];
    } else {
        const struct norm_statistics of = norm_statistics_of(m, count);
        mean = of.mean;
        istd = norm_istd(of.variance, n.eps);
    }
    for (uint32_t c = first + threadIdx.x; c < first + size; c += GROUP_THREADS) {
        struct norm_slopes k;
        if (backward) {
            const double b = -istd * istd * istd * m.product / count;
            k.a = (float)((double)n.gamma[c] * istd);
            k.b = (float)b;
            k.c = (float)(-istd * m.sum / count - b * mean);
        } else {
            const struct norm_affine affine = norm_affine_of(mean, istd, n.gamma[c], n.beta[c], 0);
            k.a = affine.scale;
            k.b = 0;
            k.c = affine.shift;
        }
        set_factors(n, factors, c, k);
    }
    const struct norm_slopes none = {0, 0, 0};
    if (group == (uint32_t)n.groups - 1)
        for (uint32_t c = first + size + threadIdx.x; c < channels; c += GROUP_THREADS)
            set_factors(n, factors, c, none);
    if (!backward && threadIdx.x == 0) {
        stats[0] = (float)mean;
        stats[1] = (float)istd;
    }
}

template <typename T, bool backward>
__global__ void group_norm_apply(struct group_norm n, struct row_walk w, const T *x, const T *dy,
                                 T *to)
{
    enum { size = pack<T>::size };
    const uint32_t lane = threadIdx.x / w.width, row = blockIdx.x;
    const uint32_t group = blockIdx.y * w.width + threadIdx.x % w.width;
    const size_t start = (size_t)row * w.pixels * w.groups, channels = (size_t)n.shape.channels;
    const float *factors = n.factors + row * FACTORS * channels;
    float a[size], b[size], c[size], v[size], d[size];
    if (group >= w.groups)
        return;
    pack_channels(factors, group, a);
    pack_channels(factors + channels, group, b);
    pack_channels(factors + 2 * channels, group, c);
    for (uint32_t p = lane; p < w.pixels; p += w.lanes) {
        const size_t i = start + (size_t)p * w.groups + group;
        pack_numbers(pack_load(x, i), v);
        if (backward)
            pack_numbers(pack_load(dy, i), d);
        for (int k = 0; k < size; k++)
            v[k] = backward ? fmaf(a[k], d[k], fmaf(b[k], v[k], c[k])) : fmaf(a[k], v[k], c[k]);
        pack_store(to, i, v);
    }
}

/* The gradients of gamma and beta: a thread for each channel adds all rows. */
__global__ void group_norm_gradients(struct group_norm n, float *dgamma, float *dbeta)
{
    const uint32_t c = blockIdx.x * blockDim.x + threadIdx.x, channels = (uint32_t)n.shape.channels;
    double sum = 0, product = 0;
    if (c >= (uint32_t)n.shape.real)
        return;
    for (size_t row = 0; row < (size_t)n.shape.rows; row++) {
        const float *sums = n.sums + row * SUMS * channels;
        sum += (double)sums[c];
        product +=
            (double)sums[channels + c] * (double)n.stats[(row * n.groups + group_of(n, c)) * 2 + 1];
    }
    dgamma[c] = (float)product;
    dbeta[c] = (float)sum;
}

extern "C" size_t kernel_group_norm_sums(struct tensor_shape shape)
{
    return (size_t)shape.rows * SUMS * (size_t)shape.channels * sizeof(float);
}

extern "C" size_t kernel_group_norm_factors(struct tensor_shape shape)
{
    return (size_t)shape.rows * FACTORS * (size_t)shape.channels * sizeof(float);
}

/* dy NULL: forward. */
template <typename T, bool backward>
static cudaError_t make_sums(cudaStream_t s, const struct group_norm *n, const void *x,
                             const void *dy)
{
    const struct row_walk w = row_walk_of<T>(n->shape);
    return LAUNCH((group_norm_sums<T, backward>), dim3((uint32_t)n->shape.rows, w.tiles),
                  dim3(w.lanes * w.width), 0, s, *n, w, (const T *)x, (const T *)dy);
}

template <typename T, bool backward>
static cudaError_t use_sums(cudaStream_t s, const struct group_norm *n, const void *x,
                            const void *dy, void *to)
{
    const struct row_walk w = row_walk_of<T>(n->shape);
    const uint32_t blocks = (uint32_t)n->shape.rows * (uint32_t)n->groups;
    const cudaError_t status = LAUNCH((group_norm_factors<T, backward>), dim3(blocks),
                                      dim3(GROUP_THREADS), 0, s, *n, (const T *)x);
    if (status != cudaSuccess)
        return status;
    return LAUNCH((group_norm_apply<T, backward>), dim3((uint32_t)n->shape.rows, w.tiles),
                  dim3(w.lanes * w.width), 0, s, *n, w, (const T *)x, (const T *)dy, (T *)to);
}

template <typename T, bool backward>
static cudaError_t run(cudaStream_t s, const struct group_norm *n, const void *x, const void *dy,
                       void *to)
{
    cudaError_t status = cudaSuccess;
    if (n->shape.rows > 0)
        status = make_sums<T, backward>(s, n, x, dy);
    return status == cudaSuccess && n->shape.rows > 0 && to ? use_sums<T, backward>(s, n, x, dy, to)
                                                            : status;
}

extern "C" cudaError_t kernel_group_norm(cudaStream_t s, const struct group_norm *n, const void *x,
                                         void *y)
{
    return n->type == CUDA_BF16 ? run<uint16_t, false>(s, n, x, NULL, y)
                                : run<float, false>(s, n, x, NULL, y);
}

extern "C" cudaError_t kernel_group_norm_backward(cudaStream_t s, const struct group_norm *n,
                                                  const void *x, const void *dy, void *dx,
                                                  float *dgamma, float *dbeta)
{
    const cudaError_t status = n->type == CUDA_BF16 ? run<uint16_t, true>(s, n, x, dy, dx)
                                                    : run<float, true>(s, n, x, dy, dx);
    if (status != cudaSuccess)
        return status;
    return LAUNCH(group_norm_gradients, dim3((uint32_t)each_divided(n->shape.real, ROW_THREADS)),
                  dim3(ROW_THREADS), 0, s, *n, dgamma, dbeta);
}
