/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_STATE_READ_H
#define DPARTUI_UI_STATE_READ_H

#include "ui/state.h"

/*
 * The engine's JSON as values (part of ui/state.c). False: the object says too little to be used at
 * all; everything else that is missing or wrong is NAN, 0 or "".
 */
bool read_device(const json_t *object, struct state_device *device);
bool read_run(const json_t *object, struct state_run *run);
/* `epoch` events. */
bool read_epoch(const json_t *object, struct epoch_point *point);
void read_epoch_speed(const json_t *object, struct state_run *run);
/* Of the `state` notification: pid, version, host and queue; and its "run". */
void read_engine(const json_t *object, struct state *state);
void read_live(const json_t *object, struct state_live *live);
/* 0: none. */
long read_run_number(const json_t *object);

#endif
