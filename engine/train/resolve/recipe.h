/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "spec/spec.h"

/* The part of resolve_spec that fills in what nobody gave, from the recipe of the model file
 * `path`, unless the spec leaves that out, and checks it as a whole. */
bool resolve_recipe(struct spec *spec, const char *path, struct error *err);
