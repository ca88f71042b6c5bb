/* SPDX-License-Identifier: MIT */
#include "settings/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "system/affinity.h"
#include "system/priority.h"

static const struct {
    const char *name, *variable;
    bool (*check)(const char *text, struct error *err);
} keys[SETTINGS_ENGINE_KEYS] = {{"nice", PRIORITY_VARIABLE, priority_check},
                                {"cpus", AFFINITY_VARIABLE, affinity_check}};

void settings_free_engine(struct settings *settings)
{
    for (int i = 0; i < SETTINGS_ENGINE_KEYS; i++) {
        free(settings->engine[i]);
        settings->engine[i] = NULL;
    }
}

/* A whole number, or text; NULL with *err. */
static char *text_of(const config_setting_t *member, struct error *err)
{
    const int type = config_setting_type(member);
    if (type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64)
        return error_if_null(text_format("%lld", config_setting_get_int64(member)), err, "text");
    if (type == CONFIG_TYPE_STRING)
        return error_if_null(strdup(config_setting_get_string(member)), err, "text");
    error_set(err, ERROR_USAGE, "wants a whole number, or text in quotes");
    return NULL;
}

static bool take(struct settings *settings, const config_setting_t *member, struct error *err)
{
    const char *name = config_setting_name(member);
    for (int i = 0; i < SETTINGS_ENGINE_KEYS; i++) {
        if (strcmp(keys[i].name, name) != 0)
            continue;
        char *text = text_of(member, err);
        if (!text || !keys[i].check(text, err)) {
            free(text);
            return error_prefix(err, "engine.%s", name);
        }
        free(settings->engine[i]);
        settings->engine[i] = text;
        return true;
    }
    return error_set(err, ERROR_USAGE, "engine.%s: unknown key (there are nice and cpus)", name);
}

bool settings_take_engine(struct settings *settings, const char *path,
                          const config_setting_t *group, struct error *err)
{
    if (!config_setting_is_group(group))
        return error_set(err, ERROR_USAGE, "%s:%u: engine: wants a group: engine = { ... };", path,
                         config_setting_source_line(group));
    const int count = config_setting_length(group);
    for (int i = 0; i < count; i++) {
        const config_setting_t *member = config_setting_get_elem(group, (unsigned)i);
        if (!take(settings, member, err))
            return error_prefix(err, "%s:%u", path, config_setting_source_line(member));
    }
    return true;
}

bool settings_export_engine(const struct settings *settings, struct error *err)
{
    for (int i = 0; i < SETTINGS_ENGINE_KEYS; i++) {
        const char *variable = keys[i].variable, *value = getenv(variable);
        if (value && *value) {
            if (!keys[i].check(value, err))
                return error_prefix(err, "environment variable %s", variable);
        } else if (settings->engine[i] && setenv(variable, settings->engine[i], 1) != 0) {
            return error_memory(err, "environment");
        }
    }
    return true;
}
