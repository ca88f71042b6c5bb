/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/collective.h"

extern const struct collective nccl_collective; /* by NCCL, during the backward pass */
