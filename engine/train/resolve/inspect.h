/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/resolve/preflight.h"
#include "engine/train/step/ranks.h"

/* The preflight check of ranks that are prepared. */
bool inspect_ranks(const struct ranks *ranks, const struct preflight_sink *sink, struct error *err);

/* models[0..ranks-1]: what the machine calls the devices, "" where that is not known; the texts
 * lie in `infos`. */
void inspect_models(const struct ranks *ranks, struct device_info infos[2 * SPEC_MAX_DEVICES],
                    const char **models);
