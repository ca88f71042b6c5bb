/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DATA_DRAW_H
#define DPARTUI_ENGINE_DATA_DRAW_H

#include <stdint.h>

/*
 * The random words of one row of a made data set: a pure function of (seed, stream, row), so that
 * rows can be made in any order and the parts of a set never share a word.
 */
enum draw_stream {
    DRAW_GLYPHS_TRAIN = 1,
    DRAW_GLYPHS_TEST,
    DRAW_GLYPHS_TRAIN_ORDER,
    DRAW_GLYPHS_TEST_ORDER,
    DRAW_RANDOM_TRAIN,
    DRAW_RANDOM_TEST,
    DRAW_RANDOM_RULE,
};

struct draws {
    uint64_t seed;
    enum draw_stream stream;
    uint32_t row, block;
    uint32_t word[4];
    int left;
};

struct draws draw_begin(uint64_t seed, enum draw_stream stream, uint32_t row);

/* 32 random bits. */
uint32_t draw_word(struct draws *draws);

/* Uniform in low..high, both included. The span must be far below 2^32: there the bias is nil. */
int draw_range(struct draws *draws, int low, int high);

/* As draw_range, with a peak in the middle. */
int draw_middle(struct draws *draws, int low, int high);

/* N(0,1). */
double draw_normal(struct draws *draws);

#endif
