/* SPDX-License-Identifier: MIT */
#pragma once

#include "spec/fields.h"
#include "spec/spec.h"

/*
 * Where the values of a spec come from. What somebody gave stays as it is; what nobody gave the
 * engine fills in when it resolves the spec.
 */

enum spec_origin spec_origin(const struct spec *spec, const struct spec_field *field);
void spec_set_origin(struct spec *spec, const struct spec_field *field, enum spec_origin origin);
/* The field of this key has been given by assigning to its member. */
void spec_give(struct spec *spec, const char *key);

/* "given", "recipe", "optimizer"; NULL for ORIGIN_DEFAULT. */
const char *spec_origin_name(enum spec_origin origin);
/* False: there is no origin of that name. */
bool spec_origin_find(const char *name, enum spec_origin *origin);

/*
 * Make a resolved spec one to start from: what the engine filled in of itself (the network, the
 * devices, ...) counts as given, so that the run is repeated; what the recipe and the optimizer say
 * may still change with them. False: memory ran out.
 */
bool spec_reopen(struct spec *spec, struct error *err);
