/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "spec/spec.h"

/*
 * Set one field from its text form, as the command line, the configuration and the workbench's form
 * give it. `key` is the long option's name without dashes ("batch", "lr", "split", "init", ...);
 * "sync-bn" takes yes/no/true/false. ERROR_USAGE names the key and what is accepted. The field is
 * given then (ORIGIN_GIVEN); a name or path of "" is not.
 */
bool spec_set(struct spec *spec, const char *key, const char *value, struct error *err);

/* Leave out how to train, so that a run of the spec tests its initial weights, no more. */
bool spec_leave_training_out(struct spec *spec, struct error *err);

/*
 * The fixed words that spec_set takes for `key`: the one at `index`, NULL after the last. A word
 * that ends in ':' is only the beginning of a value.
 */
const char *spec_word(const char *key, size_t index);
