/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_SETTINGS_H
#define DPARTUI_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/spec.h"
#include "ui/keymap.h"
#include "ui/preferences.h"

/*
 * What the user wants before the command line has its say: dpartui.conf(5). Later sources win:
 * built-in, $(sysconfdir)/dpartui.conf, $XDG_CONFIG_HOME/dpartui/dpartui.conf, environment.
 */
struct settings {
    struct spec spec; /* what a run starts from; not yet validated as a whole */
    struct preferences preferences;
    struct keymap keys; /* what the workbench's keys do */
};

/* The built-in values. Release with settings_free. */
void settings_init(struct settings *settings);
void settings_free(struct settings *settings);

/*
 * settings_init, both files, the environment. A file that does not exist is no error. On failure
 * *settings holds nothing to release. ERROR_USAGE names file, line and key, or the variable.
 */
bool settings_load(struct settings *settings, struct error *err);

/*
 * The two steps of settings_load, for one file that must exist and for the environment. On failure
 * some of the settings may have been taken over.
 */
bool settings_read_file(struct settings *settings, const char *path, struct error *err);
bool settings_read_environment(struct settings *settings, struct error *err);

/* Every key as "group.name" for index 0, 1, ...; NULL behind the last. */
const char *settings_key(size_t index);

#endif
