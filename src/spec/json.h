/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "spec/spec.h"

/*
 * JSON with the option names as members ("batch", "weight_decay", "train_rows", ...). Of a resolved
 * spec also "origins", an object: where those values come from that are not the program's defaults
 * ({"lr":"recipe"}). NULL: spec_json_failed() says why.
 */
json_t *spec_to_json(const struct spec *spec);
/* Only what a model file's recipe may say (spec/fill.h): how a network is trained. */
json_t *spec_recipe_to_json(const struct spec *spec);
/* Only what was given: for the engine, which fills in the rest. */
json_t *spec_given_to_json(const struct spec *spec);
/* False, with *err: which name or path is not UTF-8, or that memory ran out. */
bool spec_json_failed(const struct spec *spec, struct error *err);
/* Members that it has are given; with "origins" the spec is resolved, and they say so. */
bool spec_from_json(struct spec *spec, const json_t *object, struct error *err);
/* Set the fields that the object has; after a failure some of them may have been set. */
bool spec_change(struct spec *spec, const json_t *object, struct error *err);
