/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "spec/spec.h"

/* The part of resolve_spec that is about devices: their list, their threads, the number type. */
bool resolve_devices(struct spec *spec, struct error *err);
