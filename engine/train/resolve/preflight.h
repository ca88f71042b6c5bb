/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/device/device.h"
#include "spec/spec.h"

/*
 * Checks of the devices of a run before its first step: what will not work, and what will work
 * worse than its owner may expect. Pure.
 */

struct preflight_device {
    struct device_id id;
    const char *model; /* "NVIDIA H200"; "": not known */
    struct device_facts facts;
    uint64_t memory_bytes; /* that the run takes there; 0: not planned yet */
    long least_rows;       /* that a BatchNorm sees in any training step; 0: not known, or none */
};

struct preflight {
    int count;
    const struct preflight_device *devices;
    enum split_rule split;
    long batch, rows;       /* of a mini-batch, and to train on; 0: not known */
    uint64_t shared_memory; /* bytes free in /dev/shm; 0: not known */
    const struct lr_schedule *schedule;
    struct lr_length length; /* of the run; no steps: it only evaluates */
    const char *lone_norm;   /* a BatchNorm over one value per channel and row; NULL: none is */
    bool may_sync_bn;        /* statistics of all devices would be of more rows */
};

/* Called for each finding that does not stop the run: one line, with what to do. */
struct preflight_sink {
    bool (*warn)(void *context, const char *text, struct error *err);
    void *context;
};

/*
 * False when the run cannot work: ERROR_FAILED says which device lacks what. Also when `warn`
 * fails. Memory is looked at first, before anything is said.
 */
bool preflight_check(const struct preflight *preflight, const struct preflight_sink *sink,
                     struct error *err);
