/* SPDX-License-Identifier: MIT */
#pragma once

#include "tests/reference/refnet_ops.h"

/* The convolutions of refnet_ops.c. */
void conv_forward(const struct ref_op *o);
void conv_backward(const struct ref_op *o);
