/* SPDX-License-Identifier: MIT */
#include "engine/model/recipe.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/net/error.h"
#include "spec/fields.h"
#include "spec/fill.h"
#include "spec/set.h"
#include "spec/text.h"

/* Its keys are those of JSON and configuration files. */
static const struct spec_field *find_field(const char *key)
{
    const struct spec_field *field = strchr(key, '-') ? NULL : spec_find_field(key);
    return field && spec_in_recipe(field) ? field : NULL;
}

static bool unknown_key(const char *file, int line, const char *key, struct error *err)
{
    struct text list = TEXT_INIT;
    for (size_t i = 0; i < spec_field_count; i++)
        if (spec_in_recipe(&spec_fields[i]))
            text_printf(&list, " %s", spec_fields[i].key);
    for (size_t i = 0; i < list.length; i++)
        list.data[i] = list.data[i] == '-' ? '_' : list.data[i];
    const char *keys = text_cstr(&list);
    model_error(file, line, err, "unknown setting '%.40s': training may have:%s", key,
                keys ? keys : " see dpartui-model(5)");
    text_free(&list);
    return false;
}

/* The value in the text form of spec_set; NULL with *err when it has the wrong type. */
static char *value_text(const char *file, const config_setting_t *setting,
                        const struct spec_field *field, struct error *err)
{
    int type = config_setting_type(setting);
    bool number = field->kind == FIELD_LONG || field->kind == FIELD_DOUBLE;
    bool truth = field->kind == FIELD_BOOL;
    char *text = NULL;
    if (number && (type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64))
        text = text_format("%lld", config_setting_get_int64(setting));
    else if (number && type == CONFIG_TYPE_FLOAT)
        text = spec_double_text(config_setting_get_float(setting));
    else if (truth && type == CONFIG_TYPE_BOOL)
        text = strdup(config_setting_get_bool(setting) ? "yes" : "no");
    else if (!number && !truth && type == CONFIG_TYPE_STRING)
        text = strdup(config_setting_get_string(setting));
    else {
        model_error(file, (int)config_setting_source_line(setting), err, "'%s' must be %s",
                    config_setting_name(setting),
                    number  ? "a number"
                    : truth ? "true or false"
                            : "text in quotes");
        return NULL;
    }
    return error_if_null(text, err, file);
}

static bool read_member(const char *file, const config_setting_t *setting, struct spec *recipe,
                        struct error *err)
{
    int line = (int)config_setting_source_line(setting);
    const char *key = config_setting_name(setting);
    const struct spec_field *field = find_field(key);
    if (!field)
        return unknown_key(file, line, key, err);
    char *value = value_text(file, setting, field, err);
    if (!value)
        return false;
    bool ok = spec_set(recipe, key, value, err) || error_prefix(err, "%s:%d", file, line);
    free(value);
    if (ok && recipe->init == INIT_FILE)
        return model_error(file, line, err, "'%s' cannot be a file: give it by --init", key);
    return ok;
}

bool model_read_recipe(const char *file, const config_setting_t *root, struct spec *recipe,
                       struct error *err)
{
    const config_setting_t *group = config_setting_get_member(root, "training");
    bool ok = true;
    spec_init(recipe);
    if (group && !config_setting_is_group(group))
        return model_error(file, (int)config_setting_source_line(group), err,
                           "'training' must be a group: training = { ... };");
    for (int i = 0; group && ok && i < config_setting_length(group); i++)
        ok = read_member(file, config_setting_get_elem(group, (unsigned)i), recipe, err);
    return ok;
}
