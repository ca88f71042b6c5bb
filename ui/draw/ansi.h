/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/text.h"
#include "ui/draw/surface.h"
#include "ui/draw/theme.h"

/* The rows as UTF-8 lines with ECMA-48 codes for the looks of their cells, appended to `out`; each
 * line begins and ends with plain text's look. */
void surface_dump_ansi(const struct surface *surface, const struct theme *theme, struct text *out);
