/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* ERROR_USAGE after "FILE:LINE: ", of the model file that the network is read from; returns
 * false. */
bool model_error(const char *file, int line, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
