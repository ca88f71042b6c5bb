/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_SPEC_FIELDS_H
#define DPARTUI_SPEC_FIELDS_H

#include <stddef.h>

#include "spec/spec.h"

/* The inside of a spec, shared by spec.c, spec/set.c, spec/text.c and spec/json.c. */

/*
 * One table describes every field: its option name, how its text form is read and written, where it
 * lies and its bounds. The command line, configuration, form and JSON all go through it.
 */
enum field_kind {
    FIELD_LONG,
    FIELD_SEED,
    FIELD_DOUBLE,
    FIELD_BOOL,
    FIELD_STRING, /* optional: "" is NULL */
    FIELD_PATH,   /* as STRING; must be absolute when the run is validated */
    FIELD_CHOICE,
    FIELD_DEVICES,
    FIELD_SPLIT,
    FIELD_THREADS,
    FIELD_INIT,
    FIELD_CHECKPOINTS,
};

struct field {
    const char *key;
    enum field_kind kind;
    size_t offset;
    double low, high;
    const char *const *names; /* FIELD_CHOICE: NULL-terminated, by enum value */
};

extern const struct field spec_fields[];
extern const size_t spec_field_count;

/* NULL: there is no such field. Keys may be written with '-' or with '_'. */
const struct field *spec_find_field(const char *key);

/* Where a field lies. */
static inline const void *spec_field(const struct spec *spec, const struct field *field)
{
    return (const char *)spec + field->offset;
}

/* The text form of one field; a new string, NULL: out of memory. */
char *spec_field_text(const struct spec *spec, const struct field *field);

/* The shortest decimal form that reads back as the same double; likewise. */
char *spec_double_text(double value);

#endif
