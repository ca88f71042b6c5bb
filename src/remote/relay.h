/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/*
 * Pass on what comes from a viewer to the socket of an engine and what comes from there to the
 * viewer, until either side ends. Nothing of it is looked at. The descriptors stay the caller's and
 * as they are.
 */
bool relay_run(int viewer_in, int viewer_out, int engine, struct error *err);
