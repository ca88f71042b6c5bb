/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#include "engine/device/update.h"

/*
 * The backend's own kernels (*.cu), started on a stream by functions with C linkage. Nothing here
 * allocates, waits or reads device memory from the host, so everything can be captured in a CUDA
 * graph. All are deterministic: sums go through partial results in a fixed order,
 * never through atomic additions.
 *
 * A tensor is rows x pixels x channels, channels last and filled up to a multiple of 8 with zeros
 * that stay zero. Its numbers are of a `cuda_type`; parameters, statistics and sums are f32 (or
 * f64 where it says so). Arithmetic is f32. Tensors take less than 64 GiB. Pointers are
 * device memory aligned to 16 bytes. NULL is allowed where it says so. `s` is the stream. What
 * comes back is the launch's own status.
 */
#ifdef __cplusplus
extern "C" {
#endif

enum cuda_type { CUDA_F32, CUDA_BF16 };

static inline size_t cuda_type_size(enum cuda_type type)
{
    return type == CUDA_BF16 ? 2 : 4;
}

/* Channels filled up. */
static inline int cuda_padded(int channels)
{
    return (channels + 7) / 8 * 8;
}

struct tensor_shape {
    int rows, h, w, channels; /* channels as stored */
    int real;                 /* channels that the network knows; the others are zero */
};

static inline size_t tensor_size(struct tensor_shape s)
{
    return (size_t)s.rows * (size_t)s.h * (size_t)s.w * (size_t)s.channels;
}

/* Training-time changes to a picture, a pure function of (seed, epoch, row): engine/data/augment.h
 */
struct augmentation {
    uint32_t flags; /* AUGMENT_FLIP, AUGMENT_CROP; 0: none */
    uint32_t key[2];
    uint32_t epoch;
};

/*
 * Rows of a data set to the network's first tensor. Data lie as [row][c][h][w], pixels (uint8, x =
 * pixel * scale[c] + shift[c]) or numbers (f32, as they are; no augmentation); exactly one of the
 * two is set. Row i is index[i] of the data, or i itself where index is NULL (staged rows); `ids`
 * (for augmentation only) are the row numbers in the data set, NULL: the same as index.
 *
 * With kernel_h > 0 the tensor is not the picture but what the first convolution reads of it
 * (im2col): for each output pixel the taps in the order kernel_h, kernel_w, channels, zeros where
 * they lie in the padding, filled up with zeros to y.channels; y.h, y.w are the convolution's.
 */
struct input_args {
    const uint8_t *pixels;
    const float *numbers;
    const uint32_t *index, *ids;
    int channels, h, w; /* of the data */
    const float *scale, *shift;
    struct augmentation augment;
    int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
    struct tensor_shape y_shape;
    enum cuda_type type;
    void *y;
};
cudaError_t kernel_input(cudaStream_t s, const struct input_args *args);

enum activation {
    ACTIVATION_RELU = 1,
    ACTIVATION_SIGMOID,
    ACTIVATION_TANH,
    ACTIVATION_GELU, /* from here on the backward pass needs x */
    ACTIVATION_GELU_TANH,
    ACTIVATION_SILU,
    ACTIVATION_HARDSWISH
};

/* y = f(x + bias[channel]); bias may be NULL; y may be x. With `identity` only the bias is added.
 */
cudaError_t kernel_activation(cudaStream_t s, enum cuda_type type, enum activation f,
                              struct tensor_shape shape, const void *x, const float *bias, void *y);
cudaError_t kernel_bias(cudaStream_t s, enum cuda_type type, struct tensor_shape shape,
                        const void *x, const float *bias, void *y);
/* dx = dy * f'(x), from `kept`: y = f(x), or x itself; dx may be dy. */
cudaError_t kernel_activation_backward(cudaStream_t s, enum cuda_type type, enum activation f,
                                       struct tensor_shape shape, const void *kept, const void *dy,
                                       void *dx);

/* The same of max(0, x) + slope * min(0, x), where the slope is not negative. */
cudaError_t kernel_leaky_relu(cudaStream_t s, enum cuda_type type, float slope,
                              struct tensor_shape shape, const void *x, void *y);
cudaError_t kernel_leaky_relu_backward(cudaStream_t s, enum cuda_type type, float slope,
                                       struct tensor_shape shape, const void *y, const void *dy,
                                       void *dx);

/* y = a + b, with `relu` its positive part; y may be either. count: numbers, a multiple of 8. */
cudaError_t kernel_add(cudaStream_t s, enum cuda_type type, size_t count, const void *a,
                       const void *b, bool relu, void *y);
/* y = x converted; count a multiple of 4. */
cudaError_t kernel_convert(cudaStream_t s, enum cuda_type from, const void *x, enum cuda_type to,
                           void *y, size_t count);

/*
 * Sums over rows and pixels, channel by channel: sums[c] = sum of x (a bias gradient). Needs
 * scratch as said by kernel_sums_scratch, in bytes, and KERNEL_COUNTERS counters, zero before the
 * first of these kernels and zero again after each; kernels that may run at the same time must not
 * share them. (Shapes that need more counters, of 200,000 channels and more, are invalid.)
 */
#define KERNEL_COUNTERS 16384
struct sums_memory {
    void *scratch;
    uint32_t *counters;
};
size_t kernel_sums_scratch(struct tensor_shape shape);
cudaError_t kernel_channel_sums(cudaStream_t s, enum cuda_type type, struct tensor_shape shape,
                                const void *x, struct sums_memory memory, float *sums);

/*
 * Dropout: y = x * scale where kept, 0 elsewhere; kept when word >= threshold, the words those of
 * src/base/rng.h (purpose DROPOUT, index `op`, a the row's number ids[row], b epoch, element the
 * place in c,h,w order of the real channels). The same function makes dx from dy. What changes from
 * pass to pass is read from device memory, so that a captured pass can be run again.
 */
struct dropout_pass {
    uint32_t key[2], epoch;
};
struct dropout_args {
    struct tensor_shape shape;
    const uint32_t *ids;
    const struct dropout_pass *pass; /* device memory */
    uint32_t op, threshold;
    float scale;
    uint32_t first; /* of a slice: its first channel among all */
};
cudaError_t kernel_dropout(cudaStream_t s, enum cuda_type type, const struct dropout_args *args,
                           const void *x, void *y);

/* Flattening in c,h,w order: flat[row][c * h * w + ...] = x, zeros after the real numbers up to
 * cuda_padded(real * h * w); and back, zeros in the channels that fill x up. */
cudaError_t kernel_flatten(cudaStream_t s, enum cuda_type type, struct tensor_shape x_shape,
                           const void *x, void *flat);
cudaError_t kernel_unflatten(cudaStream_t s, enum cuda_type type, struct tensor_shape x_shape,
                             const void *flat, void *x);

/*
 * Convolution in groups: each makes `out` channels of y from `in` channels of x. w and dw are
 * [channel of y][kernel_h][kernel_w][in]. Channels that only fill up are zero in y and dx, and left
 * as they are in dw. Windows of dilation n read every nth number.
 */
struct grouped_conv {
    struct tensor_shape x, y;
    int in, out; /* channels of a group */
    int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
};
cudaError_t kernel_grouped_conv(cudaStream_t s, enum cuda_type type,
                                const struct grouped_conv *conv, const void *x, const void *w,
                                void *y);
cudaError_t kernel_grouped_conv_data(cudaStream_t s, enum cuda_type type,
                                     const struct grouped_conv *conv, const void *dy, const void *w,
                                     void *dx);
/* In f32, always in the same order. */
cudaError_t kernel_grouped_conv_weights(cudaStream_t s, enum cuda_type type,
                                        const struct grouped_conv *conv, const void *x,
                                        const void *dy, float *dw);

/* Pooling. `winners`: place of the maximum in its window, one byte for each number of y;
 * NULL: not wanted. */
struct pool_args {
    struct tensor_shape x, y;
    int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
    bool exclude_pad; /* means are those of the numbers inside the input */
};
cudaError_t kernel_maxpool(cudaStream_t s, enum cuda_type type, const struct pool_args *args,
                           const void *x, void *y, uint8_t *winners);
cudaError_t kernel_maxpool_backward(cudaStream_t s, enum cuda_type type,
                                    const struct pool_args *args, const void *dy,
                                    const uint8_t *winners, void *dx);
/* Divides by the whole window, or by the part of it that is inside. */
cudaError_t kernel_avgpool(cudaStream_t s, enum cuda_type type, const struct pool_args *args,
                           const void *x, void *y);
cudaError_t kernel_avgpool_backward(cudaStream_t s, enum cuda_type type,
                                    const struct pool_args *args, const void *dy, void *dx);
/* Mean over the pixels: y is rows x channels. */
cudaError_t kernel_global_avgpool(cudaStream_t s, enum cuda_type type, struct tensor_shape x_shape,
                                  const void *x, void *y);
cudaError_t kernel_global_avgpool_backward(cudaStream_t s, enum cuda_type type,
                                           struct tensor_shape x_shape, const void *dy, void *dx);

/* Of a micro-batch in its mini-batch. */
struct micro_place {
    double before; /* rows of the micro-batches before it, as a multiple of its own */
    int last;
};

/*
 * BatchNorm [+ residual] [+ ReLU]. Training: sums, statistics, apply; backward: backward_sums,
 * backward_finish, backward_apply. `sums` are 2 x channels numbers in f64: of x and of x squared;
 * of g and of g * x. They are about zero, so that sums of several devices can be added. Where there
 * are no others, the kernels that make sums do the next step as well.
 *
 * Precision: squares are summed about an origin near the mean and moved in f64.
 */
struct norm_params {
    int channels;
    const float *gamma, *beta;
    const float *input_bias;    /* of the convolution in front, left out there; NULL: none */
    const float *residual_bias; /* likewise of the residual branch; NULL: none */
    float *running_mean, *running_var;
    double eps, momentum;
    /* Written by statistics or evaluation, read by all that follow: channels numbers each. */
    float *mean, *istd, *scale, *shift; /* y = x * scale + shift */
    /* Of a micro-batch; NULL: of a whole one. The statistics of all its mini-batch's rows so far
     * are gathered, channels numbers each, and the running ones take their step with the last. */
    const struct micro_place *micro;
    double *gathered_mean, *gathered_variance;
};
/* Sums of x over rows and pixels; unless `elements` is NULL kernel_norm_statistics too. */
cudaError_t kernel_norm_sums(cudaStream_t s, enum cuda_type type, struct tensor_shape shape,
                             const void *x, struct sums_memory memory, double *sums,
                             const struct norm_params *n, const double *elements);
/* The same from a convolution's own f32 sums and sums of squares; recomputed from its result x
 * where the mean is so large that f32 does not do. */
cudaError_t kernel_norm_take_sums(cudaStream_t s, enum cuda_type type, struct tensor_shape shape,
                                  const void *x, const float *sums, const float *squares,
                                  double *out, const struct norm_params *n, const double *elements);
/* mean, istd, scale, shift from sums over *elements (device memory, f64) numbers per channel; the
 * running statistics take their step (unbiased variance, PyTorch's rule). */
cudaError_t kernel_norm_statistics(cudaStream_t s, const struct norm_params *n, const double *sums,
                                   const double *elements);
/* scale, shift from the running statistics. */
cudaError_t kernel_norm_evaluation(cudaStream_t s, const struct norm_params *n);
/* y = x * scale + shift [+ residual] [ReLU]; residual may be NULL; y may be x or residual. `mask`,
 * with a residual only, NULL: not wanted: for the backward pass, a bit for each number of y that
 * says whether it is above zero, a byte for each 16 bytes of y. */
size_t kernel_norm_mask_bytes(enum cuda_type type, struct tensor_shape shape);
cudaError_t kernel_norm_apply(cudaStream_t s, enum cuda_type type, struct tensor_shape shape,
                              const struct norm_params *n, const void *x, const void *residual,
                              bool relu, void *y, uint8_t *mask);
/*
 * g = (dy + dy2), where relu only where y > 0: from the mask of the forward pass, or, where `mask`
 * is NULL and there was no residual, from x, scale and shift.
 */
struct norm_backward {
    enum cuda_type type;
    struct tensor_shape shape;
    bool relu;
    const void *dy, *dy2; /* dy2 may be NULL */
    const void *x;
    const uint8_t *mask;
    /* Written by backward_sums; may be dy or dy2. NULL: not wanted. Needed with dy2 and with a
     * mask, not taken where the ReLU of x is all that makes it differ from dy. */
    void *g;
};
/*
 * Gradients from this device's `own` sums: dgamma, dbeta; dresidual_bias = dbeta, dinput_bias = 0
 * (each may be NULL). Then coefficients a, b, c (channels each, dx = a*g + b*x + c) from the sums
 * `all` of all devices over *elements numbers; a NULL: no dx is wanted.
 */
struct norm_gradients {
    float *dgamma, *dbeta, *dinput_bias, *dresidual_bias;
    float *a, *b, *c;
};
/* Sums of g and of g * x; unless `elements` is NULL kernel_norm_backward_finish too. */
cudaError_t kernel_norm_backward_sums(cudaStream_t s, const struct norm_backward *b,
                                      const struct norm_params *n, struct sums_memory memory,
                                      double *sums, const double *elements,
                                      const struct norm_gradients *out);
cudaError_t kernel_norm_backward_finish(cudaStream_t s, const struct norm_params *n,
                                        const double *own, const double *all,
                                        const double *elements, const struct norm_gradients *out);
/* dx = a*g + b*x + c, g as written above, or, where b->g is NULL, recomputed. dx may be any of the
 * inputs. */
cudaError_t kernel_norm_backward_apply(cudaStream_t s, const struct norm_backward *b,
                                       const struct norm_params *n, const struct norm_gradients *k,
                                       void *dx);

/*
 * GroupNorm over `groups` groups of the real channels, each row by itself. `sums` and `factors` are
 * scratch of as many bytes as the functions say. The backward pass needs the `stats` of the forward
 * pass; it writes dgamma, dbeta and, unless it is NULL, dx, which may be dy.
 */
struct group_norm {
    enum cuda_type type;
    struct tensor_shape shape;
    int groups;
    double eps;
    const float *gamma, *beta;
    float *stats; /* per row and group: mean, 1 / deviation */
    float *sums, *factors;
};
size_t kernel_group_norm_sums(struct tensor_shape shape);
size_t kernel_group_norm_factors(struct tensor_shape shape);
cudaError_t kernel_group_norm(cudaStream_t s, const struct group_norm *n, const void *x, void *y);
cudaError_t kernel_group_norm_backward(cudaStream_t s, const struct group_norm *n, const void *x,
                                       const void *dy, void *dx, float *dgamma, float *dbeta);

/*
 * Softmax and cross-entropy. logits: rows x stride f32, of which `classes` count. Writes
 * dlogits (of `type`, rows x stride, may be NULL when evaluating) = (p - target) / *global_rows,
 * zero in the columns after the classes; result->loss_sum and ->correct (of this pass); predicted:
 * per row the class with the largest logit, may be NULL. The target is 1 - smoothing for the label,
 * and smoothing / classes more for each class. Scratch as said by kernel_loss_scratch.
 * `global_rows` is device memory.
 */
struct loss_result {
    double loss_sum;
    long long correct;
};
size_t kernel_loss_scratch(int rows);
cudaError_t kernel_loss(cudaStream_t s, const float *logits, int rows, int classes, int stride,
                        const uint8_t *labels, double smoothing, const double *global_rows,
                        enum cuda_type type, void *dlogits, void *scratch,
                        struct loss_result *result, uint8_t *predicted);

/* Gradients in bf16 to where they belong, in one launch for up to WIDEN_SPANS of them; counts are
 * multiples of 8, spans and their list host memory. */
#define WIDEN_SPANS 64
struct widen_span {
    const uint16_t *from;
    float *to;
    size_t count;
};
cudaError_t kernel_widen(cudaStream_t s, const struct widen_span *spans, int span_count);

/* Of `count` gradients (a multiple of 4): the sum of their squares, which goes to *squares; then
 * the root of norm->squares, or step->norm where that is given, and what update_clip() makes of it
 * for step->clip. All pointers are device memory, except that *squares may be pinned memory. */
enum { CLIP_BLOCKS = 256 };
struct gradient_norm {
    double parts[CLIP_BLOCKS]; /* of the sum of squares */
    double squares;
    float norm, scale;
};
cudaError_t kernel_gradient_squares(cudaStream_t s, size_t count, const float *grads,
                                    struct gradient_norm *norm, double *squares);
cudaError_t kernel_gradient_norm(cudaStream_t s, const struct optimizer_step *step,
                                 struct gradient_norm *norm);

/*
 * The update of count numbers (a multiple of 4) by a rule of update.h, in one pass. Only as many
 * arrays of state are read and written as the rule has. `scale`: what the gradients are multiplied
 * by, in device memory, NULL: nothing. `spared`: replica->spared, of all numbers, of which these
 * begin at `first`, a multiple of 4. `copy`: bf16 copy of the new parameters, NULL: none. grads
 * stay as they are. `arrays` is host memory, `step` device memory.
 */
struct update_arrays {
    float *params;
    const float *grads;
    float *state[UPDATE_STATES];
    const float *scale;
    const uint8_t *spared;
    size_t first;
    uint16_t *copy;
};
cudaError_t kernel_update(cudaStream_t s, enum update_rule rule, size_t count,
                          const struct update_arrays *arrays, const struct optimizer_step *step);

/* mean[i] by update_average(), of count numbers (a multiple of 4). `step` is device memory. */
cudaError_t kernel_average(cudaStream_t s, size_t count, float *mean, const float *params,
                           const struct optimizer_step *step);
/* count numbers (a multiple of 4) of a and b change places. */
cudaError_t kernel_swap(cudaStream_t s, size_t count, float *a, float *b);

/* sum[i] = sources[0][i] + sources[1][i] + ... in this order, sources readable by this device;
 * count a multiple of 4, sum may be one of them. `sources` is host memory, at most 64. */
cudaError_t kernel_sum_sources(cudaStream_t s, size_t count, const float *const *sources,
                               int source_count, float *sum);

#ifdef __cplusplus
}
#endif
