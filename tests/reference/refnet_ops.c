/* SPDX-License-Identifier: MIT */
#include "tests/reference/refnet_ops.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "base/rng.h"
#include "tests/reference/refnet_conv.h"

/* Places begin..end-1. */
struct range {
    int begin, end;
};

/* Numbers first..first + count - 1 are one row's of a group of channels. */
static double group_mean(const double *a, size_t first, size_t count)
{
    double sum = 0;
    for (size_t i = first; i < first + count; i++)
        sum += a[i];
    return sum / (double)count;
}

static double group_deviation(const struct ref_op *o, size_t first, size_t count, double mean)
{
    double sum = 0;
    for (size_t i = first; i < first + count; i++)
        sum += pow(o->x[i] - mean, 2);
    return sqrt(sum / (double)count + o->op->eps);
}

static size_t group_size(const struct ref_op *o)
{
    return net_shape_size(o->in) / (size_t)o->op->groups;
}

static size_t channel_of(const struct ref_op *o, size_t i)
{
    return i / ((size_t)o->in.h * (size_t)o->in.w) % (size_t)o->in.c;
}

static void groupnorm_forward(const struct ref_op *o)
{
    const size_t count = group_size(o);
    for (size_t first = 0; first < ref_values(o); first += count) {
        const double mean = group_mean(o->x, first, count);
        const double s = group_deviation(o, first, count, mean);
        for (size_t i = first; i < first + count; i++) {
            const size_t c = channel_of(o, i);
            o->y[i] = (o->x[i] - mean) / s * o->weight[c] + o->bias[c];
        }
    }
}

/* As batchnorm's, where the mean is that of gamma * dy: gamma differs from channel to channel. */
static void groupnorm_backward(const struct ref_op *o)
{
    const size_t count = group_size(o);
    for (size_t first = 0; first < ref_values(o); first += count) {
        const double mean = group_mean(o->x, first, count);
        const double s = group_deviation(o, first, count, mean);
        double mean_g = 0, mean_g_xhat = 0;
        for (size_t i = first; i < first + count; i++) {
            const size_t c = channel_of(o, i);
            const double xhat = (o->x[i] - mean) / s;
            o->dweight[c] += o->dy[i] * xhat;
            o->dbias[c] += o->dy[i];
            mean_g += o->weight[c] * o->dy[i] / (double)count;
            mean_g_xhat += o->weight[c] * o->dy[i] * xhat / (double)count;
        }
        for (size_t i = first; i < first + count; i++) {
            const double g = o->weight[channel_of(o, i)] * o->dy[i];
            o->dx[i] += (g - mean_g - (o->x[i] - mean) / s * mean_g_xhat) / s;
        }
    }
}

static void linear_forward(const struct ref_op *o)
{
    size_t in = net_shape_size(o->in), out = net_shape_size(o->out);
    for (size_t i = 0; i < ref_values(o); i++) {
        size_t row = i / out, k = i % out;
        o->y[i] = o->bias ? o->bias[k] : 0;
        for (size_t j = 0; j < in; j++)
            o->y[i] += o->weight[k * in + j] * o->x[row * in + j];
    }
}

static void linear_backward(const struct ref_op *o)
{
    size_t in = net_shape_size(o->in), out = net_shape_size(o->out);
    for (size_t i = 0; i < ref_values(o); i++) {
        size_t row = i / out, k = i % out;
        if (o->bias)
            o->dbias[k] += o->dy[i];
        for (size_t j = 0; j < in; j++) {
            o->dx[row * in + j] += o->weight[k * in + j] * o->dy[i];
            o->dweight[k * in + j] += o->x[row * in + j] * o->dy[i];
        }
    }
}

/* Mean over rows, height and width of a[..] * b[..] in one channel (b NULL: of a[..]). */
static double channel_mean(const struct ref_op *o, int c, const double *a, const double *b)
{
    double sum = 0;
    for (int row = 0; row < o->rows; row++)
        for (int h = 0; h < o->in.h; h++)
            for (int w = 0; w < o->in.w; w++) {
                size_t i = ref_at(&o->in, row, c, h, w);
                sum += a[i] * (b ? b[i] : 1);
            }
    return sum / ((double)o->rows * o->in.h * o->in.w);
}

/* Mean and biased variance of the batch. */
static void channel_statistics(const struct ref_op *o, int c, double *mean, double *variance)
{
    double sum = 0;
    *mean = channel_mean(o, c, o->x, NULL);
    for (int row = 0; row < o->rows; row++)
        for (int h = 0; h < o->in.h; h++)
            for (int w = 0; w < o->in.w; w++)
                sum += pow(o->x[ref_at(&o->in, row, c, h, w)] - *mean, 2);
    *variance = sum / ((double)o->rows * o->in.h * o->in.w);
}

/* The running variance is the unbiased one, which a single number does not have. */
static void move_statistics(const struct ref_op *o, int c, double mean, double variance)
{
    double n = (double)o->rows * o->in.h * o->in.w, m = o->op->momentum;
    o->running_mean[c] = (1 - m) * o->running_mean[c] + m * mean;
    if (n > 1)
        o->running_var[c] = (1 - m) * o->running_var[c] + m * variance * n / (n - 1);
}

static void batchnorm_forward(const struct ref_op *o)
{
    for (int c = 0; c < o->in.c && o->rows > 0; c++) {
        double mean = o->running_mean[c], variance = o->running_var[c];
        if (o->training) {
            channel_statistics(o, c, &mean, &variance);
            move_statistics(o, c, mean, variance);
        }
        for (int row = 0; row < o->rows; row++)
            for (int h = 0; h < o->in.h; h++)
                for (int w = 0; w < o->in.w; w++) {
                    size_t i = ref_at(&o->in, row, c, h, w);
                    o->y[i] =
                        (o->x[i] - mean) / sqrt(variance + o->op->eps) * o->weight[c] + o->bias[c];
                }
    }
}

/*
 * S. Ioffe, C. Szegedy, "Batch normalization", 2015, section 3, with x^ = (x - mean) / s:
 * dx = gamma / s * (dy - mean(dy) - x^ * mean(dy * x^)).
 */
static void batchnorm_backward(const struct ref_op *o)
{
    double n = (double)o->rows * o->in.h * o->in.w;
    for (int c = 0; c < o->in.c && o->rows > 0; c++) {
        double mean, variance;
        channel_statistics(o, c, &mean, &variance);
        double s = sqrt(variance + o->op->eps);
        double mean_dy = channel_mean(o, c, o->dy, NULL);
        double mean_dy_xhat = (channel_mean(o, c, o->dy, o->x) - mean * mean_dy) / s;
        o->dweight[c] += mean_dy_xhat * n;
        o->dbias[c] += mean_dy * n;
        for (int row = 0; row < o->rows; row++)
            for (int h = 0; h < o->in.h; h++)
                for (int w = 0; w < o->in.w; w++) {
                    size_t i = ref_at(&o->in, row, c, h, w);
                    double xhat = (o->x[i] - mean) / s;
                    o->dx[i] += o->weight[c] / s * (o->dy[i] - mean_dy - xhat * mean_dy_xhat);
                }
    }
}

/* The window of one output value, cut to the input. */
static void pool_window(const struct ref_op *o, int h, int w, struct range *hs, struct range *ws)
{
    const struct net_op *op = o->op;
    int top = h * op->stride_h - op->pad_h, left = w * op->stride_w - op->pad_w;
    *hs = (struct range){top < 0 ? 0 : top, top + op->kernel_h};
    *ws = (struct range){left < 0 ? 0 : left, left + op->kernel_w};
    hs->end = hs->end > o->in.h ? o->in.h : hs->end;
    ws->end = ws->end > o->in.w ? o->in.w : ws->end;
}

/* The first largest value of a window, as PyTorch chooses. */
static size_t pool_largest(const struct ref_op *o, int row, int c, int h, int w)
{
    struct range hs, ws;
    pool_window(o, h, w, &hs, &ws);
    size_t best = ref_at(&o->in, row, c, hs.begin, ws.begin);
    for (int i = hs.begin; i < hs.end; i++)
        for (int j = ws.begin; j < ws.end; j++)
            if (o->x[ref_at(&o->in, row, c, i, j)] > o->x[best])
                best = ref_at(&o->in, row, c, i, j);
    return best;
}

/* Mean of a window; backwards every value gets its share. */
static void average_window(const struct ref_op *o, int row, int c, int h, int w, bool back)
{
    struct range hs, ws;
    size_t y = ref_at(&o->out, row, c, h, w);
    pool_window(o, h, w, &hs, &ws);
    double numbers = (double)(hs.end - hs.begin) * (ws.end - ws.begin);
    if (o->op->count_include_pad)
        numbers = (double)o->op->kernel_h * o->op->kernel_w;
    if (!back)
        o->y[y] = 0;
    for (int i = hs.begin; i < hs.end; i++)
        for (int j = ws.begin; j < ws.end; j++) {
            size_t x = ref_at(&o->in, row, c, i, j);
            if (back)
                o->dx[x] += o->dy[y] / numbers;
            else
                o->y[y] += o->x[x] / numbers;
        }
}

static void pool(const struct ref_op *o, bool back,
                 void (*place)(const struct ref_op *o, int row, int c, int h, int w, bool back))
{
    for (int row = 0; row < o->rows; row++)
        for (int c = 0; c < o->out.c; c++)
            for (int h = 0; h < o->out.h; h++)
                for (int w = 0; w < o->out.w; w++)
                    place(o, row, c, h, w, back);
}

static void largest_of_window(const struct ref_op *o, int row, int c, int h, int w, bool back)
{
    size_t y = ref_at(&o->out, row, c, h, w), x = pool_largest(o, row, c, h, w);
    if (back)
        o->dx[x] += o->dy[y];
    else
        o->y[y] = o->x[x];
}

static void maxpool_forward(const struct ref_op *o)
{
    pool(o, false, largest_of_window);
}

static void maxpool_backward(const struct ref_op *o)
{
    pool(o, true, largest_of_window);
}

static void avgpool_forward(const struct ref_op *o)
{
    pool(o, false, average_window);
}

static void avgpool_backward(const struct ref_op *o)
{
    pool(o, true, average_window);
}

static void global_average(const struct ref_op *o, bool back)
{
    size_t plane = (size_t)o->in.h * (size_t)o->in.w;
    for (size_t y = 0; y < ref_values(o); y++) {
        if (!back)
            o->y[y] = 0;
        for (size_t x = y * plane; x < (y + 1) * plane; x++) {
            if (back)
                o->dx[x] += o->dy[y] / (double)plane;
            else
                o->y[y] += o->x[x] / (double)plane;
        }
    }
}

static void global_avgpool_forward(const struct ref_op *o)
{
    global_average(o, false);
}

static void global_avgpool_backward(const struct ref_op *o)
{
    global_average(o, true);
}

/* What dropout multiplies value i by: 0 where the layout in src/base/rng.h says so, else 1/(1-p).
 */
static double dropout_factor(const struct ref_op *o, size_t i)
{
    size_t size = net_shape_size(o->out);
    if (!o->training)
        return 1;
    struct rng_stream stream =
        rng_stream(o->seed, RNG_DROPOUT, (uint32_t)o->index, o->row_numbers[i / size], o->epoch);
    bool dropped = rng_word(&stream, i % size) < rng_threshold(o->op->p);
    return dropped ? 0 : 1 / (1 - o->op->p);
}

static void dropout_forward(const struct ref_op *o)
{
    for (size_t i = 0; i < ref_values(o); i++)
        o->y[i] = o->x[i] * dropout_factor(o, i);
}

static void dropout_backward(const struct ref_op *o)
{
    for (size_t i = 0; i < ref_values(o); i++)
        o->dx[i] += o->dy[i] * dropout_factor(o, i);
}

static void flatten_forward(const struct ref_op *o)
{
    for (size_t i = 0; i < ref_values(o); i++)
        o->y[i] = o->x[i];
}

static void flatten_backward(const struct ref_op *o)
{
    for (size_t i = 0; i < ref_values(o); i++)
        o->dx[i] += o->dy[i];
}

static void add_forward(const struct ref_op *o)
{
    for (size_t i = 0; i < ref_values(o); i++)
        o->y[i] = o->x[i] + o->x2[i];
}

static void add_backward(const struct ref_op *o)
{
    for (size_t i = 0; i < ref_values(o); i++) {
        o->dx[i] += o->dy[i];
        o->dx2[i] += o->dy[i];
    }
}

/* A function of single numbers, and its derivative. */
#define ELEMENTWISE(word, value, slope)                                                            \
    static void word##_forward(const struct ref_op *o)                                             \
    {                                                                                              \
        for (size_t i = 0; i < ref_values(o); i++) {                                               \
            const double x = o->x[i];                                                              \
            o->y[i] = value;                                                                       \
        }                                                                                          \
    }                                                                                              \
    static void word##_backward(const struct ref_op *o)                                            \
    {                                                                                              \
        for (size_t i = 0; i < ref_values(o); i++) {                                               \
            const double x = o->x[i];                                                              \
            o->dx[i] += o->dy[i] * (slope);                                                        \
        }                                                                                          \
    }

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

/* P(X <= x) of the normal distribution, or what the tanh form of gelu takes it for. */
static double normal_share(enum net_gelu form, double x)
{
    if (form == NET_GELU_EXACT)
        return erfc(-x / sqrt(2)) / 2;
    return (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * pow(x, 3)))) / 2;
}

/* Of x * normal_share(x). The derivative of (1 + tanh u) / 2 is half that of u by cosh(u)^2. */
static double normal_slope(enum net_gelu form, double x)
{
    const double u = sqrt(2 / M_PI) * (x + 0.044715 * pow(x, 3));
    const double density = form == NET_GELU_EXACT
                               ? exp(-x * x / 2) / sqrt(2 * M_PI)
                               : sqrt(2 / M_PI) * (1 + 0.134145 * x * x) / (2 * pow(cosh(u), 2));
    return normal_share(form, x) + x * density;
}

ELEMENTWISE(relu, x > 0 ? x : 0, x > 0)
ELEMENTWISE(leaky_relu, x > 0 ? x : x * o->op->negative_slope, x > 0 ? 1 : o->op->negative_slope)
ELEMENTWISE(sigmoid, logistic(x), logistic(x) * (1 - logistic(x)))
ELEMENTWISE(tanh, tanh(x), 1 - tanh(x) * tanh(x))
ELEMENTWISE(gelu, x *normal_share(o->op->gelu, x), normal_slope(o->op->gelu, x))
ELEMENTWISE(silu, x *logistic(x), logistic(x) + x * logistic(x) * (1 - logistic(x)))
ELEMENTWISE(hardswish, x *fmin(fmax(x + 3, 0), 6) / 6, x<-3 ? 0 : x> 3 ? 1 : (2 * x + 3) / 6)

void ref_forward(const struct ref_op *o)
{
#define FORWARD(kind, word) [kind] = word##_forward,
    static void (*const forward[])(const struct ref_op *) = {NET_OPERATIONS(FORWARD)};
    forward[o->op->kind](o);
}

void ref_backward(const struct ref_op *o)
{
#define BACKWARD(kind, word) [kind] = word##_backward,
    static void (*const backward[])(const struct ref_op *) = {NET_OPERATIONS(BACKWARD)};
    backward[o->op->kind](o);
}
