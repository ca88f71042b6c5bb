/* SPDX-License-Identifier: MIT */
#pragma once

#include "settings/saved.h"

/*
 * settings.conf and who keeps it, in a configuration folder of its own. The programs are compiled
 * with the system's configuration directory set to "etc", below the working directory.
 */
extern char *folder, *own_file, *saved_file; /* $XDG_CONFIG_HOME, dpartui.conf, settings.conf */
extern struct settings settings;
extern struct saved_settings saved;
extern struct error err;

void saved_setup(void);
void saved_teardown(void);
void put_text(const char *path, const char *text);
/* Load the settings and open what is saved of them; close both. */
void saved_begin(void);
void saved_end(void);
/* The setting of this name as the page shows it. */
struct setting saved_look(const char *name);
bool saved_set(const char *name, const char *value);
void saved_reset(const char *name);
bool saved_save(void);
void saved_expect(const char *name, const char *value, enum setting_origin source, bool unsaved);
