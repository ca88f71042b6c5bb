/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/data/pictures/pictures.h"

/* Rows of labelled examples in memory. Exactly one of `pixels` and `numbers` is set. */
struct dataset {
    int rows, channels, height, width, classes;
    uint8_t *pixels; /* rows x channels x height x width; the network sees pixel/255 */
    float *numbers;  /* same shape, used as it is (random vectors) */
    uint8_t *labels; /* rows, each < classes */
    bool is_numeric; /* it has `numbers`, or would if it were not only described */
    bool changes;    /* other rows may lie here in the next pass: devices keep no copy */
};

struct data {
    char *name;                     /* "fashion-mnist", "glyphs", "random:100x5", or the folder */
    char *source;                   /* where it was read from, for the record; "made from seed N" */
    const char *const *class_names; /* train.classes of them, or NULL */
    struct dataset train, test;
    struct dataset validation; /* that a folder of pictures has of its own; no rows: none */
    struct pictures pictures; /* whose pixels and labels those are, where they came from pictures */
};

/* Of each part; 0: all. */
struct data_rows {
    long train, test;
};

/* Which data. Strings are borrowed. */
struct data_request {
    const char *name, *data_dir; /* see data_open */
    uint64_t seed;               /* of made data */
    struct data_rows wanted;     /* the first rows: others are not kept, nor made of glyphs */
    struct picture_settings pictures;
    struct data_watch watch; /* while pictures are read */
};

/*
 * Open data by name or folder (dpartui.1, --data):
 *  fashion-mnist, mnist, cifar10   below data_dir, then the data home
 *  glyphs                          made from `seed` (see glyphs.c)
 *  random:ROWSxCOLUMNS             N(0,1) vectors, labels in {0,1}; the test part has as many rows
 *  DIR                             the four IDX files (gz or plain) or the CIFAR-10 binary files;
 *                                  next to IDX files, classes.txt may name the classes, one a line,
 *                                  and so says how many there are; without it there are ten.
 *                                  Or pictures: train/CLASS/ and test/CLASS/, or CLASS/ alone
 *  FILE.npz                        NumPy's arrays x_train, y_train, x_test and y_test (npz.h)
 *  NULL                            fashion-mnist if present, else glyphs
 * Every file is checked whole: magic, counts, sizes, label range. *out is released by data_close.
 */
bool data_open(const struct data_request *request, struct data *out, struct error *err);
void data_close(struct data *data);

/*
 * Where named data lie: data_dir, else $DPARTUI_DATA_DIR, else paths_data_home()/data. A new string
 * that the caller frees; NULL with *err filled when there is no home or no memory. `fetch` installs
 * there.
 */
char *data_directory(const char *data_dir, struct error *err);

/*
 * What data_open would open, without reading the rows: shape and classes of the training part, rows
 * of the test part (test_rows may be NULL), and the name as it would stand there, a new string.
 */
bool data_describe(const struct data_request *request, struct dataset *shape, int *test_rows,
                   char **resolved, struct error *err);
/* Shape and classes alone, and the names of these, as in struct data; one block that the caller
 * frees. */
bool data_describe_classes(const struct data_request *request, struct dataset *shape,
                           const char *const **class_names, struct error *err);
