/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/step/ranks.h"

/* The update of a rank whose parameters no other has, in its step: clipping goes by the norm of the
 * gradients of all ranks, which then wait for each other. */
bool own_update(struct rank *rank, struct error *err);
