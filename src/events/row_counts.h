/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* The rows that a run trains on, and after a '/' those of the test unless they are all: "512",
 * "512/100", "all". NAN: all of them. Into `buffer`, which is returned. */
const char *row_counts_text(double train, double test, char *buffer, size_t size);
