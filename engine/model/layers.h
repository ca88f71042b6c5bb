/* SPDX-License-Identifier: MIT */
#pragma once

#include <libconfig.h>
#include <stdbool.h>

#include "base/error.h"
#include "engine/net/builder.h"

/*
 * Read `layers` and `order` of the whole file, its root group, and append the operations to the
 * network; *output is the last one's tensor.
 */
bool model_read_layers(struct net_builder *builder, const config_setting_t *root, int *output,
                       struct error *err);
