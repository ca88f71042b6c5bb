/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"

struct run;

/* After an epoch and its evaluation: warn, once in a run, of a network that has learned nothing. */
bool learning_check(struct run *run, struct error *err);
