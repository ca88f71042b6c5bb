/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "spec/spec.h"

/* The part of resolve_recipe that fills in, of what neither somebody nor the recipe gave, where the
 * optimizer has other defaults than the program; and whether the optimizer can work with what there
 * is then. */
bool resolve_optimizer(struct spec *spec, struct error *err);
