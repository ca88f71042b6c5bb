/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "spec/spec.h"

/*
 * One table describes every field: its option name, how its text form is read and written, where it
 * lies and its bounds. The command line, configuration, form and JSON all go through it.
 */
enum spec_field_kind {
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
    FIELD_SCHEDULE, /* all but the warm-up */
    FIELD_IMAGE_SIZE,
    FIELD_BYTES, /* a long: "200M", "1.5G"; 0: none */
};

struct spec_field {
    const char *key;
    enum spec_field_kind kind;
    size_t offset;
    double low, high;
    const char *const *names; /* FIELD_CHOICE: NULL-terminated, by enum value */
};

extern const struct spec_field spec_fields[];
extern const size_t spec_field_count;

/* NULL: there is no such field. Keys may be written with '-' or with '_'. */
const struct spec_field *spec_find_field(const char *key);

/* Where a field lies. */
static inline const void *spec_field_at(const struct spec *spec, const struct spec_field *field)
{
    return (const char *)spec + field->offset;
}
