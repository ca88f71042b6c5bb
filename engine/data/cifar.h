/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "engine/data/data.h"

/* data_batch_1.bin to data_batch_5.bin and test_batch.bin in `dir`; ten classes. */
bool cifar_present(const char *dir); /* all are there */
bool cifar_any(const char *dir);     /* at least one is there */
bool cifar_describe(const char *dir, struct dataset *shape, int *test_rows, struct error *err);
bool cifar_load(const char *dir, struct dataset *train, struct dataset *test, struct error *err);
