/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_TRAIN_RUN_EPOCH_H
#define DPARTUI_ENGINE_TRAIN_RUN_EPOCH_H

#include "engine/train/run/state.h"

/*
 * Train epoch `epoch`, from 1. Ends early, and still returns true, when max_steps is reached or a
 * stop is asked for (run->stopped).
 */
bool run_epoch(struct run *run, long epoch, struct error *err);
/* metrics.test_loss and test_acc; *done is false when a stop cut it short. */
bool run_evaluate(struct run *run, bool *done, struct error *err);

#endif
