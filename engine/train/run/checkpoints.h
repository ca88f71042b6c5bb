/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/checkpoint/writer.h"
#include "engine/train/run/report.h"
#include "engine/train/run/run.h"

struct run;

/* When a run writes checkpoints, what is in them, and resuming from one. */
struct checkpoints {
    struct run_keep keep;
    bool wanted;                      /* on the first host of the run */
    struct checkpoint_writer *writer; /* NULL: none are written here */
    struct checkpoint resumed;        /* what the run resumes from */
    int64_t tracked_before; /* batches that BatchNorms had counted before the run's first step */
    double last;            /* when the last one was begun */
    long best_steps;        /* of the best epoch's, -1: none */
    char *recipe;           /* as the run began, for those who read its weights */
    struct error damage;    /* of a newer one than `resumed`; ERROR_NONE: there is none */
    struct failures writes; /* that failed */
    struct failures syncs;  /* of the run's history before one */
};

/* When the network is known. */
bool checkpoints_begin(struct run *run, struct error *err);
/* Write one now; without `wait` it is left out while the one before is still being written. */
bool checkpoints_write(struct run *run, bool wait, struct error *err);
/* If one is due, at the end of an epoch, which may be the best one, or between steps. */
bool checkpoints_epoch(struct run *run, struct error *err);
bool checkpoints_step(struct run *run, struct error *err);
/* Is one due by the time since the last, on this host's clock? */
bool checkpoints_minutes_are_up(const struct run *run);
/* Wait for what is being written, and warn where that failed. */
bool checkpoints_end(struct run *run, struct error *err);
void checkpoints_free(struct checkpoints *checkpoints);

/* Has the checkpoint not all that the optimizer remembers, so that it begins at zero? */
bool checkpoints_begin_state(const struct checkpoints *checkpoints);

/* Resume: the weights, before the devices are prepared. */
bool checkpoints_read(struct run *run, struct error *err);
/* What was done, before the first epoch. */
bool checkpoints_resume(struct run *run, struct error *err);
/* In an epoch that had begun: returns the seconds it had taken. Both do nothing in a new run. */
double checkpoints_resume_epoch(struct run *run);
/* The weights, as they now are on the devices, into work.weights, and from there into a file. */
bool checkpoints_export(struct run *run, struct error *err);
bool checkpoints_save(struct run *run, const char *path, struct error *err);
