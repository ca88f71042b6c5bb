/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/run/run.h"

struct run;

/* Snapshots for viewers. */
struct progress {
    enum run_phase phase;
    bool prepared;      /* the devices are, so their memory is known */
    double last;        /* when the last one was delivered, on clock_seconds */
    long read, to_read; /* pictures, while they are; 0 of 0: none are */
    struct run_device shown[SPEC_MAX_DEVICES];
};

/* Enter a phase, and show it at once. */
void progress_phase(struct run *run, enum run_phase phase);
/* The watch over the reading of pictures; `context` is the run. */
bool progress_reading(void *context, long done, long total);
/* A snapshot if one is due. */
void progress_tick(struct run *run);
