/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_STUDY_PRINT_H
#define DPARTUI_STUDY_PRINT_H

#include "experiment/table.h"

/* What a study measured, for people, on standard output. */
bool study_print_table(const struct study_table *table, struct error *err);

#endif
