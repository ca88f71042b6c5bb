/* SPDX-License-Identifier: MIT */
#pragma once

#include <libconfig.h>

#include "settings/settings.h"

/* The group `engine` of a file at `path`: what an engine that is started leaves to others. */
bool settings_take_engine(struct settings *settings, const char *path,
                          const config_setting_t *group, struct error *err);
void settings_free_engine(struct settings *settings);

/*
 * Check what the environment has of these, and put there what only the files have: the engine that
 * this process may start finds it there.
 */
bool settings_export_engine(const struct settings *settings, struct error *err);
