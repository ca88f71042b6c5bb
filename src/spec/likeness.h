/* SPDX-License-Identifier: MIT */
#pragma once

#include "spec/spec.h"

/*
 * A digest of the settings that have to be the same in runs that are compared; 0: memory ran out.
 * Left out are those that a comparison looks at by themselves (network, data, devices, batch,
 * learning rate, ...) and those that do not change what a step does. Of 32 bits.
 */
unsigned long spec_likeness(const struct spec *spec);

/*
 * Does a step take as long with either? Both are of one run, before and after it was resumed. Free
 * GPUs, whichever they are, are taken to be alike. False as well when memory ran out.
 */
bool spec_is_as_fast(const struct spec *spec, const struct spec *other);
