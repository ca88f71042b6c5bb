/* SPDX-License-Identifier: MIT */
#pragma once

#include <libconfig.h>

#include "settings/settings.h"

/* Most hosts of the workbench's page: each has a connection while it is open. */
#define SETTINGS_HOSTS_MOST 64

/* `ssh` or `hosts` at the top of a file; *known says whether it is one of them. */
bool settings_take_hosts(struct settings *settings, const config_setting_t *member, bool *known,
                         struct error *err);
void settings_free_hosts(struct settings *settings);
