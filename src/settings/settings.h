/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "spec/spec.h"
#include "ui/draw/preferences.h"
#include "ui/keys/keymap.h"
#include "ui/session/settings_source.h"

/*
 * What the user wants before the command line has its say: dpartui.conf(5). Later sources win:
 * built-in, $(sysconfdir)/dpartui.conf, dpartui.conf and settings.conf in
 * $XDG_CONFIG_HOME/dpartui, environment.
 */

enum { SETTINGS_KEYS = 60 };
enum { SETTINGS_ENGINE_KEYS = 2 }; /* of settings/engine.c */

struct settings {
    struct spec spec; /* what a run starts from; not yet validated as a whole */
    struct preferences preferences;
    struct keymap keys;                 /* what the workbench's keys do */
    char *ssh;                          /* what reaches other hosts; NULL: "ssh" */
    char *engine[SETTINGS_ENGINE_KEYS]; /* as the files have them; NULL: not given */
    char **hosts; /* of the workbench's page, a list that ends with NULL; NULL: none */
    /* Of each key of settings_key(). */
    struct {
        enum setting_origin source;
        enum setting_origin below_source;
        char *below; /* the value that it would have without what comes later: settings.conf and the
                        environment; NULL: nothing was loaded */
        char *saved; /* the one in settings.conf; NULL: none */
    } trace[SETTINGS_KEYS];
};

/* The built-in values. Release with settings_free. */
void settings_init(struct settings *settings);
void settings_free(struct settings *settings);

/*
 * settings_init, the files, the environment, which also gets what the files say of the engine. A
 * file that does not exist is no error. On failure *settings holds nothing to release. ERROR_USAGE
 * names file, line and key, or the variable.
 */
bool settings_load(struct settings *settings, struct error *err);

/* The file that the workbench saves settings in: a new string the caller frees, NULL for a user
 * without a home. */
bool settings_saved_path(char **path, struct error *err);
/* Read it if it is there. A broken one is an ERROR_USAGE that says it may be removed. */
bool settings_read_saved(struct settings *settings, const char *path, struct error *err);

/* The command line has set the key of this name ("batch", "cpu-threads"), of whatever group. */
void settings_on_command_line(struct settings *settings, const char *name);
