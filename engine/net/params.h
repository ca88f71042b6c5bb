/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/net/net.h"

#define NET_MAX_OPS    4096
#define NET_MAX_VALUES ((size_t)INT32_MAX) /* params in all; tensors of one row in all */

/* Product of positive numbers; false when it passes NET_MAX_VALUES. */
bool net_product(const int *factors, int count, size_t *out);

/* Give the operation `index` its params (struct net_operation.params). */
bool net_conv_params(struct net *net, const char *file, int index, struct error *err);
bool net_linear_params(struct net *net, const char *file, int index, struct error *err);
bool net_batchnorm_params(struct net *net, const char *file, int index, struct error *err);
bool net_groupnorm_params(struct net *net, const char *file, int index, struct error *err);

/* Give the operations `modules` their params, in this order, and the params their places in the
 * canonical arena. `file` names the model in messages. */
bool net_make_params(struct net *net, const char *file, const int *modules, int module_count,
                     struct error *err);
