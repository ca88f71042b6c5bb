/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_BACKEND_H
#define DPARTUI_ENGINE_DEVICE_CPU_BACKEND_H

#include "engine/device/device.h"

/* CPU devices, on oneDNN. */
extern const struct backend cpu_backend;

#endif
