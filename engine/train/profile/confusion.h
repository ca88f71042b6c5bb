/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "base/error.h"

/* How often rows of each class were taken for each class: the confusion matrix. */
struct confusion {
    int classes;
    long *counts; /* classes x classes: [label * classes + predicted]; NULL: nothing is counted */
};

/* All counts 0. Released by confusion_free. */
bool confusion_create(struct confusion *confusion, int classes, struct error *err);
void confusion_free(struct confusion *confusion);
void confusion_clear(struct confusion *confusion);

/* Count rows, index[n] of `labels` each, that were taken for predicted[n]. */
void confusion_count(struct confusion *confusion, const uint8_t *labels, const uint32_t *index,
                     const uint8_t *predicted, long rows);
/* Add the counts of `part`, of as many classes. */
void confusion_add(struct confusion *confusion, const struct confusion *part);
