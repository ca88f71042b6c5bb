/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/data/zip.h"

/*
 * An array of NumPy's .npy format (numpy.lib.format, versions 1 to 3) in an archive: its header is
 * read and checked, its numbers follow.
 */
#define NPY_MOST_DIMS 4

struct npy {
    struct zip_reader *reader;
    const char *path, *name; /* borrowed: the archive, "x_train.npy" */
    char kind;               /* 'u', 'i', 'f' or 'b', as NumPy has it */
    int bytes;               /* of a number */
    bool swapped;            /* another byte order than this machine's */
    bool fortran;            /* the first index runs fastest */
    int ndim;
    long dims[NPY_MOST_DIMS];
    size_t count; /* numbers */
};

/* Open NAME.npy; npy_close releases it, whatever the result. */
bool npy_open(const struct zip *zip, const char *name, struct npy *out, struct error *err);

/* All its numbers as they are stored, in this machine's byte order: count * bytes bytes. */
bool npy_read(struct npy *npy, void *to, struct error *err);
void npy_close(struct npy *npy);

/* "array NAME of FILE: TEXT", with what is wrong. */
bool npy_error(const struct npy *npy, struct error *err, const char *text);
