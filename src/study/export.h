/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/text.h"
#include "experiment/noise.h"

/* What a study measured, for programs and as a picture. */

/* One object with all there is: the table's rows, and every run with its samples. */
json_t *study_table_json(const struct study_table *table, const struct study_run *runs);

/* Count, median, mean, minimum and maximum; NULL: memory ran out. */
json_t *study_spread_json(const struct spread *spread);

/* Times as fast per epoch, times the epochs, and times as fast to an accuracy, with a range. */
json_t *study_reach_json(const struct noise_reach *reach);

/* A line per variant, with a line of names above. Empty: not known. */
void study_table_csv(const struct study_table *table, struct text *out);

/* Speed with its spread, and ideal scaling, and accuracy. */
void study_table_svg(const struct study_table *table, struct text *out);
