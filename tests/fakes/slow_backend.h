/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_FAKES_SLOW_BACKEND_H
#define DPARTUI_TESTS_FAKES_SLOW_BACKEND_H

#include "spec/spec.h"

/*
 * The real CPU devices, linked in place of engine/backends/registry.c, that can be made to seem
 * slow: how long each needs for a row by slow_clock, the time of its thread.
 */
extern double slow_row_s[SPEC_MAX_DEVICES];
double slow_clock(void);

#endif
