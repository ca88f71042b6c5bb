/* SPDX-License-Identifier: MIT */
#pragma once

#include "spec/spec.h"

/* The words for what is chosen among few, by the values of their enums; arrays end with NULL. */
extern const char *const optimizer_names[];
extern const char *const no_decay_names[];
extern const char *const strategy_names[];
extern const char *const split_names[],
    *const sync_names[], *const type_names[], *const augment_names[],
                                                  *const colour_names[],
                                                      *const order_names[], *const recipe_names[],
                                                                                *const init_names[];

const char *strategy_name(enum strategy strategy);             /* "data" ... */
bool strategy_find(const char *name, enum strategy *strategy); /* false: no such name */
const char *split_rule_name(enum split_rule rule);             /* "chunk" ... */
const char *sync_method_name(enum sync_method method);         /* "allreduce" ... */
const char *number_type_name(enum number_type type);           /* "default", "f32" ... */
bool init_has_scale(enum init_rule rule);                      /* normal and uniform */
const char *augment_name(enum augment_flags augment);          /* "none", "flip" ... */
