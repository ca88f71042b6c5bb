/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/net/net.h"
#include "engine/train/resolve/preflight.h"
#include "spec/spec.h"

/* Whether the devices, the network and the other settings serve what the spec divides over devices,
 * and what it leaves open of that. The devices are resolved; `rows`: to train on. */
bool resolve_parallel(struct spec *spec, const struct net *net, long rows, struct error *err);

/* Warn of settings that only a pipeline has where there is none. */
bool inspect_parallel(const struct spec *spec, const struct preflight_sink *sink,
                      struct error *err);
