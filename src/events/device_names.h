/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* The devices of a run as text. */

/* "cpu:0-1", as --devices takes it, from a run's "devices"; a new string, NULL: that cannot be. */
char *run_devices_text(const json_t *run);
/* The same in a buffer; long lists are cut. */
const char *run_devices_short(char *buffer, size_t size, const json_t *run);
/* "[cpu:0, cpu:1]" from an array of strings, as results name them; long lists are shortened. */
const char *device_names_short(char *buffer, size_t size, const json_t *list);
