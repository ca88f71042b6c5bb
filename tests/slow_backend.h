/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_SLOW_BACKEND_H
#define DPARTUI_TESTS_SLOW_BACKEND_H

#include "engine/spec.h"

/*
 * The real CPU devices, linked in place of engine/device/backend.c, that can be made slow: how long
 * each sleeps in a pass of training for every row. Written between steps only.
 */
extern unsigned slow_row_us[SPEC_MAX_DEVICES];

#endif
