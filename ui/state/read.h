/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/state/state.h"

/*
 * The engine's JSON as values. False: the object says too little to be
 * used at all; everything else that is missing or wrong is NAN, 0 or "".
 */
bool read_device(const json_t *object, struct state_device *device);
bool read_run(const json_t *object, struct state_run *run);
/* `epoch` and `point` events. */
bool read_epoch(const json_t *object, struct epoch_point *point);
/* How fast the run has been so far, from an `epoch` event. */
void read_epoch_speed(const json_t *object, struct state_run *run);
/* Of the `state` notification: pid, version, host and queue; and its "run". */
void read_engine(const json_t *object, struct state *state);
void read_live(const json_t *object, struct state_live *live);
/* `retune` events; false without a step and a word. */
bool read_retune(const json_t *object, struct retune *retune);
double read_number(const json_t *object, const char *key);
/* The same of one that cannot be negative. */
double read_amount(const json_t *object, const char *key);
void read_text(const json_t *object, const char *key, char *buffer, size_t size);
/* 0: none. */
long read_run_number(const json_t *object);

/* What was live of a device is not known any more. */
void device_forget(struct state_device *device);
