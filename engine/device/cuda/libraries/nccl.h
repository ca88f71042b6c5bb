/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <nccl.h>

#include "base/error.h"

/*
 * NCCL, opened like the libraries of api.h when the first run on several GPUs starts. Only in
 * builds with its header (HAVE_NCCL).
 */
#define NCCL_FUNCTIONS(F)                                                                          \
    F(ncclResult_t, GetVersion, (int *))                                                           \
    F(const char *, GetErrorString, (ncclResult_t))                                                \
    F(const char *, GetLastError, (ncclComm_t))                                                    \
    F(ncclResult_t, GetUniqueId, (ncclUniqueId *))                                                 \
    F(ncclResult_t, CommInitRankConfig, (ncclComm_t *, int, ncclUniqueId, int, ncclConfig_t *))    \
    F(ncclResult_t, CommInitAll, (ncclComm_t *, int, const int *))                                 \
    F(ncclResult_t, CommDestroy, (ncclComm_t))                                                     \
    F(ncclResult_t, CommAbort, (ncclComm_t))                                                       \
    F(ncclResult_t, CommGetAsyncError, (ncclComm_t, ncclResult_t *))                               \
    F(ncclResult_t, AllReduce,                                                                     \
      (const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t))       \
    F(ncclResult_t, Reduce,                                                                        \
      (const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, int, ncclComm_t, cudaStream_t))  \
    F(ncclResult_t, AllGather,                                                                     \
      (const void *, void *, size_t, ncclDataType_t, ncclComm_t, cudaStream_t))                    \
    F(ncclResult_t, ReduceScatter,                                                                 \
      (const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t))       \
    F(ncclResult_t, Broadcast,                                                                     \
      (const void *, void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t))               \
    F(ncclResult_t, GroupStart, (void))                                                            \
    F(ncclResult_t, GroupEnd, (void))

#define NCCL_MEMBER(RESULT, NAME, ARGUMENTS) RESULT(*NAME) ARGUMENTS;

struct nccl_api {
    NCCL_FUNCTIONS(NCCL_MEMBER)
};

/* As cudnn_open. Any thread. */
const struct nccl_api *nccl_open(struct error *err);

/* ERROR_FAILED "WHAT: REASON" unless status is success, with what NCCL says about it; that a
 * communicator is still being made is no failure. */
bool nccl_check(const struct nccl_api *api, ncclResult_t status, const char *what,
                struct error *err);
