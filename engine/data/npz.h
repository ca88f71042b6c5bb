/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "engine/data/data.h"

/*
 * NumPy's archives, FILE.npz, with x_train, y_train, x_test and y_test: pictures as rows x height x
 * width, rows x height x width x channels or rows x channels x height x width (1 or 3 channels), or
 * vectors as rows x numbers; bytes, which the network sees as pixels, or floating point numbers,
 * which it sees as they are. Labels are whole numbers from 0.
 */
bool npz_describe(const char *path, struct dataset *shape, int *test_rows, struct error *err);
bool npz_load(const char *path, struct dataset *train, struct dataset *test, struct error *err);
