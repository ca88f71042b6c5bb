/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_REFERENCE_REFNET_CONV_H
#define DPARTUI_TESTS_REFERENCE_REFNET_CONV_H

#include "tests/reference/refnet_ops.h"

/* The convolutions of refnet_ops.c. */
void conv_forward(const struct ref_op *o);
void conv_backward(const struct ref_op *o);

#endif
