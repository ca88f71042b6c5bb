/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/chart/chart.h"

/* Print a chart of the workbench as text, in the characters of the locale. */
bool plot_print(const struct chart *chart, int rows, int columns, struct error *err);
