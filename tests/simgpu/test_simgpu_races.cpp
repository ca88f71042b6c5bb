/* SPDX-License-Identifier: MIT */

/* The simulated GPU's race detector: that it finds races, makes up none, and that the backend's
 * kernels need each barrier they have. */
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "engine/device/cuda/kernels/kernels.h"
#include "engine/device/cuda/kernels/launch.h"
#include "tests/simgpu/simgpu.h"
#include "tests/suites.h"

namespace
{
constexpr unsigned threads = 64;
constexpr unsigned all_lanes = 0xffffffffu;
enum way { NOTHING, WARP, BLOCK, SHUFFLE };
__device__ void wait_as(way w)
{
    if (w == WARP)
        __syncwarp();
    if (w == BLOCK)
        __syncthreads();
    if (w == SHUFFLE)
        (void)__shfl_xor_sync(all_lanes, 1, 1);
}

/* Each thread reads what the one `distance` further wrote. */
__global__ void write_then_read(float *out, unsigned distance, way between)
{
    __shared__ float all[threads];
    all[threadIdx.x] = static_cast<float>(threadIdx.x);
    wait_as(between);
    out[blockIdx.x * threads + threadIdx.x] = all[threadIdx.x ^ distance];
}

/* And in the next round writes again. */
__global__ void rounds(float *out, unsigned distance, way at_the_end)
{
    SHARED_ARRAY(float, all);
    float sum = 0;
    for (int i = 0; i < 3; i++) {
        all[threadIdx.x] = static_cast<float>(i);
        __syncthreads();
        sum += all[threadIdx.x ^ distance];
        wait_as(at_the_end);
    }
    out[blockIdx.x * threads + threadIdx.x] = sum;
}

__global__ void same_place(float *out, int atomic)
{
    __shared__ int hits;
    if (threadIdx.x == 0)
        hits = 0;
    __syncthreads();
    if (threadIdx.x % 2 && atomic)
        atomicAdd(&hits, 1);
    else if (threadIdx.x == 2 || threadIdx.x == 5)
        hits = 7;
    __syncthreads();
    out[blockIdx.x * threads + threadIdx.x] = static_cast<float>(hits);
}

__global__ void bytes_of_a_word(unsigned char *out, unsigned apart)
{
    __shared__ unsigned char all[threads + 1];
    all[threadIdx.x * apart] = 1;
    __syncthreads();
    out[blockIdx.x * threads + threadIdx.x] = all[(threadIdx.x ^ 1) * apart];
}

__global__ void never_written(float *out)
{
    __shared__ float all[threads];
    if (threadIdx.x < threads - 1)
        all[threadIdx.x] = 1;
    __syncthreads();
    out[blockIdx.x * threads + threadIdx.x] = all[threadIdx.x];
}

/* Blocks write `stride` numbers apart, by atomics where asked. */
__global__ void blocks_write(float *out, unsigned stride, bool atomic)
{
    float *mine = out + blockIdx.x * stride + threadIdx.x;
    if (atomic)
        atomicAdd(mine, 1.0f);
    else
        *mine = 1;
}

/* The last block adds what the others wrote. */
__global__ void last_block_adds(float *out, unsigned *arrived, bool fence, bool count)
{
    __shared__ bool last;
    out[1 + blockIdx.x * threads + threadIdx.x] = 1;
    if (fence)
        __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = count ? atomicAdd(arrived, 1u) == gridDim.x - 1 : blockIdx.x == gridDim.x - 1;
    __syncthreads();
    if (!last || threadIdx.x > 0)
        return;
    float sum = 0;
    for (unsigned i = 0; i < gridDim.x * threads; i++)
        sum += out[1 + i];
    out[0] = sum;
}

cudaStream_t stream;

void *zeros(size_t size)
{
    void *p;
    ck_assert_int_eq(cudaMalloc(&p, size), cudaSuccess);
    ck_assert_int_eq(cudaMemset(p, 0, size), cudaSuccess);
    return p;
}

void fresh_machine()
{
    simgpu_reset(nullptr);
    ck_assert_int_eq(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
}

/* What the launch ends with: a fault that has the word in it, or none (""). */
void ends_with(const char *word, const char *name)
{
    cudaError_t status = cudaStreamSynchronize(stream);
    std::string found = simgpu_first_fault();
    ck_assert_msg((*word != 0) == (simgpu_faults() > 0) && strstr(found.c_str(), word),
                  "%s: wanted '%s', found '%s'", name, word, found.c_str());
    ck_assert_int_eq(status, *word ? cudaErrorLaunchFailure : cudaSuccess);
    fresh_machine();
}

float *floats()
{
    return static_cast<float *>(zeros(4096 * sizeof(float)));
}

unsigned *counter()
{
    return static_cast<unsigned *>(zeros(sizeof(unsigned)));
}

unsigned char *bytes()
{
    return static_cast<unsigned char *>(zeros(2 * threads));
}

#define EXPECT(WORD, KERNEL, BLOCKS, SHARED, ...)                                                  \
    do {                                                                                           \
        ck_assert_int_eq(LAUNCH(KERNEL, dim3(BLOCKS), dim3(threads), SHARED, stream, __VA_ARGS__), \
                         cudaSuccess);                                                             \
        ends_with(WORD, #KERNEL " " #__VA_ARGS__);                                                 \
    } while (0)

START_TEST(test_races_in_shared_memory)
{
    EXPECT("shared memory", write_then_read, 1, 0, floats(), 1u, NOTHING);
    EXPECT("", write_then_read, 3, 0, floats(), 0u, NOTHING);
    EXPECT("", write_then_read, 3, 0, floats(), 1u, WARP);
    EXPECT("shared memory", write_then_read, 1, 0, floats(), 32u, WARP);
    EXPECT("shared memory", write_then_read, 1, 0, floats(), 1u, SHUFFLE);
    EXPECT("", write_then_read, 3, 0, floats(), 33u, BLOCK);
    EXPECT("shared memory", rounds, 1, threads * sizeof(float), floats(), 1u, NOTHING);
    EXPECT("shared memory", rounds, 1, threads * sizeof(float), floats(), 32u, WARP);
    EXPECT("", rounds, 3, threads * sizeof(float), floats(), 1u, WARP);
    EXPECT("", rounds, 3, threads * sizeof(float), floats(), 32u, BLOCK);
    EXPECT("both write", same_place, 1, 0, floats(), 0);
    EXPECT("both write", same_place, 1, 0, floats(), 1);
    EXPECT("did not write", never_written, 2, 0, floats());
    EXPECT("", bytes_of_a_word, 2, 0, bytes(), 1u);
    EXPECT("both write", bytes_of_a_word, 1, 0, bytes(), 0u);
}
END_TEST

START_TEST(test_races_of_blocks)
{
    EXPECT("race: block", blocks_write, 2, 0, floats(), threads - 1, false);
    EXPECT("", blocks_write, 2, 0, floats(), threads, false);
    EXPECT("", blocks_write, 2, 0, floats(), threads - 1, true);
    EXPECT("", last_block_adds, 5, 0, floats(), counter(), true, true);
    EXPECT("race: block", last_block_adds, 5, 0, floats(), counter(), false, true);
    EXPECT("race: block", last_block_adds, 5, 0, floats(), counter(), true, false);
}
END_TEST

/* A second launch may write where the first did. */
START_TEST(test_launches_are_apart)
{
    float *x = floats();
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(
            LAUNCH(blocks_write, dim3(2), dim3(threads), 0, stream, x + i, threads, false),
            cudaSuccess);
    ends_with("", "launches");
    simgpu_check_races(false);
    EXPECT("", write_then_read, 1, 0, floats(), 1u, NOTHING);
}
END_TEST

/* Every kernel of the backend that has barriers, at a size where each of them matters. */
void run_kernels_with_barriers()
{
    const tensor_shape shape = {24, 5, 5, 24, 24};
    void *x = zeros(tensor_size(shape) * 4), *y = zeros(tensor_size(shape) * 4);
    void *scratch = zeros(kernel_sums_scratch(shape) + kernel_loss_scratch(64));
    const sums_memory memory = {scratch, static_cast<uint32_t *>(zeros(4 * KERNEL_COUNTERS))};
    auto *doubles = static_cast<double *>(zeros(4096));
    auto *sums = static_cast<float *>(zeros(4096));
    norm_params n = {};
    n.channels = shape.channels;
    n.scale = n.shift = n.mean = n.istd = n.running_mean = n.running_var = sums;
    n.gamma = n.beta = sums;
    auto *result = static_cast<loss_result *>(zeros(sizeof(loss_result)));
    auto *labels = static_cast<uint8_t *>(zeros(64));
    auto *predicted = static_cast<uint8_t *>(zeros(64));
    for (cuda_type type : {CUDA_F32, CUDA_BF16}) {
        (void)kernel_channel_sums(stream, type, shape, x, memory, sums);
        (void)kernel_norm_sums(stream, type, shape, x, memory, doubles, &n, nullptr);
        const norm_backward b = {type, shape, false, x, nullptr, x, nullptr, nullptr};
        (void)kernel_norm_backward_sums(stream, &b, &n, memory, doubles, nullptr, nullptr);
        (void)kernel_global_avgpool(stream, type, shape, x, y);
        (void)kernel_loss(stream, static_cast<float *>(x), 64, 10, 16, labels, 0.1, doubles, type,
                          y, scratch, result, predicted);
    }
    (void)cudaStreamSynchronize(stream);
}

START_TEST(test_every_barrier_is_needed)
{
    std::vector<std::pair<std::string, int>> barriers;
    run_kernels_with_barriers();
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
    const char *kernel;
    for (int line; simgpu_barrier(barriers.size(), &kernel, &line);)
        barriers.emplace_back(kernel, line);
    ck_assert_uint_ge(barriers.size(), 5);
    for (const auto &[name, line] : barriers) {
        fresh_machine();
        simgpu_ignore_barrier(name.c_str(), line);
        run_kernels_with_barriers();
        ck_assert_msg(strstr(simgpu_first_fault(), "race: "),
                      "no race without the barrier of %s in line %d", name.c_str(), line);
        ck_assert_msg(strstr(simgpu_first_fault(), name.c_str()), "%s", simgpu_first_fault());
    }
}
END_TEST

} // namespace

int main()
{
#ifndef SIMGPU_RACES
    puts("races are not looked for in a build with sanitizers");
    return 77;
#endif
    Suite *suite = suite_create("simulated GPU, races");
    TCase *tests = tcase_create("races");
    tcase_add_checked_fixture(tests, fresh_machine, nullptr);
    tcase_add_test(tests, test_races_in_shared_memory);
    tcase_add_test(tests, test_races_of_blocks);
    tcase_add_test(tests, test_launches_are_apart);
    tcase_add_test(tests, test_every_barrier_is_needed);
    suite_add_tcase(suite, tests);
    return run_suites(suite, nullptr);
}
