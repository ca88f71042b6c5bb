/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DATA_GLYPHS_H
#define DPARTUI_ENGINE_DATA_GLYPHS_H

#include "base/error.h"
#include "engine/data/data.h"

/* Pictures of letters, drawn from a seed. */
void glyphs_describe(struct dataset *shape, int *test_rows);
bool glyphs_make(uint64_t seed, struct dataset *train, struct dataset *test, struct error *err);

#endif
