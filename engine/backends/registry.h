/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_BACKENDS_REGISTRY_H
#define DPARTUI_ENGINE_BACKENDS_REGISTRY_H

#include "engine/device/device.h"

/* The backend of a kind; NULL when this build has none (then `why` says so). */
const struct backend *backend_find(enum device_kind kind, const char **why);

#endif
