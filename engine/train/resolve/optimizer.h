/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "engine/train/resolve/preflight.h"
#include "spec/spec.h"

/* The part of resolve_recipe that fills in, of what neither somebody nor the recipe gave, where the
 * optimizer has other defaults than the program; and whether the optimizer can work with what there
 * is then. */
bool resolve_optimizer(struct spec *spec, struct error *err);

/* A finding for each constant that somebody gave and that the optimizer of a resolved spec does not
 * have. False when `sink` fails. */
bool inspect_optimizer(const struct spec *spec, const struct preflight_sink *sink,
                       struct error *err);
