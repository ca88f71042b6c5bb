/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stand-in for libconfig, with what reading model files needs, for tests on machines that have a
 * GPU but not the library (tests/gpu/run). See libconfig's manual for what the functions do. Not
 * here: @include, writing.
 */
#define CONFIG_TRUE  1
#define CONFIG_FALSE 0

enum {
    CONFIG_TYPE_NONE,
    CONFIG_TYPE_GROUP,
    CONFIG_TYPE_INT,
    CONFIG_TYPE_INT64,
    CONFIG_TYPE_FLOAT,
    CONFIG_TYPE_STRING,
    CONFIG_TYPE_BOOL,
    CONFIG_TYPE_ARRAY,
    CONFIG_TYPE_LIST
};

typedef struct config_setting_t {
    char *name; /* NULL: an element, the root */
    int type;
    unsigned line;
    long long integer; /* of a bool as well */
    double real;
    char *text;
    int count;
    struct config_setting_t **members; /* of a group, array or list */
} config_setting_t;

typedef struct {
    config_setting_t root;
    const char *error;
    int line;
} config_t;

void config_init(config_t *config);
void config_destroy(config_t *config);
int config_read_string(config_t *config, const char *text);
const char *config_error_text(const config_t *config);
int config_error_line(const config_t *config);
config_setting_t *config_root_setting(config_t *config);

int config_setting_type(const config_setting_t *setting);
int config_setting_is_group(const config_setting_t *setting);
int config_setting_is_array(const config_setting_t *setting);
int config_setting_is_list(const config_setting_t *setting);
int config_setting_is_number(const config_setting_t *setting);
int config_setting_is_scalar(const config_setting_t *setting);
int config_setting_length(const config_setting_t *setting);
const char *config_setting_name(const config_setting_t *setting);
unsigned config_setting_source_line(const config_setting_t *setting);
config_setting_t *config_setting_get_elem(const config_setting_t *setting, unsigned index);
config_setting_t *config_setting_get_member(const config_setting_t *setting, const char *name);
int config_setting_get_bool(const config_setting_t *setting);
long long config_setting_get_int64(const config_setting_t *setting);
double config_setting_get_float(const config_setting_t *setting);
const char *config_setting_get_string(const config_setting_t *setting);
