/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "engine/device/device.h"
#include "engine/net/net.h"
#include "engine/train/pipeline/layout.h"
#include "spec/spec.h"

/* What a run takes of its devices' memory, before it begins. */

/* The passes of a run on one device: a full mini-batch, the short one that ends an epoch, a batch
 * of an evaluation. */
enum memory_pass { MEMORY_FULL, MEMORY_LAST, MEMORY_EVAL, MEMORY_PASSES };

/* What one device needs; bytes. */
struct memory_share {
    long rows[MEMORY_PASSES];
    bool has[MEMORY_PASSES];
    struct plan_memory memory[MEMORY_PASSES];
    int slots;                       /* of a stage */
    long finish_rows[MEMORY_PASSES]; /* of a stage, plan_request's; else 0 */
    size_t handed_row;               /* of a stage: of a row of what it gives to the next one */
    size_t handed;        /* that a stage gives to the next one, and gets back, of a slot */
    size_t gathered;      /* of what slices gather: its part of memory that is everybody's */
    size_t params, total; /* parameters, gradients, momentum, statistics; all in all */
};

/*
 * By the devices' own plans. Nothing is trained, but each device is opened and planned, so this is
 * for a separate thread. The spec's devices and threads are resolved. `rows` and `test_rows` of the
 * data may be 0: not known, then there is no short mini-batch. `layout`: read of a pipeline, whose
 * passes are over micro-batches. Fills shares[0..devices).
 */
bool memory_plan(const struct spec *spec, const struct net *net,
                 const struct pipeline_layout *layout, long rows, long test_rows,
                 struct memory_share *shares, struct error *err);
