/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>
#include <stdbool.h>

#include "tests/ui/replay.h"

/* What the tests of the chart share: a run of 8 epochs trains, 100 steps each, and is watched. */

extern struct replay replay;

/* A case whose tests begin with 43 tenths of the epochs done, in the chart. */
TCase *chart_case(const char *name);

/* A line of the engine. */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A point each tenth of an epoch. */
void fine_point(long run, int tenth);
void epoch(long run, int number);
void begin_run(long run);

void check_window(double low, double high);
void check_cursor(double at);
/* Is the text anywhere on a screen of 80x24? */
void check_shown(const char *text, bool shown);
