/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* The number of a run on the command line; ERROR_USAGE: it is not a number. */
bool run_number_parse(const char *text, long *number, struct error *err);
