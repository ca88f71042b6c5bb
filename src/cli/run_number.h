/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_CLI_RUN_NUMBER_H
#define DPARTUI_CLI_RUN_NUMBER_H

#include <stdbool.h>

#include "base/error.h"

/* The number of a run as the command line has it; ERROR_USAGE: it is none. */
bool run_number_parse(const char *text, long *number, struct error *err);

#endif
