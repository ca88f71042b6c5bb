/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_TRAIN_RESOLVE_RESOLVE_H
#define DPARTUI_ENGINE_TRAIN_RESOLVE_RESOLVE_H

#include "base/error.h"
#include "spec/spec.h"

/*
 * Resolve what the spec left open (model, data, devices, threads, type) and check the whole of it
 * against this machine before anything large is allocated. Cheap enough for `submit`.
 * ERROR_USAGE: the run is impossible as asked.
 */
bool resolve_spec(struct spec *spec, struct error *err);

#endif
