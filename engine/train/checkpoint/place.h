/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "engine/train/checkpoint/checkpoint.h"

/* The place of a checkpoint in its run, as the JSON that its weights carry. */

/* A new string; NULL: memory ran out. */
char *checkpoint_place_text(const struct checkpoint *checkpoint);
/* Of weights that have no place: their origin alone; likewise. */
char *checkpoint_origin_text(const struct checkpoint_origin *origin);
/* Is it the text of a place, not of an origin alone? */
bool checkpoint_place_is(const char *text);

/*
 * Back from the text. *has_state: whether the optimizer's state is there as well; true where the
 * text does not say. Errors name `path`.
 */
bool checkpoint_place_parse(const char *path, const char *text, struct checkpoint_place *place,
                            bool *has_state, struct error *err);

/* Is the test accuracy that of the very weights? */
bool checkpoint_place_evaluated(const json_t *note);
