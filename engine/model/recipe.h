/* SPDX-License-Identifier: MIT */
#pragma once

#include <libconfig.h>

#include "base/error.h"
#include "spec/spec.h"

/*
 * The group `training` of a model file whose root is `root`: settings that its network trains well
 * with. The fields that it has are given in *recipe, a new spec; release with spec_free, also after
 * a failure. ERROR_USAGE names file, line and key.
 */
bool model_read_recipe(const char *file, const config_setting_t *root, struct spec *recipe,
                       struct error *err);
