/* SPDX-License-Identifier: MIT */
#include "settings/file.h"

#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf_text.h"
#include "base/file.h"
#include "base/text.h"
#include "settings/engine.h"
#include "settings/hosts.h"
#include "settings/keys.h"

/* No honest configuration comes near this; it bounds what a wrong file can cost. */
#define FILE_LIMIT ((size_t)1 << 20)

/* ["run", "model"] as "run,model". */
static char *words_text(const config_setting_t *setting, struct error *err)
{
    struct text words = TEXT_INIT;
    for (int i = 0; i < config_setting_length(setting); i++) {
        const char *word = config_setting_get_string_elem(setting, i);
        if (!word) {
            error_set(err, ERROR_USAGE, "wants words in quotes");
            text_free(&words);
            return NULL;
        }
        text_printf(&words, "%s%s", i > 0 ? "," : "", word);
    }
    return error_if_null(text_take(&words), err, "configuration");
}

/* The value in the text form of spec_set; NULL with *err when it has the wrong type. */
static char *value_text(const config_setting_t *setting, enum value_kind kind, struct error *err)
{
    static const char *const wanted[] = {
        [VALUE_TEXT] = "text in quotes",
        [VALUE_FILE] = "text in quotes",
        [VALUE_WHOLE] = "a whole number",
        [VALUE_NUMBER] = "a number",
        [VALUE_WORDS] = "an array of words in quotes",
        [VALUE_BOOL] = "true or false",
        [VALUE_COUNTS] = "a whole number, or text in quotes",
    };
    int type = config_setting_type(setting);
    bool is_text =
        kind == VALUE_TEXT || kind == VALUE_FILE || kind == VALUE_COUNTS || kind == VALUE_WORDS;
    bool takes_whole = kind == VALUE_WHOLE || kind == VALUE_NUMBER || kind == VALUE_COUNTS;
    char *text = NULL;
    if (is_text && type == CONFIG_TYPE_STRING) {
        const char *string = config_setting_get_string(setting);
        const char *home = getenv("HOME");
        if (kind == VALUE_FILE && strncmp(string, "~/", 2) == 0 && home)
            text = path_join(home, string + 2);
        else
            text = strdup(string);
    } else if (kind == VALUE_WORDS && (type == CONFIG_TYPE_ARRAY || type == CONFIG_TYPE_LIST)) {
        return words_text(setting, err);
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
    return error_if_null(text, err, "configuration");
}

/* Take a value over, and remember whose it is. */
static bool take_value(struct settings *settings, enum setting_origin source, size_t key,
                       const char *value, struct error *err)
{
    if (!settings_key_set(key, &settings->spec, &settings->preferences, value, err))
        return false;
    settings->trace[key].source = source;
    if (source != SOURCE_SAVED)
        return true;
    char *saved = settings_key_text(key, &settings->spec, &settings->preferences, err);
    free(settings->trace[key].saved);
    settings->trace[key].saved = saved;
    return saved != NULL;
}

static bool take_member(struct settings *settings, enum setting_origin source, const char *group,
                        const config_setting_t *setting, struct error *err)
{
    const char *name = config_setting_name(setting);
    size_t length = strlen(group);
    for (size_t i = 0; i < SETTINGS_KEYS; i++) {
        const struct settings_key *key = &settings_keys[i];
        if (strncmp(key->name, group, length) != 0 || key->name[length] != '.' ||
            strcmp(key->name + length + 1, name) != 0)
            continue;
        char *value = value_text(setting, key->kind, err);
        bool ok = value && take_value(settings, source, i, value, err);
        free(value);
        return ok || error_prefix(err, "%s", key->name);
    }
    return error_set(err, ERROR_USAGE, "%s.%s: unknown key (dpartui.conf(5) has them all)", group,
                     name);
}

/* keys = { start = "s F5"; ... }; whether they agree is checked when the whole group is read. */
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

static bool take_group(struct settings *settings, const char *path, enum setting_origin source,
                       const config_setting_t *group, struct error *err)
{
    const char *name = config_setting_name(group);
    bool is_keys = strcmp(name, "keys") == 0, of_hosts;
    if (source != SOURCE_SAVED) {
        if (!settings_take_hosts(settings, group, &of_hosts, err))
            return error_prefix(err, "%s:%u", path, config_setting_source_line(group));
        if (of_hosts)
            return true;
        if (strcmp(name, "engine") == 0)
            return settings_take_engine(settings, path, group, err);
    }
    if (!is_keys && strcmp(name, "train") != 0 && strcmp(name, "screen") != 0)
        return error_set(
            err, ERROR_USAGE,
            "%s:%u: %s: unknown group: there are train, screen, engine and keys, and ssh and hosts",
            path, config_setting_source_line(group), name);
    if (!config_setting_is_group(group))
        return error_set(err, ERROR_USAGE, "%s:%u: %s: wants a group: %s = { ... };", path,
                         config_setting_source_line(group), name, name);
    if (is_keys && source == SOURCE_SAVED)
        return error_set(err, ERROR_USAGE, "%s:%u: keys: belong in dpartui.conf", path,
                         config_setting_source_line(group));
    if (is_keys)
        return take_keys(settings, path, group, err);
    int count = config_setting_length(group);
    for (int i = 0; i < count; i++) {
        const config_setting_t *member = config_setting_get_elem(group, (unsigned)i);
        if (!take_member(settings, source, name, member, err))
            return error_prefix(err, "%s:%u", path, config_setting_source_line(member));
    }
    return true;
}

static bool take_text(struct settings *settings, const char *path, enum setting_origin source,
                      const char *data, struct error *err)
{
    config_t config;
    bool ok = true;
    config_init(&config);
    if (config_read_string(&config, data)) {
        const config_setting_t *root = config_root_setting(&config);
        int count = config_setting_length(root);
        for (int i = 0; ok && i < count; i++)
            ok =
                take_group(settings, path, source, config_setting_get_elem(root, (unsigned)i), err);
    } else {
        ok = error_set(err, ERROR_USAGE, "%s:%d: %s", path, config_error_line(&config),
                       config_error_text(&config));
    }
    config_destroy(&config);
    return ok;
}

bool settings_take_file(struct settings *settings, const char *path, enum setting_origin source,
                        struct error *err)
{
    char *data;
    size_t length;
    if (!file_read(path, FILE_LIMIT, &data, &length, err))
        return false;
    bool ok =
        conf_text_check(path, data, length, err) && take_text(settings, path, source, data, err);
    free(data);
    return ok;
}
