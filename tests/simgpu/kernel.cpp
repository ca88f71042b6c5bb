/* SPDX-License-Identifier: MIT */
#include <cstring>

#include "tests/simgpu/launch.hpp"
#include "tests/simgpu/machine.hpp"

/* Starting kernels. */

using namespace simgpu;

namespace
{
constexpr size_t shared_limit = 48 << 10; /* without asking for more by cudaFuncSetAttribute */
/* Races are looked for as often, as it takes time: of a network's training, in some steps. */
constexpr unsigned checked_runs = 10; /* of a kernel in the same shape */
bool shape_is_valid(const kernel_shape &k)
{
    auto none = [](dim3 d) { return d.x == 0 || d.y == 0 || d.z == 0; };
    return !none(k.blocks) && !none(k.threads) && k.threads.x <= 1024 && k.threads.y <= 1024 &&
           k.threads.z <= 64 && size_t{k.threads.x} * k.threads.y * k.threads.z <= 1024 &&
           k.blocks.x <= 0x7fffffff && k.blocks.y <= 65535 && k.blocks.z <= 65535;
}

/* What p points to must be memory that the device may use. A word of a struct may be any number:
 * there only another device's memory is surely wrong. */
bool word_is_valid(int device, const char *name, const void *p, bool surely)
{
    if (!p || device_can_use(device, p, 1))
        return true;
    const allocation *a = find_memory(p, 1);
    if (a) {
        fault("kernel %s on device %d uses memory of device %d without peer access", name, device,
              a->device);
        return false;
    }
    /* One past the end of something is fine as long as nothing is read there. */
    if (!surely || device_can_use(device, static_cast<const char *>(p) - 1, 1))
        return true;
    fault("kernel %s on device %d is given a pointer that is not GPU memory", name, device);
    return false;
}

bool parameters_are_valid(int device, const char *name, const std::vector<parameter> &list)
{
    for (const parameter &p : list)
        for (size_t i = 0; i + sizeof(void *) <= p.size; i += sizeof(void *)) {
            void *word;
            memcpy(&word, static_cast<const char *>(p.bytes) + i, sizeof word);
            if (!word_is_valid(device, name, word, p.pointer))
                return false;
        }
    return true;
}
} // namespace

cudaError_t simgpu::load_kernel(const void *kernel, const char *name)
{
    std::pair<int, const void *> place{this_caller().device, kernel};
    machine &m = the_machine();
    if (m.loaded.count(place))
        return cudaSuccess;
    if (capture_forbids((std::string("the first use of ") + name).c_str()))
        return cudaErrorStreamCaptureUnsupported;
    m.loaded.insert(place);
    return cudaSuccess;
}

cudaError_t simgpu::queue_kernel(const void *code, const char *name, const kernel_shape &shape,
                                 cudaStream_t given, const std::vector<parameter> &parameters,
                                 std::function<void()> thread)
{
    api_call call("cudaLaunchKernel");
    if (call.failed())
        return call.status();
    if (!shape_is_valid(shape))
        return call.end(cudaErrorInvalidConfiguration);
    if (shape.shared > shared_limit)
        return call.end(cudaErrorInvalidValue);
    cudaStream_t stream = stream_of(given);
    if (!stream_exists(stream))
        return call.end(cudaErrorInvalidResourceHandle);
    if (stream->device != this_caller().device) {
        fault("kernel %s is started on device %d's stream while device %d is selected", name,
              stream->device, this_caller().device);
        return call.end(cudaErrorInvalidResourceHandle);
    }
    if (cudaError_t status = load_kernel(code, name); status != cudaSuccess)
        return call.end(status);
    bool valid = parameters_are_valid(stream->device, name, parameters);
    unsigned seed = the_machine().options.seed;
    const kernel_launch launch{code,
                               {shape.blocks.x, shape.blocks.y, shape.blocks.z, shape.threads.x,
                                shape.threads.y, shape.threads.z},
                               shape.shared};
    cudaError_t status =
        enqueue(stream, {name,
                         [=] {
                             if (!valid)
                                 return cudaErrorIllegalAddress;
                             machine &m = the_machine();
                             m.check_now = m.check_races && m.runs[launch]++ < checked_runs;
                             std::string wrong = run_kernel(name, shape, seed, thread);
                             if (wrong.empty())
                                 return cudaSuccess;
                             fault("kernel %s: %s", name, wrong.c_str());
                             return cudaErrorLaunchFailure;
                         },
                         {},
                         {}});
    if (status != cudaSuccess)
        return call.end(status);
    /* As cudaPeekAtLastError after a launch: an error left by an earlier call shows here, too. */
    return this_caller().last_error;
}
