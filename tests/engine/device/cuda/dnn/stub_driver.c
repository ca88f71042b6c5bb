/* SPDX-License-Identifier: MIT */

/*
 * A libcuda.so.1 that does nothing, for cuDNN to compile its plans where there is no driver: before
 * it compiles it looks up these functions, and links some of them, and without one it offers none
 * of its fused engines ("Could not load symbol ..."). Each fails as those of the toolkit's own stub
 * do. Never installed: it would stand before a real driver.
 */
enum { STUB_LIBRARY = 34 }; /* cudaErrorStubLibrary */

#define FAILS(NAME)                                                                                \
    int NAME(void);                                                                                \
    int NAME(void)                                                                                 \
    {                                                                                              \
        return STUB_LIBRARY;                                                                       \
    }

FAILS(cuDriverGetVersion)
FAILS(cuGetProcAddress)
FAILS(cuGetProcAddress_v2)
FAILS(cuInit)
FAILS(cuGetErrorName)
FAILS(cuGetErrorString)
FAILS(cuCtxGetCurrent)
FAILS(cuCtxGetLimit)
FAILS(cuCtxPopCurrent)
FAILS(cuCtxPushCurrent)
FAILS(cuDeviceGet)
FAILS(cuDeviceGetCount)
FAILS(cuFuncSetAttribute)
FAILS(cuKernelGetAttribute)
FAILS(cuKernelGetFunction)
FAILS(cuKernelSetAttribute)
FAILS(cuLaunchCooperativeKernel)
FAILS(cuLaunchKernel)
FAILS(cuLaunchKernelEx)
FAILS(cuLibraryGetKernel)
FAILS(cuLibraryLoadData)
FAILS(cuLibraryLoadFromFile)
FAILS(cuLibraryUnload)
FAILS(cuLinkAddData)
FAILS(cuLinkComplete)
FAILS(cuLinkCreate)
FAILS(cuLinkDestroy)
FAILS(cuModuleGetFunction)
FAILS(cuModuleLoadData)
FAILS(cuModuleUnload)
FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessor)
FAILS(cuOccupancyMaxPotentialClusterSize)
FAILS(cuStreamGetCtx)
FAILS(cuTensorMapEncodeIm2col)
FAILS(cuTensorMapEncodeTiled)
