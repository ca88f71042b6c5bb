/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "engine/data/pictures/watch.h"
#include "spec/spec.h"

/*
 * Resolve what the spec left open (model, data, devices, threads, type) and check the whole of it
 * against this machine before anything large is allocated. Cheap enough for `submit`; only the
 * first look into a folder of many pictures takes long. `watch` may be NULL.
 * ERROR_USAGE: the run is impossible as asked.
 */
bool resolve_spec(struct spec *spec, const struct data_watch *watch, struct error *err);
