/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "events/profile.h"

/* By the word after --profile=. */
enum profile_order profile_order_of(const char *word);

/*
 * A "profile" event on standard output: a table of operations and what is outside of them. With
 * several devices the sum of all, then each.
 */
bool profile_print(const json_t *event, enum profile_order order, struct error *err);
