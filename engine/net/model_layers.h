/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_NET_MODEL_LAYERS_H
#define DPARTUI_ENGINE_NET_MODEL_LAYERS_H

#include <libconfig.h>
#include <stdbool.h>

#include "base/error.h"
#include "engine/net/builder.h"

/*
 * Read the member `layers` of `group` (the whole file's or any other), with `order` beside it, and
 * append its operations to the network; *output is the last one's tensor.
 */
bool model_read_layers(struct net_builder *builder, const config_setting_t *group, int *output,
                       struct error *err);

#endif
