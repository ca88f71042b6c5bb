/* SPDX-License-Identifier: MIT */
#include <algorithm>

#include "tests/simgpu/machine.hpp"

/* Stream capture and graphs of the runtime. */

using namespace simgpu;

namespace
{
/* Whether everything captured comes before what the origin stream would do next. */
bool all_joined(const capture &c, const std::vector<size_t> &tail)
{
    std::vector<bool> before(c.nodes.size(), false);
    std::vector<size_t> open = tail;
    while (!open.empty()) {
        size_t n = open.back();
        open.pop_back();
        if (before[n])
            continue;
        before[n] = true;
        open.insert(open.end(), c.nodes[n].after.begin(), c.nodes[n].after.end());
    }
    return std::all_of(before.begin(), before.end(), [](bool b) { return b; });
}

void leave_capture(const std::shared_ptr<capture> &c)
{
    for (cudaStream_t s : the_machine().streams)
        if (s->capturing == c) {
            s->capturing = nullptr;
            s->tail.clear();
        }
    auto &all = the_machine().captures;
    all.erase(std::remove(all.begin(), all.end(), c), all.end());
}

/* Every node once, each after those it waits for; which of several goes first is left to luck. */
cudaError_t run_graph(const std::vector<node> &nodes, int device)
{
    std::vector<size_t> missing(nodes.size()), ready;
    std::vector<std::vector<size_t>> next(nodes.size());
    for (size_t i = 0; i < nodes.size(); i++) {
        missing[i] = nodes[i].after.size();
        for (size_t before : nodes[i].after)
            next[before].push_back(i);
        if (missing[i] == 0)
            ready.push_back(i);
    }
    while (!ready.empty()) {
        std::swap(ready[random_number(static_cast<unsigned>(ready.size()))], ready.back());
        size_t i = ready.back();
        ready.pop_back();
        cudaError_t status = nodes[i].what.run();
        if (status != cudaSuccess)
            return status;
        spend(device, nodes[i].what.name);
        for (size_t n : next[i])
            if (--missing[n] == 0)
                ready.push_back(n);
    }
    return cudaSuccess;
}
} // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    api_call call("cudaStreamBeginCapture");
    if (call.failed())
        return call.status();
    if (!stream || !the_machine().streams.count(stream))
        return call.end(cudaErrorStreamCaptureUnsupported);
    if (stream->capturing)
        return call.end(cudaErrorIllegalState);
    auto c = std::make_shared<capture>();
    c->origin = stream;
    c->mode = mode;
    c->thread = &this_caller();
    stream->capturing = c;
    stream->tail.clear();
    the_machine().captures.push_back(c);
    return call.end(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out)
{
    api_call call("cudaStreamEndCapture");
    *out = nullptr;
    if (call.failed())
        return call.status();
    if (!stream || !the_machine().streams.count(stream) || !stream->capturing)
        return call.end(cudaErrorIllegalState);
    std::shared_ptr<capture> c = stream->capturing;
    if (c->mode != cudaStreamCaptureModeRelaxed && c->thread != &this_caller())
        return call.end(cudaErrorStreamCaptureWrongThread);
    cudaError_t status = cudaSuccess;
    if (c->origin != stream)
        status = cudaErrorStreamCaptureUnmatched;
    else if (c->invalid)
        status = cudaErrorStreamCaptureInvalidated;
    else if (!all_joined(*c, stream->tail))
        status = cudaErrorStreamCaptureUnjoined;
    leave_capture(c);
    if (status != cudaSuccess)
        return call.end(status);
    *out = new CUgraph_st{c->nodes};
    the_machine().graphs.insert(*out);
    return call.end(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t given, cudaStreamCaptureStatus *out)
{
    api_call call("cudaStreamIsCapturing");
    if (call.failed())
        return call.status();
    cudaStream_t stream = stream_of(given);
    if (!stream_exists(stream))
        return call.end(cudaErrorInvalidResourceHandle);
    device &d = the_machine().devices[static_cast<size_t>(stream->device)];
    for (cudaStream_t s : the_machine().streams)
        if (stream == d.null_stream && s->device == stream->device && s->blocking && s->capturing)
            return call.end(cudaErrorStreamCaptureImplicit);
    *out = !stream->capturing           ? cudaStreamCaptureStatusNone
           : stream->capturing->invalid ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
    return call.end(cudaSuccess);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode)
{
    api_call call("cudaThreadExchangeStreamCaptureMode");
    std::swap(*mode, this_caller().capture_mode);
    return call.status();
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long)
{
    api_call call("cudaGraphInstantiate");
    if (call.failed())
        return call.status();
    if (!graph)
        return call.end(cudaErrorInvalidValue);
    *out = new CUgraphExec_st{std::make_shared<const std::vector<node>>(graph->nodes),
                              this_caller().device};
    the_machine().executables.insert(*out);
    return call.end(cudaSuccess);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph,
                                          unsigned long long flags)
{
    return cudaGraphInstantiate(out, graph, flags);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *, size_t *count)
{
    api_call call("cudaGraphGetNodes");
    if (call.failed())
        return call.status();
    *count = graph->nodes.size();
    return call.end(cudaSuccess);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t)
{
    api_call call("cudaGraphUpload");
    return call.status();
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t given)
{
    api_call call("cudaGraphLaunch");
    if (call.failed())
        return call.status();
    cudaStream_t stream = stream_of(given);
    if (!exec || stream->device != exec->device)
        return call.end(cudaErrorInvalidValue);
    auto nodes = exec->nodes;
    int device = exec->device;
    return call.end(enqueue(stream, {"graph", [=] { return run_graph(*nodes, device); }, {}, {}}));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    api_call call("cudaGraphExecDestroy");
    if (!the_machine().executables.erase(exec))
        return call.end(cudaErrorInvalidValue);
    delete exec;
    return call.status();
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    api_call call("cudaGraphDestroy");
    if (!the_machine().graphs.erase(graph))
        return call.end(cudaErrorInvalidValue);
    delete graph;
    return call.status();
}

} /* extern "C" */
