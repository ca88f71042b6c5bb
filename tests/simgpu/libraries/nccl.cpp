/* SPDX-License-Identifier: MIT */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/simgpu/libraries/nccl_process.hpp"

/* Communicators, groups and the functions of NCCL. */

using namespace simgpu;

namespace
{
/* What a thread asked for in the group that it has open. */
struct group {
    int depth = 0;
    std::vector<std::function<ncclResult_t()>> calls;
};

group &this_group()
{
    static thread_local group g;
    return g;
}

thread_local std::string last_error;

/* In a call that is to hang, which has been counted: until `over` or the machine's reset. */
void hang(const char *function, guard &held, const std::function<bool()> &over)
{
    machine &m = the_machine();
    auto found = m.hanging.find(function);
    if (found == m.hanging.end() || found->second != m.calls[function])
        return;
    m.hanging.erase(found);
    unsigned long generation = m.generation;
    while (m.generation == generation && !over())
        m.changed.wait_for(held, std::chrono::milliseconds(5));
}

bool never()
{
    return false;
}

std::map<std::string, std::weak_ptr<world>> &worlds()
{
    static auto *all = new std::map<std::string, std::weak_ptr<world>>();
    return *all;
}

bool adds(ncclRedOp_t op, ncclDataType_t type)
{
    return op == ncclSum && type != ncclInt8;
}

constexpr const char *only_adds = "the simulator only adds, and no integers";

ncclResult_t start(const char *function, ncclComm_t handle, const collective &wanted,
                   const void *send, void *receive, cudaStream_t given)
{
    guard held(the_machine().lock);
    int failure;
    if (asked_to_fail(function, &failure))
        return nccl_say(static_cast<ncclResult_t>(failure), "made to fail");
    auto comm = lib_find(handle);
    if (!comm || nccl_type_size(wanted.type) == 0)
        return nccl_say(ncclInvalidArgument, "no communicator, or a type that is not known");
    hang(function, held, [=] { return comm->aborted; });
    if (comm->aborted)
        return nccl_say(ncclInvalidUsage, "the communicator was aborted");
    part mine;
    mine.send = send;
    mine.receive = receive;
    mine.stream = stream_of(given);
    if (!stream_exists(mine.stream))
        return nccl_say(ncclInvalidArgument, "no such stream");
    group &g = this_group();
    mine.thread = g.depth == 0 ? &this_caller() : nullptr;
    if (g.depth == 0)
        return nccl_queue(comm, wanted, mine);
    g.calls.push_back([=] { return nccl_queue(comm, wanted, mine); });
    return ncclSuccess;
}

/* A rank takes its place; the communicator works when all have. */
ncclResult_t join(const std::shared_ptr<world> &all, int rank, int device, bool blocking,
                  ncclComm_t *out)
{
    auto self = static_cast<size_t>(rank);
    if (std::count(all->devices.begin(), all->devices.end(), device))
        return nccl_say(ncclInvalidUsage, "Duplicate GPU detected");
    if (all->devices[self] != -1)
        return nccl_say(ncclInvalidArgument, "two of the same rank");
    if (all->between) {
        ncclResult_t joined = all->between->join(rank, device);
        if (joined != ncclSuccess)
            return joined;
    }
    all->devices[self] = device;
    auto made = std::make_shared<ncclComm>();
    made->all = all;
    made->rank = rank;
    made->blocking = blocking;
    *out = lib_make(made);
    the_machine().changed.notify_all();
    return ncclSuccess;
}

/* Until all ranks are there, as the real one does: it has no limit of its own. */
ncclResult_t wait_for_all(ncclComm_t handle, guard &held)
{
    auto comm = lib_find(handle);
    double since = now();
    if (!comm || !comm->blocking)
        return comm ? ncclInProgress : ncclInvalidArgument;
    while (!comm->all->complete()) {
        if (comm->aborted)
            return nccl_say(ncclInternalError, "aborted");
        if (comm->all->between && comm->all->between->refused())
            return nccl_say(ncclInvalidUsage, "Duplicate GPU detected");
        if (!comm->all->between && now() - since > 20) {
            fault("NCCL: a rank waits for others that never come");
            return nccl_say(ncclSystemError, "ranks are missing");
        }
        the_machine().changed.wait_for(held, std::chrono::milliseconds(5));
    }
    return ncclSuccess;
}

bool is_idle(const ncclComm &comm)
{
    for (const auto &c : comm.all->operations) {
        const part &p = c->parts[static_cast<size_t>(comm.rank)];
        if (p.queued && !c->done)
            return false;
    }
    return true;
}
} // namespace

bool simgpu::world::complete() const
{
    return between ? between->complete() : std::count(devices.begin(), devices.end(), -1) == 0;
}

ncclResult_t simgpu::nccl_say(ncclResult_t result, const char *text)
{
    last_error = text;
    return result;
}

extern "C" {

ncclResult_t ncclGetVersion(int *version)
{
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    static const char *const texts[ncclNumResults] = {
        "no error",
        "unhandled cuda error",
        "unhandled system error",
        "internal error",
        "invalid argument",
        "invalid usage",
        "remote process exited",
        "operation in progress",
    };
    return result >= 0 && result < ncclNumResults ? texts[result] : "unknown result code";
}

const char *ncclGetLastError(ncclComm_t)
{
    return last_error.c_str();
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *out)
{
    guard held(the_machine().lock);
    int failure;
    if (asked_to_fail("ncclGetUniqueId", &failure))
        return nccl_say(static_cast<ncclResult_t>(failure), "made to fail");
    static unsigned long number;
    memset(out->internal, 0, sizeof out->internal);
    if (getenv("SIMGPU_NCCL_DIR"))
        return processes_id(out->internal, sizeof out->internal)
                   ? ncclSuccess
                   : nccl_say(ncclSystemError, "the name of SIMGPU_NCCL_DIR is too long");
    snprintf(out->internal, sizeof out->internal, "simulated %lu", ++number);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *out, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t *config)
{
    guard held(the_machine().lock);
    int failure;
    *out = nullptr;
    if (asked_to_fail("ncclCommInitRankConfig", &failure))
        return nccl_say(static_cast<ncclResult_t>(failure), "made to fail");
    if (size < 1 || rank < 0 || rank >= size)
        return nccl_say(ncclInvalidArgument, "no such rank");
    std::shared_ptr<world> all = worlds()[id.internal].lock();
    if (!all) {
        all = std::make_shared<world>();
        all->size = size;
        all->devices.resize(static_cast<size_t>(size), -1);
        all->next.resize(static_cast<size_t>(size));
        if (id.internal[0] == '/' && !(all->between = processes::open(id.internal, size)))
            return ncclSystemError;
        worlds()[id.internal] = all;
    }
    if (all->size != size)
        return nccl_say(ncclInvalidArgument, "ranks do not agree about their number");
    bool blocking = !config || config->blocking != 0;
    ncclResult_t joined = join(all, rank, this_caller().device, blocking, out);
    if (joined != ncclSuccess)
        return joined;
    if (!blocking && this_group().depth == 0)
        return all->complete() ? ncclSuccess : ncclInProgress;
    if (this_group().depth == 0)
        return wait_for_all(*out, held);
    return ncclSuccess; /* whether all are there is seen when it is used */
}

ncclResult_t ncclCommInitAll(ncclComm_t *out, int size, const int *devices)
{
    guard held(the_machine().lock);
    int failure;
    if (asked_to_fail("ncclCommInitAll", &failure))
        return nccl_say(static_cast<ncclResult_t>(failure), "made to fail");
    auto all = std::make_shared<world>();
    all->size = size;
    all->devices.resize(static_cast<size_t>(size), -1);
    all->next.resize(static_cast<size_t>(size));
    for (int rank = 0; rank < size; rank++) {
        ncclResult_t joined = join(all, rank, devices ? devices[rank] : rank, true, &out[rank]);
        if (joined != ncclSuccess) {
            while (rank-- > 0)
                lib_drop(out[rank]);
            return joined;
        }
    }
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t handle)
{
    guard held(the_machine().lock);
    the_machine().calls["ncclCommDestroy"]++;
    hang("ncclCommDestroy", held, never);
    auto comm = lib_find(handle);
    if (!comm)
        return nccl_say(ncclInvalidArgument, "no such communicator");
    if (!comm->aborted && !is_idle(*comm))
        fault("NCCL: rank %d is destroyed while it has work, which may never end", comm->rank);
    if (comm->all->between)
        comm->all->between->leave(comm->rank, false);
    lib_drop(handle);
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t handle)
{
    guard held(the_machine().lock);
    the_machine().calls["ncclCommAbort"]++;
    auto comm = lib_find(handle);
    if (!comm)
        return nccl_say(ncclInvalidArgument, "no such communicator");
    comm->aborted = true;
    if (comm->all->between)
        comm->all->between->leave(comm->rank, true);
    the_machine().changed.notify_all();
    hang("ncclCommAbort", held, never);
    lib_drop(handle);
    return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t *out)
{
    guard held(the_machine().lock);
    int failure;
    if (asked_to_fail("ncclCommGetAsyncError", &failure))
        return nccl_say(static_cast<ncclResult_t>(failure), "made to fail");
    auto comm = lib_find(handle);
    if (!comm)
        return nccl_say(ncclInvalidArgument, "no such communicator");
    *out = the_machine().nccl_error ? static_cast<ncclResult_t>(the_machine().nccl_error)
           : comm->all->between && comm->all->between->lost() ? ncclRemoteError
           : comm->all->complete()                            ? ncclSuccess
                                                              : ncclInProgress;
    return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void *send, void *receive, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    if (!adds(op, type))
        return nccl_say(ncclInvalidArgument, only_adds);
    return start("ncclAllReduce", comm, {ALL_REDUCE, count, type, 0, {}}, send, receive, stream);
}

ncclResult_t ncclReduce(const void *send, void *receive, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
{
    if (!adds(op, type))
        return nccl_say(ncclInvalidArgument, only_adds);
    return start("ncclReduce", comm, {REDUCE, count, type, root, {}}, send, receive, stream);
}

ncclResult_t ncclAllGather(const void *send, void *receive, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream)
{
    return start("ncclAllGather", comm, {ALL_GATHER, count, type, 0, {}}, send, receive, stream);
}

ncclResult_t ncclReduceScatter(const void *send, void *receive, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    if (!adds(op, type))
        return nccl_say(ncclInvalidArgument, only_adds);
    return start("ncclReduceScatter", comm, {REDUCE_SCATTER, count, type, 0, {}}, send, receive,
                 stream);
}

ncclResult_t ncclBroadcast(const void *send, void *receive, size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream)
{
    return start("ncclBroadcast", comm, {BROADCAST, count, type, root, {}}, send, receive, stream);
}

ncclResult_t ncclGroupStart(void)
{
    this_group().depth++;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
    guard held(the_machine().lock);
    group &g = this_group();
    int failure;
    if (g.depth == 0)
        return nccl_say(ncclInvalidUsage, "a group ends that did not begin");
    if (--g.depth > 0)
        return ncclSuccess;
    auto calls = std::move(g.calls);
    g.calls.clear();
    if (asked_to_fail("ncclGroupEnd", &failure))
        return nccl_say(static_cast<ncclResult_t>(failure), "made to fail");
    for (const auto &call : calls) {
        ncclResult_t result = call();
        if (result != ncclSuccess)
            return result;
    }
    return ncclSuccess;
}

} /* extern "C" */
