/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_MODEL_FILE_H
#define DPARTUI_ENGINE_MODEL_FILE_H

#include <stdbool.h>

#include "base/error.h"
#include "engine/net/net.h"

/* The reader of model files: dpartui-model.5 has their format, etc/models/resnet18.conf is a
 * commented example. A file has at most 1 MiB; @include is refused. */

/*
 * Read a model description (dpartui-model.5) and lay it out for inputs of `input` and `classes`
 * outputs; a model whose file fixes its own input (its `input` setting) must agree. ERROR_USAGE
 * names file, line and what is wrong. `path` is a file; see paths_find_model.
 */
bool net_load(const char *path, struct net_shape input, int classes, struct net **out,
              struct error *err);
/* As net_load for data not known yet: the input and classes that the file itself gives. */
bool net_load_default(const char *path, struct net **out, struct error *err);

#endif
