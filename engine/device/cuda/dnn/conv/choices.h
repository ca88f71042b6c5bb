/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/device/cuda/dnn/engine.h"

/*
 * The file of choices made before (see base/choices.h):
 *
 *     cuDNN's version, GPU, request    the key
 *     engine (or "none"), knobs, workspace, seconds
 */
#define CONV_CHOICE_NONE (-1) /* the engine's number: none does it, or none does it right */

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

/* The user's file of choices, for conv_maker.cache_path; a new string the caller frees, NULL:
 * ERROR_FAILED. */
char *conv_choices_path(struct error *err);
