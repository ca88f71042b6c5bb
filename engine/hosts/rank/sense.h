/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/hosts/link.h"

/* The sensors of this host, for the viewers of the first. */
struct sense;

bool sense_open(struct sense **out, struct error *err);
/* As host_link.sense, with the struct sense as its context. */
void sense_device(void *sense, struct device_id id, struct device_load *load);
