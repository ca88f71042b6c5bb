/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "engine/net/net.h"
#include "spec/spec.h"

/* The reader of model files: dpartui-model.5 has their format, etc/models/resnet18.conf is a
 * commented example. A file has at most 1 MiB; @include is refused. */

/*
 * Read a model description (dpartui-model.5) and lay it out for inputs of `input` and `classes`
 * outputs; a model whose file fixes its own input (its `input` setting) must agree. ERROR_USAGE
 * names file, line and what is wrong. `path` is a file; see paths_find_model.
 */
bool net_load(const char *path, struct net_shape input, int classes, struct net **out,
              struct error *err);
/* The settings for training that the file has: they are given in *recipe (spec/origin.h), a new
 * spec; release with spec_free, also after a failure. */
bool net_load_recipe(const char *path, struct spec *recipe, struct error *err);
/* As net_load for data not known yet: the input and classes that the file itself gives. */
bool net_load_default(const char *path, struct net **out, struct error *err);
