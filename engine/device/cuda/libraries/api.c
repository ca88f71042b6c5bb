/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/libraries/api.h"

#include <stdio.h>

#include "config.h"
#include "engine/device/cuda/libraries/loader.h"

#define TEXT_OF(X) #X
#define TEXT(X)    TEXT_OF(X)
#define COUNT(X)   (sizeof(X) / sizeof *(X))

/* The least version of cuDNN; tests try older ones, too. */
#ifndef CUDNN_LEAST
#define CUDNN_LEAST (CUDNN_MAJOR * 10000 + CUDNN_MINOR * 100)
#endif

#define CUDNN_SYMBOL(RESULT, NAME, ARGUMENTS)    "cudnn" #NAME,
#define CUBLASLT_SYMBOL(RESULT, NAME, ARGUMENTS) "cublasLt" #NAME,

static const char *const cudnn_symbols[] = {CUDNN_FUNCTIONS(CUDNN_SYMBOL)};
static const char *const cublaslt_symbols[] = {CUBLASLT_FUNCTIONS(CUBLASLT_SYMBOL)};

_Static_assert(sizeof(struct cudnn_api) == COUNT(cudnn_symbols) * sizeof(void *),
               "a table has nothing but functions");
_Static_assert(sizeof(struct cublaslt_api) == COUNT(cublaslt_symbols) * sizeof(void *),
               "a table has nothing but functions");

static int cudnn_version(const void *table)
{
    const struct cudnn_api *api = table;
    return (int)api->GetVersion();
}

static int cublaslt_version(const void *table)
{
    const struct cublaslt_api *api = table;
    return (int)api->GetVersion();
}

/* Both promise that a program made for one version runs with every later one of the same major. */
const struct cudnn_api *cudnn_open(struct error *err)
{
    static const struct library_request request = {
        .name = "cuDNN",
        .file = "libcudnn.so." TEXT(CUDNN_MAJOR),
        .folder = CUDNN_DIR,
        .symbols = cudnn_symbols,
        .symbol_count = COUNT(cudnn_symbols),
        .version = CUDNN_LEAST,
        .version_of = cudnn_version,
    };
    static struct library_once once = LIBRARY_ONCE_INIT;
    static struct cudnn_api api;
    return library_open_once(&once, &request, &api, err) ? &api : NULL;
}

const struct cublaslt_api *cublaslt_open(struct error *err)
{
    static const struct library_request request = {
        .name = "cuBLAS",
        .file = "libcublasLt.so." TEXT(CUBLAS_VER_MAJOR),
        .folder = CUBLASLT_DIR,
        .symbols = cublaslt_symbols,
        .symbol_count = COUNT(cublaslt_symbols),
        .version = CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100,
        .version_of = cublaslt_version,
    };
    static struct library_once once = LIBRARY_ONCE_INIT;
    static struct cublaslt_api api;
    return library_open_once(&once, &request, &api, err) ? &api : NULL;
}

bool cuda_check(cudaError_t status, const char *what, struct error *err)
{
    if (status == cudaSuccess)
        return true;
    /* What the runtime remembers would be blamed on the next launch; errors that broke the device
     * stay all the same. */
    (void)cudaGetLastError();
    return error_set(err, ERROR_FAILED, "%s: %s (%s)", what, cudaGetErrorString(status),
                     cudaGetErrorName(status));
}

bool cudnn_check(const struct cudnn_api *api, cudnnStatus_t status, const char *what,
                 struct error *err)
{
    char said[256] = "";
    if (status == CUDNN_STATUS_SUCCESS)
        return true;
    api->GetLastErrorString(said, sizeof said);
    for (size_t i = 0; said[i]; i++)
        if (said[i] == '\n')
            said[i] = ' ';
    return error_set(err, ERROR_FAILED, "%s: %s%s%s", what, api->GetErrorString(status),
                     *said ? ": " : "", said);
}

bool cublaslt_check(const struct cublaslt_api *api, cublasStatus_t status, const char *what,
                    struct error *err)
{
    return status == CUBLAS_STATUS_SUCCESS ||
           error_set(err, ERROR_FAILED, "%s: %s", what, api->GetStatusString(status));
}
