/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/table.h"

/* What a study measured, for people, on standard output. */
bool study_print_table(const struct study_table *table, struct error *err);
