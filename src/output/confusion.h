/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "base/error.h"

/*
 * What a network takes for what, on standard output: the pairs of classes that it confuses most
 * often, a table of the classes, and the matrix, where it is narrow enough or `whole`. `answer` is
 * the engine's of `evaluate`.
 */
bool confusion_print(const json_t *answer, bool whole, struct error *err);
