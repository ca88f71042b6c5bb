/* SPDX-License-Identifier: MIT */
#pragma once

#include <libconfig.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * The text level of model files: libconfig with typed access to settings. Every error is
 * ERROR_USAGE and begins with "FILE:LINE: ". `file` is the name to show.
 */

#define MODEL_FILE_LIMIT (1 << 20) /* bytes */

/* Check (conf_text_check) and parse the whole text; *config must be destroyed by the caller
 * whatever the result. */
bool model_text_parse(const char *file, const char *text, size_t length, config_t *config,
                      struct error *err);

/* Every key of `group` is one of the words of `allowed` ("name repeat kernel"). `what` names the
 * group in the message: "a conv layer". */
bool model_known_keys(const char *file, const config_setting_t *group, const char *allowed,
                      const char *what, struct error *err);

/*
 * A member of a group. Absent: *out stays as it is, and only `required` makes that an error (which
 * names the group's line). Numbers have inclusive bounds.
 */
bool model_get_int(const char *file, const config_setting_t *group, const char *key, bool required,
                   int low, int high, int *out, struct error *err);
bool model_get_double(const char *file, const config_setting_t *group, const char *key, double low,
                      double high, double *out, struct error *err);
bool model_get_bool(const char *file, const config_setting_t *group, const char *key, bool *out,
                    struct error *err);
/* A string that is one of `words`, which blanks separate; *out is its place among them. */
bool model_get_word(const char *file, const config_setting_t *group, const char *key,
                    const char *words, int *out, struct error *err);
/* Letters, digits, '_', '-', and single dots between them, at most 64. Borrowed from the group. */
bool model_get_name(const char *file, const config_setting_t *group, const char *key,
                    const char **out, struct error *err);
/* Up to `capacity` whole numbers: [3, 5], or 3 alone. *count = 0 when absent. */
bool model_get_ints(const char *file, const config_setting_t *group, const char *key, int low,
                    int high, int capacity, int *values, int *count, struct error *err);
/* The same for numbers. */
bool model_get_doubles(const char *file, const config_setting_t *group, const char *key, double low,
                       double high, int capacity, double *values, int *count, struct error *err);
