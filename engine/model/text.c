/* SPDX-License-Identifier: MIT */
#include "engine/model/text.h"

#include <ctype.h>
#include <string.h>

#include "base/conf_text.h"
#include "engine/net/error.h"

bool model_text_parse(const char *file, const char *text, size_t length, config_t *config,
                      struct error *err)
{
    config_init(config);
    if (!conf_text_check(file, text, length, err))
        return false;
    if (!config_read_string(config, text))
        return model_error(file, config_error_line(config), err, "%s",
                           config_error_text(config) ? config_error_text(config) : "syntax error");
    return true;
}

static bool word_in_list(const char *word, const char *list)
{
    size_t length = strlen(word);
    for (const char *at = list; *at;) {
        size_t span = strcspn(at, " ");
        if (span == length && memcmp(at, word, span) == 0)
            return true;
        at += span + (at[span] == ' ');
    }
    return false;
}

bool model_known_keys(const char *file, const config_setting_t *group, const char *allowed,
                      const char *what, struct error *err)
{
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *member = config_setting_get_elem(group, (unsigned)i);
        const char *key = config_setting_name(member);
        if (!word_in_list(key, allowed))
            return model_error(file, (int)config_setting_source_line(member), err,
                               "unknown setting '%.40s': %s may have: %s", key, what, allowed);
    }
    return true;
}

static int line_of(const config_setting_t *setting)
{
    return (int)config_setting_source_line(setting);
}

static bool is_whole(const config_setting_t *setting)
{
    int type = config_setting_type(setting);
    return type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64;
}

static bool take_int(const char *file, const config_setting_t *setting, const char *key, int low,
                     int high, int *out, struct error *err)
{
    long long value = is_whole(setting) ? config_setting_get_int64(setting) : 0;
    if (!is_whole(setting) || value < low || value > high)
        return model_error(file, line_of(setting), err, "'%s' must be a whole number from %d to %d",
                           key, low, high);
    *out = (int)value;
    return true;
}

static bool take_double(const char *file, const config_setting_t *setting, const char *key,
                        double low, double high, double *out, struct error *err)
{
    double value = is_whole(setting) ? (double)config_setting_get_int64(setting)
                                     : config_setting_get_float(setting);
    /* Written so that a NaN is refused as well. */
    if (!config_setting_is_number(setting) || !(value >= low && value <= high))
        return model_error(file, line_of(setting), err, "'%s' must be a number from %g to %g", key,
                           low, high);
    *out = value;
    return true;
}

bool model_get_int(const char *file, const config_setting_t *group, const char *key, bool required,
                   int low, int high, int *out, struct error *err)
{
    const config_setting_t *member = config_setting_get_member(group, key);
    if (!member && required)
        return model_error(file, line_of(group), err, "'%s' is missing", key);
    return !member || take_int(file, member, key, low, high, out, err);
}

bool model_get_double(const char *file, const config_setting_t *group, const char *key, double low,
                      double high, double *out, struct error *err)
{
    const config_setting_t *member = config_setting_get_member(group, key);
    return !member || take_double(file, member, key, low, high, out, err);
}

bool model_get_bool(const char *file, const config_setting_t *group, const char *key, bool *out,
                    struct error *err)
{
    const config_setting_t *member = config_setting_get_member(group, key);
    if (!member)
        return true;
    if (config_setting_type(member) != CONFIG_TYPE_BOOL)
        return model_error(file, line_of(member), err, "'%s' must be true or false", key);
    *out = config_setting_get_bool(member);
    return true;
}

bool model_get_word(const char *file, const config_setting_t *group, const char *key,
                    const char *words, int *out, struct error *err)
{
    const config_setting_t *member = config_setting_get_member(group, key);
    const char *word = member ? config_setting_get_string(member) : NULL;
    int place = 0;
    if (!member)
        return true;
    for (const char *at = words; word && *at; place++) {
        const size_t length = strcspn(at, " ");
        if (strlen(word) == length && strncmp(word, at, length) == 0) {
            *out = place;
            return true;
        }
        at += length + (at[length] == ' ');
    }
    return model_error(file, line_of(member), err, "'%s' must be one of the words: %s", key, words);
}

static bool is_name(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > 64 || name[0] == '.' || name[length - 1] == '.')
        return false;
    for (const char *at = name; *at; at++) {
        if (!isalnum((unsigned char)*at) && !strchr("_-.", *at))
            return false;
        if (at[0] == '.' && at[1] == '.')
            return false;
    }
    return true;
}

bool model_get_name(const char *file, const config_setting_t *group, const char *key,
                    const char **out, struct error *err)
{
    const config_setting_t *member = config_setting_get_member(group, key);
    if (!member)
        return true;
    const char *name = config_setting_get_string(member);
    if (!name || !is_name(name))
        return model_error(file, line_of(member), err,
                           "'%s' must be a string of letters, digits, '_', '-' and single dots "
                           "between them, at most 64 in all",
                           key);
    *out = name;
    return true;
}

/* How many values a member that may be a scalar, an array or a list has; -1: neither. */
static int value_count(const config_setting_t *member)
{
    if (config_setting_is_array(member) || config_setting_is_list(member))
        return config_setting_length(member);
    return config_setting_is_scalar(member) ? 1 : -1;
}

static const config_setting_t *value_at(const config_setting_t *member, int index)
{
    return config_setting_is_scalar(member) ? member
                                            : config_setting_get_elem(member, (unsigned)index);
}

/* The values of a key, none when it is missing: *count of them in *member. */
static bool find_values(const char *file, const config_setting_t *group, const char *key,
                        int capacity, const config_setting_t **member, int *count,
                        struct error *err)
{
    *member = config_setting_get_member(group, key);
    *count = *member ? value_count(*member) : 0;
    if (*member && (*count < 1 || *count > capacity))
        return model_error(file, line_of(*member), err,
                           "'%s' must be a number or an array of up to %d", key, capacity);
    return true;
}

bool model_get_ints(const char *file, const config_setting_t *group, const char *key, int low,
                    int high, int capacity, int *values, int *count, struct error *err)
{
    const config_setting_t *member;
    bool ok = find_values(file, group, key, capacity, &member, count, err);
    for (int i = 0; ok && i < *count; i++)
        ok = take_int(file, value_at(member, i), key, low, high, &values[i], err);
    return ok;
}

bool model_get_doubles(const char *file, const config_setting_t *group, const char *key, double low,
                       double high, int capacity, double *values, int *count, struct error *err)
{
    const config_setting_t *member;
    bool ok = find_values(file, group, key, capacity, &member, count, err);
    for (int i = 0; ok && i < *count; i++)
        ok = take_double(file, value_at(member, i), key, low, high, &values[i], err);
    return ok;
}
