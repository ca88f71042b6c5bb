/* SPDX-License-Identifier: MIT */
#include "tests/simgpu/libraries/nccl_process.hpp"
#include "tests/simgpu/numbers.hpp"

/* How a collective operation of NCCL takes place. */

using namespace simgpu;

namespace
{
float widen(uint16_t number)
{
    return from_bf16(number);
}

template <typename T> T widen(T number)
{
    return number;
}

/* Rounded after each addition, as the ranks of a ring do. */
uint16_t narrow(float sum, uint16_t)
{
    return to_bf16(sum);
}

template <typename T> T narrow(T sum, T)
{
    return sum;
}

/* Numbers from `first` on, of all ranks. */
template <typename T> std::vector<char> sum_of(const collective &c, size_t first)
{
    std::vector<T> sum(c.count);
    for (const part &p : c.parts)
        for (size_t i = 0; i < c.count; i++)
            sum[i] = narrow(widen(sum[i]) + widen(static_cast<const T *>(p.send)[first + i]), T());
    const char *bytes = reinterpret_cast<const char *>(sum.data());
    return {bytes, bytes + c.count * sizeof(T)};
}

std::vector<char> sent_by(const collective &c, size_t rank)
{
    const char *sent = static_cast<const char *>(c.parts[rank].send);
    return {sent, sent + nccl_sent(c, rank)};
}

std::vector<char> all_sent(const collective &c)
{
    std::vector<char> all;
    for (size_t rank = 0; rank < c.parts.size(); rank++) {
        const std::vector<char> sent = sent_by(c, rank);
        all.insert(all.end(), sent.begin(), sent.end());
    }
    return all;
}

/* What is sent may lie where something is received. */
void take_place(const collective &c)
{
    std::vector<std::vector<char>> results;
    for (size_t rank = 0; rank < c.parts.size(); rank++)
        results.push_back(nccl_received(c, rank) ? nccl_result(c, rank) : std::vector<char>());
    for (size_t rank = 0; rank < c.parts.size(); rank++)
        std::copy(results[rank].begin(), results[rank].end(),
                  static_cast<char *>(c.parts[rank].receive));
}

bool can_use(int device, const void *memory, size_t bytes)
{
    return bytes == 0 || device_can_use(device, memory, bytes);
}

bool buffers_exist(const collective &c, const world &all)
{
    for (size_t rank = 0; rank < c.parts.size(); rank++) {
        const part &p = c.parts[rank];
        if (!can_use(all.devices[rank], p.send, nccl_sent(c, rank)) ||
            !can_use(all.devices[rank], p.receive, nccl_received(c, rank))) {
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
    if (!buffers_exist(c, all))
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

size_t simgpu::nccl_sent(const collective &c, size_t rank)
{
    const size_t bytes = c.count * nccl_type_size(c.type);
    if (c.kind == BROADCAST && static_cast<int>(rank) != c.root)
        return 0;
    return c.kind == REDUCE_SCATTER ? bytes * c.parts.size() : bytes;
}

size_t simgpu::nccl_received(const collective &c, size_t rank)
{
    const size_t bytes = c.count * nccl_type_size(c.type);
    if (c.kind == REDUCE && static_cast<int>(rank) != c.root)
        return 0;
    return c.kind == ALL_GATHER ? bytes * c.parts.size() : bytes;
}

std::vector<char> simgpu::nccl_result(const collective &c, size_t rank)
{
    if (c.kind == BROADCAST)
        return sent_by(c, static_cast<size_t>(c.root));
    if (c.kind == ALL_GATHER)
        return all_sent(c);
    const size_t first = c.kind == REDUCE_SCATTER ? rank * c.count : 0;
    return c.type == ncclFloat64   ? sum_of<double>(c, first)
           : c.type == ncclFloat32 ? sum_of<float>(c, first)
                                   : sum_of<uint16_t>(c, first);
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
