/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/weights/weights.h"

/*
 * safetensors, with the names of PyTorch's modules. Reading accepts names after "module.", wants
 * every entry of the network with its shape and refuses others; F32 only. Errors name file, entry,
 * what was found and expected. Writing is atomic; entries stand in module order, with
 * num_batches_tracked (I64, []) after running_var. Files are written with checksums
 * (engine/weights/checksum.h) and refused where one does not agree; files without are read.
 */
bool weights_read(const struct net *net, const char *path, struct weights *weights,
                  struct error *err);
/* `note` (NULL: none) becomes "dpartui" in the file's metadata, where others ignore it. */
bool weights_write(const struct net *net, const char *path, const struct weights *weights,
                   const char *note, struct error *err);
/* That note; a new string the caller frees. ERROR_ABSENT: the file has none. */
bool weights_read_note(const char *path, char **note, struct error *err);

/*
 * The optimizer's state: of each array an entry "PARAMETER.NAME" for every trained parameter.
 * `values` are net->value_count numbers in canonical order for each array, one array after the
 * other; those of running statistics are not looked at.
 */
bool state_write(const struct net *net, const char *path, const struct state_arrays *arrays,
                 const float *values, struct error *err);
/* found[i]: the file has array i; the others are left as they are. A file with just these arrays
 * must have all entries and no others; else it is of another optimizer, and only what both have is
 * read. */
bool state_read(const struct net *net, const char *path, const struct state_arrays *arrays,
                float *values, bool found[STATE_ARRAYS], struct error *err);
