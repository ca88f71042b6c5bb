/* SPDX-License-Identifier: MIT */

/*
 * The passes of strided/kernels.h. Included after the vectors of an instruction set;
 * STRIDED_KERNELS is the name of the list.
 *
 * A pass takes some rows at a time and, of them, the tiles of one pair of kinds: values are mapped
 * to their points (values[point][channel block][tile][LANES]), multiplied, a matrix of weights for
 * each point, and the products mapped back (products[point], as results of strided/multiply.h).
 */

#include <omp.h>
#include <string.h>

#include "engine/device/cpu/core/team.h"
#include "engine/device/cpu/simd/transpose.h"
#include "engine/device/cpu/strided/plan.h"

#include "engine/device/cpu/strided/lines.h"
#include "engine/device/cpu/strided/multiply.h"

#include "engine/device/cpu/strided/weights.h"

/* These build on the ones above. */
#include "engine/device/cpu/strided/tiles.h"

#include "engine/device/cpu/strided/plain.h"

/* By kind: tiles of one pixel need no map. */
static bool is_plain(const struct tiles *t)
{
    return t->h->kind == STRIDED_PLAIN;
}

static void take_x(const struct tiles *t, const struct conv_shape *s, const float *x, int block,
                   float *values)
{
    (is_plain(t) ? plain_x : map_x)(t, s, x, block, values);
}

static void take_dy(const struct tiles *t, const struct conv_shape *s, const float *dy, int block,
                    float *values)
{
    (is_plain(t) ? plain_dy : map_dy)(t, s, dy, block, values);
}

static void take_turned(const struct tiles *t, const struct conv_shape *s, const float *dy,
                        int block, float *products)
{
    (is_plain(t) ? plain_turned : map_turned)(t, s, dy, block, products);
}

static void give_y(const struct conv_pass *pass, const struct tiles *t, int block,
                   const float *products)
{
    (is_plain(t) ? plain_y : finish_y)(pass, t, block, products);
}

static void give_dx(const struct conv_pass *pass, const struct tiles *t, int block,
                    const float *products)
{
    (is_plain(t) ? plain_dx : finish_dx)(pass, t, block, products);
}

/* The weights' line of a line of values. */
static inline int line_of(const struct strided_side_kind *kind, bool backward, int line)
{
    if (line >= kind->points)
        return LINE_EVEN;
    return backward ? (int)kind->backward[line] : (int)kind->forward[line];
}

static inline int point_of(const struct strided_side_kind *kind, int line)
{
    return line < kind->points ? line : line - kind->points;
}

/* products[point] = sum over the lines of x that lie there. */
static TARGET void multiply_forward(const struct strided_plan *plan, const struct tiles *t,
                                    const float *weights, const float *values, float *products)
{
    const int points = t->wk->points, lines = t->wk->lines;
    const size_t panel = strided_panel(t->count, plan->in);
    for (int at = 0; at < t->hk->points * points; at++) {
        struct term terms[4];
        int count = 0;
        for (int i = at / points; i < t->hk->lines; i += t->hk->points) {
            for (int j = at % points; j < lines; j += points) {
                const int matrix =
                    line_of(t->hk, false, i) * plan->w.lines + line_of(t->wk, false, j);
                terms[count++] = (struct term){values + (size_t)(i * lines + j) * panel,
                                               weights + (size_t)matrix * weight_matrix(plan)};
            }
        }
        float *c = products + (size_t)at * strided_panel(t->count, plan->out);
        for (int group = 0; group < group_count(plan->out); group++)
            sum_values(terms, count, t->count, plan->in, plan->out, group, c);
    }
}

/* products[line] = values of dy at the line's point, times weights. */
static TARGET void multiply_data(const struct strided_plan *plan, const struct tiles *t,
                                 const float *weights, const float *values, float *products)
{
    const int lines = t->wk->lines;
    for (int at = 0; at < t->hk->lines * lines; at++) {
        const int i = at / lines, j = at % lines;
        const int point = point_of(t->hk, i) * t->wk->points + point_of(t->wk, j);
        const int matrix = line_of(t->hk, true, i) * plan->w.lines + line_of(t->wk, true, j);
        const struct term term = {values + (size_t)point * strided_panel(t->count, plan->out),
                                  weights + (size_t)matrix * weight_matrix(plan)};
        float *c = products + (size_t)at * strided_panel(t->count, plan->in);
        for (int group = 0; group < group_count(plan->in); group++)
            sum_values(&term, 1, t->count, plan->out, plan->in, group, c);
    }
}

/* A group of the gradient of a matrix of weights: a sum over all that it is multiplied with. */
static TARGET void multiply_weights(const struct strided_plan *plan, const struct tiles *t,
                                    int matrix, int group, bool add, const float *values,
                                    const float *products, float *weights)
{
    const int lines = t->wk->lines;
    const int row = matrix / plan->w.lines, column = matrix % plan->w.lines;
    struct term terms[16];
    int count = 0;
    for (int i = 0; i < t->hk->lines; i++) {
        for (int j = 0; j < lines; j++) {
            if (line_of(t->hk, false, i) != row || line_of(t->wk, false, j) != column)
                continue;
            const int point = point_of(t->hk, i) * t->wk->points + point_of(t->wk, j);
            terms[count++] =
                (struct term){values + (size_t)(i * lines + j) * strided_panel(t->count, plan->in),
                              products + (size_t)point * strided_panel(t->count, plan->out)};
        }
    }
    sum_turned(terms, count, plan->in, t->count, plan->out, group, add,
               weights + (size_t)matrix * weight_matrix(plan));
}

/* Some rows of y; backward, of dx: by tiles, one pair of kinds after the other. */
static TARGET void make_rows(const struct conv_pass *pass, const struct strided_plan *plan,
                             bool backward, int first, const float *weights, float *values)
{
    const struct conv_shape *s = pass->shape;
    const int from = backward ? s->out : s->in, to = backward ? s->in : s->out;
    float *products = values + plan->values;
    for (int pair = 0; pair < plan->h.count * plan->w.count; pair++) {
        const struct tiles t = tiles_of(plan, least(plan->rows, s->rows - first), first, pair);
        for (int block = 0; block < from / LANES; block++)
            (backward ? take_dy : take_x)(&t, s, backward ? pass->dy : pass->x, block, values);
        (backward ? multiply_data : multiply_forward)(plan, &t, weights, values, products);
        for (int block = 0; block < to / LANES; block++)
            (backward ? give_dx : give_y)(pass, &t, block, products);
    }
}

static void run_rows(const struct conv_pass *pass)
{
    const bool backward = pass->direction == CONV_BACKWARD_DATA;
    const struct conv_shape *s = pass->shape;
    struct strided_plan plan;
    float *weights = pass->scratch;
    strided_plan_make(&plan, s, pass->direction, pass->threads);
#pragma omp parallel num_threads(pass->threads)
    {
        float *own =
            weights + plan.weights + (plan.values + plan.products) * (size_t)omp_get_thread_num();
#pragma omp for schedule(static)
        for (int i = 0; i < weight_blocks(&plan); i++) {
            const struct weight_block block = weight_block(&plan, i);
            const struct weight_block next =
                weight_block(&plan, least(i + 1, weight_blocks(&plan) - 1));
            (backward ? weights_data : weights_forward)(&block, &next, pass->w, weights);
        }
#pragma omp for schedule(dynamic)
        for (int first = 0; first < s->rows; first += plan.rows)
            make_rows(pass, &plan, backward, first, weights, own);
    }
}

/* A thread's share of some rows' part of the gradient of all matrices. */
static TARGET void weights_rows(const struct conv_pass *pass, const struct strided_plan *plan,
                                const struct tiles *t, const struct team *team, bool add,
                                float *weights)
{
    const struct conv_shape *s = pass->shape;
    const int in = s->in / LANES, out = s->out / LANES, groups = group_count(s->out);
    float *values = weights + plan->weights, *products = values + plan->values;
    /* Rows go in parts, so that there is work for more threads than blocks. */
    const int self = (int)team->self, size = (int)team->size, parts = least(t->rows, size);
    for (int i = self; i < (in + out) * parts; i += size) {
        const int block = i / parts, part = i % parts;
        struct tiles some = *t;
        some.from = t->rows * part / parts;
        some.to = t->rows * (part + 1) / parts;
        if (block < in)
            take_x(&some, s, pass->x, block, values);
        else
            take_turned(&some, s, pass->dy, block - in, products);
    }
    team_wait(team);
    for (int i = self; i < plan->h.lines * plan->w.lines * groups; i += size)
        multiply_weights(plan, t, i / groups, i % groups, add, values, products, weights);
    team_wait(team);
}

/* The rows of a part: all, where the threads share one. */
static TARGET void weights_part(const struct conv_pass *pass, const struct strided_plan *plan,
                                const struct team *team, int part, float *weights)
{
    const int rows = pass->shape->rows, end = rows * (part + 1) / plan->copies;
    bool add = false;
    for (int first = rows * part / plan->copies; first < end; first += plan->rows) {
        for (int pair = 0; pair < plan->h.count * plan->w.count; pair++, add = true) {
            const struct tiles t = tiles_of(plan, least(plan->rows, end - first), first, pair);
            weights_rows(pass, plan, &t, team, add, weights);
        }
    }
}

/* A block of dbias; each row is added up in single, all of them in double precision. */
static TARGET void sum_bias(const struct conv_pass *pass, int block)
{
    const struct conv_shape *s = pass->shape;
    float *row = pass->dbias + (ptrdiff_t)block * LANES; /* until the totals take their place */
    double total[LANES] = {0};
    for (int n = 0; n < s->rows; n++) {
        const struct image image = image_at(n, s->out, block, s->out_h, s->out_w);
        const float *dy = (const float *)pass->dy + image.offset;
        vector sum = v_zero();
        for (int i = 0; i < image.h * image.w; i++)
            sum += v_load(dy + (size_t)i * LANES);
        v_store(row, sum);
        for (int k = 0; k < LANES; k++)
            total[k] += (double)row[k];
    }
    for (int k = 0; k < LANES; k++)
        row[k] = (float)total[k];
}

static void run_weights(const struct conv_pass *pass)
{
    const struct conv_shape *s = pass->shape;
    struct strided_plan plan;
    float *weights = pass->scratch;
    strided_plan_make(&plan, s, CONV_BACKWARD_WEIGHTS, pass->threads);
    const size_t copy = plan.weights + plan.values + plan.products;
#pragma omp parallel num_threads(pass->threads)
    {
        const int self = omp_get_thread_num(), size = omp_get_num_threads();
        const struct team team =
            plan.copies > 1 ? (struct team){0, 1} : (struct team){(size_t)self, (size_t)size};
        for (int part = plan.copies > 1 ? self : 0; part < plan.copies; part += size)
            weights_part(pass, &plan, &team, part, weights + (size_t)part * copy);
#pragma omp barrier
#pragma omp for schedule(static) nowait
        for (int i = 0; i < weight_blocks(&plan); i++) {
            const struct weight_block block = weight_block(&plan, i);
            weights_gradient(&block, weights, copy, pass->dw);
        }
#pragma omp for schedule(static)
        for (int block = 0; block < (pass->dbias ? s->out / LANES : 0); block++)
            sum_bias(pass, block);
    }
}

const struct conv_kernel STRIDED_KERNELS[3] = {
    {"strided", LANES, CONV_FORWARD, strided_fits, strided_scratch, run_rows, false},
    {"strided", LANES, CONV_BACKWARD_DATA, strided_fits, strided_scratch, run_rows, false},
    {"strided", LANES, CONV_BACKWARD_WEIGHTS, strided_fits, strided_scratch, run_weights, false}};
