/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/net/slice.h"

/* What slices of a network exchange. Pure. */

/*
 * Count the gathers of slice->net, one of `count` slices, and mark those whose output's gradients
 * are parts, which have to be added up. ERROR_USAGE: the network is not one that can be divided.
 */
bool slice_count_gathers(struct net_slice *slice, enum net_division division, int count,
                         struct error *err);

/* Refuse to divide `net` because of one of its operations; returns false. */
bool slice_refuse(const struct net *net, int count, const struct net_op *op, const char *why,
                  struct error *err);
