/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"

/* `count` class names in one block that one free() releases, or NULL where the folder has none. */
const char *const *classes_copy(const char *const *names, int count, struct error *err);
/* The names in DIR/classes.txt, one a line; *count stays as it is where there is no such file. */
bool classes_read(const char *dir, const char *const **names, int *count, struct error *err);
