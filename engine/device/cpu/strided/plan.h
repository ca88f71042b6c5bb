/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/conv/kernel.h"

/*
 * Convolutions of stride 2 with fewer multiplications: 3x3 with a padding of 1, and 1x1.
 *
 * Along one side, y[o] = w0 x[2o-1] + w1 x[2o] + w2 x[2o+1] is a convolution of stride 1 with two
 * taps over the odd pixels d[j] = x[2j-1], and one with a single tap over the even ones
 * e[o] = x[2o]. The first is made m outputs at a time from m+1 products, by Toom and Cook's
 * interpolation at the points 0, 1, -1, 2 and infinity, Winograd's F(m,2); the second from m, which
 * are put where products of the first lie, so that both are added up before the map to outputs.
 * With both sides that are (2m+1)^2 products for m^2 outputs: 81 instead of 144 where m is 4.
 *
 * A side is cut into tiles of 4 and 3 outputs. The scales of the interpolation are in the maps of
 * the values, none in those of the weights, so that one set of mapped weights serves all tiles.
 */

/* How a tile maps one side. */
enum strided_kind {
    STRIDED_FOUR,   /* 4 outputs, 9 products */
    STRIDED_THREE,  /* 3 outputs, 7 products */
    STRIDED_CLOSED, /* 7 inputs with nothing but padding around: 4 outputs, 8 products */
    STRIDED_PLAIN,  /* the kernel of 1: an output, a product */
    STRIDED_KINDS
};

/* The maps of values, always from left to right. */
enum strided_map {
    STRIDED_X,        /* x to its lines */
    STRIDED_Y,        /* products at the points to y */
    STRIDED_Y_TURNED, /* dy to gradients of those products */
    STRIDED_DY,       /* dy to its points, for the gradient of the data */
    STRIDED_DX,       /* products of the lines to dx */
    STRIDED_MAPS
};

#define STRIDED_MAX_LINES  9
#define STRIDED_MAX_POINTS 5
#define STRIDED_MAX_TILE   (STRIDED_MAX_LINES * STRIDED_MAX_LINES)

/* Lines of mapped weights along a side: w0 + a w2 at a point a, w2 at infinity, w1. */
enum strided_line { LINE_0, LINE_1, LINE_MINUS_1, LINE_INFINITY, LINE_EVEN, LINE_2, STRIDED_LINES };

/* Lines: first those of the points, then those of the even pixels, which lie at the first points.
 */
struct strided_side_kind {
    int outputs, points, lines;
    int first, inputs; /* of x: first is relative to twice the first output */
    int gradients;     /* of dy, from the first output on */
    int data;          /* of dx, from twice the first output on */
    enum strided_line forward[STRIDED_MAX_POINTS]; /* the weights of each point */
    enum strided_line backward[STRIDED_MAX_POINTS];
};
extern const struct strided_side_kind strided_kinds[STRIDED_KINDS];

/* Tiles of one kind, next to each other. */
struct strided_run {
    enum strided_kind kind;
    int first, count; /* first: an output */
};

struct strided_side {
    int in, out;
    int lines; /* of the weights */
    struct strided_run runs[2];
    int count;
};

/* What a pass needs of the scratch, in floats, and how it cuts its rows. */
struct strided_plan {
    struct strided_side h, w;
    int in, out; /* channels */
    int rows;    /* at a time, by one thread alone, or by all of them where `copies` is 1 */
    size_t weights, values, products; /* room for */
    int copies; /* of values and products; and of weights, where they are the gradient */
};

/*
 * For a shape that strided_fits. Sizes are floats. The scratch holds, one after the other, the
 * mapped weights and then the values and products of each copy; of the weights' gradient, for each
 * copy its weights, values and products.
 */
void strided_plan_make(struct strided_plan *plan, const struct conv_shape *shape,
                       enum conv_direction direction, int threads);

/*
 * Floats from a matrix of one point, or line, to the next: values, products, or weights. What lies
 * at one place in all of them must not fall into one set of the caches.
 */
static inline size_t strided_panel(int rows, int columns)
{
    return (size_t)rows * (size_t)columns + 16;
}

static inline int least(int a, int b)
{
    return a < b ? a : b;
}

/* Whether y, or dx, is stored past the caches. */
bool strided_streams(const struct conv_shape *shape, enum conv_direction direction);

bool strided_fits(const struct conv_shape *shape);
size_t strided_scratch(const struct conv_shape *shape, enum conv_direction direction, int threads);
