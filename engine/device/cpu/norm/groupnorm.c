/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "engine/device/cpu/core/kinds.h"
#include "engine/device/cpu/core/number.h"
#include "engine/device/cpu/core/plan.h"
#include "engine/device/cpu/simd/kernels.h"

/*
 * GroupNorm (Y. Wu, K. He, "Group normalization", 2018): each row's groups of channels have a mean
 * and variance of their own, in training and in evaluation. With these a row is a BatchNorm whose
 * channels share statistics, so the same loops do the passes over memory. Rows are the unit of
 * parallel work.
 */
struct groupnorm {
    const struct kernels *kernels;
    int rows, groups, real; /* real: channels that the network knows */
    int channels, block;    /* as stored */
    size_t pixels;
    double eps;
    const float *gamma, *beta;
    float *dgamma, *dbeta;
    struct buffer *x, *y, *dy, *dx; /* dx: NULL where nobody wants it */
    struct buffer *stats;           /* per row and group: mean, 1 / deviation */
    struct buffer *sums, *factors;  /* of the step: per row SUMS or FACTORS times the channels */
    struct buffer *backward_sums, *backward_factors;
};

enum { SUMS = 2 }; /* of numbers, and of products: doubles */
enum { SCALE, SHIFT, MEAN, A, B, C, FACTORS };

/* What belongs to one row. */
struct row {
    size_t at; /* numbers to its first */
    double *sums, *products;
    float *factors[FACTORS];
    float *stats;
};

static struct row row_of(const struct groupnorm *n, int index, const struct buffer *sums,
                         const struct buffer *factors)
{
    const size_t channels = (size_t)n->channels, i = (size_t)index;
    struct row row = {.at = i * channels * n->pixels,
                      .sums = (double *)sums->data + i * SUMS * channels,
                      .stats = (float *)n->stats->data + i * 2 * (size_t)n->groups};
    row.products = row.sums + channels;
    for (size_t k = 0; k < FACTORS; k++)
        row.factors[k] = (float *)factors->data + (i * FACTORS + k) * channels;
    return row;
}

static struct slab slab_of(const struct groupnorm *n)
{
    return (struct slab){.rows = 1, .pixels = n->pixels};
}

/* The block of channel c in a row of a value. */
static void *block_at(const struct groupnorm *n, const struct buffer *value, const struct row *row,
                      int c)
{
    return number_at(value->data, row->at + (size_t)c * n->pixels, n->kernels->bf16);
}

/* Those that fill the last block stay zero. */
static void clear_surplus(const struct groupnorm *n, const struct row *row)
{
    for (int k = 0; k < FACTORS; k++)
        for (int c = n->real; c < n->channels; c++)
            row->factors[k][c] = 0;
}

/* Sums over the pixels, channel by channel, about zero. */
static void sum_row(const struct groupnorm *n, const struct row *row)
{
    const struct slab slab = slab_of(n);
    for (int c = 0; c < n->channels; c += n->block) {
        const void *x = block_at(n, n->x, row, c);
        float origin[KERNELS_MAX_BLOCK]; /* near enough to the mean to keep the squares small */
        double sums[2 * KERNELS_MAX_BLOCK];
        n->kernels->widen(x, origin);
        n->kernels->norm_sums(&slab, x, origin, sums);
        for (int k = 0; k < n->block; k++) {
            const double o = (double)origin[k], count = (double)n->pixels;
            row->sums[c + k] = sums[k] + count * o;
            row->products[c + k] = sums[n->block + k] + 2 * o * sums[k] + count * o * o;
        }
    }
}

static void normalise_group(const struct groupnorm *n, int group, const struct row *row)
{
    const int size = n->real / n->groups, first = group * size;
    const double count = (double)size * (double)n->pixels;
    double sum = 0, square = 0;
    for (int c = first; c < first + size; c++) {
        sum += row->sums[c];
        square += row->products[c];
    }
    const double mean = sum / count,
                 istd = 1 / sqrt(fmax(0, square / count - mean * mean) + n->eps);
    row->stats[2 * group] = (float)mean;
    row->stats[2 * group + 1] = (float)istd;
    for (int c = first; c < first + size; c++) {
        const double scale = (double)n->gamma[c] * istd;
        row->factors[SCALE][c] = (float)scale;
        row->factors[SHIFT][c] = (float)((double)n->beta[c] - mean * scale);
    }
}

static void forward_row(const struct groupnorm *n, int index)
{
    const struct row row = row_of(n, index, n->sums, n->factors);
    sum_row(n, &row);
    clear_surplus(n, &row);
    for (int group = 0; group < n->groups; group++)
        normalise_group(n, group, &row);
    for (int c = 0; c < n->channels; c += n->block) {
        const struct norm_forward args = {.slab = slab_of(n),
                                          .x = block_at(n, n->x, &row, c),
                                          .y = block_at(n, n->y, &row, c),
                                          .scale = row.factors[SCALE] + c,
                                          .shift = row.factors[SHIFT] + c};
        n->kernels->norm_forward(&args);
    }
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct groupnorm *n = layer;
    (void)plan;
    (void)err;
#pragma omp parallel for schedule(static)
    for (int index = 0; index < n->rows; index++)
        forward_row(n, index);
    return true;
}

/*
 * dx = istd * (gamma * dy - mean(gamma * dy) - xhat * mean(gamma * dy * xhat)) with means over the
 * group, sorted by dy, x and 1.
 */
static void slopes_of_group(const struct groupnorm *n, int group, const struct row *row)
{
    const int size = n->real / n->groups, first = group * size;
    const double count = (double)size * (double)n->pixels;
    const double mean = (double)row->stats[2 * group], istd = (double)row->stats[2 * group + 1];
    double sum = 0, product = 0;
    for (int c = first; c < first + size; c++) {
        sum += (double)n->gamma[c] * row->sums[c];
        product += (double)n->gamma[c] * row->products[c];
    }
    const double b = -istd * istd * istd * product / count;
    for (int c = first; c < first + size; c++) {
        row->factors[A][c] = (float)((double)n->gamma[c] * istd);
        row->factors[B][c] = (float)b;
        row->factors[C][c] = (float)(-istd * sum / count - b * mean);
    }
}

/* Where there is no ReLU, scale and shift are loaded but not used. */
static struct norm_backward backward_args(const struct groupnorm *n, const struct row *row, int c)
{
    return (struct norm_backward){.slab = slab_of(n),
                                  .dy = block_at(n, n->dy, row, c),
                                  .x = block_at(n, n->x, row, c),
                                  .dx = n->dx ? block_at(n, n->dx, row, c) : NULL,
                                  .scale = row->factors[SCALE] + c,
                                  .shift = row->factors[SHIFT] + c,
                                  .mean = row->factors[MEAN] + c,
                                  .a = row->factors[A] + c,
                                  .b = row->factors[B] + c,
                                  .c = row->factors[C] + c};
}

static void backward_row(const struct groupnorm *n, int index)
{
    const struct row row = row_of(n, index, n->backward_sums, n->backward_factors);
    const int size = n->real / n->groups;
    for (int k = 0; k < FACTORS; k++)
        for (int c = 0; c < n->channels; c++)
            row.factors[k][c] = 0;
    for (int c = 0; c < n->real; c++)
        row.factors[MEAN][c] = row.stats[2 * (c / size)];
    for (int c = 0; c < n->channels; c += n->block) {
        const struct norm_backward args = backward_args(n, &row, c);
        double sums[2 * KERNELS_MAX_BLOCK];
        n->kernels->norm_backward_sums(&args, sums);
        for (int k = 0; k < n->block; k++) {
            row.sums[c + k] = sums[k];
            row.products[c + k] = sums[n->block + k];
        }
    }
    if (!n->dx)
        return;
    for (int group = 0; group < n->groups; group++)
        slopes_of_group(n, group, &row);
    for (int c = 0; c < n->channels; c += n->block) {
        const struct norm_backward args = backward_args(n, &row, c);
        n->kernels->norm_backward_data(&args);
    }
}

/* The rows' sums in their order, whatever the number of threads. */
static void add_rows(const struct groupnorm *n, int c, bool adds)
{
    const int group = c / (n->real / n->groups);
    double dgamma = adds ? (double)n->dgamma[c] : 0, dbeta = adds ? (double)n->dbeta[c] : 0;
    for (int index = 0; index < n->rows; index++) {
        const struct row row = row_of(n, index, n->backward_sums, n->backward_factors);
        dgamma += row.products[c] * (double)row.stats[2 * group + 1];
        dbeta += row.sums[c];
    }
    n->dgamma[c] = (float)dgamma;
    n->dbeta[c] = (float)dbeta;
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct groupnorm *n = layer;
    const bool adds = plan->core.adds;
    (void)err;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int index = 0; index < n->rows; index++)
            backward_row(n, index);
#pragma omp for schedule(static)
        for (int c = 0; c < n->real; c++)
            add_rows(n, c, adds);
    }
    return true;
}

static bool make_scratch(const struct groupnorm *n, struct builder *b, struct buffer **sums,
                         struct buffer **factors, struct error *err)
{
    const size_t numbers = (size_t)n->rows * (size_t)n->channels;
    *sums = build_scratch(b, numbers * SUMS * sizeof(double), err);
    *factors = *sums ? build_scratch(b, numbers * FACTORS * sizeof(float), err) : NULL;
    return *factors != NULL;
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    const struct value *x = &b->graph->values[node->input];
    const struct net_op *op = &b->graph->net->ops[node->op];
    struct groupnorm *n = *layer = build_object(b, sizeof *n, NULL, err);
    if (!n)
        return false;
    n->kernels = kernels_find(x->block, b->plan->bf16);
    n->rows = b->rows;
    n->groups = op->groups;
    n->real = x->shape.c;
    n->channels = value_channels(x);
    n->block = x->block;
    n->pixels = (size_t)value_pixels(x);
    n->eps = op->eps;
    n->gamma = param_values(b, op->weight);
    n->beta = param_values(b, op->bias);
    n->x = build_value(b, node->input, err);
    n->y = n->x ? build_value(b, node->output, err) : NULL;
    n->stats =
        n->y ? build_buffer(b, 2 * (size_t)n->rows * (size_t)n->groups * sizeof(float), err) : NULL;
    if (!n->stats)
        return false;
    build_use(b, n->stats);
    return make_scratch(n, b, &n->sums, &n->factors, err) &&
           build_step(b, node, run_forward, n, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct groupnorm *n = layer;
    struct buffer *dy[2];
    const bool wants_dx = b->graph->values[node->input].wants_grad;
    if (!gradient_take(b, node, node->output, 1, dy, err))
        return false;
    n->dy = dy[0];
    build_use(b, n->x);
    build_use(b, n->stats);
    n->dgamma = param_grads(b, b->graph->net->ops[node->op].weight);
    n->dbeta = param_grads(b, b->graph->net->ops[node->op].bias);
    if (wants_dx && !(n->dx = gradient_result(b, n->dy, node->input, err)))
        return false;
    if (!make_scratch(n, b, &n->backward_sums, &n->backward_factors, err) ||
        !build_step(b, node, run_backward, n, err) ||
        (wants_dx && !gradient_give(b, node, node->input, n->dx, err)))
        return false;
    gradient_drop(n->dy);
    return true;
}

const struct layer_kind layer_groupnorm = {.forward = forward, .backward = backward};
