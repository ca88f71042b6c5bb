/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/plan/builder.h"

/* The step that brings the rows of a batch to the network's first value. */
bool cuda_build_input(struct builder *b, struct error *err);
