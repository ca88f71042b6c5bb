/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/libraries/nccl.h"

#include "config.h"
#include "engine/device/cuda/libraries/loader.h"

#define COUNT(X)                             (sizeof(X) / sizeof *(X))
#define NCCL_SYMBOL(RESULT, NAME, ARGUMENTS) "nccl" #NAME,

static const char *const symbols[] = {NCCL_FUNCTIONS(NCCL_SYMBOL)};

_Static_assert(sizeof(struct nccl_api) == COUNT(symbols) * sizeof(void *),
               "a table has nothing but functions");

static int version_of(const void *table)
{
    const struct nccl_api *api = table;
    int version = 0;
    return api->GetVersion(&version) == ncclSuccess ? version : 0;
}

/* ncclConfig_t says which version it was made for, and NCCL takes those of earlier ones. */
const struct nccl_api *nccl_open(struct error *err)
{
    static const struct library_request request = {
        .name = "NCCL",
        .file = "libnccl.so.2",
        .folder = NCCL_DIR,
        .symbols = symbols,
        .symbol_count = COUNT(symbols),
        .version = NCCL_MAJOR * 10000 + NCCL_MINOR * 100,
        .version_of = version_of,
    };
    static struct library_once once = LIBRARY_ONCE_INIT;
    static struct nccl_api api;
    return library_open_once(&once, &request, &api, err) ? &api : NULL;
}

bool nccl_check(const struct nccl_api *api, ncclResult_t status, const char *what,
                struct error *err)
{
    if (status == ncclSuccess || status == ncclInProgress)
        return true;
    const char *said = api->GetLastError(NULL);
    return error_set(err, ERROR_FAILED, "%s: %s%s%s", what, api->GetErrorString(status),
                     said && *said ? ": " : "", said ? said : "");
}
