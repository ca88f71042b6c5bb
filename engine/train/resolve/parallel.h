/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/net/net.h"
#include "spec/spec.h"

/* Whether the devices, the network and the other settings serve what the spec divides over devices,
 * and what it leaves open of that. The devices are resolved; `rows`: to train on. */
bool resolve_parallel(struct spec *spec, const struct net *net, long rows, struct error *err);
