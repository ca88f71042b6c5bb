/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"

/* CPU devices, on oneDNN. */
extern const struct backend cpu_backend;
