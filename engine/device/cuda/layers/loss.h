/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/plan/builder.h"

/* The step that computes the loss from the network's last value, and its gradient. */
bool cuda_build_loss(struct builder *b, struct error *err);
