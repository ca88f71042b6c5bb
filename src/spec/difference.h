/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "spec/spec.h"

/* The settings in which two runs differ. */

struct spec_difference {
    const char *key; /* of spec_fields */
    char *value[2];  /* text forms, with live changes; "": none */
};

struct spec_differences {
    struct spec_difference *list; /* in the order of the fields */
    int count;
};

/*
 * Compare two specs as `show` has them, with what live changes made of them: `retunes` are the
 * events of each run, or NULL, and a value becomes "0.1, then 0.05 from epoch 4", and of a run
 * that was resumed with another ", resumed with 0.02". A setting that one of the specs lacks,
 * because an older version wrote it, has its default there. Release with spec_differences_free,
 * also after a failure.
 */
bool spec_differences_find(struct spec_differences *differences, const json_t *const specs[2],
                           const json_t *const retunes[2], struct error *err);
void spec_differences_free(struct spec_differences *differences);
