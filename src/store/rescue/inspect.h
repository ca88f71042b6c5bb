/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/*
 * Reads a whole store through on its own thread, at the lowest priority and with its own
 * connection, while it is in use.
 */
struct store_inspection;

/*
 * Begin with the store at `path`, which this process has open for writing until after
 * store_inspect_stop. At the end it is trusted (doubt.h); or it is doubted, and found(context,
 * text) is called on that thread with what is wrong and what helps, in one line.
 */
bool store_inspect_start(const char *path, void (*found)(void *context, const char *text),
                         void *context, struct store_inspection **out, struct error *err);

/* End it, wherever it is; NULL is fine. `found` is not called any more. */
void store_inspect_stop(struct store_inspection *inspection);
