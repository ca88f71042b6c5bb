/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/collective.h"

extern const struct collective nccl_collective; /* by NCCL, which can overlap a backward pass */
