/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_NET_DESCRIBE_H
#define DPARTUI_ENGINE_NET_DESCRIBE_H

#include <jansson.h>

#include "engine/net/net.h"

/*
 * The network as a table, a new reference; NULL when memory ran out:
 *   name, source, input [c,h,w], classes
 *   layers   one object per operation in forward order: name ("" for none), kind,
 *            output [c,h,w] (per row), parameters (trainable numbers), flops (forward, per row)
 *   parameters                    trainable numbers in all
 *   forward_flops, training_flops for one row
 */
json_t *net_describe(const struct net *net);

#endif
