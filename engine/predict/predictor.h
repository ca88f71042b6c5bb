/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "engine/net/net.h"
#include "engine/weights/weights.h"
#include "spec/spec.h"

/* A network with its weights on one device, for rows that come from anywhere. It is used on the
 * thread that opened it. */
struct predictor;

/*
 * On the first device of a resolved spec, for `rows` rows (at least 1) at a time. `net` is borrowed
 * until predictor_close; the weights are copied.
 */
bool predictor_open(const struct spec *spec, const struct net *net, const struct weights *weights,
                    int rows, struct predictor **out, struct error *err);
void predictor_close(struct predictor *predictor); /* NULL: nothing */

/* Where the caller writes the rows, rows x net->input bytes. */
uint8_t *predictor_pixels(struct predictor *predictor);
/* The logits of all of them, rows x net->classes; valid until the next call. */
bool predictor_run(struct predictor *predictor, const float **logits, struct error *err);
