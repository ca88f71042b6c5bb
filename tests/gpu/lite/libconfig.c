/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <libconfig.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DEEPEST = 100 };

struct reader {
    config_t *config;
    const char *at;
    unsigned line;
};

static bool fail(struct reader *r, const char *why)
{
    if (!r->config->error) {
        r->config->error = why;
        r->config->line = (int)r->line;
    }
    return false;
}

static void skip_line(struct reader *r)
{
    while (*r->at && *r->at != '\n')
        r->at++;
}

static void skip_comment(struct reader *r)
{
    for (; *r->at && strncmp(r->at, "*/", 2) != 0; r->at++)
        r->line += *r->at == '\n';
    r->at += *r->at ? 2 : 0;
}

static void skip_blanks(struct reader *r)
{
    for (;;) {
        if (*r->at == '#' || strncmp(r->at, "//", 2) == 0) {
            skip_line(r);
        } else if (strncmp(r->at, "/*", 2) == 0) {
            skip_comment(r);
        } else if (isspace((unsigned char)*r->at)) {
            r->line += *r->at++ == '\n';
        } else {
            return;
        }
    }
}

static bool take(struct reader *r, char sign)
{
    skip_blanks(r);
    if (*r->at != sign)
        return false;
    r->at++;
    return true;
}

static config_setting_t *add(struct reader *r, config_setting_t *parent)
{
    config_setting_t **members =
        realloc(parent->members, (size_t)(parent->count + 1) * sizeof(config_setting_t *));
    if (members)
        parent->members = members;
    config_setting_t *setting = members ? calloc(1, sizeof *setting) : NULL;
    if (!setting) {
        fail(r, "out of memory");
        return NULL;
    }
    setting->line = r->line;
    members[parent->count++] = setting;
    return setting;
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    if (isalpha((unsigned char)*at) || *at == '*')
        while (isalnum((unsigned char)at[length]) || (at[length] && strchr("-_*", at[length])))
            length++;
    return length;
}

/* One character, after a backslash too; false: no such escape. */
static bool read_character(struct reader *r, char *to)
{
    static const char from[] = "nrtf\"\\", into[] = "\n\r\t\f\"\\";
    char digits[3] = "";
    r->line += *r->at == '\n';
    *to = *r->at++;
    if (*to != '\\' || !*r->at)
        return *to != '\\';
    char sign = *r->at++;
    const char *found = strchr(from, sign);
    if (found)
        *to = into[found - from];
    if (sign != 'x' || !isxdigit((unsigned char)r->at[0]) || !isxdigit((unsigned char)r->at[1]))
        return found != NULL;
    memcpy(digits, r->at, 2);
    *to = (char)strtol(digits, NULL, 16);
    r->at += 2;
    return true;
}

/* Strings that follow each other are one. After the opening quote. */
static bool read_string(struct reader *r, config_setting_t *setting)
{
    char *text = malloc(strlen(r->at) + 1);
    size_t length = 0;
    setting->type = CONFIG_TYPE_STRING;
    setting->text = text;
    if (!text)
        return fail(r, "out of memory");
    do {
        while (*r->at && *r->at != '"')
            if (!read_character(r, &text[length++]))
                return fail(r, "syntax error");
        if (!*r->at)
            return fail(r, "unterminated string");
        r->at++;
        setting->line = r->line; /* where it ends, as libconfig counts */
    } while (take(r, '"'));
    text[length] = '\0';
    return true;
}

static bool read_number(struct reader *r, config_setting_t *setting)
{
    char *end, *real_end;
    errno = 0;
    setting->integer = strtoll(r->at, &end, 0);
    bool out = errno == ERANGE;
    double real = strtod(r->at, &real_end);
    if (real_end == r->at || !(isdigit((unsigned char)*r->at) || strchr("+-.", *r->at)))
        return fail(r, "syntax error");
    if (real_end > end) {
        setting->type = CONFIG_TYPE_FLOAT;
        setting->real = real;
        r->at = real_end;
        return true;
    }
    if (out)
        return fail(r, "number out of range");
    setting->type = setting->integer == (int)setting->integer ? CONFIG_TYPE_INT : CONFIG_TYPE_INT64;
    r->at = end;
    while (*r->at == 'L') {
        setting->type = CONFIG_TYPE_INT64;
        r->at++;
    }
    return true;
}

static bool read_group(struct reader *r, config_setting_t *group, int depth);

static bool read_elements(struct reader *r, config_setting_t *list, char close, int depth);

static bool read_value(struct reader *r, config_setting_t *setting, int depth)
{
    skip_blanks(r);
    setting->line = r->line;
    size_t length = word_length(r->at);
    if (depth > DEEPEST)
        return fail(r, "too deep");
    if (take(r, '{')) {
        setting->type = CONFIG_TYPE_GROUP;
        return read_group(r, setting, depth) && (take(r, '}') || fail(r, "syntax error"));
    }
    if (take(r, '(')) {
        setting->type = CONFIG_TYPE_LIST;
        return read_elements(r, setting, ')', depth);
    }
    if (take(r, '[')) {
        setting->type = CONFIG_TYPE_ARRAY;
        return read_elements(r, setting, ']', depth);
    }
    if (take(r, '"'))
        return read_string(r, setting);
    if (length == 0)
        return read_number(r, setting);
    setting->type = CONFIG_TYPE_BOOL;
    setting->integer = length == 4;
    if (!(length == 4 && strncasecmp(r->at, "true", 4) == 0) &&
        !(length == 5 && strncasecmp(r->at, "false", 5) == 0))
        return fail(r, "syntax error");
    r->at += length;
    return true;
}

static bool may_stand_in_array(const config_setting_t *array, const config_setting_t *element)
{
    return config_setting_is_scalar(element) && element->type == array->members[0]->type;
}

static bool read_elements(struct reader *r, config_setting_t *list, char close, int depth)
{
    while (!take(r, close)) {
        config_setting_t *element = add(r, list);
        if (!element || !read_value(r, element, depth + 1))
            return false;
        if (list->type == CONFIG_TYPE_ARRAY && !may_stand_in_array(list, element))
            return fail(r, "mismatched element type in array");
        if (!take(r, ',')) {
            skip_blanks(r);
            if (*r->at != close)
                return fail(r, "syntax error");
        }
    }
    return true;
}

static bool read_group(struct reader *r, config_setting_t *group, int depth)
{
    for (;;) {
        skip_blanks(r);
        size_t length = word_length(r->at);
        if (length == 0)
            return true;
        char *name = strndup(r->at, length);
        bool twice = name && config_setting_get_member(group, name);
        config_setting_t *member = name && !twice ? add(r, group) : NULL;
        if (!member) {
            free(name);
            return fail(r, twice ? "duplicate setting name" : "out of memory");
        }
        member->name = name;
        r->at += length;
        if ((!take(r, '=') && !take(r, ':')) || !read_value(r, member, depth + 1))
            return fail(r, "syntax error");
        if (!take(r, ';'))
            take(r, ',');
    }
}

void config_init(config_t *config)
{
    *config = (config_t){.root = {.type = CONFIG_TYPE_GROUP}};
}

static void release(config_setting_t *setting)
{
    for (int i = 0; i < setting->count; i++) {
        release(setting->members[i]);
        free(setting->members[i]);
    }
    free(setting->members);
    free(setting->name);
    free(setting->text);
}

void config_destroy(config_t *config)
{
    release(&config->root);
    config_init(config);
}

int config_read_string(config_t *config, const char *text)
{
    struct reader r = {.config = config, .at = text, .line = 1};
    if (!read_group(&r, &config->root, 0))
        return CONFIG_FALSE;
    skip_blanks(&r);
    return *r.at == '\0' || fail(&r, "syntax error");
}

const char *config_error_text(const config_t *config)
{
    return config->error;
}

int config_error_line(const config_t *config)
{
    return config->line;
}

config_setting_t *config_root_setting(config_t *config)
{
    return &config->root;
}

int config_setting_type(const config_setting_t *setting)
{
    return setting->type;
}

int config_setting_is_group(const config_setting_t *setting)
{
    return setting->type == CONFIG_TYPE_GROUP;
}

int config_setting_is_array(const config_setting_t *setting)
{
    return setting->type == CONFIG_TYPE_ARRAY;
}

int config_setting_is_list(const config_setting_t *setting)
{
    return setting->type == CONFIG_TYPE_LIST;
}

int config_setting_is_number(const config_setting_t *setting)
{
    return setting->type >= CONFIG_TYPE_INT && setting->type <= CONFIG_TYPE_FLOAT;
}

int config_setting_is_scalar(const config_setting_t *setting)
{
    return setting->type >= CONFIG_TYPE_INT && setting->type <= CONFIG_TYPE_BOOL;
}

int config_setting_length(const config_setting_t *setting)
{
    return setting->count;
}

const char *config_setting_name(const config_setting_t *setting)
{
    return setting->name;
}

unsigned config_setting_source_line(const config_setting_t *setting)
{
    return setting->line;
}

config_setting_t *config_setting_get_elem(const config_setting_t *setting, unsigned index)
{
    return index < (unsigned)setting->count ? setting->members[index] : NULL;
}

config_setting_t *config_setting_get_member(const config_setting_t *setting, const char *name)
{
    for (int i = 0; setting->type == CONFIG_TYPE_GROUP && i < setting->count; i++)
        if (strcmp(setting->members[i]->name, name) == 0)
            return setting->members[i];
    return NULL;
}

int config_setting_get_bool(const config_setting_t *setting)
{
    return setting->type == CONFIG_TYPE_BOOL && setting->integer;
}

long long config_setting_get_int64(const config_setting_t *setting)
{
    return setting->type == CONFIG_TYPE_INT || setting->type == CONFIG_TYPE_INT64 ? setting->integer
                                                                                  : 0;
}

double config_setting_get_float(const config_setting_t *setting)
{
    return setting->type == CONFIG_TYPE_FLOAT ? setting->real : 0;
}

const char *config_setting_get_string(const config_setting_t *setting)
{
    return setting->type == CONFIG_TYPE_STRING ? setting->text : NULL;
}
