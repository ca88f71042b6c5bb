/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/winograd/kernels.h"

/*
 * How the results of a pass are cut into groups of tiles. The rows of the batch are cut into bands,
 * which threads take one after the other; in each of them go the pairs of runs, one of each side,
 * in turn, so that tiles of one size are multiplied together while their rows are in a cache.
 */
struct winograd_groups {
    struct {
        struct winograd_run h, w;
        int groups; /* in a band */
    } pairs[4];
    int pair_count;
    int rows, bands;
    int band_groups;
    int count; /* of all groups */
};

/* Groups of up to `most` tiles for `rows` results of h x w. The bands are a multiple of `threads`
 * where there are rows enough; where there is one band, many groups are. */
void winograd_groups_make(struct winograd_groups *groups, int rows, int h, int w, int most,
                          int threads);

/* 0 <= index < count */
struct winograd_group winograd_group_at(const struct winograd_groups *groups, int index);
