/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>
#include <stdbool.h>

#include "tests/ui/replay.h"

/* What the tests of the list of runs, and of what is reached from there, share. */

/* Of the running test: a recording with many runs (tests/ui/recordings/runs.jsonl), their list
 * shown. */
extern struct replay replay;

/* A case whose tests begin so. */
TCase *runs_case(const char *name);

void expect_selected(long run);
/* The line above the keys. */
void expect_message(const char *text);
/* Is the text anywhere on a large screen? */
void expect_on_screen(const char *text, bool wanted);
/* The engine lists its runs again, without this one. */
void without_run(long run);
