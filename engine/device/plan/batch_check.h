/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"

/* Whether the batch's rows are there, and have as many numbers as the network reads. */
bool batch_check_rows(const struct batch *batch, const struct net *net, struct error *err);
/* Whether every label of the batch's rows is one of the network's classes. */
bool batch_check_labels(const struct batch *batch, const struct net *net, struct error *err);
