/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "engine/data/data.h"

/* Pictures of letters, drawn from a seed; the first ones, as many as are wanted. */
void glyphs_describe(struct dataset *shape, int *test_rows);
bool glyphs_make(uint64_t seed, struct data_rows wanted, struct dataset *train,
                 struct dataset *test, struct error *err);
