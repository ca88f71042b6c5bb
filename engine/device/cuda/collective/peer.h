/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/collective.h"

/* By kernels of our own that read the other GPUs' memory; also for one GPU that is named twice. */
extern const struct collective peer_collective;
