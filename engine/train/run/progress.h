/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_TRAIN_RUN_PROGRESS_H
#define DPARTUI_ENGINE_TRAIN_RUN_PROGRESS_H

#include "engine/train/run/run.h"

struct run;

/* Snapshots for viewers. */
struct progress {
    enum run_phase phase;
    bool prepared; /* the devices are, so their memory is known */
    double last;   /* when the last one was delivered, on clock_seconds */
    struct run_device shown[SPEC_MAX_DEVICES];
};

/* Enter a phase, and show it at once. */
void progress_phase(struct run *run, enum run_phase phase);
/* A snapshot if one is due. */
void progress_tick(struct run *run);

#endif
