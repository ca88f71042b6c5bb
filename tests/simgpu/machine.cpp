/* SPDX-License-Identifier: MIT */
#include "tests/simgpu/machine.hpp"

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace simgpu
{
namespace
{
constexpr simgpu_options default_options = {3, 256u << 20, SIMGPU_LAZY, 1, false, false};
}

machine &the_machine()
{
    static machine *m = [] {
        auto *made = new machine(); /* kept: threads may still use it while the process ends */
        made->options = default_options;
        made->devices.resize(static_cast<size_t>(default_options.devices));
        return made;
    }();
    return *m;
}

caller &this_caller()
{
    static thread_local caller c;
    if (c.generation != the_machine().generation) {
        c = caller();
        c.generation = the_machine().generation;
    }
    return c;
}

void fault(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    machine &m = the_machine();
    if (m.faults++ == 0)
        m.first_fault = text;
    fprintf(stderr, "simulated GPU: %s\n", text);
}

unsigned random_number(unsigned below)
{
    machine &m = the_machine();
    m.luck = m.luck * 1664525u + 1013904223u;
    return (m.luck >> 8) % below;
}

double now()
{
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

bool asked_to_fail(const char *function, int *status)
{
    machine &m = the_machine();
    long number = ++m.calls[function];
    auto found = m.failures.find(function);
    if (found == m.failures.end() || found->second.first != number)
        return false;
    *status = found->second.second;
    m.failures.erase(found);
    return true;
}

namespace
{
/* An unsafe call spoils the captures that forbid it: cudaThreadExchangeStreamCaptureMode. */
bool spoil_captures()
{
    bool any = false;
    const caller &self = this_caller();
    if (self.capture_mode == cudaStreamCaptureModeRelaxed)
        return false;
    for (const auto &c : the_machine().captures) {
        bool own = c->thread == &self;
        if (c->mode == cudaStreamCaptureModeRelaxed ||
            (!own && (c->mode != cudaStreamCaptureModeGlobal ||
                      self.capture_mode != cudaStreamCaptureModeGlobal)))
            continue;
        c->invalid = true;
        any = true;
    }
    return any;
}
} // namespace

cudaError_t spoil(capture *c, cudaError_t status)
{
    c->invalid = true;
    return status;
}

bool capture_forbids(const char *what)
{
    if (!spoil_captures())
        return false;
    fprintf(stderr, "simulated GPU: %s is not allowed while a stream is captured\n", what);
    return true;
}

bool captures_spoiled(int number, bool blocking)
{
    bool any = false;
    for (cudaStream_t s : the_machine().streams)
        if (s->device == number && s->capturing && (s->blocking || !blocking))
            any = s->capturing->invalid = true;
    return any;
}

api_call::api_call(const char *function, bool unsafe) : held(the_machine().lock)
{
    int status;
    machine &m = the_machine();
    if (asked_to_fail(function, &status)) {
        failure = static_cast<cudaError_t>(status);
        return;
    }
    if (m.options.no_driver) {
        failure = cudaErrorInsufficientDriver;
        return;
    }
    if (unsafe && capture_forbids(function)) {
        failure = cudaErrorStreamCaptureUnsupported;
        return;
    }
    size_t current = static_cast<size_t>(this_caller().device);
    if (current < m.devices.size())
        failure = m.devices[current].broken;
}

cudaError_t api_call::status()
{
    return end(failure);
}

cudaError_t api_call::end(cudaError_t result)
{
    if (result != cudaSuccess)
        this_caller().last_error = result;
    return result;
}

/* Streams */

cudaStream_t stream_of(cudaStream_t stream)
{
    if (stream && stream != cudaStreamLegacy && stream != cudaStreamPerThread)
        return stream;
    int number = this_caller().device;
    device &d = the_machine().devices[static_cast<size_t>(number)];
    if (!d.null_stream) {
        d.null_stream = new CUstream_st();
        d.null_stream->device = number;
        d.null_stream->blocking = false;
    }
    return d.null_stream;
}

bool stream_exists(cudaStream_t stream)
{
    if (the_machine().streams.count(stream))
        return true;
    for (const device &d : the_machine().devices)
        if (d.null_stream == stream)
            return true;
    fault("a stream is used that was destroyed or never made");
    return false;
}

namespace
{
device &device_of(cudaStream_t stream)
{
    return the_machine().devices[static_cast<size_t>(stream->device)];
}

bool hung(const device &d)
{
    return d.hang_at >= 0 && d.operations >= d.hang_at;
}

/* What the device itself does not work on. */
bool takes_no_time(const std::string &operation)
{
    return operation == "event" || operation == "wait for an event" ||
           operation == "host function" || operation == "graph"; /* which counts its nodes */
}

void run_first(cudaStream_t stream)
{
    device &d = device_of(stream);
    operation what = std::move(stream->queue.front());
    stream->queue.pop_front();
    d.operations++;
    if (d.breaks_with != cudaSuccess && d.broken == cudaSuccess)
        d.broken = d.breaks_with;
    if (d.broken != cudaSuccess)
        return;
    cudaError_t status = what.run();
    if (status != cudaSuccess && d.broken == cudaSuccess)
        d.broken = status;
    spend(stream->device, what.name);
    the_machine().changed.notify_all();
}

/* The device's own stream waits for the blocking ones. */
void drain_blocking(int number)
{
    std::vector<cudaStream_t> list(the_machine().streams.begin(), the_machine().streams.end());
    for (cudaStream_t s : list)
        if (s->device == number && s->blocking)
            while (step(s))
                ;
}

/* Let other streams run ahead, as the machine's order has it. */
void run_ahead(cudaStream_t queued)
{
    machine &m = the_machine();
    if (m.options.order == SIMGPU_EAGER)
        while (step(queued))
            ;
    if (m.options.order != SIMGPU_SHUFFLE || m.streams.empty() || random_number(4))
        return;
    auto chosen = m.streams.begin();
    std::advance(chosen, random_number(static_cast<unsigned>(m.streams.size())));
    cudaStream_t stream = *chosen;
    for (unsigned i = random_number(8); i && step(stream); i--)
        ;
}
} // namespace

cudaError_t enqueue(cudaStream_t stream, operation what)
{
    if (!stream_exists(stream))
        return cudaErrorInvalidResourceHandle;
    if (capture *c = stream->capturing.get()) {
        if (c->invalid)
            return cudaErrorStreamCaptureInvalidated;
        c->nodes.push_back({std::move(what), stream->tail});
        stream->tail = {c->nodes.size() - 1};
        return cudaSuccess;
    }
    device &d = device_of(stream);
    if (stream == d.null_stream) {
        if (captures_spoiled(stream->device, true))
            return cudaErrorStreamCaptureImplicit;
        drain_blocking(stream->device);
    }
    stream->queue.push_back(std::move(what));
    the_machine().changed.notify_all();
    if (stream == d.null_stream)
        while (step(stream))
            ;
    else
        run_ahead(stream);
    return cudaSuccess;
}

void spend(int number, const std::string &operation)
{
    machine &m = the_machine();
    auto named = m.costs.find(operation);
    if (m.short_autotune && operation == "cuDNN plan")
        m.devices[static_cast<size_t>(number)].clock += 1e-3 * (1 + random_number(1000) / 1000.0);
    else if (named != m.costs.end())
        m.devices[static_cast<size_t>(number)].clock += named->second;
    else if (!takes_no_time(operation))
        m.devices[static_cast<size_t>(number)].clock += m.usual_cost;
}

bool step(cudaStream_t stream)
{
    if (stream->queue.empty() || stream->stepping)
        return false;
    if (hung(device_of(stream)))
        return false;
    stream->stepping = true;
    bool moved = true;
    operation &first = stream->queue.front();
    if (device_of(stream).broken == cudaSuccess && first.ready && !first.ready())
        moved = first.push();
    else
        run_first(stream);
    stream->stepping = false;
    return moved;
}

cudaError_t drain(cudaStream_t stream, guard &held)
{
    double since = now();
    while (!stream->queue.empty()) {
        if (step(stream)) {
            since = now();
            continue;
        }
        bool forever = hung(device_of(stream)) || now() - since > 20;
        if (forever) {
            fault("a call waits for '%s', which never ends", stream->queue.front().name.c_str());
            return cudaErrorLaunchTimeout;
        }
        the_machine().changed.wait_for(held, std::chrono::milliseconds(5));
    }
    return device_of(stream).broken;
}

cudaError_t drain_device(int number, guard &held)
{
    std::vector<cudaStream_t> list(the_machine().streams.begin(), the_machine().streams.end());
    cudaError_t status = cudaSuccess;
    for (cudaStream_t s : list)
        if (status == cudaSuccess && the_machine().streams.count(s) && s->device == number)
            status = drain(s, held);
    return status;
}

} // namespace simgpu
