/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/net/net.h"
#include "spec/spec.h"

/*
 * Whether every device of a run keeps to the spec's memory limit, if it has one, by memory_plan();
 * a device that is listed twice needs what both ranks do.
 * ERROR_USAGE: which device does not, and which strategies would fit, on these devices or on more.
 * The spec is resolved; for a separate thread. Other devices than CPUs are not asked.
 */
bool memory_limit_check(const struct spec *spec, const struct net *net, long rows, long test_rows,
                        struct error *err);

/* The same of what the ranks have been found to need: bytes[0..devices). */
bool memory_limit_hold(const struct spec *spec, const uint64_t *bytes, struct error *err);

/* What memory_limit_check() would say is not enough, as text of at most `size` bytes; "": it is
 * enough. False: memory ran out, or a device cannot be planned. */
bool memory_limit_words(const struct spec *spec, const struct net *net, long rows, long test_rows,
                        char *text, size_t size, struct error *err);
