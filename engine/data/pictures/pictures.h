/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/data/pictures/cache.h"
#include "engine/data/pictures/settings.h"
#include "engine/data/pictures/watch.h"

/*
 * A folder of pictures as rows of bytes, of the same shape, the training rows first, the test rows
 * last
 * (engine/data/pictures/list.h says which and in which order).
 */
struct pictures {
    int channels, height, width, class_count;
    long train_rows, validation_rows, test_rows;
    char **classes; /* class_count names */
    /* Of the decoded ones: */
    const uint8_t *pixels; /* rows x channels x height x width */
    const uint8_t *labels;
    struct picture_cache cache; /* whose memory they are */
    char *choices;    /* what the settings left open: "grey; 20% of each class are test rows" */
    char *remarks[4]; /* a line each of what a user should know; NULL after the last */
};

/* Shape, classes and rows, without pixels. Broken files that are skipped may be counted here and
 * missing among the decoded rows. */
bool pictures_describe(const char *dir, const struct picture_settings *settings,
                       const struct data_watch *watch, struct pictures *out, struct error *err);
/* All of it: from the cache, or decoded on all processors and put there. */
bool pictures_load(const char *dir, const struct picture_settings *settings,
                   const struct data_watch *watch, struct pictures *out, struct error *err);
void pictures_free(struct pictures *pictures);
