/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/norm/run.h"

#include <string.h>

#include "engine/device/cpu/core/number.h"
#include "engine/device/cpu/norm/statistics.h"

/* One item of parallel work: a chunk of the rows of a channel block. */
struct item {
    struct slab slab;
    size_t start; /* numbers to the slab's first */
    int channel;
    double *sums; /* 2 x block */
};

static struct item item_of(const struct batchnorm *n, int index)
{
    int block = index / n->chunks, chunk = index % n->chunks;
    int from = (int)((long)n->rows * chunk / n->chunks);
    int to = (int)((long)n->rows * (chunk + 1) / n->chunks);
    size_t stride = (size_t)n->channels * n->pixels;
    return (struct item){
        .slab = {.rows = (size_t)(to - from), .pixels = n->pixels, .stride = stride},
        .start = (size_t)from * stride + (size_t)block * n->pixels * (size_t)n->block,
        .channel = block * n->block,
        .sums = (double *)n->sums->data + (size_t)index * 2 * (size_t)n->block};
}

/* The number `start` of a value. */
static void *value_at(const struct batchnorm *n, const struct buffer *value, size_t start)
{
    return number_at(value->data, start, n->kernels->bf16);
}

/* The first number of each channel: near enough to the mean to keep the squares small. */
static void take_origin(const struct batchnorm *n, int block, float *origin)
{
    n->kernels->widen(value_at(n, n->x, (size_t)block * n->pixels * (size_t)n->block), origin);
}

static void sum_item(const struct batchnorm *n, int index)
{
    const struct item p = item_of(n, index);
    float origin[KERNELS_MAX_BLOCK];
    take_origin(n, p.channel / n->block, origin);
    n->kernels->norm_sums(&p.slab, value_at(n, n->x, p.start), origin, p.sums);
}

static void forward_item(const struct batchnorm *n, int index)
{
    const struct item p = item_of(n, index);
    const struct norm_forward args = {
        .slab = p.slab,
        .x = value_at(n, n->x, p.start),
        .residual = n->residual ? value_at(n, n->other, p.start) : NULL,
        .y = value_at(n, n->y, p.start),
        .mask = n->mask ? (uint16_t *)n->mask->data + p.start / (size_t)n->block : NULL,
        .scale = stat(n, STAT_SCALE) + p.channel,
        .shift = stat(n, STAT_SHIFT) + p.channel,
        .relu = n->relu,
        .stream = n->stream};
    n->kernels->norm_forward(&args);
}

static struct norm_backward backward_args(const struct batchnorm *n, const struct item *p)
{
    return (struct norm_backward){
        .slab = p->slab,
        .dy = value_at(n, n->dy, p->start),
        .dy2 = n->dy2 ? value_at(n, n->dy2, p->start) : NULL,
        .x = value_at(n, n->x, p->start),
        .mask = n->mask ? (const uint16_t *)n->mask->data + p->start / (size_t)n->block : NULL,
        .g = n->g ? value_at(n, n->g, p->start) : NULL,
        .dx = n->dx ? value_at(n, n->dx, p->start) : NULL,
        .scale = stat(n, STAT_SCALE) + p->channel,
        .shift = stat(n, STAT_SHIFT) + p->channel,
        .mean = stat(n, STAT_MEAN) + p->channel,
        .a = stat(n, STAT_A) + p->channel,
        .b = stat(n, STAT_B) + p->channel,
        .c = stat(n, STAT_C) + p->channel,
        .relu = n->relu,
        .stream = n->stream && n->dx != n->x}; /* what was just read is in the cache */
}

/* Add up the chunks of a channel block into the sums of its first. */
static double *join_chunks(const struct batchnorm *n, int block)
{
    size_t width = 2 * (size_t)n->block;
    double *first = (double *)n->sums->data + (size_t)(block * n->chunks) * width;
    for (int chunk = 1; chunk < n->chunks; chunk++)
        for (size_t k = 0; k < width; k++)
            first[k] += first[(size_t)chunk * width + k];
    return first;
}

/* The sums over x of a channel block, whoever made them, and the origin that they count from. */
static const double *join_moments(const struct batchnorm *n, int block, float *origin)
{
    if (!n->moments) {
        take_origin(n, block, origin);
        return join_chunks(n, block);
    }
    double *sums = (double *)n->sums->data + (size_t)block * 2 * (size_t)n->block;
    conv_moments_join((const struct conv_moments *)n->moments->data + block, n->blocks, n->threads,
                      n->block, sums, origin);
    return sums;
}

/* The statistics of a channel block, of this device's rows alone. */
static void block_statistics(struct batchnorm *n, int block)
{
    float origin[KERNELS_MAX_BLOCK];
    const double *sums = join_moments(n, block, origin);
    batchnorm_statistics(n, block * n->block, n->block, sums, sums + n->block, origin,
                         (double)n->rows * (double)n->pixels);
}

/* A pass over a value: sums of each item, what follows from those of a channel block, and its use.
 */
struct norm_pass {
    void (*sum)(const struct batchnorm *n, int index); /* NULL: the sums are there */
    void (*finish)(struct batchnorm *n, int block);
    void (*use)(const struct batchnorm *n, int index); /* NULL: no use */
};

/* Channel blocks go to threads whole: their sums and the use of them in one visit. */
static void run_whole(struct batchnorm *n, const struct norm_pass *pass)
{
#pragma omp parallel for schedule(static)
    for (int block = 0; block < n->blocks; block++) {
        if (pass->sum)
            pass->sum(n, block);
        pass->finish(n, block);
        if (pass->use)
            pass->use(n, block);
    }
}

/* One channel block after the other, each in one visit of all threads. */
static void run_together(struct batchnorm *n, const struct norm_pass *pass)
{
#pragma omp parallel
    for (int block = 0; block < n->blocks; block++) {
#pragma omp for schedule(static)
        for (int chunk = 0; chunk < n->chunks; chunk++)
            pass->sum(n, block * n->chunks + chunk);
#pragma omp single
        pass->finish(n, block);
#pragma omp for schedule(static) nowait
        for (int chunk = 0; chunk < n->chunks; chunk++)
            if (pass->use)
                pass->use(n, block * n->chunks + chunk);
    }
}

static void run_items(const struct batchnorm *n, void (*run)(const struct batchnorm *n, int index))
{
#pragma omp parallel for schedule(static)
    for (int index = 0; index < n->blocks * n->chunks; index++)
        run(n, index);
}

/* Whether a pass was done in one visit to each channel block. */
static bool run_at_once(struct batchnorm *n, const struct norm_pass *pass)
{
    const bool together = n->together && pass->sum, whole = !n->sync && n->chunks == 1;
    if (together)
        run_together(n, pass);
    else if (whole)
        run_whole(n, pass);
    return together || whole;
}

/*
 * Add up the sums and products of all devices, of the channels that the network knows: other kinds
 * of devices fill theirs up to other numbers. `values` are 2 x n->channels.
 */
static bool allreduce(struct plan *plan, const struct batchnorm *n, double *values,
                      struct error *err)
{
    const struct device_allreduce *with = &plan->core.request.allreduce;
    const size_t channels = (size_t)n->channels, real = (size_t)n->real;
    double *products = values + channels;
    memmove(values + real, products, real * sizeof *values);
    if (!with->sum(with->context, values, 2 * real, err))
        return false;
    memmove(products, values + real, real * sizeof *values);
    memset(values + real, 0, (channels - real) * sizeof *values);
    memset(products + real, 0, (channels - real) * sizeof *values);
    return true;
}

/* Turn sums about an origin into sums about zero, in double precision, and add those of all
 * devices. The all-reduced array lies after the sums. */
static bool statistics_of_devices(struct plan *plan, struct batchnorm *n, struct error *err)
{
    static const float zero[KERNELS_MAX_BLOCK];
    static const double no_sums[2 * KERNELS_MAX_BLOCK];
    const double local = (double)n->rows * (double)n->pixels;
    double *all = batchnorm_allreduced(n);
    double *squares = all + n->channels;
    for (int block = 0; block < n->blocks; block++) {
        float origin[KERNELS_MAX_BLOCK] = {0};
        const double *sums = n->rows > 0 ? join_moments(n, block, origin) : no_sums;
        for (int k = 0; k < n->block; k++) {
            const double o = (double)origin[k], sum = sums[k], square = sums[n->block + k];
            all[block * n->block + k] = sum + local * o;
            squares[block * n->block + k] = square + 2 * o * sum + local * o * o;
        }
    }
    if (!allreduce(plan, n, all, err))
        return false;
    const double elements = (double)plan->core.batch->global_rows * (double)n->pixels;
    for (int c = 0; c < n->channels; c += n->block)
        batchnorm_statistics(n, c, n->block, all + c, squares + c, zero, elements);
    return true;
}

bool batchnorm_run_forward(struct plan *plan, void *layer, struct error *err)
{
    struct batchnorm *n = layer;
    n->micro = plan->core.micro;
    const struct norm_pass pass = {n->moments ? NULL : sum_item, block_statistics,
                                   n->fused ? NULL : forward_item};
    if (run_at_once(n, &pass))
        return true;
    if (n->rows > 0 && pass.sum)
        run_items(n, pass.sum);
    if (n->sync) {
        if (!statistics_of_devices(plan, n, err))
            return false;
    } else {
        for (int block = 0; block < n->blocks; block++)
            block_statistics(n, block);
    }
    if (n->rows > 0 && pass.use)
        run_items(n, pass.use);
    return true;
}

bool batchnorm_run_evaluation(struct plan *plan, void *layer, struct error *err)
{
    (void)plan;
    (void)err;
    batchnorm_evaluation(layer);
    run_items(layer, forward_item);
    return true;
}

bool batchnorm_run_recompute(struct plan *plan, void *layer, struct error *err)
{
    (void)plan;
    (void)err;
    run_items(layer, forward_item);
    return true;
}

static void backward_sum_item(const struct batchnorm *n, int index)
{
    const struct item p = item_of(n, index);
    const struct norm_backward args = backward_args(n, &p);
    n->kernels->norm_backward_sums(&args, p.sums);
}

static void backward_data_item(const struct batchnorm *n, int index)
{
    const struct item p = item_of(n, index);
    const struct norm_backward args = backward_args(n, &p);
    n->kernels->norm_backward_data(&args);
}

/* The gradients and coefficients of a channel block, of this device's rows alone. */
static void block_gradients(struct batchnorm *n, int block)
{
    const double *sums = join_chunks(n, block), *products = sums + n->block;
    const int channel = block * n->block;
    batchnorm_gradients(n, channel, n->block, sums, products);
    batchnorm_coefficients(n, channel, n->block, sums, products,
                           (double)n->rows * (double)n->pixels);
}

/* Devices all-reduce products about zero: their means may differ in the last bit. */
static bool allreduce_gradients(struct plan *plan, const struct batchnorm *n, double *sums,
                                struct error *err)
{
    double *products = sums + n->channels;
    for (int c = 0; c < n->real; c++)
        products[c] += (double)stat(n, STAT_MEAN)[c] * sums[c];
    if (!allreduce(plan, n, sums, err))
        return false;
    for (int c = 0; c < n->real; c++)
        products[c] -= (double)stat(n, STAT_MEAN)[c] * sums[c];
    return true;
}

/* Gradients of this device's parameters from its own sums, coefficients from everybody's. */
static bool join_backward(struct plan *plan, struct batchnorm *n, struct error *err)
{
    double *all = batchnorm_allreduced(n);
    double *products = all + n->channels;
    memset(all, 0, 2 * (size_t)n->channels * sizeof *all);
    for (int block = 0; n->rows > 0 && block < n->blocks; block++) {
        const double *sums = join_chunks(n, block);
        memcpy(all + block * n->block, sums, (size_t)n->block * sizeof *all);
        memcpy(products + block * n->block, sums + n->block, (size_t)n->block * sizeof *all);
    }
    batchnorm_gradients(n, 0, n->channels, all, products);
    if (!n->wants_dx)
        return true;
    if (n->sync && !allreduce_gradients(plan, n, all, err))
        return false;
    double rows = n->sync ? (double)plan->core.batch->global_rows : (double)n->rows;
    batchnorm_coefficients(n, 0, n->channels, all, products, rows * (double)n->pixels);
    return true;
}

bool batchnorm_run_backward(struct plan *plan, void *layer, struct error *err)
{
    struct batchnorm *n = layer;
    n->adds = plan->core.adds;
    const struct norm_pass pass = {backward_sum_item, block_gradients,
                                   n->wants_dx ? backward_data_item : NULL};
    if (run_at_once(n, &pass))
        return true;
    if (n->rows > 0)
        run_items(n, pass.sum);
    if (!join_backward(plan, n, err))
        return false;
    if (n->rows > 0 && pass.use)
        run_items(n, pass.use);
    return true;
}
