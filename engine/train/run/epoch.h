/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/run/state.h"

/*
 * Train epoch `epoch`, from 1. Ends early, and still returns true, when max_steps is reached or a
 * stop is asked for (run->stopped).
 */
bool run_epoch(struct run *run, long epoch, struct error *err);
/* Loss and accuracy on work.evaluated, for the metrics; *done is false when a stop cut it short. */
bool run_evaluate(struct run *run, bool *done, struct error *err);
/* The same on the test rows, once a run that chose by validation rows has ended: of the weights
 * that
 * --save-best saved, where it did, else of the last ones. */
bool run_test(struct run *run, bool *done, struct error *err);

/* A "timeline" event of the last full step of a pipeline, after epochs 1, 2, 4, 8 and so on, so
 * that long runs have few; `last`: after any epoch, if there is a newer step. */
bool run_report_stages(struct run *run, bool last, struct error *err);
