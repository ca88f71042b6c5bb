/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_SPEC_JSON_H
#define DPARTUI_SPEC_JSON_H

#include <jansson.h>

#include "spec/spec.h"

/* JSON with the option names as members ("batch", "weight_decay", "train_rows", ...). */
json_t *spec_to_json(const struct spec *spec);
bool spec_from_json(struct spec *spec, const json_t *object, struct error *err);
/* Set the fields that the object has; after a failure some of them may have been set. */
bool spec_change(struct spec *spec, const json_t *object, struct error *err);

#endif
