/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"

/* The backend of a kind; NULL when this build has none (then `why` says so). */
const struct backend *backend_find(enum device_kind kind, const char **why);
