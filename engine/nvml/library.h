/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/nvml/api.h"

/*
 * Load and start NVML. False: `why` says in a line what is missing, and what to do about it. Both
 * may take seconds, or hang, in the driver.
 */
bool nvml_library_open(struct nvml_api *api, const char *path, char *why, size_t size);
/* Does nothing for a library that is not open. */
void nvml_library_close(struct nvml_api *api);

/* What a code means for the user: "the driver does not tell this of this GPU". */
const char *nvml_words(int code);

/*
 * The reasons that hold clocks back, the weightiest first: "thermal, power cap"; as many whole ones
 * as fit. Clocks that are low because there is nothing to do are not held back.
 */
void nvml_throttle_words(unsigned long long reasons, char *text, size_t size);
