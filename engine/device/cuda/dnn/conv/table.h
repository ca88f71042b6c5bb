/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/dnn/conv/plan.h"

/*
 * The convolutions that a device has plans of, from request to plan: layers that are alike, and
 * passes over as many rows, share one, which is built once while the device is open. What could not
 * be planned is kept, too, and not tried again. Used on the device's thread only.
 */
struct conv_table;

/* Plans that nobody uses any more are kept as long as there are at most this many in all. */
#define CONV_TABLE_PLANS 512
/* What one start may spend on compiling (see struct conv_maker). */
#define CONV_COMPILE_SECONDS 60.0

struct conv_table *conv_table_create(struct error *err); /* NULL: ERROR_FAILED */
/* All plans have been given back. NULL is fine. */
void conv_table_destroy(struct conv_table *table);

/* As conv_plan_create, but the plan is the table's: to be given back. maker->compile_left is set
 * here. */
bool conv_table_take(struct conv_table *table, struct conv_maker *maker,
                     const struct conv_request *request, const struct conv_plan **out,
                     struct error *err);
void conv_table_give(struct conv_table *table, const struct conv_plan *plan); /* NULL is fine */

/* Seconds of one run as measured, now or at another time; NAN: not known, INFINITY: no engine does
 * it. */
double conv_table_seconds(const struct conv_table *table, const struct conv_maker *maker,
                          const struct conv_request *request);
