/* SPDX-License-Identifier: MIT */
#pragma once

#include "settings/settings.h"

/* Read a file, which must exist, as `source`. On failure some of the settings may have been taken
 * over. */
bool settings_take_file(struct settings *settings, const char *path, enum setting_origin source,
                        struct error *err);
