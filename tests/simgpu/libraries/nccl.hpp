/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_SIMGPU_NCCL_HPP
#define DPARTUI_TESTS_SIMGPU_NCCL_HPP

#include <algorithm>

#include <nccl.h>

#include "tests/simgpu/machine.hpp"

/*
 * A stand-in for NCCL between the threads of one process, or of several (nccl_process.hpp). A
 * collective operation takes place when the streams of all ranks have come to it; sums are made in
 * the order of ranks. Until then it is what a hanging GPU looks like: ready never, unless the
 * communicator is aborted.
 */
namespace simgpu
{

enum collective_kind { ALL_REDUCE, REDUCE, BROADCAST, ALL_GATHER, REDUCE_SCATTER };

/* One rank's part of a collective operation. */
struct part {
    const void *send;
    void *receive;
    cudaStream_t stream;
    bool queued = false, arrived = false;
    const void *thread; /* that asked for it outside a group; NULL: within one */
};

struct collective {
    collective_kind kind;
    size_t count; /* numbers; of ALL_GATHER and REDUCE_SCATTER those of each rank */
    ncclDataType_t type;
    int root;
    std::vector<part> parts;
    bool done = false;
};

class processes;

/* All ranks that belong together. */
struct world {
    int size;
    std::shared_ptr<processes> between; /* NULL: they are all of this process */
    std::vector<int> devices;           /* by rank; -1: has not come, or is another process's */
    std::vector<size_t> next;           /* collective operations that a rank has asked for */
    std::vector<std::shared_ptr<collective>> operations;
    bool complete() const;
};

/* Keep the text for ncclGetLastError; returns result. */
ncclResult_t nccl_say(ncclResult_t result, const char *text);

inline size_t nccl_type_size(ncclDataType_t type)
{
    switch (type) {
    case ncclInt8:
        return 1;
    case ncclBfloat16:
        return 2;
    case ncclFloat32:
        return 4;
    case ncclFloat64:
        return 8;
    default:
        return 0;
    }
}

/* Bytes that a rank gives, and those that it gets; 0: none. */
size_t nccl_sent(const collective &c, size_t rank);
size_t nccl_received(const collective &c, size_t rank);

/* nccl_collective.cpp: what the parts of an operation come to for a rank that gets any of it. */
std::vector<char> nccl_result(const collective &c, size_t rank);

/* nccl_collective.cpp: put one rank's part of its next operation into its stream. */
ncclResult_t nccl_queue(const std::shared_ptr<ncclComm> &comm, const collective &wanted,
                        const part &mine);

} // namespace simgpu

struct ncclComm {
    std::shared_ptr<simgpu::world> all;
    int rank;
    bool blocking, aborted = false;
};

#endif
