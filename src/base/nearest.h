/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* The nearest of `count` names for a mistyped one, or NULL when none is near. */
const char *nearest_name(const char *typed, const char *const *names, size_t count);
