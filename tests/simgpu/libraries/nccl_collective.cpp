/* SPDX-License-Identifier: MIT */
#include <cstring>

#include "tests/simgpu/libraries/nccl_process.hpp"

/* How a collective operation of NCCL takes place. */

using namespace simgpu;

namespace
{
template <typename T> void sum_parts(const collective &c, std::vector<T> *out)
{
    for (const part &p : c.parts)
        for (size_t i = 0; i < c.count; i++)
            (*out)[i] += static_cast<const T *>(p.send)[i];
}

template <typename T> std::vector<char> sum_of(const collective &c)
{
    std::vector<T> sum(c.count);
    sum_parts(c, &sum);
    const char *bytes = reinterpret_cast<const char *>(sum.data());
    return {bytes, bytes + c.count * sizeof(T)};
}

void take_place(const collective &c)
{
    const std::vector<char> result = nccl_result(c);
    for (size_t rank = 0; rank < c.parts.size(); rank++)
        if (c.kind != REDUCE || static_cast<int>(rank) == c.root)
            memcpy(c.parts[rank].receive, result.data(), result.size());
}

bool buffers_exist(const collective &c, const world &all)
{
    size_t bytes = c.count * nccl_type_size(c.type);
    for (size_t rank = 0; rank < c.parts.size(); rank++) {
        bool root = static_cast<int>(rank) == c.root;
        const part &p = c.parts[rank];
        bool sends = c.kind != BROADCAST || root, receives = c.kind != REDUCE || root;
        if ((sends && !device_can_use(all.devices[rank], p.send, bytes)) ||
            (receives && !device_can_use(all.devices[rank], p.receive, bytes))) {
            fault("NCCL: rank %zu is given memory that is not its GPU's", rank);
            return false;
        }
    }
    return true;
}

/* The first stream that finds everybody there does the work for all. */
cudaError_t complete(collective &c, const world &all)
{
    if (c.done)
        return cudaSuccess;
    c.done = true;
    if (c.count && !buffers_exist(c, all))
        return cudaErrorIllegalAddress;
    take_place(c);
    return cudaSuccess;
}

/* Bring the other ranks' streams nearer to the operation. */
bool push_others(const collective &c, size_t self)
{
    bool moved = false;
    for (size_t rank = 0; rank < c.parts.size(); rank++)
        if (rank != self && c.parts[rank].queued && !c.parts[rank].arrived &&
            the_machine().streams.count(c.parts[rank].stream))
            moved = step(c.parts[rank].stream) || moved;
    return moved;
}

operation stream_operation(const std::shared_ptr<ncclComm> &comm,
                           const std::shared_ptr<collective> &c)
{
    auto self = static_cast<size_t>(comm->rank);
    operation what;
    what.name = "NCCL operation";
    what.ready = [=] {
        c->parts[self].arrived = true;
        if (comm->aborted || c->done)
            return true;
        return std::all_of(c->parts.begin(), c->parts.end(),
                           [](const part &p) { return p.arrived; });
    };
    what.push = [=] { return push_others(*c, self); };
    what.run = [=] { return comm->aborted ? cudaSuccess : complete(*c, *comm->all); };
    return what;
}
} // namespace

std::vector<char> simgpu::nccl_result(const collective &c)
{
    if (c.kind != BROADCAST)
        return c.type == ncclFloat64 ? sum_of<double>(c) : sum_of<float>(c);
    const char *sent = static_cast<const char *>(c.parts[static_cast<size_t>(c.root)].send);
    return {sent, sent + c.count * nccl_type_size(c.type)};
}

ncclResult_t simgpu::nccl_queue(const std::shared_ptr<ncclComm> &comm, const collective &wanted,
                                const part &mine)
{
    world &all = *comm->all;
    auto self = static_cast<size_t>(comm->rank);
    size_t number = all.next[self];
    if (!all.complete())
        return nccl_say(ncclInvalidUsage, "the communicator is not ready");
    if (mine.stream->device != all.devices[self] || mine.stream->capturing) {
        fault("NCCL: a stream of another device, or one that is being captured");
        return nccl_say(ncclInvalidUsage, "a stream that cannot be used");
    }
    if (number == all.operations.size()) {
        all.operations.push_back(std::make_shared<collective>(wanted));
        all.operations.back()->parts.resize(static_cast<size_t>(all.size));
    }
    auto c = all.operations[number];
    if (c->kind != wanted.kind || c->count != wanted.count || c->type != wanted.type ||
        c->root != wanted.root) {
        fault("NCCL: rank %d asks for another operation than the others did", comm->rank);
        return nccl_say(ncclInvalidUsage, "ranks ask for different operations");
    }
    for (const part &p : c->parts)
        if (p.queued && p.thread && p.thread == mine.thread) {
            fault("NCCL: one thread asks for two ranks' parts without a group: it may wait for "
                  "itself");
            return nccl_say(ncclInvalidUsage, "several ranks of a thread without a group");
        }
    all.next[self]++;
    c->parts[self] = mine;
    c->parts[self].queued = true;
    return enqueue(mine.stream, all.between ? processes_operation(comm, c, number)
                                            : stream_operation(comm, c)) == cudaSuccess
               ? ncclSuccess
               : nccl_say(ncclUnhandledCudaError, "the stream takes no work");
}
