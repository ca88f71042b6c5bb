/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "engine/data/data.h"

/* Random numbers; `name` is "random:ROWSxCOLUMNS". */
bool random_describe(const char *name, struct dataset *shape, struct error *err);
bool random_make(const char *name, uint64_t seed, struct dataset *train, struct dataset *test,
                 struct error *err);
