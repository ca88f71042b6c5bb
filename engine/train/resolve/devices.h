/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_TRAIN_RESOLVE_DEVICES_H
#define DPARTUI_ENGINE_TRAIN_RESOLVE_DEVICES_H

#include "base/error.h"
#include "spec/spec.h"

/* The part of resolve_spec that is about devices: their list, their threads, the number type. */
bool resolve_devices(struct spec *spec, struct error *err);

#endif
