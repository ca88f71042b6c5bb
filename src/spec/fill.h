/* SPDX-License-Identifier: MIT */
#pragma once

#include "spec/spec.h"

/* Values of fields that nobody gave (spec/origin.h). */

struct spec_field;

/* Whether a model file's recipe may have a field. */
bool spec_in_recipe(const struct spec_field *field);

/*
 * Fill in what a model file's recipe says; `recipe` has its fields, and they are given there. What
 * belongs to the recipe's optimizer is left out when another one was given.
 */
bool spec_fill(struct spec *spec, const struct spec *recipe, struct error *err);

/*
 * A recipe's warm-up that is longer than the run is shortened: it is the same part of the run's
 * epochs then as it is of `epochs`.
 */
void spec_fit_warmup(struct spec *spec, long epochs);

/* Take over what the engine filled in of the fields that a recipe may have, with its origin. */
bool spec_take_filled(struct spec *spec, const struct spec *resolved, struct error *err);

/* The field of this key is not given any more, and has the program's default. */
bool spec_unset(struct spec *spec, const char *key, struct error *err);
