/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "spec/spec.h"

/* The settings in which two runs differ. */

struct spec_difference {
    const char *key; /* of spec_fields */
    char *value[2];  /* text forms; "": none */
};

struct spec_differences {
    struct spec_difference *list; /* in the order of the fields */
    int count;
};

/*
 * Compare two specs as `show` has them. A setting that one of them lacks, because an older version
 * wrote it, has its default there. Release with spec_differences_free, also after a failure.
 */
bool spec_differences_find(struct spec_differences *differences, const json_t *first,
                           const json_t *second, struct error *err);
void spec_differences_free(struct spec_differences *differences);
