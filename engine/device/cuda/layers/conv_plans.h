/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/dnn/conv/plan.h"
#include "engine/device/cuda/pass/plan.h"

/* The best plan of a convolution on the plan's device, one for all that ask for the same, given
 * back by conv_table_give (table.h). Notes when the choice cannot be kept. */
bool cuda_conv_plan(struct plan *plan, const struct conv_request *request,
                    const struct conv_plan **out, struct error *err);
/* Seconds of one run as known without building anything; NAN: not known, INFINITY: cannot be done.
 */
double cuda_conv_seconds(const struct plan *plan, const struct conv_request *request);
/* Whether sums of a forward pass's result `y` take no more time with it (`with` seconds) than the
 * plain pass and reading its result again; also where nothing was measured, because it reads less.
 */
bool cuda_conv_sums_pay(const struct builder *b, struct tensor_shape y, double plain, double with);
