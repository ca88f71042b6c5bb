/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"

/*
 * Turn a run's choice into devices: the list to train on, in order. ERROR_USAGE when the machine
 * has no such device. Sets *count >= 1.
 */
bool devices_resolve(const struct device_list *choice, struct device_id *ids, int *count,
                     struct error *err);
