/* SPDX-License-Identifier: MIT */
#include "settings/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "settings/engine.h"
#include "settings/file.h"
#include "settings/hosts.h"
#include "settings/keys.h"

void settings_init(struct settings *settings)
{
    *settings = (struct settings){.trace = {{SOURCE_BUILT_IN, SOURCE_BUILT_IN, NULL, NULL}}};
    spec_init(&settings->spec);
    keymap_init(&settings->keys);
    preferences_init(&settings->preferences);
}

void settings_free(struct settings *settings)
{
    for (size_t i = 0; i < SETTINGS_KEYS; i++) {
        free(settings->trace[i].below);
        free(settings->trace[i].saved);
        settings->trace[i].below = settings->trace[i].saved = NULL;
    }
    settings_free_hosts(settings);
    settings_free_engine(settings);
    free(settings->ssh);
    settings->ssh = NULL;
    spec_free(&settings->spec);
}

/* The keys' values now, which settings.conf comes on top of. */
static bool remember(struct settings *settings, struct error *err)
{
    for (size_t i = 0; i < SETTINGS_KEYS; i++) {
        free(settings->trace[i].below);
        settings->trace[i].below =
            settings_key_text(i, &settings->spec, &settings->preferences, err);
        if (!settings->trace[i].below)
            return false;
        settings->trace[i].below_source = settings->trace[i].source;
    }
    return true;
}

static bool read_environment(struct settings *settings, struct error *err)
{
    for (size_t i = 0; i < SETTINGS_KEYS; i++) {
        const char *variable = settings_keys[i].variable, *value = getenv(variable);
        if (!value || !*value)
            continue;
        /* no-color.org: set to anything but nothing. */
        if (strcmp(variable, "NO_COLOR") == 0)
            value = "no";
        if (!settings_key_set(i, &settings->spec, &settings->preferences, value, err))
            return error_prefix(err, "environment variable %s", variable);
        settings->trace[i].source = SOURCE_ENVIRONMENT;
    }
    return true;
}

static bool read_if_there(struct settings *settings, const char *path, enum setting_origin source,
                          struct error *err)
{
    return access(path, F_OK) != 0 || settings_take_file(settings, path, source, err);
}

/* *path becomes NULL for a user without a home, who has no configuration. */
static bool user_file(const char *name, char **path, struct error *err)
{
    const char *home = getenv("HOME"), *config_home = getenv("XDG_CONFIG_HOME");
    *path = NULL;
    if ((!home || home[0] != '/') && (!config_home || config_home[0] != '/'))
        return true;
    *path = path_below(paths_config_home(err), name, err);
    return *path;
}

bool settings_saved_path(char **path, struct error *err)
{
    return user_file("settings.conf", path, err);
}

bool settings_read_saved(struct settings *settings, const char *path, struct error *err)
{
    if (read_if_there(settings, path, SOURCE_SAVED, err))
        return true;
    struct error cause = *err;
    return error_set(err, cause.kind,
                     "%s (the workbench's settings page wrote this file; mend it or remove it)",
                     cause.text);
}

static bool read_user_files(struct settings *settings, struct error *err)
{
    char *own = NULL, *saved = NULL;
    bool ok = user_file("dpartui.conf", &own, err) && settings_saved_path(&saved, err) &&
              (!own || read_if_there(settings, own, SOURCE_USER, err)) && remember(settings, err) &&
              (!saved || settings_read_saved(settings, saved, err));
    free(saved);
    free(own);
    return ok;
}

bool settings_load(struct settings *settings, struct error *err)
{
    settings_init(settings);
    if (read_if_there(settings, DPARTUI_SYSCONFDIR "/dpartui.conf", SOURCE_SYSTEM, err) &&
        read_user_files(settings, err) && read_environment(settings, err) &&
        settings_export_engine(settings, err))
        return true;
    settings_free(settings);
    return false;
}

/* Options have '-' where keys have '_'. */
static bool same_name(const char *key, const char *option)
{
    for (; *key && (*key == *option || (*key == '_' && *option == '-')); key++)
        option++;
    return !*key && !*option;
}

void settings_on_command_line(struct settings *settings, const char *name)
{
    for (size_t i = 0; i < SETTINGS_KEYS; i++)
        if (same_name(strchr(settings_keys[i].name, '.') + 1, name))
            settings->trace[i].source = SOURCE_COMMAND_LINE;
}
