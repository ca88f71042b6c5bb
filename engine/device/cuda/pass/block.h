/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/runtime/device.h"
#include "engine/device/plan/builder.h"

/*
 * What changes from pass to pass, in one block of device memory: filled in pinned memory and copied
 * at the start, so that steps themselves are the same each time. After it the pass's result.
 */
struct pass_block {
    size_t norms_at, scale_at, shift_at, index_at, labels_at; /* of the block */
    size_t global_index_at, bytes;
    size_t result_bytes; /* with the predictions, if wanted */
    size_t slot_bytes;   /* in pinned memory */
    struct buffer *block, *result;
    char *host; /* pinned, for each pass that may be queued: the block, and the result after it */
    int norm_count, norm_capacity;
    double *pixels; /* per BatchNorm: pixels of a channel */
    bool *shared;   /* whose statistics are those of all devices */
};

/* Lays out the block for the plan being built; buffers are those of its core. */
bool pass_make(struct builder *b, struct error *err);
/* at_rest: nothing on the device uses it any more; else what it may use is left. */
void pass_free(struct pass_block *pass, bool at_rest);
/* Count of the numbers that a BatchNorm's statistics are made of: its place, to be read by
 * kernels once the plan is bound. `shared`: with the rows of all devices. */
int pass_add_norm(struct pass_block *pass, double pixels, bool shared);
const double *pass_elements(const struct pass_block *pass, int norm);
const double *pass_global_rows(const struct pass_block *pass);
const struct dropout_pass *pass_dropout(const struct pass_block *pass);
const float *pass_scale(const struct pass_block *pass);
const float *pass_shift(const struct pass_block *pass);
/* Of the device's own rows, or those of the global batch; the labels are of those that the loss is
 * computed of. */
const uint32_t *pass_index(const struct pass_block *pass, bool global_batch);
const uint8_t *pass_labels(const struct pass_block *pass);
const struct micro_place *pass_micro(const struct pass_block *pass);
struct loss_result *pass_result(const struct pass_block *pass);
/* A class per row, on the device; NULL: nobody wants them. */
uint8_t *pass_predicted(const struct pass_block *pass);

/* Is the batch one of the network's? */
bool pass_check(const struct plan *plan, const struct batch *batch, struct error *err);
/* Queue the copy of what `batch`, whose rows and labels were checked, says, and, later, that of the
 * result, which pass_take reads once the device is done. `slot` is the pass's own until then. */
bool pass_send(struct plan *plan, int slot, const struct batch *batch, struct error *err);
bool pass_fetch(struct plan *plan, int slot, struct error *err);
struct batch_result pass_take(const struct pass_block *pass, int slot);
