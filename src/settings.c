/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <libconfig.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/conf_text.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"

/* No honest configuration comes near this; it bounds what a wrong file can cost. */
#define FILE_LIMIT ((size_t)1 << 20)

/* How a value is written in a file. All become text and go through spec_set, which knows bounds. */
enum value_kind {
    VALUE_TEXT,
    VALUE_FILE, /* text that may name a file or folder; "~/" stands for the home directory */
    VALUE_WHOLE,
    VALUE_NUMBER, /* 1 is as good as 1.0 */
    VALUE_BOOL,
};

struct key {
    const char *name; /* "group.name"; the part behind "train." is spec_set's */
    enum value_kind kind;
    const char *variable; /* in the environment; NULL: none */
};

static const struct key keys[] = {
    {"train.model", VALUE_FILE, "DPARTUI_MODEL"},
    {"train.data", VALUE_FILE, "DPARTUI_DATA"},
    {"train.data_dir", VALUE_FILE, "DPARTUI_DATA_DIR"},
    {"train.devices", VALUE_TEXT, "DPARTUI_DEVICES"},
    {"train.cpu_threads", VALUE_WHOLE, "DPARTUI_CPU_THREADS"},
    {"train.batch", VALUE_WHOLE, "DPARTUI_BATCH"},
    {"train.lr", VALUE_NUMBER, "DPARTUI_LR"},
    {"train.momentum", VALUE_NUMBER, "DPARTUI_MOMENTUM"},
    {"train.weight_decay", VALUE_NUMBER, "DPARTUI_WEIGHT_DECAY"},
    {"train.epochs", VALUE_WHOLE, "DPARTUI_EPOCHS"},
    {"train.seed", VALUE_WHOLE, "DPARTUI_SEED"},
    {"train.split", VALUE_TEXT, "DPARTUI_SPLIT"},
    {"train.sync", VALUE_TEXT, "DPARTUI_SYNC"},
    {"train.sync_bn", VALUE_BOOL, "DPARTUI_SYNC_BN"},
    {"train.dtype", VALUE_TEXT, "DPARTUI_DTYPE"},
    {"train.init", VALUE_FILE, "DPARTUI_INIT"},
    {"train.order", VALUE_TEXT, "DPARTUI_ORDER"},
    {"screen.charset", VALUE_TEXT, "DPARTUI_CHARSET"},
    {"screen.colour", VALUE_BOOL, NULL}, /* NO_COLOR is everybody's */
    {"screen.palette", VALUE_TEXT, "DPARTUI_PALETTE"},
    {"screen.background", VALUE_TEXT, "DPARTUI_BACKGROUND"},
    {"screen.canvas", VALUE_TEXT, "DPARTUI_CANVAS"},
    {"screen.load", VALUE_TEXT, "DPARTUI_LOAD"},
    {"screen.mouse", VALUE_BOOL, "DPARTUI_MOUSE"},
};

#define KEY_COUNT (sizeof keys / sizeof keys[0])

const char *settings_key(size_t index)
{
    return index < KEY_COUNT ? keys[index].name : NULL;
}

void settings_init(struct settings *settings)
{
    spec_init(&settings->spec);
    keymap_init(&settings->keys);
    preferences_init(&settings->preferences);
}

void settings_free(struct settings *settings)
{
    spec_free(&settings->spec);
}

/* Set the key from its text form. */
static bool set_key(struct settings *settings, const struct key *key, const char *value,
                    struct error *err)
{
    const char *name = strchr(key->name, '.') + 1;
    if (strncmp(key->name, "train.", strlen("train.")) == 0)
        return spec_set(&settings->spec, name, value, err);
    return preferences_set(&settings->preferences, name, value, err);
}

/* The value in the text form of spec_set; NULL with *err when it has the wrong type. */
static char *value_text(const config_setting_t *setting, enum value_kind kind, struct error *err)
{
    static const char *const wanted[] = {
        [VALUE_TEXT] = "text in quotes",  [VALUE_FILE] = "text in quotes",
        [VALUE_WHOLE] = "a whole number", [VALUE_NUMBER] = "a number",
        [VALUE_BOOL] = "true or false",
    };
    int type = config_setting_type(setting);
    bool is_text = kind == VALUE_TEXT || kind == VALUE_FILE;
    bool takes_whole = kind == VALUE_WHOLE || kind == VALUE_NUMBER;
    char *text = NULL;
    if (is_text && type == CONFIG_TYPE_STRING) {
        const char *string = config_setting_get_string(setting);
        const char *home = getenv("HOME");
        if (kind == VALUE_FILE && strncmp(string, "~/", 2) == 0 && home)
            text = path_join(home, string + 2);
        else
            text = strdup(string);
    } else if (takes_whole && (type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64)) {
        text = text_format("%lld", config_setting_get_int64(setting));
    } else if (kind == VALUE_NUMBER && type == CONFIG_TYPE_FLOAT) {
        text = text_format("%.17g", config_setting_get_float(setting));
    } else if (kind == VALUE_BOOL && type == CONFIG_TYPE_BOOL) {
        text = strdup(config_setting_get_bool(setting) ? "yes" : "no");
    } else {
        error_set(err, ERROR_USAGE, "wants %s", wanted[kind]);
        return NULL;
    }
    if (!text)
        error_memory(err, "configuration");
    return text;
}

static bool take_member(struct settings *settings, const char *group,
                        const config_setting_t *setting, struct error *err)
{
    const char *name = config_setting_name(setting);
    size_t length = strlen(group);
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strncmp(keys[i].name, group, length) != 0 || keys[i].name[length] != '.' ||
            strcmp(keys[i].name + length + 1, name) != 0)
            continue;
        char *value = value_text(setting, keys[i].kind, err);
        bool ok = value && set_key(settings, &keys[i], value, err);
        free(value);
        return ok || error_prefix(err, "%s", keys[i].name);
    }
    return error_set(err, ERROR_USAGE, "%s.%s: unknown key (dpartui.conf(5) has them all)", group,
                     name);
}

/* keys = { start = "s F5"; ... }; whether they agree is looked at when the whole group is read. */
static bool take_keys(struct settings *settings, const char *path, const config_setting_t *group,
                      struct error *err)
{
    int count = config_setting_length(group);
    for (int i = 0; i < count; i++) {
        const config_setting_t *member = config_setting_get_elem(group, (unsigned)i);
        const char *name = config_setting_name(member), *value = config_setting_get_string(member);
        bool ok = value ? keymap_bind(&settings->keys, name, value, err)
                        : error_set(err, ERROR_USAGE, "wants text in quotes, such as \"s F5\"");
        if (!ok)
            return error_prefix(err, "%s:%u: keys.%s", path, config_setting_source_line(member),
                                name);
    }
    return keymap_check(&settings->keys, err) ||
           error_prefix(err, "%s:%u: keys", path, config_setting_source_line(group));
}

static bool take_group(struct settings *settings, const char *path, const config_setting_t *group,
                       struct error *err)
{
    const char *name = config_setting_name(group);
    bool is_keys = strcmp(name, "keys") == 0;
    if (!is_keys && strcmp(name, "train") != 0 && strcmp(name, "screen") != 0)
        return error_set(err, ERROR_USAGE,
                         "%s:%u: %s: unknown group: there are train, screen and keys", path,
                         config_setting_source_line(group), name);
    if (!config_setting_is_group(group))
        return error_set(err, ERROR_USAGE, "%s:%u: %s: wants a group: %s = { ... };", path,
                         config_setting_source_line(group), name, name);
    if (is_keys)
        return take_keys(settings, path, group, err);
    int count = config_setting_length(group);
    for (int i = 0; i < count; i++) {
        const config_setting_t *member = config_setting_get_elem(group, (unsigned)i);
        if (!take_member(settings, name, member, err))
            return error_prefix(err, "%s:%u", path, config_setting_source_line(member));
    }
    return true;
}

static bool take_text(struct settings *settings, const char *path, const char *data,
                      struct error *err)
{
    config_t config;
    bool ok = true;
    config_init(&config);
    if (config_read_string(&config, data)) {
        const config_setting_t *root = config_root_setting(&config);
        int count = config_setting_length(root);
        for (int i = 0; ok && i < count; i++)
            ok = take_group(settings, path, config_setting_get_elem(root, (unsigned)i), err);
    } else {
        ok = error_set(err, ERROR_USAGE, "%s:%d: %s", path, config_error_line(&config),
                       config_error_text(&config));
    }
    config_destroy(&config);
    return ok;
}

bool settings_read_file(struct settings *settings, const char *path, struct error *err)
{
    char *data;
    size_t length;
    if (!file_read(path, FILE_LIMIT, &data, &length, err))
        return false;
    bool ok = conf_text_check(path, data, length, err) && take_text(settings, path, data, err);
    free(data);
    return ok;
}

bool settings_read_environment(struct settings *settings, struct error *err)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        const char *value = keys[i].variable ? getenv(keys[i].variable) : NULL;
        if (value && *value && !set_key(settings, &keys[i], value, err))
            return error_prefix(err, "environment variable %s", keys[i].variable);
    }
    /* no-color.org: set to anything but nothing. */
    const char *no_colour = getenv("NO_COLOR");
    if (no_colour && *no_colour)
        settings->preferences.colour = false;
    return true;
}

static bool read_if_there(struct settings *settings, const char *path, struct error *err)
{
    return access(path, F_OK) != 0 || settings_read_file(settings, path, err);
}

static bool read_user_file(struct settings *settings, struct error *err)
{
    const char *home = getenv("HOME"), *config_home = getenv("XDG_CONFIG_HOME");
    if ((!home || home[0] != '/') && (!config_home || config_home[0] != '/'))
        return true; /* a user without a home has no configuration */
    char *directory = paths_config_home(err);
    char *path = directory ? path_join(directory, "dpartui.conf") : NULL;
    bool ok = path        ? read_if_there(settings, path, err)
              : directory ? error_memory(err, "configuration")
                          : false;
    free(path);
    free(directory);
    return ok;
}

bool settings_load(struct settings *settings, struct error *err)
{
    settings_init(settings);
    if (read_if_there(settings, DPARTUI_SYSCONFDIR "/dpartui.conf", err) &&
        read_user_file(settings, err) && settings_read_environment(settings, err))
        return true;
    settings_free(settings);
    return false;
}
