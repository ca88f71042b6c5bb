/* SPDX-License-Identifier: MIT */
#include <cstdio>
#include <cstring>

#include "tests/simgpu/machine.hpp"

/* Devices and errors of the runtime, and the stream-independent rest. */

using namespace simgpu;

namespace
{
struct error_name {
    cudaError_t status;
    const char *name, *text;
};

constexpr error_name error_names[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
};

const error_name *find_error(cudaError_t status)
{
    for (const error_name &e : error_names)
        if (e.status == status)
            return &e;
    return nullptr;
}

bool device_exists(int number)
{
    return number >= 0 && number < the_machine().options.devices;
}

// As the made-up NVIDIA library writes it: tests/fakes/fake_nvml.c.
void make_uuid(int number, char *bytes)
{
    memset(bytes, 0, 16);
    bytes[0] = static_cast<char>(number / 10 * 16 + number % 10);
    bytes[6] = 0x40;
    bytes[8] = static_cast<char>(0x80);
}
} // namespace

extern "C" {

const char *cudaGetErrorString(cudaError_t status)
{
    const error_name *e = find_error(status);
    return e ? e->text : "unrecognized error code";
}

const char *cudaGetErrorName(cudaError_t status)
{
    const error_name *e = find_error(status);
    return e ? e->name : "unrecognized error code";
}

cudaError_t cudaGetLastError(void)
{
    guard held(the_machine().lock);
    cudaError_t last = this_caller().last_error;
    this_caller().last_error = cudaSuccess;
    return last;
}

cudaError_t cudaPeekAtLastError(void)
{
    guard held(the_machine().lock);
    return this_caller().last_error;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    api_call call("cudaGetDeviceCount");
    *count = 0;
    if (call.failed())
        return call.status();
    *count = the_machine().options.devices;
    return call.end(*count ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int number)
{
    guard held(the_machine().lock);
    int status;
    if (asked_to_fail("cudaSetDevice", &status))
        return static_cast<cudaError_t>(status);
    if (!device_exists(number))
        return this_caller().last_error = cudaErrorInvalidDevice;
    this_caller().device = number;
    return the_machine().devices[static_cast<size_t>(number)].broken;
}

cudaError_t cudaInitDevice(int number, unsigned, unsigned)
{
    api_call call("cudaInitDevice");
    if (call.failed())
        return call.status();
    return call.end(device_exists(number) ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaSetDeviceFlags(unsigned)
{
    api_call call("cudaSetDeviceFlags");
    return call.status();
}

cudaError_t cudaGetDevice(int *number)
{
    api_call call("cudaGetDevice");
    *number = this_caller().device;
    return call.status();
}

cudaError_t cudaDeviceReset(void)
{
    api_call call("cudaDeviceReset", true);
    return call.status();
}

cudaError_t cudaDeviceSynchronize(void)
{
    api_call call("cudaDeviceSynchronize", true);
    if (call.failed())
        return call.status();
    if (captures_spoiled(this_caller().device, false))
        return call.end(cudaErrorStreamCaptureUnsupported);
    return call.end(drain_device(this_caller().device, call.lock()));
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int number)
{
    api_call call("cudaGetDeviceProperties");
    if (call.failed())
        return call.status();
    if (!device_exists(number))
        return call.end(cudaErrorInvalidDevice);
    *p = cudaDeviceProp();
    snprintf(p->name, sizeof p->name, "Simulated GPU");
    make_uuid(number, p->uuid.bytes);
    p->totalGlobalMem = the_machine().options.memory;
    p->sharedMemPerBlock = 48 << 10;
    p->sharedMemPerBlockOptin = 227 << 10;
    p->sharedMemPerMultiprocessor = 228 << 10;
    p->warpSize = 32;
    p->maxThreadsPerBlock = 1024;
    p->maxThreadsPerMultiProcessor = 2048;
    p->major = 9;
    p->multiProcessorCount = the_machine().sampled ? the_machine().sampled : 4;
    p->l2CacheSize = 1 << 20;
    p->pciBusID = number + 1;
    p->unifiedAddressing = 1;
    p->canMapHostMemory = 1;
    p->concurrentKernels = 1;
    p->asyncEngineCount = 2;
    return call.end(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int number)
{
    cudaDeviceProp p;
    cudaError_t status = cudaGetDeviceProperties(&p, number);
    if (status != cudaSuccess)
        return status;
    switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
        *value = p.multiProcessorCount;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = p.major;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = p.minor;
        break;
    case cudaDevAttrPciBusId:
        *value = p.pciBusID;
        break;
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrComputeMode:
    case cudaDevAttrIntegrated:
        *value = 0;
        break;
    case cudaDevAttrClockRate:
        *value = 1000000; /* kHz */
        break;
    case cudaDevAttrMemoryClockRate:
        *value = 500000; /* kHz; twice a cycle */
        break;
    case cudaDevAttrGlobalMemoryBusWidth:
        *value = 1000; /* bits */
        break;
    case cudaDevAttrWarpSize:
        *value = p.warpSize;
        break;
    case cudaDevAttrMaxThreadsPerBlock:
        *value = p.maxThreadsPerBlock;
        break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = p.maxThreadsPerMultiProcessor;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        *value = static_cast<int>(p.sharedMemPerBlock);
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = static_cast<int>(p.sharedMemPerBlockOptin);
        break;
    case cudaDevAttrL2CacheSize:
        *value = the_machine().short_autotune ? 0 : p.l2CacheSize;
        break;
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrCanMapHostMemory:
        *value = 1;
        break;
    default:
        fault("cudaDeviceGetAttribute: the simulator does not know attribute %d",
              static_cast<int>(attribute));
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int number)
{
    api_call call("cudaDeviceGetPCIBusId");
    if (call.failed())
        return call.status();
    if (!device_exists(number))
        return call.end(cudaErrorInvalidDevice);
    snprintf(text, static_cast<size_t>(length), "0000:%02x:00.0", number + 1);
    return call.end(cudaSuccess);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int number, int peer)
{
    api_call call("cudaDeviceCanAccessPeer");
    if (call.failed())
        return call.status();
    if (!device_exists(number) || !device_exists(peer))
        return call.end(cudaErrorInvalidDevice);
    *can = number != peer && !the_machine().options.no_peer_access;
    return call.end(cudaSuccess);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    api_call call("cudaDeviceEnablePeerAccess");
    if (call.failed())
        return call.status();
    int number = this_caller().device;
    if (!device_exists(peer) || peer == number)
        return call.end(cudaErrorInvalidDevice);
    if (flags)
        return call.end(cudaErrorInvalidValue);
    if (the_machine().options.no_peer_access)
        return call.end(cudaErrorPeerAccessUnsupported);
    bool added = the_machine().devices[static_cast<size_t>(number)].peers.insert(peer).second;
    return call.end(added ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    guard held(the_machine().lock);
    *version = the_machine().options.no_driver ? 0 : CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute, int)
{
    api_call call("cudaFuncSetAttribute");
    if (call.failed())
        return call.status();
    return call.end(load_kernel(kernel, "cudaFuncSetAttribute"));
}

/* As if nothing but the number of threads limited it. */
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int threads, size_t)
{
    api_call call("cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    if (call.failed())
        return call.status();
    if (!kernel || threads < 1 || threads > 1024)
        return call.end(cudaErrorInvalidValue);
    *blocks = 2048 / threads;
    return call.end(cudaSuccess);
}

} /* extern "C" */
