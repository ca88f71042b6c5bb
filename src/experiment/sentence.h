/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/table.h"

/* What outcomes mean. Into `buffer`, which is returned; "" when too little is known. */

/*
 * How many times as fast as its base an outcome is, and what keeps it from being as many times as
 * fast as it has devices, by the part of the time that it takes. On a machine with `cores`.
 */
const char *sentence_of_devices(const struct outcome *outcome, const struct outcome *base,
                                int cores, char *buffer, size_t size);

/* Which of two strategies on as many devices is the faster one, how much and why, by the parts of
 * the time that they take; and what both need. `base` may be unknown. */
const char *sentence_of_strategies(const struct outcome *one, const struct outcome *other,
                                   const struct outcome *base, char *buffer, size_t size);

/* "Of the devices' time: 91% compute, 7% all-reduce, 1% input, 1% waiting". */
const char *sentence_of_shares(const struct outcome *outcome, char *buffer, size_t size);

enum { SENTENCE_SIZE = 2000 }; /* bytes that the longest is sure to fit into */

/* Of a study: of the most devices, with all strategies where it has several, or which values are
 * the fastest and which the most accurate. */
const char *sentence_of_study(const struct study_table *table, char *buffer, size_t size);

/* Which epochs of a run do not count as speed, as it was resumed elsewhere; "" where all do. */
const char *sentence_of_resume(const struct measure *measure, char *buffer, size_t size);
