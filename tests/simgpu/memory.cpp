/* SPDX-License-Identifier: MIT */
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

#include "tests/simgpu/machine.hpp"

/* Memory of the runtime: taking it, giving it back, copying and filling. */

using namespace simgpu;

namespace
{
constexpr size_t granule = 512;   /* what a device's memory is counted in */
constexpr size_t alignment = 256; /* of what cudaMalloc returns */
constexpr int garbage = 0xFF;     /* NaN in every format */
constexpr size_t sparse_size = size_t{1} << 30;
size_t counted(size_t size)
{
    return (size + granule - 1) / granule * granule;
}

/* Memory that is zero and need not be there until it is written. */
void *take_sparse(size_t size, int device)
{
    void *p = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return nullptr;
    the_machine().memory[reinterpret_cast<uintptr_t>(p)] = {size, device, true};
    return p;
}

/* Exactly `size` bytes, so that AddressSanitizer sees what is after them. */
void *take(size_t size, int device)
{
    void *p = nullptr;
    if (the_machine().sampled && size >= sparse_size)
        return take_sparse(size, device);
    if (posix_memalign(&p, alignment, size))
        return nullptr;
    memset(p, garbage, size);
    the_machine().memory[reinterpret_cast<uintptr_t>(p)] = {size, device, false};
    return p;
}

void give_back(std::map<uintptr_t, allocation>::iterator found)
{
    void *p = reinterpret_cast<void *>(found->first);
    if (!found->second.mapped)
        memset(p, garbage, found->second.size);
    release_memory(p, found->second);
    the_machine().memory.erase(found);
}

/* The allocation that begins at p, of device memory or of the host's. */
std::map<uintptr_t, allocation>::iterator beginning(const void *p, bool host)
{
    auto &all = the_machine().memory;
    auto found = all.find(reinterpret_cast<uintptr_t>(p));
    if (found != all.end() && (found->second.device < 0) != host)
        found = all.end();
    return found;
}

/* Whether p may be one end of a copy: device memory of the whole length, or not the device's. */
bool fits(const void *p, size_t size, bool device)
{
    const allocation *a = find_memory(p, size), *start = find_memory(p, 1);
    if (device)
        return a && a->device >= 0;
    if (!start)
        return true; /* the program's own */
    return a && a->device < 0;
}

bool direction_fits(void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
    switch (kind) {
    case cudaMemcpyHostToHost:
        return fits(to, size, false) && fits(from, size, false);
    case cudaMemcpyHostToDevice:
        return fits(to, size, true) && fits(from, size, false);
    case cudaMemcpyDeviceToHost:
        return fits(to, size, false) && fits(from, size, true);
    case cudaMemcpyDeviceToDevice:
        return fits(to, size, true) && fits(from, size, true);
    case cudaMemcpyDefault:
        return (fits(to, size, true) || fits(to, size, false)) &&
               (fits(from, size, true) || fits(from, size, false));
    }
    return false;
}

bool pageable(const void *p)
{
    return !find_memory(p, 1);
}

cudaError_t copy_now(void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
    if (!direction_fits(to, from, size, kind)) {
        fault("a copy runs on memory that was given back since it was queued");
        return cudaErrorIllegalAddress;
    }
    memmove(to, from, size);
    return cudaSuccess;
}

cudaError_t queue_copy(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                       cudaStream_t stream)
{
    if (size == 0)
        return cudaSuccess;
    if (!to || !from || !direction_fits(to, from, size, kind))
        return cudaErrorInvalidValue;
    /* A capture would keep the address of memory that nothing holds in its place. */
    if (stream->capturing && (pageable(to) || pageable(from)))
        return spoil(stream->capturing.get(), cudaErrorStreamCaptureUnsupported);
    return enqueue(stream, {"copy", [=] { return copy_now(to, from, size, kind); }, {}, {}});
}

cudaError_t queue_fill(void *to, int value, size_t size, cudaStream_t stream)
{
    if (size == 0)
        return cudaSuccess;
    if (!fits(to, size, true))
        return cudaErrorInvalidValue;
    return enqueue(stream, {"fill",
                            [=] {
                                if (!fits(to, size, true)) {
                                    fault("memory is filled that was given back");
                                    return cudaErrorIllegalAddress;
                                }
                                memset(to, value, size);
                                return cudaSuccess;
                            },
                            {},
                            {}});
}
} // namespace

void simgpu::release_memory(void *p, const allocation &a)
{
    if (a.mapped)
        munmap(p, a.size);
    else
        free(p);
}

const allocation *simgpu::find_memory(const void *p, size_t size)
{
    const auto &all = the_machine().memory;
    auto at = reinterpret_cast<uintptr_t>(p);
    auto next = all.upper_bound(at);
    if (next == all.begin())
        return nullptr;
    const auto &[begin, a] = *std::prev(next);
    return at - begin < a.size && size <= a.size - (at - begin) ? &a : nullptr;
}

bool simgpu::device_can_use(int number, const void *p, size_t size)
{
    const allocation *a = find_memory(p, size);
    if (!a)
        return false;
    return a->device < 0 || a->device == number ||
           the_machine().devices[static_cast<size_t>(number)].peers.count(a->device);
}

extern "C" {

cudaError_t cudaMalloc(void **p, size_t size)
{
    api_call call("cudaMalloc", true);
    if (call.failed())
        return call.status();
    int number = this_caller().device;
    machine &m = the_machine();
    device &d = m.devices[static_cast<size_t>(number)];
    *p = nullptr;
    if (size == 0)
        return call.end(cudaSuccess);
    if (counted(size) > m.options.memory - d.used || !(*p = take(size, number)))
        return call.end(cudaErrorMemoryAllocation);
    d.used += counted(size);
    d.peak = std::max(d.peak, d.used);
    return call.end(cudaSuccess);
}

/* What a device that broke cannot give back goes with the process; here it counts as given back. */
cudaError_t cudaFree(void *p)
{
    api_call call("cudaFree", p != nullptr);
    auto found = beginning(p, false);
    if (!p)
        return call.status();
    if (found == the_machine().memory.end())
        return call.end(cudaErrorInvalidValue);
    int number = found->second.device;
    device &d = the_machine().devices[static_cast<size_t>(number)];
    cudaError_t status = call.failed() ? call.status() : drain_device(number, call.lock());
    if (status == cudaSuccess || d.broken != cudaSuccess) {
        d.used -= counted(found->second.size);
        give_back(found);
    }
    return call.end(status);
}

cudaError_t cudaHostAlloc(void **p, size_t size, unsigned)
{
    api_call call("cudaHostAlloc", true);
    if (call.failed())
        return call.status();
    *p = nullptr;
    if (size && !(*p = take(size, -1)))
        return call.end(cudaErrorMemoryAllocation);
    return call.end(cudaSuccess);
}

cudaError_t cudaMallocHost(void **p, size_t size)
{
    return cudaHostAlloc(p, size, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void *p)
{
    api_call call("cudaFreeHost", p != nullptr);
    auto found = beginning(p, true);
    if (!p)
        return call.status();
    if (found == the_machine().memory.end())
        return call.end(cudaErrorInvalidValue);
    int number = this_caller().device;
    cudaError_t status = call.failed() ? call.status() : drain_device(number, call.lock());
    if (status == cudaSuccess ||
        the_machine().devices[static_cast<size_t>(number)].broken != cudaSuccess)
        give_back(found);
    return call.end(status);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    api_call call("cudaMemcpyAsync");
    if (call.failed())
        return call.status();
    return call.end(queue_copy(to, from, size, kind, stream_of(stream)));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    api_call call("cudaMemcpy2DAsync");
    if (call.failed())
        return call.status();
    if (width > to_pitch || width > from_pitch)
        return call.end(cudaErrorInvalidPitchValue);
    for (size_t row = 0; row < height; row++) {
        cudaError_t status = queue_copy(static_cast<char *>(to) + row * to_pitch,
                                        static_cast<const char *>(from) + row * from_pitch, width,
                                        kind, stream_of(stream));
        if (status != cudaSuccess)
            return call.end(status);
    }
    return call.end(cudaSuccess);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t size, cudaStream_t stream)
{
    api_call call("cudaMemcpyPeerAsync");
    if (call.failed())
        return call.status();
    const allocation *target = find_memory(to, size), *source = find_memory(from, size);
    if (!target || target->device != to_device || !source || source->device != from_device)
        return call.end(cudaErrorInvalidValue);
    return call.end(queue_copy(to, from, size, cudaMemcpyDeviceToDevice, stream_of(stream)));
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream)
{
    api_call call("cudaMemsetAsync");
    if (call.failed())
        return call.status();
    return call.end(queue_fill(to, value, size, stream_of(stream)));
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
    api_call call("cudaMemcpy", true);
    if (call.failed())
        return call.status();
    cudaStream_t stream = stream_of(nullptr);
    cudaError_t status = queue_copy(to, from, size, kind, stream);
    return call.end(status == cudaSuccess ? drain(stream, call.lock()) : status);
}

cudaError_t cudaMemset(void *to, int value, size_t size)
{
    api_call call("cudaMemset", true);
    if (call.failed())
        return call.status();
    return call.end(queue_fill(to, value, size, stream_of(nullptr)));
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *total)
{
    api_call call("cudaMemGetInfo");
    if (call.failed())
        return call.status();
    machine &m = the_machine();
    *total = m.options.memory;
    *left = *total - m.devices[static_cast<size_t>(this_caller().device)].used;
    return call.end(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *out, const void *p)
{
    api_call call("cudaPointerGetAttributes");
    if (call.failed())
        return call.status();
    *out = cudaPointerAttributes();
    const allocation *a = find_memory(p, 1);
    out->type = !a              ? cudaMemoryTypeUnregistered
                : a->device < 0 ? cudaMemoryTypeHost
                                : cudaMemoryTypeDevice;
    out->device = a && a->device >= 0 ? a->device : this_caller().device;
    out->hostPointer = a && a->device >= 0 ? nullptr : const_cast<void *>(p);
    out->devicePointer = a ? const_cast<void *>(p) : nullptr;
    return call.end(cudaSuccess);
}

} /* extern "C" */
