/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/resolve/preflight.h"
#include "engine/train/step/ranks.h"

/* The preflight check of ranks that are prepared. */
bool inspect_ranks(const struct ranks *ranks, const struct preflight_sink *sink, struct error *err);

/* Fill in what the machine calls the devices of this host. */
void inspect_models(struct ranks *ranks);
