/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "engine/data/data.h"

/* Four IDX files in `dir`, as MNIST has them, each plain or with .gz after its name. */
bool idx_present(const char *dir); /* all four are there */
bool idx_any(const char *dir);     /* at least one is there: the folder is meant to be this kind */
bool idx_describe(const char *dir, int classes, struct dataset *shape, int *test_rows,
                  struct error *err);
bool idx_load(const char *dir, int classes, struct dataset *train, struct dataset *test,
              struct error *err);
