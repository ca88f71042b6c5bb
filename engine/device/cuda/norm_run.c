/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "engine/device/cuda/norm_layer.h"

static const void *data_of(const struct buffer *buffer)
{
    return buffer ? buffer->data : NULL;
}

static float *array(const struct norm *n, int which)
{
    return (float *)n->stats->data + (size_t)which * (size_t)n->shape.channels;
}

static struct norm_params params_of(const struct norm *n)
{
    struct norm_params params = n->params;
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

/* all = the sum of every device's own. The host takes part, so this cannot be captured. */
static bool exchange(struct plan *plan, const struct norm *n, const struct norm_scratch *s,
                     struct error *err)
{
    const struct device_exchange *with = &plan->core.request.exchange;
    cudaStream_t stream = plan->device->stream;
    if (!cuda_check(
            cudaMemcpyAsync(n->host, s->own->data, sums_bytes(n), cudaMemcpyDeviceToHost, stream),
            "copying sums", err) ||
        !cuda_wait(plan->device, stream, "sums of a BatchNorm", err))
        return false;
    close_up(n);
    if (!with->sum(with->context, n->host, 2 * (size_t)n->shape.real, err))
        return false;
    spread_out(n);
    return cuda_check(
        cudaMemcpyAsync(s->all->data, n->host, sums_bytes(n), cudaMemcpyHostToDevice, stream),
        "copying sums", err);
}

static bool no_sums(struct plan *plan, const struct norm *n, const struct norm_scratch *s,
                    struct error *err)
{
    return cuda_check(cudaMemsetAsync(s->own->data, 0, sums_bytes(n), plan->device->stream),
                      "clearing sums", err);
}

static bool make_sums(struct plan *plan, const struct norm *n, struct error *err)
{
    cudaStream_t stream = plan->device->stream;
    double *sums = n->forward.own->data;
    if (n->shape.rows == 0)
        return no_sums(plan, n, &n->forward, err);
    return cuda_kernel(n->made.sums
                           ? kernel_norm_take_sums(stream, n->shape.channels, n->made.sums->data,
                                                   n->made.squares->data, sums)
                           : kernel_norm_sums(stream, plan->device->storage, n->shape, n->x->data,
                                              n->forward.pieces->data, sums),
                       err);
}

static bool apply(struct plan *plan, const struct norm *n, const struct norm_params *params,
                  struct error *err)
{
    return cuda_kernel(kernel_norm_apply(plan->device->stream, plan->device->storage, n->shape,
                                         params, n->x->data, data_of(n->other), n->relu,
                                         n->y->data),
                       err);
}

bool norm_run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct norm *n = layer;
    const struct norm_params params = params_of(n);
    if (!make_sums(plan, n, err) || (n->sync && !exchange(plan, n, &n->forward, err)))
        return false;
    const double *sums = n->sync ? n->forward.all->data : n->forward.own->data;
    return cuda_kernel(kernel_norm_statistics(plan->device->stream, &params, sums,
                                              pass_elements(&plan->pass, n->slot)),
                       err) &&
           (n->shape.rows == 0 || apply(plan, n, &params, err));
}

bool norm_run_evaluation(struct plan *plan, void *layer, struct error *err)
{
    const struct norm *n = layer;
    const struct norm_params params = params_of(n);
    return cuda_kernel(kernel_norm_evaluation(plan->device->stream, &params), err) &&
           apply(plan, n, &params, err);
}

static bool make_backward_sums(struct plan *plan, const struct norm *n, struct error *err)
{
    if (n->shape.rows == 0)
        return no_sums(plan, n, &n->backward, err);
    return cuda_kernel(kernel_norm_backward_sums(plan->device->stream, plan->device->storage,
                                                 n->shape, n->dy->data, data_of(n->dy2),
                                                 n->relu ? n->y->data : NULL, n->relu, n->x->data,
                                                 n->g ? n->g->data : NULL, n->backward.pieces->data,
                                                 n->backward.own->data),
                       err);
}

bool norm_run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct norm *n = layer;
    const bool exchanges = n->sync && n->wants_dx;
    const struct norm_params params = params_of(n);
    struct norm_gradients gradients = n->gradients;
    if (n->wants_dx) {
        gradients.a = array(n, NORM_A);
        gradients.b = array(n, NORM_B);
        gradients.c = array(n, NORM_C);
    }
    if (!make_backward_sums(plan, n, err) || (exchanges && !exchange(plan, n, &n->backward, err)))
        return false;
    const double *own = n->backward.own->data;
    if (!cuda_kernel(kernel_norm_backward_finish(plan->device->stream, &params, own,
                                                 exchanges ? n->backward.all->data : own,
                                                 pass_elements(&plan->pass, n->slot), &gradients),
                     err))
        return false;
    if (!n->wants_dx || n->shape.rows == 0)
        return true;
    return cuda_kernel(kernel_norm_backward_apply(plan->device->stream, plan->device->storage,
                                                  n->shape, &gradients, data_of(n->g), n->dy->data,
                                                  data_of(n->dy2), n->relu ? n->y->data : NULL,
                                                  n->relu, n->x->data, n->dx->data),
                       err);
}
