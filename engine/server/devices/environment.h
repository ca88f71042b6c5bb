/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "spec/spec.h"

/*
 * On what a run trains, for its record: {"host":"tower","system":"Linux 6.1.0 x86_64","version":
 * "0.1.0","libraries":["oneDNN 2.6.3"],"devices":[{"device":"cpu:0","name":...,"cores":...,
 * "memory_total":...}]}. Asks the backends; NULL: memory ran out.
 */
json_t *environment_json(const struct spec *spec, const char *version);
