/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_BACKENDS_REGISTRY_H
#define DPARTUI_ENGINE_BACKENDS_REGISTRY_H

#include "engine/device/device.h"

/* The backend of a kind; NULL when this build has none (then `why` says so). */
const struct backend *backend_find(enum device_kind kind, const char **why);

/*
 * Turn a run's choice into devices: the list to train on, in order. ERROR_USAGE when the machine
 * has no such device. Sets *count >= 1.
 */
bool devices_resolve(const struct device_list *choice, struct device_id *ids, int *count,
                     struct error *err);

#endif
