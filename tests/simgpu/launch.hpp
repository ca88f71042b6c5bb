/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_SIMGPU_LAUNCH_HPP
#define DPARTUI_TESTS_SIMGPU_LAUNCH_HPP

#include <tuple>
#include <type_traits>
#include <vector>

#include <cuda_runtime_api.h>

#include "tests/simgpu/block.hpp"

/* How a kernel is put into a stream. */
namespace simgpu
{

/* `bytes`: the parameters as they are, 8 bytes aligned, to look for pointers in. */
struct parameter {
    const void *bytes;
    size_t size;
    bool pointer; /* it is one, not a struct that may hold some */
};

cudaError_t queue_kernel(const void *code, const char *name, const kernel_shape &shape,
                         cudaStream_t stream, const std::vector<parameter> &parameters,
                         std::function<void()> thread);

template <typename... P, typename... A>
cudaError_t launch(const char *name, void (*kernel)(P...), dim3 grid, dim3 block, size_t shared,
                   cudaStream_t stream, A &&...arguments)
{
    std::tuple<std::decay_t<P>...> values{static_cast<std::decay_t<P>>(arguments)...};
    std::vector<parameter> list;
    std::apply(
        [&](const auto &...each) {
            (list.push_back({&each, sizeof each, std::is_pointer_v<std::decay_t<decltype(each)>>}),
             ...);
        },
        values);
    return queue_kernel(reinterpret_cast<const void *>(kernel), name, {grid, block, shared}, stream,
                        list, [kernel, values] { std::apply(kernel, values); });
}

} // namespace simgpu

#endif
