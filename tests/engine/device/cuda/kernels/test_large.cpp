/* SPDX-License-Identifier: MIT */

/*
 * The kernels' index arithmetic at the largest tensors that they allow: nearly 2^35 numbers, so
 * 2^32 packs and 64 GiB in bf16. The simulated GPU runs the first and the last block of each
 * launch, in memory that is taken only where it is written. Where a kernel wrote is seen by the
 * pages that there are now: an index that wraps at 2^31 or 2^32 leaves the tensor's end untouched.
 */
#include <cstdio>
#include <cstring>
#include <functional>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "engine/device/cuda/kernels/kernels.h"
#include "tests/simgpu/simgpu.h"
#include "tests/suites.h"

namespace
{
constexpr uint16_t one = 0x3f80, two = 0x4000, three = 0x4040; /* in bf16 */
constexpr int multiprocessors = 8 * 132; /* blocks are as much shorter */
constexpr int parts = 16; /* of a tensor, each of which is written */
/* 2^35 numbers but for one row. */
const tensor_shape largest = {(1 << 23) - 1, 8, 8, 64, 64};
const tensor_shape quarter = {(1 << 23) - 1, 4, 4, 64, 64};
cudaStream_t stream;
void prepare()
{
    const simgpu_options options = {1, size_t{1} << 40, SIMGPU_LAZY, 1, false, false};
    simgpu_reset(&options);
    simgpu_sample_blocks(multiprocessors);
    simgpu_check_races(false);
    ck_assert_int_eq(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
}

template <typename T = uint16_t> T *take(size_t count)
{
    void *p;
    ck_assert_int_eq(cudaMalloc(&p, count * sizeof(T)), cudaSuccess);
    if (count * sizeof(T) < size_t{1} << 30)
        ck_assert_int_eq(cudaMemset(p, 0, count * sizeof(T)), cudaSuccess);
    return static_cast<T *>(p);
}

uint16_t *tensor(tensor_shape shape)
{
    return take(tensor_size(shape));
}

/* A vector of 64 numbers. */
float *vector(float value)
{
    float *v = take<float>(64);
    for (int i = 0; i < 64; i++)
        v[i] = value;
    return v;
}

void done(cudaError_t launched)
{
    ck_assert_int_eq(launched, cudaSuccess);
    ck_assert_int_eq(cudaStreamSynchronize(stream), cudaSuccess);
    ck_assert_msg(simgpu_faults() == 0, "%s", simgpu_first_fault());
}

/* Numbers of the pages of size bytes at p that were written. */
std::vector<size_t> written_pages(const void *p, size_t size)
{
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), count = size / page;
    std::vector<unsigned char> resident(count);
    std::vector<size_t> pages;
    ck_assert_int_eq(mincore(const_cast<void *>(p), count * page, resident.data()), 0);
    for (size_t i = 0; i < count; i++)
        if (resident[i] & 1)
            pages.push_back(i);
    return pages;
}

/*
 * Runs the kernel, which makes y (of `size` bytes) from x, which is zero and as large (NULL: not
 * looked at), and sees where y was written: in all parts alike, up to the end. Then with `put` at
 * the last such place of x: y must become `wanted` there.
 */
void reaches_the_end(const char *what, const void *y, size_t size, uint16_t *x, uint16_t put,
                     uint16_t wanted, const std::function<cudaError_t()> &kernel)
{
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    done(kernel());
    const std::vector<size_t> pages = written_pages(y, size);
    ck_assert_msg(!pages.empty(), "%s wrote nothing", what);
    size_t by_part[parts] = {};
    for (size_t p : pages)
        by_part[p * page / ((size + parts - 1) / parts)]++;
    for (int i = 0; i < parts; i++)
        ck_assert_msg(
            by_part[i] * parts > pages.size() / 2 && by_part[i] * parts < pages.size() * 2,
            "%s wrote %zu pages, %zu in part %d of %d", what, pages.size(), by_part[i], i, parts);
    if (!x)
        return;
    const size_t at = pages.back() * page / 2;
    const uint16_t before = static_cast<const uint16_t *>(y)[at];
    x[at] = put;
    done(kernel());
    const uint16_t after = static_cast<const uint16_t *>(y)[at];
    ck_assert_msg(before != after && after == wanted, "%s: number %zu is %#x, then %#x, not %#x",
                  what, at, before, after, wanted);
}

START_TEST(test_elementwise)
{
    const size_t count = tensor_size(largest), size = count * 2;
    uint16_t *x = tensor(largest), *y = tensor(largest);
    float *bias = vector(1);
    reaches_the_end("bias", y, size, x, one, two,
                    [=] { return kernel_bias(stream, CUDA_BF16, largest, x, bias, y); });
}
END_TEST

START_TEST(test_add)
{
    const size_t count = tensor_size(largest), size = count * 2;
    uint16_t *x = tensor(largest), *y = tensor(largest);
    reaches_the_end("add", y, size, x, one, two,
                    [=] { return kernel_add(stream, CUDA_BF16, count, x, x, true, y); });
}
END_TEST

START_TEST(test_activation_backward)
{
    const size_t size = tensor_size(largest) * 2;
    uint16_t *y = tensor(largest), *dy = tensor(largest), *dx = tensor(largest);
    reaches_the_end("activation_backward", dx, size, dy, three, three, [=] {
        return kernel_activation_backward(stream, CUDA_BF16, ACTIVATION_TANH, largest, y, dy, dx);
    });
}
END_TEST

START_TEST(test_norm_apply)
{
    const size_t size = tensor_size(largest) * 2;
    uint16_t *x = tensor(largest), *y = tensor(largest);
    norm_params n = {};
    n.channels = 64;
    n.scale = vector(1);
    n.shift = vector(2);
    reaches_the_end("norm_apply", y, size, x, one, three, [=] {
        return kernel_norm_apply(stream, CUDA_BF16, largest, &n, x, nullptr, true, y, nullptr);
    });
}
END_TEST

START_TEST(test_norm_backward_apply)
{
    const size_t size = tensor_size(largest) * 2;
    uint16_t *g = tensor(largest), *x = tensor(largest), *dx = tensor(largest);
    norm_params n = {};
    n.channels = 64;
    n.scale = n.shift = n.mean = n.istd = vector(1);
    norm_gradients k = {};
    k.a = vector(2);
    k.b = vector(0);
    k.c = vector(1);
    reaches_the_end("norm_backward_apply", dx, size, g, one, three, [=] {
        const norm_backward b = {CUDA_BF16, largest, false, g, nullptr, x, nullptr, g};
        return kernel_norm_backward_apply(stream, &b, &n, &k, dx);
    });
}
END_TEST

START_TEST(test_dropout)
{
    const size_t size = tensor_size(largest) * 2;
    uint16_t *x = tensor(largest), *y = tensor(largest);
    const dropout_args args = {largest, nullptr, take<dropout_pass>(1), 0, 0, 2, 0};
    uint32_t *ids = take<uint32_t>(static_cast<size_t>(largest.rows));
    dropout_args with_ids = args;
    with_ids.ids = ids;
    reaches_the_end("dropout", y, size, x, one, two,
                    [=] { return kernel_dropout(stream, CUDA_BF16, &with_ids, x, y); });
}
END_TEST

/* Windows of 2 x 2: the tensor with more numbers is nearly 2^35, which the backward pass writes. */
START_TEST(test_pooling)
{
    const size_t size = tensor_size(largest) * 2;
    uint16_t *dy = tensor(quarter), *dx = tensor(largest);
    const pool_args args = {largest, quarter, 2, 2, 2, 2, 0, 0, false};
    auto *winners = take<uint8_t>(tensor_size(quarter));
    reaches_the_end("maxpool_backward", dx, size, nullptr, 0, 0, [=] {
        return kernel_maxpool_backward(stream, CUDA_BF16, &args, dy, winners, dx);
    });
    const std::vector<size_t> pages = written_pages(dx, size);
    const size_t pixel = pages.back() * static_cast<size_t>(sysconf(_SC_PAGESIZE)) / 128;
    const size_t row = pixel / 64, to = row * 64 * 64, from = row * 16 * 64;
    for (size_t i = 0; i < 16 * 64; i++)
        dy[from + i] = three;
    done(kernel_maxpool_backward(stream, CUDA_BF16, &args, dy, winners, dx));
    size_t found = 0;
    for (size_t i = 0; i < 64 * 64; i++)
        found += dx[to + i] == three;
    ck_assert_uint_gt(found, 0);
}
END_TEST

START_TEST(test_pooling_forward)
{
    const size_t size = tensor_size(quarter) * 2;
    uint16_t *x = tensor(largest), *y = tensor(quarter);
    const pool_args args = {largest, quarter, 2, 2, 2, 2, 0, 0, false};
    auto *winners = take<uint8_t>(tensor_size(quarter));
    reaches_the_end("maxpool", y, size, nullptr, 0, 0,
                    [=] { return kernel_maxpool(stream, CUDA_BF16, &args, x, y, winners); });
    const std::vector<size_t> pages = written_pages(y, size);
    const size_t pixel = pages.back() * static_cast<size_t>(sysconf(_SC_PAGESIZE)) / 128;
    const size_t row = pixel / 16, from = row * 64 * 64, to = row * 16 * 64;
    for (size_t i = 0; i < 64 * 64; i++)
        x[from + i] = three;
    done(kernel_maxpool(stream, CUDA_BF16, &args, x, y, winners));
    size_t found = 0;
    for (size_t i = 0; i < 16 * 64; i++)
        found += y[to + i] == three;
    ck_assert_uint_gt(found, 0);
}
END_TEST

/* What stands near the end is in the first block's own sums; without the others none are made. */
START_TEST(test_channel_sums)
{
    const size_t positions = tensor_size(largest) / 64, size = kernel_sums_scratch(largest);
    uint16_t *x = tensor(largest);
    auto *scratch = take<double>(size / sizeof(double));
    const sums_memory memory = {scratch, take<uint32_t>(KERNEL_COUNTERS)};
    for (size_t p = positions - (1 << 21); p < positions; p++)
        x[p * 64 + 5] = three;
    done(kernel_channel_sums(stream, CUDA_BF16, largest, x, memory, vector(0)));
    double sum = 0;
    for (size_t i = 0; i < 64; i++) {
        ck_assert_msg(i == 5 || scratch[i] == 0, "channel %zu: %g", i, scratch[i]);
        sum += scratch[i];
    }
    ck_assert_double_gt(sum, 0);
}
END_TEST

} // namespace

int main()
{
    const TTest *const tests[] = {test_elementwise,
                                  test_add,
                                  test_activation_backward,
                                  test_norm_apply,
                                  test_norm_backward_apply,
                                  test_dropout,
                                  test_pooling,
                                  test_pooling_forward,
                                  test_channel_sums};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    puts("large tensors are not for a build with sanitizers");
    return 77;
#endif
    void *room = mmap(nullptr, size_t{200} << 30, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) {
        puts("no 200 GiB of addresses");
        return 77;
    }
    munmap(room, size_t{200} << 30);
    Suite *suite = suite_create("kernels, large tensors");
    TCase *large = tcase_create("large");
    tcase_add_checked_fixture(large, prepare, nullptr);
    tcase_set_timeout(large, 120);
    for (const TTest *test : tests)
        tcase_add_test(large, test);
    suite_add_tcase(suite, large);
    return run_suites(suite, nullptr);
}
