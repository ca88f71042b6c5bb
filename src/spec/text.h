/* SPDX-License-Identifier: MIT */
#pragma once

#include "spec/spec.h"

struct spec_field;

/* The text form of one field, the inverse of spec_set; a new string the caller frees. */
char *spec_get(const struct spec *spec, const char *key, struct error *err);

/* The text form of one field; a new string, NULL: out of memory. */
char *spec_field_text(const struct spec *spec, const struct spec_field *field);

/* The shortest decimal form that reads back as the same double; likewise. */
char *spec_double_text(double value);
