/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_CONV_CHOICES_H
#define DPARTUI_ENGINE_DEVICE_CUDA_CONV_CHOICES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/device/cuda/dnn_engine.h"

/*
 * The file of choices made before: text, one line per choice, newest last, fields parted by tabs:
 *
 *     cuDNN's version, GPU, request    the key
 *     engine, knobs, workspace, seconds
 *
 * A line that is not understood is as good as not there, and so is a file that cannot be read. The
 * file is replaced as a whole, so readers see the old or the new one. Threads and processes may
 * write at the same time: they take turns by a lock on the file FILE.lock, or, when that cannot be
 * had within two seconds, take the chance of dropping each other's choice.
 */
#define CONV_CHOICES_LIMIT 4096 /* the oldest are dropped */

struct conv_choice {
    struct dnn_choice way;
    size_t workspace;
    double seconds;
};

/* The key's text, "91900\tNVIDIA H200\tconv ..."; a new string the caller frees, NULL: no memory.
 */
char *conv_choices_key(size_t version, const char *device, const char *request);

/* False: none. */
bool conv_choices_find(const char *path, const char *key, struct conv_choice *choice);

/* Put a choice in place of any with this key; NULL: only drop that. Folders are made. */
bool conv_choices_put(const char *path, const char *key, const struct conv_choice *choice,
                      struct error *err);

#endif
