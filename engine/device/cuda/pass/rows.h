/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/runtime/device.h"

/*
 * Rows in the device's memory. A data set that fits is kept there whole, from its first use until
 * the device is closed; of others the rows of a batch are gathered into pinned memory and copied,
 * those of the next batch while the device computes (batch.next_index).
 */
struct rows {
    /* device memory; of pixels and numbers exactly one */
    const uint8_t *pixels;
    const float *numbers;
    bool gathered; /* just the batch's rows, in its order; else the whole data set */
};

/* Where the rows of `batch` are; work queued on the device's stream may read them. */
bool rows_find(struct device *device, const struct batch *batch, struct rows *out,
               struct error *err);
/* After the last work on the pass's stream that reads them. */
bool rows_mark_read(struct device *device, struct error *err);
/* Bring the rows that batch->next_index names, if they are not there already. To be called when
 * the pass over `batch` has been queued. */
bool rows_stage_ahead(struct device *device, const struct batch *batch, struct error *err);

/* Frees what a device keeps of data sets; NULL: nothing. Of one that is not at rest, and may still
 * be reading and writing, only what it does not know of. */
void resident_rows_free(struct resident *resident, bool at_rest);
