/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_WEIGHTS_WEIGHTS_H
#define DPARTUI_ENGINE_WEIGHTS_WEIGHTS_H

#include <stdint.h>

#include "engine/net/net.h"
#include "spec/spec.h"

/* All numbers of a network on the host, in canonical order: values[net->params[i].offset + ...]. */
struct weights {
    float *values;           /* net->value_count */
    int64_t batches_tracked; /* BatchNorm's num_batches_tracked */
};

bool weights_create(const struct net *net, struct weights *out, struct error *err);
void weights_free(struct weights *weights);
void weights_copy(const struct net *net, struct weights *to, const struct weights *from);
/* Give the memory back until the numbers are written again; they are undefined meanwhile. */
void weights_let_go(const struct net *net, struct weights *weights);

/*
 * Fill by rule (reference: PyTorch 2, nn.Linear and nn.Conv2d). NORMAL: conv and linear weights
 * from N(0, std), biases U(-b, b) with b = 1/sqrt(fan_in); PYTORCH: weights and biases U(-b, b).
 * BatchNorm 1, 0; running statistics 0, 1. The numbers depend on (seed, param index, element)
 * alone.
 */
void weights_init(const struct net *net, struct weights *weights, enum init_rule rule, double std,
                  uint64_t seed);

/*
 * safetensors, PyTorch names (reference/formats). Reading accepts names after "module.", wants
 * every entry of the network with its shape and refuses others; F32 only. Errors name file, entry,
 * what was found and expected. Writing is atomic; entries stand in module order, with
 * num_batches_tracked (I64, []) after running_var. Files are written with checksums
 * (engine/weights/checksum.h) and refused where one does not agree; files without are read.
 */
bool weights_read(const struct net *net, const char *path, struct weights *weights,
                  struct error *err);
bool weights_write(const struct net *net, const char *path, const struct weights *weights,
                   struct error *err);

/* The same with `note` (NULL: none) as "dpartui" in the file's metadata, where others ignore it. */
bool weights_write_noted(const struct net *net, const char *path, const struct weights *weights,
                         const char *note, struct error *err);
/* That note; a new string the caller frees. ERROR_ABSENT: the file has none. */
bool weights_read_note(const char *path, char **note, struct error *err);

/*
 * The optimizer's state: `states` arrays, and of each an entry "PARAMETER.NAME" for every trained
 * parameter. `values` are net->value_count numbers in canonical order for each array, one array
 * after the other; those of running statistics are not looked at.
 */
bool state_write(const struct net *net, const char *path, const char *const *names, int states,
                 const float *values, struct error *err);
bool state_read(const struct net *net, const char *path, const char *const *names, int states,
                float *values, struct error *err);

#endif
