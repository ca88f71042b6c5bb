/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

enum source_kind {
    SOURCE_IDX,
    SOURCE_CIFAR,
    SOURCE_PICTURES, /* a folder of folders; class names are its own */
    SOURCE_NPZ,      /* one file */
    SOURCE_GLYPHS,
    SOURCE_RANDOM,
};

/* A request that was looked into: what kind of set, and where. */
struct found {
    enum source_kind kind;
    char *name;                 /* for struct data */
    char *dir;                  /* of the files; NULL for sets that are made */
    const char *const *classes; /* one block of its own, or NULL */
    int class_count;
};

/* What `name` stands for; see data_open of data.h. found_free releases it, also after a failure. */
bool data_find(const char *name, const char *data_dir, struct found *found, struct error *err);
void found_free(struct found *found);
