/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Zeroed memory from the kernel, in huge pages where it is large. */
struct mapping {
    void *data;
    size_t size; /* bytes, as asked for */
};

bool mapping_create(struct mapping *mapping, size_t bytes, const char *what, struct error *err);
void mapping_free(struct mapping *mapping);
