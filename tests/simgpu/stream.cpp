/* SPDX-License-Identifier: MIT */
#include "tests/simgpu/machine.hpp"

/* Streams and events of the runtime. */

using namespace simgpu;

namespace
{
operation record_operation(const std::shared_ptr<record> &r, int number)
{
    return {"event",
            [r, number] {
                const machine &m = the_machine();
                r->done = true;
                r->when = m.has_costs ? m.devices[static_cast<size_t>(number)].clock : now();
                return cudaSuccess;
            },
            {},
            {}};
}

/* Wait for what was recorded, as the event is now. */
operation wait_operation(const std::shared_ptr<record> &r)
{
    return {"wait for an event", [] { return cudaSuccess; }, [r] { return r->done; },
            [r] { return the_machine().streams.count(r->stream) && step(r->stream); }};
}

/* The stream comes after what the event stands for in the graph that is being made. */
cudaError_t join_capture(cudaStream_t stream, cudaEvent_t event)
{
    if (event->captured->invalid)
        return cudaErrorStreamCaptureInvalidated;
    if (stream->capturing && stream->capturing != event->captured) {
        stream->capturing->invalid = event->captured->invalid = true;
        return cudaErrorStreamCaptureMerge;
    }
    if (!stream->capturing) {
        stream->capturing = event->captured;
        stream->tail = event->tail;
        return cudaSuccess;
    }
    for (size_t n : event->tail)
        stream->tail.push_back(n);
    return cudaSuccess;
}

/* Whether the stream may be waited for or asked how far it is. */
cudaError_t may_wait(cudaStream_t stream)
{
    if (stream->capturing)
        return spoil(stream->capturing.get(), cudaErrorStreamCaptureUnsupported);
    device &d = the_machine().devices[static_cast<size_t>(stream->device)];
    if (stream == d.null_stream && captures_spoiled(stream->device, true))
        return cudaErrorStreamCaptureImplicit;
    return cudaSuccess;
}

cudaError_t create_stream(cudaStream_t *out, unsigned flags)
{
    auto *s = new CUstream_st();
    s->device = this_caller().device;
    s->blocking = !(flags & cudaStreamNonBlocking);
    the_machine().streams.insert(s);
    *out = s;
    return cudaSuccess;
}

bool event_exists(cudaEvent_t event)
{
    if (the_machine().events.count(event))
        return true;
    fault("an event is used that was destroyed or never made");
    return false;
}
} // namespace

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    api_call call("cudaStreamCreateWithFlags");
    return call.failed() ? call.status() : call.end(create_stream(out, flags));
}

cudaError_t cudaStreamCreate(cudaStream_t *out)
{
    api_call call("cudaStreamCreate");
    return call.failed() ? call.status() : call.end(create_stream(out, 0));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int)
{
    api_call call("cudaStreamCreateWithPriority");
    return call.failed() ? call.status() : call.end(create_stream(out, flags));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    api_call call("cudaDeviceGetStreamPriorityRange");
    *least = 0;
    *greatest = -5;
    return call.status();
}

/* The real one comes back at once and what was queued still runs. Here it runs before; what cannot
 * is forgotten. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    api_call call("cudaStreamDestroy");
    if (!the_machine().streams.count(stream))
        return call.end(cudaErrorInvalidResourceHandle);
    if (stream->capturing)
        fault("a stream is destroyed while it is captured");
    while (step(stream))
        ;
    the_machine().streams.erase(stream);
    if (stream->queue.empty() && !stream->stepping)
        delete stream;
    else
        the_machine().ended.insert(stream);
    return call.status();
}

cudaError_t cudaStreamQuery(cudaStream_t given)
{
    api_call call("cudaStreamQuery", true);
    if (call.failed())
        return call.status();
    cudaStream_t stream = stream_of(given);
    if (!stream_exists(stream))
        return call.end(cudaErrorInvalidResourceHandle);
    if (cudaError_t status = may_wait(stream); status != cudaSuccess)
        return call.end(status);
    if (stream->queue.empty())
        return call.end(cudaSuccess);
    for (int n = the_machine().steps_asked; n && step(stream); n--)
        ;
    cudaError_t broken = the_machine().devices[static_cast<size_t>(stream->device)].broken;
    return call.end(broken != cudaSuccess ? broken : cudaErrorNotReady);
}

cudaError_t cudaStreamSynchronize(cudaStream_t given)
{
    api_call call("cudaStreamSynchronize", true);
    if (call.failed())
        return call.status();
    cudaStream_t stream = stream_of(given);
    if (!stream_exists(stream))
        return call.end(cudaErrorInvalidResourceHandle);
    cudaError_t status = may_wait(stream);
    return call.end(status == cudaSuccess ? drain(stream, call.lock()) : status);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t given, cudaEvent_t event, unsigned)
{
    api_call call("cudaStreamWaitEvent");
    if (call.failed())
        return call.status();
    cudaStream_t stream = stream_of(given);
    if (!stream_exists(stream) || !event_exists(event))
        return call.end(cudaErrorInvalidResourceHandle);
    if (stream->capturing && stream->capturing->invalid)
        return call.end(cudaErrorStreamCaptureInvalidated);
    if (event->captured)
        return call.end(join_capture(stream, event));
    if (stream->capturing && event->last)
        return call.end(spoil(stream->capturing.get(), cudaErrorStreamCaptureIsolation));
    if (!event->last)
        return call.end(cudaSuccess);
    return call.end(enqueue(stream, wait_operation(event->last)));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t given, cudaHostFn_t function, void *data)
{
    api_call call("cudaLaunchHostFunc");
    if (call.failed())
        return call.status();
    return call.end(enqueue(stream_of(given), {"host function",
                                               [=] {
                                                   function(data);
                                                   return cudaSuccess;
                                               },
                                               {},
                                               {}}));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    api_call call("cudaEventCreateWithFlags");
    if (call.failed())
        return call.status();
    auto *e = new CUevent_st();
    e->device = this_caller().device;
    e->timing = !(flags & cudaEventDisableTiming);
    the_machine().events.insert(e);
    *out = e;
    return call.end(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    return cudaEventCreateWithFlags(out, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    api_call call("cudaEventDestroy");
    if (!event_exists(event))
        return call.end(cudaErrorInvalidResourceHandle);
    the_machine().events.erase(event);
    delete event;
    return call.status();
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t given, unsigned)
{
    api_call call("cudaEventRecord");
    if (call.failed())
        return call.status();
    cudaStream_t stream = stream_of(given);
    if (!stream_exists(stream) || !event_exists(event))
        return call.end(cudaErrorInvalidResourceHandle);
    if (event->device != stream->device) {
        fault("an event of device %d is recorded in a stream of device %d", event->device,
              stream->device);
        return call.end(cudaErrorInvalidResourceHandle);
    }
    if (stream->capturing && stream->capturing->invalid)
        return call.end(cudaErrorStreamCaptureInvalidated);
    if (stream->capturing) {
        event->captured = stream->capturing;
        event->tail = stream->tail;
        return call.end(cudaSuccess);
    }
    event->captured = nullptr;
    event->last = std::make_shared<record>();
    event->last->stream = stream;
    return call.end(enqueue(stream, record_operation(event->last, stream->device)));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    api_call call("cudaEventQuery", true);
    if (call.failed())
        return call.status();
    if (!event_exists(event))
        return call.end(cudaErrorInvalidResourceHandle);
    if (event->captured)
        return call.end(spoil(event->captured.get(), cudaErrorCapturedEvent));
    if (!event->last || event->last->done)
        return call.end(cudaSuccess);
    const std::shared_ptr<record> last = event->last;
    for (int n = the_machine().steps_asked; n && !last->done; n--)
        if (!the_machine().streams.count(last->stream) || !step(last->stream))
            break;
    cudaError_t broken = the_machine().devices[static_cast<size_t>(event->device)].broken;
    return call.end(broken != cudaSuccess ? broken : cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    api_call call("cudaEventSynchronize", true);
    if (call.failed())
        return call.status();
    if (!event_exists(event))
        return call.end(cudaErrorInvalidResourceHandle);
    if (event->captured)
        return call.end(spoil(event->captured.get(), cudaErrorCapturedEvent));
    std::shared_ptr<record> r = event->last;
    while (r && !r->done && the_machine().streams.count(r->stream) && step(r->stream))
        ;
    if (!r || r->done)
        return call.end(cudaSuccess);
    if (!the_machine().streams.count(r->stream))
        return call.end(cudaErrorUnknown);
    return call.end(drain(r->stream, call.lock()));
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    api_call call("cudaEventElapsedTime");
    if (call.failed())
        return call.status();
    if (!event_exists(start) || !event_exists(end) || !start->timing || !end->timing ||
        !start->last || !end->last)
        return call.end(cudaErrorInvalidResourceHandle);
    if (!start->last->done || !end->last->done)
        return call.end(cudaErrorNotReady);
    *milliseconds = static_cast<float>((end->last->when - start->last->when) * 1e3);
    return call.end(cudaSuccess);
}

} /* extern "C" */
