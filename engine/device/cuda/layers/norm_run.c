/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "engine/device/cuda/layers/norm_run.h"
#include "engine/device/cuda/layers/operands.h"
#include "engine/device/cuda/pass/segments.h"
#include "engine/device/cuda/runtime/turn.h"
#include "engine/device/cuda/runtime/wait.h"

static const void *data_of(const struct buffer *buffer)
{
    return buffer ? buffer->data : NULL;
}

static float *array(const struct norm *n, int which)
{
    return (float *)n->stats->data + (size_t)which * (size_t)n->shape.channels;
}

static struct norm_params params_of(const struct plan *plan, const struct norm *n)
{
    struct norm_params params = n->params;
    params.micro = n->micro ? pass_micro(&plan->pass) : NULL;
    params.mean = array(n, NORM_MEAN);
    params.istd = array(n, NORM_ISTD);
    params.scale = array(n, NORM_SCALE);
    params.shift = array(n, NORM_SHIFT);
    return params;
}

static size_t sums_bytes(const struct norm *n)
{
    return 2 * (size_t)n->shape.channels * sizeof(double);
}

/* Turn 2 x channels as stored into 2 x channels of the network, and back. */
static void close_up(const struct norm *n)
{
    const size_t channels = (size_t)n->shape.channels, real = (size_t)n->shape.real;
    memmove(n->host + real, n->host + channels, real * sizeof *n->host);
}

static void spread_out(const struct norm *n)
{
    const size_t channels = (size_t)n->shape.channels, real = (size_t)n->shape.real;
    memmove(n->host + channels, n->host + real, real * sizeof *n->host);
    memset(n->host + real, 0, (channels - real) * sizeof *n->host);
    memset(n->host + channels + real, 0, (channels - real) * sizeof *n->host);
}

/* all = the sum of every device's own, by way of the host. */
static bool allreduce_on_host(struct plan *plan, const struct norm *n, const struct norm_scratch *s,
                              struct error *err)
{
    const struct device_allreduce *with = &plan->core.request.allreduce;
    cudaStream_t stream = plan->device->stream;
    if (!cuda_check(
            cudaMemcpyAsync(n->host, s->own->data, sums_bytes(n), cudaMemcpyDeviceToHost, stream),
            "copying sums", err) ||
        !cuda_wait(plan->device, stream, "sums of a BatchNorm", err))
        return false;
    close_up(n);
    if (!cuda_host_allreduce(plan->device, with, n->host, 2 * (size_t)n->shape.real, err))
        return false;
    spread_out(n);
    return cuda_check(
        cudaMemcpyAsync(s->all->data, n->host, sums_bytes(n), cudaMemcpyHostToDevice, stream),
        "copying sums", err);
}

/*
 * The same by the devices alone where they can. A first pass waits for each sum: it loads code, for
 * which a device may have to be idle, not waiting for others in the middle of a sum.
 */
static bool allreduce_now(struct plan *plan, const void *layer, const void *what, struct error *err)
{
    const struct norm *n = layer;
    const struct norm_scratch *s = what;
    const struct device_allreduce *with = &plan->core.request.allreduce;
    bool queued = false;
    if (with->queue && !with->queue(with->context, s->own->data, s->all->data,
                                    2 * (size_t)n->shape.channels, &queued, err))
        return false;
    if (!queued)
        return allreduce_on_host(plan, n, s, err);
    return plan->warm || cuda_wait(plan->device, plan->device->stream, "sums of a BatchNorm", err);
}

/* Others take part, so this is no part of a graph. */
static bool allreduce(struct plan *plan, const struct norm *n, const struct norm_scratch *s,
                      struct error *err)
{
    return cuda_segments_cut(plan, allreduce_now, n, s, err);
}

static bool no_sums(struct plan *plan, const struct norm *n, const struct norm_scratch *s,
                    struct error *err)
{
    return cuda_check(cudaMemsetAsync(s->own->data, 0, sums_bytes(n), plan->device->stream),
                      "clearing sums", err);
}

static struct sums_memory memory_of(const struct plan *plan, const struct norm_scratch *s)
{
    return (struct sums_memory){.scratch = s->partials->data, .counters = plan->replica->counters};
}

/* Of this device; the statistics as well when there are no others. */
static bool make_sums(struct plan *plan, const struct norm *n, const struct norm_params *params,
                      struct error *err)
{
    cudaStream_t stream = plan->device->stream;
    double *sums = n->forward.own->data;
    const double *elements = n->sync ? NULL : pass_elements(&plan->pass, n->slot);
    if (n->shape.rows == 0)
        return no_sums(plan, n, &n->forward, err);
    return cuda_kernel(n->made.sums
                           ? kernel_norm_take_sums(stream, plan->device->storage, n->shape,
                                                   n->x->data, n->made.sums->data,
                                                   n->made.squares->data, sums, params, elements)
                           : kernel_norm_sums(stream, plan->device->storage, n->shape, n->x->data,
                                              memory_of(plan, &n->forward), sums, params, elements),
                       err);
}

/* With the sums of all devices. */
static bool make_statistics(struct plan *plan, const struct norm *n,
                            const struct norm_params *params, struct error *err)
{
    return allreduce(plan, n, &n->forward, err) &&
           cuda_kernel(kernel_norm_statistics(plan->device->stream, params, n->forward.all->data,
                                              pass_elements(&plan->pass, n->slot)),
                       err);
}

static bool apply(struct plan *plan, const struct norm *n, const struct norm_params *params,
                  struct error *err)
{
    return cuda_kernel(kernel_norm_apply(plan->device->stream, plan->device->storage, n->shape,
                                         params, n->x->data, data_of(n->other), n->relu, n->y->data,
                                         n->mask ? n->mask->data : NULL),
                       err);
}

bool norm_run_statistics(struct plan *plan, void *layer, struct error *err)
{
    const struct norm *n = layer;
    const struct norm_params params = params_of(plan, n);
    return make_sums(plan, n, &params, err) && (!n->sync || make_statistics(plan, n, &params, err));
}

bool norm_run_apply(struct plan *plan, void *layer, struct error *err)
{
    const struct norm *n = layer;
    const struct norm_params params = params_of(plan, n);
    return apply(plan, n, &params, err);
}

bool norm_run_evaluation(struct plan *plan, void *layer, struct error *err)
{
    const struct norm *n = layer;
    const struct norm_params params = params_of(plan, n);
    return cuda_kernel(kernel_norm_evaluation(plan->device->stream, &params), err) &&
           apply(plan, n, &params, err);
}

static struct norm_backward backward_of(const struct plan *plan, const struct norm *n)
{
    struct norm_backward b = {.type = plan->device->storage, .shape = n->shape, .relu = n->relu};
    b.dy = n->dy->data;
    b.dy2 = data_of(n->dy2);
    b.x = n->x->data;
    b.mask = data_of(n->mask);
    b.g = n->g ? n->g->data : NULL;
    return b;
}

/* The part of a device without rows: nothing, and its gradients have been cleared. */
static bool add_nothing(struct plan *plan, const struct norm *n, struct error *err)
{
    return no_sums(plan, n, &n->backward, err) && allreduce(plan, n, &n->backward, err);
}

/* With the sums of all devices. */
static bool finish(struct plan *plan, const struct norm *n, const struct norm_params *params,
                   const double *elements, const struct norm_gradients *gradients,
                   struct error *err)
{
    return allreduce(plan, n, &n->backward, err) &&
           cuda_kernel(kernel_norm_backward_finish(plan->device->stream, params,
                                                   n->backward.own->data, n->backward.all->data,
                                                   elements, gradients),
                       err);
}

static struct norm_gradients gradients_of(const struct norm *n)
{
    struct norm_gradients gradients = n->gradients;
    if (n->wants_dx) {
        gradients.a = array(n, NORM_A);
        gradients.b = array(n, NORM_B);
        gradients.c = array(n, NORM_C);
    }
    return gradients;
}

bool norm_run_backward_sums(struct plan *plan, void *layer, struct error *err)
{
    const struct norm *n = layer;
    const bool allreduces = n->sync && n->wants_dx;
    if (n->shape.rows == 0)
        return !allreduces || add_nothing(plan, n, err);
    const struct norm_params params = params_of(plan, n);
    const struct norm_backward b = backward_of(plan, n);
    const struct norm_gradients gradients = gradients_of(n);
    const double *elements = pass_elements(&plan->pass, n->slot);
    return cuda_kernel(kernel_norm_backward_sums(
                           plan->device->stream, &b, &params, memory_of(plan, &n->backward),
                           n->backward.own->data, allreduces ? NULL : elements, &gradients),
                       err) &&
           (!allreduces || finish(plan, n, &params, elements, &gradients, err));
}

bool norm_run_backward_apply(struct plan *plan, void *layer, struct error *err)
{
    const struct norm *n = layer;
    const struct norm_params params = params_of(plan, n);
    const struct norm_backward b = backward_of(plan, n);
    const struct norm_gradients gradients = gradients_of(n);
    return cuda_kernel(
        kernel_norm_backward_apply(plan->device->stream, &b, &params, &gradients, n->dx->data),
        err);
}
